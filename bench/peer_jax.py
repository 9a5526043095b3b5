"""JAX on the CPU: every case under jit; steps of training give their state back in place (donated)."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

import worker
from worker import Work, fingerprint, operands

jax.config.update("jax_default_matmul_precision", "highest")


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5) * weight + bias


def attention(q, k, v):
    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(np.float32), axis=-1) @ v


OPS = {
    "sgemm:nn": jnp.matmul,
    "sgemm:tn": lambda a, b: a.T @ b,
    "sgemm:nt": lambda a, b: a @ b.T,
    "sum": jnp.matmul,
    "panels": jnp.matmul,
    "batch": lambda a, b: a.swapaxes(0, 1) @ b,
    "gelu": lambda a, b, bias: jax.nn.gelu(a @ b + bias, approximate=False),
    "slice": lambda a, b: a[3:, 5:] @ b,
    "matvec:nn": jnp.matmul,
    "matvec:tn": lambda a, x: x @ a,
    "attention": attention,
    "chain": lambda x: jnp.tanh(x * 1.5 + 0.25) * jax.nn.sigmoid(x) + -0.5,
    "total": jnp.sum,
    "columns": lambda x: x.sum(0),
    "softmax": lambda x: jax.nn.softmax(x, axis=1),
    "layernorm": layer_norm,
    "transpose": lambda x: x.T + 0.0,  # a plain x.T may be a change of layout that moves nothing
}


def convolve(x, w, stride=1, padding=0, groups=1):
    return jax.lax.conv_general_dilated(x, w, [stride] * 2, [(padding, padding)] * 2, dimension_numbers=("NCHW", "OIHW", "NCHW"),
                                        feature_group_count=groups)


def convolution(*arguments):
    """The function of a case's operands, in the order of worker.operands()."""
    c = worker.convolution("conv", *arguments)
    if c.kind == "forward":
        return lambda x, w: convolve(x, w, c.stride, c.padding, c.groups)
    if c.kind == "data":
        return lambda w, dy: jax.linear_transpose(lambda x: convolve(x, w, c.stride, c.padding, c.groups), jnp.zeros(c.x))(dy)[0]
    return lambda x, dy: jax.linear_transpose(lambda w: convolve(x, w, c.stride, c.padding, c.groups), jnp.zeros(c.w))(dy)[0]


def mlp(p, x):
    return jax.nn.relu(x @ p[0].T + p[1]) @ p[2].T + p[3]


def conv_net(p, x):
    def layer(x, weight, bias):
        return jax.nn.relu(convolve(x, weight) + bias[:, None, None])

    def pool(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    h = pool(layer(layer(x, p[0], p[1]), p[2], p[3]))
    h = pool(layer(layer(h, p[4], p[5]), p[6], p[7]))
    return h.reshape(h.shape[0], -1) @ p[8].T + p[9]


NETWORKS = {"mlp": mlp, "conv": conv_net}


def cross_entropy(network, p, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(network(p, x)), y[:, None], 1).mean()


@functools.partial(jax.jit, static_argnums=0, donate_argnums=1)
def step(kind, state, x, y):
    """state: (parameters, first moments, second moments, steps); SGD uses only the first."""
    p, m, v, t = state
    loss, g = jax.value_and_grad(functools.partial(cross_entropy, NETWORKS[kind]))(p, x, y)
    if kind == "mlp":
        return loss, ([a - 1e-2 * b for a, b in zip(p, g)], m, v, t)
    t = t + 1
    m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
    v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
    c1, c2 = 1 - 0.9**t, 1 - 0.999**t
    return loss, ([a - 1e-3 * (b / c1) / (jnp.sqrt(c / c2) + 1e-8) for a, b, c in zip(p, m, v)], m, v, t)


def training(kind, parameters):
    x, y = map(jnp.asarray, worker.batch(kind))
    p = [jnp.array(value) for value in parameters]
    zeros = [] if kind == "mlp" else [jnp.zeros_like(value) for value in p]
    state = (p, zeros, [jnp.array(z) for z in zeros], jnp.float32(0))

    def advance():
        nonlocal state
        loss, state = step(kind, state, x, y)
        return loss
    return advance, lambda: jax.block_until_ready(state)


def evaluate(f, *inputs):
    call = jax.jit(f)
    return Work(lambda: call(*inputs).block_until_ready(), lambda: fingerprint(call(*inputs)))


def make(family, *arguments):
    if family == "step":
        advance, finish = training(arguments[0], worker.parameters(arguments[0]))
        return Work(lambda: (advance(), finish()), lambda: [float(advance()) for _ in range(worker.CHECKED_STEPS)])
    if family == "forward":
        return evaluate(mlp, [jnp.asarray(p) for p in worker.parameters("mlp")], jnp.asarray(worker.uniform((int(arguments[1]), 784), 1)))
    if family == "conv":
        return evaluate(convolution(*arguments), *map(jnp.asarray, operands(family, arguments)))
    name = f"{family}:{arguments[0]}" if f"{family}:{arguments[0]}" in OPS else family
    if name not in OPS:
        raise ValueError("unknown case")
    return evaluate(OPS[name], *map(jnp.asarray, operands(family, arguments)))


def train(kind, steps):
    key = jax.random.key(0)
    shapes = worker.PARAMETERS[kind]
    initial = [jax.random.uniform(k, shape, minval=-0.05, maxval=0.05) for k, shape in zip(jax.random.split(key, len(shapes)), shapes)]
    advance, _ = training(kind, initial)
    return [float(advance()) for _ in range(steps)]


if __name__ == "__main__":
    worker.serve(make, {"step": train})
