"""PyTorch from 1.13 on, eager with preallocated results where it takes them; --compile: torch.compile, for what it changes;
--channels-last: images with their channels innermost, for convolutions. BENCH_DEVICE=cuda: on the GPU."""
import itertools
import os
import sys
from contextlib import nullcontext

import torch
import torch.nn as nn
import torch.nn.functional as F

import networks
import worker
from worker import Work, fingerprint, operands

DEVICE = os.environ.get("BENCH_DEVICE", "cpu")
COMPILE = "--compile" in sys.argv
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16}  # what may stand before a family,
NARROW = {"gemm", "attention", "attention-gradients", "step", "train"}  # and before which
FORMAT = torch.channels_last if "--channels-last" in sys.argv else torch.contiguous_format
FUSED = {"gelu", "attention", "attention-gradients", "chain", "total", "softmax", "layernorm", "nbody", "kmeans", "step", "forward", "train", "infer"}  # the others are one call
torch.set_num_threads(worker.THREADS)


def attention(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v


ATTENTION = getattr(F, "scaled_dot_product_attention", attention)


def attention_gradients(q, k, v, seed):
    parts = [x.detach().requires_grad_() for x in (q, k, v)]
    return torch.autograd.grad(ATTENTION(*parts), parts, seed)


def convolution(family, *arguments):
    """The function of a case's operands, in the order of worker.operands()."""
    c = worker.convolution(family, *arguments)
    axes = len(c.x) - 2
    stride, padding, ones, zeros = ([number] * axes for number in (c.stride, c.padding, 1, 0))
    if c.kind == "forward":
        return lambda x, w: torch.convolution(x, w, None, stride, padding, ones, c.transposed, zeros, c.groups)
    shape = laid_out(torch.empty(c.x if c.kind == "data" else c.w, device=DEVICE))  # of the operand that this gradient does not read
    wanted = [c.kind == "data", c.kind == "filter", False]

    def backward(x, w, dy):
        return torch.ops.aten.convolution_backward(dy, x, w, None, stride, padding, ones, c.transposed, zeros, c.groups,
                                                   wanted)[wanted.index(True)]
    return (lambda w, dy: backward(shape, w, dy)) if c.kind == "data" else (lambda x, dy: backward(x, shape, dy))


def ordering(family, *arguments):
    """The function of a vector, or of rows."""
    if family == "cumsum":
        return lambda x: x.cumsum(int(arguments[1]))
    if family == "topk":
        return lambda x: torch.topk(x, worker.sizes(arguments[0])[1])
    return {"sort": lambda x: torch.sort(x).values, "argsort": lambda x: torch.argsort(x, stable=True), "median": torch.median}[family]


def accelerations(place, mass):
    apart = place[None] - place[:, None]
    squares = (apart * apart).sum(2) + 1e-2
    return (apart * (mass / (squares * squares.sqrt()))[..., None]).sum(1)


def cluster_sums(points, cluster, clusters):
    return (cluster[:, None] == clusters).float().t() @ points


# Layout, or family -> function of its operands, and of the result that it writes where PyTorch has such a form.
PRODUCTS = {
    "nn": (torch.mm, lambda a, b, out: torch.mm(a, b, out=out)),
    "tn": (lambda a, b: a.t() @ b, lambda a, b, out: torch.mm(a.t(), b, out=out)),
    "nt": (lambda a, b: a @ b.t(), lambda a, b, out: torch.mm(a, b.t(), out=out)),
}
OPS = {
    **{f"{family}:{layout}": product for family in ("sgemm", "gemm") for layout, product in PRODUCTS.items()},
    "sum": (torch.mm, lambda a, b, out: torch.mm(a, b, out=out)),
    "panels": (torch.mm, lambda a, b, out: torch.mm(a, b, out=out)),
    "batch": (lambda a, b: torch.matmul(a.transpose(0, 1), b), None),
    "gelu": (lambda a, b, bias: F.gelu(torch.addmm(bias, a, b)), None),
    "slice": (lambda a, b: a[3:, 5:] @ b, lambda a, b, out: torch.mm(a[3:, 5:], b, out=out)),
    "matvec:nn": (torch.mv, lambda a, x, out: torch.mv(a, x, out=out)),
    "matvec:tn": (lambda a, x: torch.mv(a.t(), x), lambda a, x, out: torch.mv(a.t(), x, out=out)),
    "attention": (ATTENTION, None),
    "chain": (lambda x: torch.tanh(x * 1.5 + 0.25) * torch.sigmoid(x) + -0.5, None),
    "total": (torch.sum, None),
    "columns": (lambda x: x.sum(0), lambda x, out: torch.sum(x, 0, out=out)),
    "softmax": (lambda x: torch.softmax(x, 1), lambda x, out: torch.softmax(x, 1, out=out)),
    "layernorm": (lambda x, weight, bias: F.layer_norm(x, x.shape[1:], weight, bias), None),
    "nbody": (accelerations, None),
    "kmeans": (cluster_sums, None),
    "transpose": (lambda x: x.t().contiguous(), lambda x, out: out.copy_(x.t())),
}


def laid_out(tensor):
    return tensor.to(memory_format=FORMAT) if tensor.ndim == 4 else tensor


def finish():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def quickest(f):
    return torch.compile(f) if COMPILE else f


def network(kind):
    if kind == "mlp":
        return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).to(DEVICE)
    return nn.Sequential(nn.Conv2d(1, 32, 5), nn.ReLU(), nn.Conv2d(32, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(576, 10)).to(DEVICE, memory_format=FORMAT)


def quickest_optimizer(make, model, **options):
    """One kernel for a step, or, where PyTorch is too old for that, a few for all parameters."""
    try:
        return make(model.parameters(), fused=True, **options)
    except (TypeError, RuntimeError):
        return make(model.parameters(), foreach=True, **options)


def training(model, batch, optimizer, loss, dtype):
    """A function that makes a step and gives the loss. The forward pass is under autocast to the type; None is float32."""
    x, y = (laid_out(torch.from_numpy(part).to(DEVICE)) for part in batch)
    forward, update = quickest(lambda x, y: loss(model, x, y)), quickest(optimizer.step)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, dtype, enabled=dtype is not None):
            loss = forward(x, y)
        loss.backward()
        update()
        return loss
    return step


