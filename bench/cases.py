"""What is measured: the one list of cases. A name is a family and its arguments, which workers parse (worker.h)."""
from dataclasses import dataclass
from math import prod

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Case:
    name: str
    flops: float = 0      # that the work needs, a multiply-add being two
    bytes: float = 0      # that must cross memory, where nothing fits the caches
    kind: str = "time"    # time: us of a run; start: us from process start to the first loss; memory: KiB
    once: str = ""        # of start and memory: the worker's case
    steps: int = 1        # of start and memory: of training
    warm: bool = False    # of start and memory: with full disk caches
    plain: str = ""       # the product whose FLOP rate this one should reach
    ranked: bool = False  # counts in the geometric mean of the products
    device: str = ""      # where it runs; empty: everywhere


def product(layout, m, k, n, ranked=True, device=""):
    return Case(f"sgemm:{layout}:{m}x{k}x{n}", flops=2.0 * m * k * n, ranked=ranked, device=device)


def nest(family, *sizes, plain):
    return Case(f"{family}:{'x'.join(map(str, sizes))}", flops=2.0 * prod(sizes), plain=f"sgemm:nn:{plain}x{plain}x{plain}")


def stream(name, floats, device=""):
    return Case(name, bytes=floats * FLOAT, device=device)


def conv(n, c, size, k, window, stride=1, padding=0, groups=1, device="cpu"):
    """A convolution and its two gradients: as many FLOPs each."""
    flops = 2.0 * n * k * ((size + 2 * padding - window) // stride + 1) ** 2 * c // groups * window ** 2
    options = f":{stride}x{padding}x{groups}" if (stride, padding, groups) != (1, 0, 1) else ""
    return [Case(f"conv:{kind}:{n}x{c}x{size}x{size}:{k}x{window}x{window}{options}", flops=flops, device=device)
            for kind in ("forward", "data", "filter")]


def conv_step_flops(batch=128):
    """Forward, and twice as much backward but for the first layer, whose input needs no gradient."""
    first = 24 * 24 * 32 * 25
    others = 20 * 20 * 32 * 800 + 8 * 8 * 64 * 288 + 6 * 6 * 64 * 576 + 576 * 10
    return 2.0 * batch * (2 * first + 3 * others)


def mlp_step_flops(batch=256):
    return 2.0 * batch * (2 * 784 * 128 + 3 * 128 * 10)


M16 = 1 << 24
ROWS = 8192 * 1024

CASES = [
    *(product("nn", n, n, n) for n in (256, 512, 1024, 2048)),
    # The products of a training step of 784-128-10 with batches of 256: forward, weight gradients (tn), input gradients (nt).
    product("nn", 256, 784, 128), product("tn", 784, 256, 128), product("nt", 256, 128, 784),
    product("nn", 256, 128, 10), product("nt", 256, 10, 128), product("tn", 128, 256, 10),
    product("nn", 1023, 1023, 1023), product("nn", 500, 700, 300),
    product("nn", 1000, 1000, 1000, ranked=False),
    # A small batch and the weights of a layer, as nn::Linear has them (nt) and as a matrix to multiply with.
    product("nt", 32, 1024, 1024, ranked=False), product("nn", 32, 1024, 1024, ranked=False),
    # What a product made beforehand takes, as oneDNN's always are: the smallest ones once more under jit().
    *(Case(f"jit:{layout}", flops=2.0 * 256 * 128 * 10) for layout in ("nn:256x128x10", "nt:256x10x128", "tn:128x256x10")),
    nest("sum", 1024, 1024, 1024, plain=1024), nest("batch", 4, 8, 256, 256, 256, plain=256),
    nest("gelu", 1024, 1024, 1024, plain=1024), nest("slice", 1000, 1000, 1000, plain=1000),
    nest("panels", 1024, 1024, 1024, plain=1024),
    Case("step:mlp", flops=mlp_step_flops()), Case("step:conv", flops=conv_step_flops()),
    stream(f"chain:{M16}", 2 * M16), stream("softmax:8192x1024", 2 * ROWS), stream("layernorm:8192x1024", 2 * ROWS),
    # Rows so short that each sum goes one by one: ten classes, heads of few features.
    stream("softmax:65536x10", 2 * 65536 * 10), stream("layernorm:65536x48", 2 * 65536 * 48),
    stream(f"total:{M16}", M16), stream("columns:4096x4096", M16),
    stream("transpose:4096x4096", 2 * M16),
    Case("attention:4x8x512x64", flops=4.0 * 4 * 8 * 512 * 512 * 64),
    stream("matvec:nn:4096x4096", M16), stream("matvec:tn:4096x4096", M16),
    # Convolutions as networks for images have them: LeNet's, ResNet's and those of MobileNet, which convolve each plane by itself.
    *conv(128, 1, 28, 32, 5), *conv(128, 32, 24, 32, 5, device=""), *conv(16, 3, 112, 64, 7, 2, 3),
    *conv(16, 64, 56, 64, 3, 1, 1), *conv(16, 128, 28, 128, 3, 1, 1), *conv(16, 256, 14, 256, 3, 1, 1), *conv(16, 512, 7, 512, 3, 1, 1),
    *conv(1, 64, 56, 64, 3, 1, 1), *conv(16, 64, 56, 128, 3, 2, 1), *conv(16, 64, 56, 256, 1), *conv(16, 256, 28, 512, 1, 2),
    *conv(16, 64, 56, 64, 3, 1, 1, 64), *conv(16, 64, 56, 64, 5, 1, 2, 64),
    Case("forward:mlp:1"), Case("forward:jit:1"),
    # What the host pays, for each of so many: no library has the same parts.
    Case("node:256"), Case("walk:256"), Case("launch:256"),
    # What a CPU would take too long for, or streams more than a GPU's cache holds.
    product("nn", 4096, 4096, 4096, device="cuda"), stream(f"chain:{4 * M16}", 8 * M16, device="cuda"),
    stream("softmax:65536x1024", 16 * ROWS, device="cuda"), stream("layernorm:65536x1024", 16 * ROWS, device="cuda"),
    # The convolutions of step:conv but the first two.
    *conv(128, 32, 10, 64, 3, device="cuda"), *conv(128, 64, 8, 64, 3, device="cuda"),
    *(Case(f"start:{model}:{'warm' if warm else 'empty'}", kind="start", once=f"step:{model}", warm=warm)
      for model in ("mlp", "conv") for warm in (False, True)),
    Case("memory:mlp", kind="memory", once="step:mlp", steps=100, warm=True),
    Case("memory:conv", kind="memory", once="step:conv", steps=5, warm=True),
]
