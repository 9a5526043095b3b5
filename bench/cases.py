"""What is measured: the one list of cases. A name is a family and its arguments, which workers parse (worker.h)."""
from dataclasses import dataclass
from math import prod

FLOAT = 4  # bytes
TYPES = {"bf16": 8, "f16": 11}  # 16-bit floats: what stands before a family, and how many significant bits they have


@dataclass(frozen=True)
class Case:
    name: str
    flops: float = 0      # that the work needs, a multiply-add being two
    bytes: float = 0      # that must cross memory, where nothing fits the caches
    reads: float = 0      # the same, of a case that writes next to nothing
    kind: str = "time"    # time: us of a run; start: us from process start to the first loss; memory: KiB
    once: str = ""        # of start and memory: the worker's case
    steps: int = 1        # of start and memory: of training
    warm: bool = False    # of start and memory: with full disk caches
    plain: str = ""       # the case whose FLOP rate this one should reach
    runs: int = 11        # of start: processes
    ranked: str = ""      # the geometric mean that it counts in
    device: str = ""      # where it runs; empty: everywhere

    @property
    def type(self):
        """The 16-bit type before the family; empty: float32."""
        first = self.name.split(":")[0]
        return first if first in TYPES else ""

    @property
    def family(self):
        return self.name.split(":")[1 if self.type else 0]


def product(layout, m, k, n, ranked="products", device=""):
    return Case(f"sgemm:{layout}:{m}x{k}x{n}", flops=2.0 * m * k * n, ranked=ranked, device=device)


def attention(b, h, t, d, prefix="", device="cuda"):
    """The result needs two products of the scores' size; the gradients need the scores once more, and four."""
    sizes, products = f"{b}x{h}x{t}x{d}", 2.0 * b * h * t * t * d
    return [Case(f"{prefix}attention:{sizes}", flops=2 * products, device=device),
            Case(f"{prefix}attention-gradients:{sizes}", flops=5 * products, device="cuda")]


def narrow_product(dtype, n):
    return Case(f"{dtype}:gemm:nn:{n}x{n}x{n}", flops=2.0 * n ** 3, ranked="16-bit products", device="cuda")


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


def conv3d(n, c, size, k, window, stride=1, padding=0):
    flops = 2.0 * n * k * ((size + 2 * padding - window) // stride + 1) ** 3 * c * window ** 3
    return [Case(f"conv3d:{kind}:{n}x{c}x{size}x{size}x{size}:{k}x{window}x{window}x{window}:{stride}x{padding}x1", flops=flops, device="cpu")
            for kind in ("forward", "data", "filter")]


def conv_transpose(n, c, size, k, window, stride, padding):
    flops = 2.0 * n * c * size ** 2 * k * window ** 2
    return [Case(f"conv-transpose:{kind}:{n}x{c}x{size}x{size}:{k}x{window}x{window}:{stride}x{padding}", flops=flops, device="cpu")
            for kind in ("forward", "data", "filter")]


def conv_step_flops(batch=128):
    """Forward, and twice as much backward but for the first layer, whose input needs no gradient."""
    first = 24 * 24 * 32 * 25
    others = 20 * 20 * 32 * 800 + 8 * 8 * 64 * 288 + 6 * 6 * 64 * 576 + 576 * 10
    return 2.0 * batch * (2 * first + 3 * others)


def mlp_step_flops(batch=256):
    return 2.0 * batch * (2 * 784 * 128 + 3 * 128 * 10)


def conv_macs(size, c, k, window=3):
    """Multiply-adds of a convolution that makes k images of size x size, each of c."""
    return size ** 2 * k * c * window ** 2


# Multiply-adds of the networks (networks/*.h) for one example: of all, and of the first layer, whose input needs no gradient.
def resnet18_macs():
    first = conv_macs(32, 3, 64)
    stages = sum(conv_macs(size, k // 2, k) + 3 * conv_macs(size, k, k) + conv_macs(size, k // 2, k, 1)
                 for size, k in ((16, 128), (8, 256), (4, 512)))
    return first + 4 * conv_macs(32, 64, 64) + stages + 512 * 10, first


def mobilenet_macs():
    macs = first = conv_macs(32, 3, 32)
    size, c = 32, 32
    for expansion, k, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)):
        for block in range(blocks):
            wide, after = c * expansion, size // (stride if block == 0 else 1)
            macs += (conv_macs(size, c, wide, 1) if expansion > 1 else 0) + conv_macs(after, 1, wide) + conv_macs(after, wide, k, 1)
            size, c = after, k
    return macs + conv_macs(size, c, 320, 1) + 320 * 10, first