def training_step(kind, model, dtype=None):
    optimizer = (torch.optim.SGD, 1e-2) if kind == "mlp" else (torch.optim.Adam, 1e-3)
    return training(model, worker.batch(kind), quickest_optimizer(optimizer[0], model, lr=optimizer[1]), networks.class_loss, dtype)


def with_parameters(kind):
    model = network(kind)
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), worker.parameters(kind)):
            parameter.copy_(torch.from_numpy(value))
    return model


def run_step(kind, dtype):
    step = training_step(kind, with_parameters(kind), dtype)
    return Work(lambda: (step(), finish()), lambda: [step().item() for _ in range(worker.CHECKED_STEPS)])


def run_forward(batch):
    model = with_parameters("mlp").eval()
    x = torch.from_numpy(worker.uniform((batch, 784), 1)).to(DEVICE)
    with torch.no_grad():
        call = quickest_call(model, x)
    return evaluate(lambda: call(x))


def quickest_call(model, x):
    """Of a model in eval mode, under no_grad."""
    return quickest(model) if COMPILE else torch.jit.freeze(torch.jit.trace(model, x))


def network_training(recipe, batch, model, dtype=None):
    return training(model, recipe.batch(batch), quickest_optimizer(recipe.optimizer, model, **recipe.options), recipe.loss, dtype)


def run_training(name, batch, dtype):
    recipe = networks.recipe(name)
    model = networks.set_parameters(recipe.model()).to(DEVICE, memory_format=FORMAT)
    step = network_training(recipe, batch, model, dtype)

    def check():
        model.train(not recipe.draws)
        losses = [step().item() for _ in range(worker.CHECKED_STEPS)]
        model.train()
        return losses
    return Work(lambda: (step(), finish()), check)


def run_inference(name, batch):
    recipe = networks.recipe(name)
    model = networks.set_parameters(recipe.model()).to(DEVICE, memory_format=FORMAT).eval()
    x = laid_out(torch.from_numpy(recipe.batch(batch)[0]).to(DEVICE))
    with torch.no_grad():
        call = quickest_call(model, x)
    return evaluate(lambda: call(x))


def run_decoding(layers, size, tokens, positions):
    model = networks.set_parameters(networks.Decoder(layers, size, tokens)).to(DEVICE)
    with torch.inference_mode():
        caches = [[torch.zeros(1, size // 64, positions, 64, device=DEVICE) for _ in range(2)] for _ in range(layers)]
        token = torch.full((1, 1), 7, device=DEVICE)
    seen = itertools.cycle(range(1, positions + 1))
    return evaluate(lambda: model(token, next(seen), caches))


def evaluate(f, context=torch.inference_mode, compared=None):
    """Of a result, or of several, of which the first so many are compared."""
    def run():
        result = f()
        finish()
        return result

    def check():
        results = run()
        each = (results,) if torch.is_tensor(results) else results
        return [value for result in each[:compared] for value in fingerprint(result.float().cpu().numpy())]
    return Work(run, check, context)


def make(family, *arguments):
    dtype = TYPES.get(family)
    if dtype:
        family, *arguments = arguments
    if COMPILE and family not in FUSED or dtype and family not in NARROW:
        raise ValueError("unknown case")
    if family == "step":
        return run_step(arguments[0], dtype)
    if family == "forward":
        return run_forward(int(arguments[1]))
    if family == "train":
        return run_training(arguments[0], int(arguments[1]), dtype)
    if family == "infer":
        return run_inference(arguments[0], int(arguments[1]))
    if family in worker.CONVOLUTIONS:
        inputs, call = [laid_out(torch.from_numpy(a).to(DEVICE)) for a in operands(family, arguments)], convolution(family, *arguments)
        return evaluate(lambda: call(*inputs))
    if family in worker.ORDERS:
        inputs, call = [torch.from_numpy(a).to(DEVICE) for a in operands(family, arguments)], ordering(family, *arguments)
        return evaluate(lambda: call(*inputs), compared=1)
    if family == "decode":
        return run_decoding(*worker.sizes(arguments[0]))
    if family == "attention-gradients":
        inputs, call = [torch.from_numpy(a).to(DEVICE, dtype) for a in operands(family, arguments)], quickest(attention_gradients)
        return evaluate(lambda: call(*inputs), nullcontext)
    name = f"{family}:{arguments[0]}" if f"{family}:{arguments[0]}" in OPS else family
    if name not in OPS:
        raise ValueError("unknown case")
    inputs = [torch.from_numpy(a).to(DEVICE, dtype) for a in operands(family, arguments)]
    pure, into = OPS[name]
    if into is None or COMPILE:
        call = quickest(pure)
        return evaluate(lambda: call(*inputs))
    with torch.inference_mode():
        out = torch.empty_like(pure(*inputs))
    return evaluate(lambda: into(*inputs, out=out))


def train(kind, steps):
    step = training_step(kind, network(kind))
    return [step().item() for _ in range(steps)]


def train_network(name, batch, steps):
    recipe = networks.recipe(name)
    step = network_training(recipe, int(batch), recipe.model().to(DEVICE, memory_format=FORMAT))
    return [step().item() for _ in range(steps)]


if __name__ == "__main__":
    worker.serve(make, {"step": train, "train": train_network})
