"""What the workers of Python libraries share: worker.h says what a worker is and how it answers."""
import os
import statistics
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Callable

import numpy as np

WARM_UP, LONG_WARM_UP, WARM_RUNS = 0.1, 1.0, 3  # as worker.cpp
THREADS = int(os.environ.get("BENCH_THREADS", "1"))
BATCH = {"mlp": 256, "conv": 128}
CHECKED_STEPS = 6  # as worker.h
ORDERS = {"sort", "argsort", "topk", "median", "cumsum"}
CONVOLUTIONS = {"conv", "conv3d", "conv-transpose"}
LINE = 64  # bytes of a cache line


@dataclass
class Work:
    run: Callable    # once, finished when it returns
    check: Callable  # what it computes, as a list of numbers; called once, before the first run
    context: Callable = nullcontext  # makes what is entered for all of that, not in each run


def aligned(array):
    """A copy that begins at a cache line, as Sinter's memory does: some libraries take NumPy's as it is."""
    room = np.empty(array.nbytes + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    copy = room[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def hashed(count, seed):
    h = (np.arange(count, dtype=np.uint32) + np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)) * np.uint32(2654435761)
    h ^= h >> np.uint32(15)
    h *= np.uint32(0x2C1B3C6D)
    return h ^ (h >> np.uint32(12))


def uniform(shape, seed):
    """float32 in [-0.5, 0.5), the same in every worker."""
    count = int(np.prod(shape, dtype=np.int64))
    return aligned((hashed(count, seed) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24) - np.float32(0.5)).reshape(shape)


def labels(count, classes=10):
    return aligned(((hashed(count, 7) >> np.uint32(8)) % np.uint32(classes)).astype(np.int64))


def fingerprint(array):
    data = np.asarray(array, dtype=np.float64).reshape(-1)
    return [float(np.sqrt(data @ data)), float(data @ uniform(data.shape, 99).astype(np.float64))]


def sizes(text):
    return tuple(map(int, text.split("x")))


@dataclass(frozen=True)
class Convolution:
    """conv:KIND:NxCxHxW:KxRxS[:STRIDExPADDINGxGROUPS], conv3d and conv-transpose, as in sinter_convolutions.cpp: shapes."""
    kind: str
    x: tuple
    w: tuple
    y: tuple
    stride: int
    padding: int
    groups: int
    transposed: bool


def convolution(family, kind, images, filters, options="1x0x1"):
    (n, c, *image), (k, *window), (stride, padding, *groups) = sizes(images), sizes(filters), sizes(options)
    groups, transposed = (groups or [1])[0], family == "conv-transpose"
    result = ((size - 1) * stride - 2 * padding + part if transposed else (size + 2 * padding - part) // stride + 1
              for size, part in zip(image, window))
    w = (c, k, *window) if transposed else (k, c // groups, *window)
    return Convolution(kind, (n, c, *image), w, (n, k, *result), stride, padding, groups, transposed)


def operands(family, arguments):
    """Inputs of a case as NumPy arrays, in the order in which a library's function of that family takes them."""
    if family in ("sgemm", "gemm"):
        layout, (m, k, n) = arguments[0], sizes(arguments[1])
        return uniform((k, m) if layout == "tn" else (m, k), 1), uniform((n, k) if layout == "nt" else (k, n), 2)
    if family == "matvec":
        m, n = sizes(arguments[1])
        return uniform((m, n), 1), uniform((m if arguments[0] == "tn" else n,), 2)
    if family in CONVOLUTIONS:
        c = convolution(family, *arguments)
        x, w, dy = (c.x, 1), (c.w, 2), (c.y, 3)
        return tuple(uniform(*operand) for operand in {"forward": (x, w), "data": (w, dy), "filter": (x, dy)}[c.kind])
    shape = sizes(arguments[0])
    if family == "batch":
        p, q, m, k, n = shape
        return uniform((q, p, m, k), 1), uniform((p, q, k, n), 2)
    if family in ("sum", "gelu", "slice", "panels"):
        m, k, n = shape
        a = uniform((m + 3, k + 5) if family == "slice" else (m, k), 1)
        return (a, uniform((k, n), 2), uniform((n,), 3)) if family == "gelu" else (a, uniform((k, n), 2))
    if family in ("attention", "attention-gradients"):
        return tuple(uniform(shape, seed) for seed in range(1, 4 if family == "attention" else 5))
    if family == "layernorm":
        return uniform(shape, 1), uniform(shape[1:], 2), uniform(shape[1:], 3)
    if family == "nbody":
        return uniform((*shape, 3), 1), uniform(shape, 2)
    if family == "kmeans":
        n, d, k = shape
        return uniform((n, d), 1), labels(n, k), np.arange(k)
    if family == "topk":
        shape = shape[:1]
    return (uniform(shape, 1),)  # chain, total, columns, softmax, transpose, sort, argsort, topk, median, cumsum


PARAMETERS = {  # shapes in the order of the model's parameters; weights are [out, in, window...]
    "mlp": [(128, 784), (128,), (10, 128), (10,)],
    "conv": [(32, 1, 5, 5), (32,), (32, 32, 5, 5), (32,), (64, 32, 3, 3), (64,), (64, 64, 3, 3), (64,), (10, 576), (10,)],
}


def parameters(model):
    """Initial values that every worker can make."""
    return [aligned(uniform(shape, 10 + i) * np.float32(0.1)) for i, shape in enumerate(PARAMETERS[model])]


def batch(model):
    x = uniform((BATCH[model], 784), 1)
    return x if model == "mlp" else x.reshape(-1, 1, 28, 28), labels(BATCH[model])


def warm_up(work):
    start, runs = time.perf_counter(), 0
    while time.perf_counter() - start < (LONG_WARM_UP if runs < WARM_RUNS else WARM_UP):
        work.run()
        runs += 1


def measure(run, seconds):
    times, clock = [], time.perf_counter
    start = clock()
    while not times or clock() - start < seconds:
        begin = clock()
        run()
        times.append(clock() - begin)
    return len(times), statistics.median(times)


def peak_resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def say(case, status, *words):
    print(case, status, *(" ".join(str(word).split()) for word in words), flush=True)


def join(values):
    return ",".join(f"{value:.9g}" for value in values)


def answer_requests(make):
    current = work = values = None
    for line in sys.stdin:
        case, seconds = line.split()
        try:
            if case != current:
                current = work = None
                work = make(*case.split(":"))
                with work.context():
                    values = work.check()
                    warm_up(work)
                current = case
            with work.context():
                runs, median = measure(work.run, float(seconds))
            say(case, "ok", runs, f"{median * 1e6:.4f}", join(values))
        except Exception as error:  # whatever a library throws is an answer
            say(case, "error", f"{type(error).__name__}: {error}" if str(error) != "unknown case" else error)


def serve(make, trainings):
    """The main function of a worker. make(family, *arguments) -> Work, or ValueError("unknown case"); trainings: of each family
    that trains (*arguments, steps) -> losses, from the library's own initial values."""
    if "--once" not in sys.argv:
        return answer_requests(make)
    case, steps = sys.argv[sys.argv.index("--once") + 1:][:2]
    family, *arguments = case.split(":")
    if family not in trainings:
        return say(case, "error", "unknown case")
    losses = trainings[family](*arguments, int(steps))
    say(case, "ok", peak_resident(), join(losses))
