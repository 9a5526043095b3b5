"""tinygrad on the CPU: every case under TinyJit."""
import sys

import numpy as np
from tinygrad import Context, Device, Tensor, TinyJit, nn

import worker
from worker import Work, fingerprint, operands

sys.setrecursionlimit(20000)

OPS = {
    "sgemm:nn": lambda a, b: a @ b,
    "sgemm:tn": lambda a, b: a.T @ b,
    "sgemm:nt": lambda a, b: a @ b.T,
    "sum": lambda a, b: a @ b,
    "panels": lambda a, b: a @ b,
    "batch": lambda a, b: a.transpose(0, 1) @ b,
    "gelu": lambda a, b, bias: exact_gelu(a @ b + bias),
    "slice": lambda a, b: a[3:, 5:] @ b,
    "matvec:nn": lambda a, x: a @ x,
    "matvec:tn": lambda a, x: x @ a,
    "attention": lambda q, k, v: q.scaled_dot_product_attention(k, v),
    "chain": lambda x: (x * 1.5 + 0.25).tanh() * x.sigmoid() + -0.5,
    "total": lambda x: x.sum(),
    "columns": lambda x: x.sum(0),
    "softmax": lambda x: x.softmax(1),
    "layernorm": lambda x, weight, bias: x.layernorm() * weight + bias,
    "transpose": lambda x: x.T.contiguous(),
}


def exact_gelu(x):
    return x * (1 + (x / 2**0.5).erf()) / 2


def finish():
    Device[Device.DEFAULT].synchronize()


class Mlp:
    def __init__(self):
        self.l1, self.l2 = nn.Linear(784, 128), nn.Linear(128, 10)

    def __call__(self, x):
        return self.l2(self.l1(x).relu())


class ConvNet:
    def __init__(self):
        self.c1, self.c2, self.c3, self.c4 = nn.Conv2d(1, 32, 5), nn.Conv2d(32, 32, 5), nn.Conv2d(32, 64, 3), nn.Conv2d(64, 64, 3)
        self.out = nn.Linear(576, 10)

    def __call__(self, x):
        h = self.c2(self.c1(x).relu()).relu().max_pool2d()
        return self.out(self.c4(self.c3(h).relu()).relu().max_pool2d().flatten(1))


NETWORKS = {"mlp": Mlp, "conv": ConvNet}


def training(kind, model):
    x, y = worker.batch(kind)
    x, y = Tensor(x).realize(), Tensor(y.astype(np.int32)).realize()
    make = nn.optim.SGD if kind == "mlp" else nn.optim.Adam
    optimizer = make(nn.state.get_parameters(model), lr=1e-2 if kind == "mlp" else 1e-3)

    @TinyJit
    @Context(TRAINING=1)
    def step():
        optimizer.zero_grad()
        loss = model(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*optimizer.schedule_step())
    return step


def make(family, *arguments):
    if family == "step":
        kind = arguments[0]
        model = NETWORKS[kind]()
        for parameter, value in zip(nn.state.get_parameters(model), worker.parameters(kind)):
            parameter.assign(Tensor(value)).realize()
        step = training(kind, model)
        return Work(lambda: (step(), finish()), lambda: [step().item() for _ in range(worker.CHECKED_STEPS)])
    if family == "forward":
        model = Mlp()
        for parameter, value in zip(nn.state.get_parameters(model), worker.parameters("mlp")):
            parameter.assign(Tensor(value)).realize()
        return evaluate(model, Tensor(worker.uniform((int(arguments[1]), 784), 1)).realize())
    name = f"{family}:{arguments[0]}" if f"{family}:{arguments[0]}" in OPS else family
    if name not in OPS:
        raise ValueError("unknown case")
    return evaluate(OPS[name], *(Tensor(a).realize() for a in operands(family, arguments)))


def evaluate(f, *inputs):
    call = TinyJit(lambda *inputs: f(*inputs).realize())
    return Work(lambda: (call(*inputs), finish()), lambda: fingerprint(call(*inputs).numpy()))


def train(kind, steps):
    step = training(kind, NETWORKS[kind]())
    return [step().item() for _ in range(steps)]


if __name__ == "__main__":
    worker.serve(make, {"step": train})