def unet_macs():
    pair = lambda size, c, k: conv_macs(size, c, k) + conv_macs(size, k, k)
    down = pair(64, 3, 32) + pair(32, 32, 64) + pair(16, 64, 128) + pair(8, 128, 256)
    up = sum(conv_macs(size // 2, 2 * k, k, 2) + pair(size, 2 * k, k) for size, k in ((16, 128), (32, 64), (64, 32)))
    return down + up + conv_macs(64, 32, 10, 1), conv_macs(64, 3, 32)


def gpt_macs(layers=4, positions=128, size=128, tokens=256):
    """A position sees itself and those before."""
    return layers * (positions * 12 * size ** 2 + positions * (positions + 1) * size) + positions * size * tokens, 0


def lstm_macs(positions=64, size=256, tokens=256):
    return positions * (8 * size ** 2 + size * tokens), 0


def vae_macs(latent=20):
    first = conv_macs(14, 1, 32)
    return first + conv_macs(7, 32, 64) + 3136 * 3 * latent + conv_macs(14, 64, 32) + conv_macs(28, 32, 1), first


def mixer_macs(layers=8, patches=64, size=128):
    first = conv_macs(8, 3, size, 4)
    return first + layers * (2 * patches ** 2 * size + 8 * patches * size ** 2) + size * 10, first


def network(name, batch, macs):
    """Training and inference, the first step in a new process, and memory. A step is a forward pass and twice as much backward."""
    every, first = macs
    train = f"train:{name}:{batch}"
    return [Case(train, flops=2.0 * batch * (3 * every - first), ranked="networks"),
            *(Case(f"infer:{name}:{n}", flops=2.0 * n * every, ranked="networks") for n in (1, 32)),
            Case(f"start:{name}:empty", kind="start", once=train, runs=3),
            Case(f"memory:{name}", kind="memory", once=train, steps=5, warm=True)]


def checkpointed(batch):
    """Steps of twelve transformer blocks that keep what the gradient needs, and that compute it again, and their memory. The rate of the
    second is that of the same work: below that of the first by what computing again costs."""
    flops = 2.0 * batch * 3 * (gpt_macs(layers=12, positions=128, size=256, tokens=0)[0] + 256 * 10)
    steps = {name: f"train:{name}:{batch}" for name in ("blocks", "blocks-checkpoint")}
    return [Case(steps["blocks"], flops=flops), Case(steps["blocks-checkpoint"], flops=flops, plain=steps["blocks"]),
            *(Case(f"memory:{name}", kind="memory", once=step, steps=5, warm=True) for name, step in steps.items())]


def decode(layers, size, tokens, positions):
    """A token reads all weights but the table of tokens, and half of the caches in the mean."""
    weights = layers * 12 * size ** 2 + size * tokens
    return Case(f"decode:{layers}x{size}x{tokens}x{positions}", reads=FLOAT * (weights + layers * positions * size), device="cpu")


M1 = 1 << 20
M16 = 1 << 24
ROWS = 8192 * 1024

CASES = [
    *(product("nn", n, n, n) for n in (256, 512, 1024, 2048)),
    # The products of a training step of 784-128-10 with batches of 256: forward, weight gradients (tn), input gradients (nt).
    product("nn", 256, 784, 128), product("tn", 784, 256, 128), product("nt", 256, 128, 784),
    product("nn", 256, 128, 10), product("nt", 256, 10, 128), product("tn", 128, 256, 10),
    product("nn", 1023, 1023, 1023), product("nn", 500, 700, 300),
    product("nn", 1000, 1000, 1000, ranked=""),
    # A small batch and the weights of a layer, as nn::Linear has them (nt) and as a matrix to multiply with.
    product("nt", 32, 1024, 1024, ranked=""), product("nn", 32, 1024, 1024, ranked=""),
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
    *attention(4, 8, 512, 64, device=""),
    stream("matvec:nn:4096x4096", M16), stream("matvec:tn:4096x4096", M16),
    # Convolutions as networks for images have them: LeNet's, ResNet's and those of MobileNet, which convolve each plane by itself.
    *conv(128, 1, 28, 32, 5), *conv(128, 32, 24, 32, 5, device=""), *conv(16, 3, 112, 64, 7, 2, 3),
    *conv(16, 64, 56, 64, 3, 1, 1), *conv(16, 128, 28, 128, 3, 1, 1), *conv(16, 256, 14, 256, 3, 1, 1), *conv(16, 512, 7, 512, 3, 1, 1),
    *conv(1, 64, 56, 64, 3, 1, 1), *conv(16, 64, 56, 128, 3, 2, 1), *conv(16, 64, 56, 256, 1), *conv(16, 256, 28, 512, 1, 2),
    *conv(16, 64, 56, 64, 3, 1, 1, 64), *conv(16, 64, 56, 64, 5, 1, 2, 64),
    # Those that make images larger, as decoders have them, and those of volumes.
    *conv_transpose(16, 64, 28, 32, 4, 2, 1), *conv_transpose(16, 256, 8, 128, 4, 2, 1), *conv_transpose(8, 128, 32, 64, 2, 2, 0),
    *conv3d(2, 16, 32, 32, 3, 1, 1), *conv3d(4, 32, 16, 64, 3, 1, 1),
    # An odd count: of an even one NumPy's median is between the two in the middle.
    *(Case(f"{order}:{M1}", device="cpu") for order in ("sort", "argsort")), Case(f"topk:{M1}x100", device="cpu"), Case(f"median:{M1 - 1}", device="cpu"),
    stream(f"cumsum:{M1}:0", 2 * M1, device="cpu"), *(stream(f"cumsum:4096x4096:{axis}", 2 * M16, device="cpu") for axis in (0, 1)),
    # A pair of bodies takes 20 operations; clusters read points and labels.
    Case("nbody:4096", flops=20.0 * 4096 ** 2, device="cpu"), Case(f"kmeans:{10 ** 6}x8x16", reads=10 ** 6 * (8 * FLOAT + 8), device="cpu"),
    Case("forward:mlp:1"), Case("forward:jit:1"), decode(12, 768, 8192, 256),
    # What the host pays, for each of so many: no library has the same parts.
    Case("node:256"), Case("walk:256"), Case("launch:256"),
    # What a CPU would take too long for, or streams more than a GPU's cache holds.
    product("nn", 4096, 4096, 4096, device="cuda"), *(narrow_product(dtype, n) for dtype in TYPES for n in (4096, 8192)),
    *attention(1, 16, 4096, 128, "bf16:"), stream(f"chain:{4 * M16}", 8 * M16, device="cuda"),
    stream("softmax:65536x1024", 16 * ROWS, device="cuda"), stream("layernorm:65536x1024", 16 * ROWS, device="cuda"),
    # Under autocast.
    Case("bf16:step:conv", flops=conv_step_flops(), device="cuda"),
    Case("bf16:train:transformer:16", flops=2.0 * 16 * 3 * gpt_macs(layers=6, positions=512, size=512, tokens=4096)[0], device="cuda"),
    # The convolutions of step:conv but the first two.
    *conv(128, 32, 10, 64, 3, device="cuda"), *conv(128, 64, 8, 64, 3, device="cuda"),
    *(Case(f"start:{model}:{'warm' if warm else 'empty'}", kind="start", once=f"step:{model}", warm=warm)
      for model in ("mlp", "conv") for warm in (False, True)),
    Case("memory:mlp", kind="memory", once="step:mlp", steps=100, warm=True),
    Case("memory:conv", kind="memory", once="step:conv", steps=5, warm=True),
    *network("resnet18", 32, resnet18_macs()), *network("mobilenet", 32, mobilenet_macs()), *network("unet", 8, unet_macs()),
    *network("gpt", 32, gpt_macs()), *network("lstm", 32, lstm_macs()),
    *network("lstm-layer", 32, lstm_macs()), *network("vae", 64, vae_macs()),
    *network("mixer", 32, mixer_macs()), *checkpointed(4),
]
