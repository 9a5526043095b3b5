"""MLX on the CPU: every case under mx.compile; convolutions in its own layout, channels last."""
import mlx.core as mx
import numpy as np

import worker
from worker import Work, fingerprint, operands

mx.set_default_device(mx.cpu)


def gelu(x):
    return x * (1 + mx.erf(x / 2**0.5)) / 2


OPS = {
    "sgemm:nn": mx.matmul,
    "sgemm:tn": lambda a, b: a.T @ b,
    "sgemm:nt": lambda a, b: a @ b.T,
    "sum": mx.matmul,
    "panels": mx.matmul,
    "batch": lambda a, b: a.swapaxes(0, 1) @ b,
    "gelu": lambda a, b, bias: gelu(mx.addmm(bias, a, b)),
    "slice": lambda a, b: a[3:, 5:] @ b,
    "matvec:nn": mx.matmul,
    "matvec:tn": lambda a, x: x @ a,
    "attention": lambda q, k, v: mx.fast.scaled_dot_product_attention(q, k, v, scale=q.shape[-1] ** -0.5),
    "chain": lambda x: mx.tanh(x * 1.5 + 0.25) * mx.sigmoid(x) + -0.5,
    "total": mx.sum,
    "columns": lambda x: mx.sum(x, axis=0),
    "softmax": lambda x: mx.softmax(x, axis=1),
    "layernorm": lambda x, weight, bias: mx.fast.layer_norm(x, weight, bias, 1e-5),
    "transpose": lambda x: mx.contiguous(x.T),
}


def mlp(p, x):
    return mx.addmm(p[3], mx.maximum(mx.addmm(p[1], x, p[0].T), 0), p[2].T)


def conv_net(p, x):
    def layer(x, weight, bias):
        return mx.maximum(mx.conv2d(x, weight) + bias, 0)

    def pool(x):
        n, h, w, c = x.shape
        return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))
    h = pool(layer(layer(x, p[0], p[1]), p[2], p[3]))
    h = pool(layer(layer(h, p[4], p[5]), p[6], p[7]))
    return mx.addmm(p[9], mx.flatten(h.transpose(0, 3, 1, 2), 1), p[8].T)  # the linear layer's inputs in PyTorch's order


NETWORKS = {"mlp": mlp, "conv": conv_net}


def channels_last(array):
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if array.ndim == 4 else array


def training(kind, initial):
    x, y = worker.batch(kind)
    x, y = mx.array(channels_last(x)), mx.array(y)
    p = [mx.array(value) for value in initial]
    count = len(p)
    state = p if kind == "mlp" else [*p, *map(mx.zeros_like, p), *map(mx.zeros_like, p), mx.array(0.0)]

    def loss_of(p):
        logits = NETWORKS[kind](p, x)
        return mx.mean(mx.logsumexp(logits, 1) - mx.take_along_axis(logits, y[:, None], 1).squeeze(1))

    def step(*state):
        p = list(state[:count])
        loss, g = mx.value_and_grad(loss_of)(p)
        if kind == "mlp":
            return loss, *(a - 1e-2 * b for a, b in zip(p, g))
        t = state[-1] + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(state[count:], g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(state[2 * count:], g)]
        c1, c2 = 1 - mx.power(0.9, t), 1 - mx.power(0.999, t)
        return loss, *(a - 1e-3 * (b / c1) / (mx.sqrt(c / c2) + 1e-8) for a, b, c in zip(p, m, v)), *m, *v, t
    compiled = mx.compile(step)

    def advance():
        nonlocal state
        loss, *state = compiled(*state)
        mx.eval(loss, *state)
        return loss.item()
    return advance


def evaluate(f, *inputs):
    call = mx.compile(f)
    mx.eval(*inputs)
    return Work(lambda: mx.eval(call(*inputs)), lambda: fingerprint(np.array(call(*inputs))))


def make(family, *arguments):
    if family == "step":
        advance = training(arguments[0], map(channels_last, worker.parameters(arguments[0])))
        return Work(advance, lambda: [advance() for _ in range(worker.CHECKED_STEPS)])
    if family == "forward":
        parameters = [mx.array(p) for p in worker.parameters("mlp")]
        return evaluate(lambda x: mlp(parameters, x), mx.array(worker.uniform((int(arguments[1]), 784), 1)))
    name = f"{family}:{arguments[0]}" if f"{family}:{arguments[0]}" in OPS else family
    if name not in OPS:
        raise ValueError("unknown case")
    return evaluate(OPS[name], *map(mx.array, operands(family, arguments)))


def train(kind, steps):
    initial = [mx.random.uniform(-0.05, 0.05, (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape)
               for shape in worker.PARAMETERS[kind]]
    advance = training(kind, initial)
    return [advance() for _ in range(steps)]


if __name__ == "__main__":
    worker.serve(make, {"step": train})
