"""docs/performance.md and its picture from the tables beside it: `./dev bench --page`. The page has a block for each machine, from
`<!-- bench:NAME -->` to `<!-- /bench -->`. A block is what the lines of the machine's TSV that begin with # say, a summary of all of
its cases, and a table of the cases in ROWS, or in GPU_ROWS."""
import io
import math
import os
import re
from dataclasses import replace
from statistics import median

import plot
import table
from peers import ROOT

DOCS = os.path.join(ROOT, "docs")
PAGE = os.path.join(DOCS, "performance.md")
PICTURE = os.path.join(DOCS, "performance.svg")
PICTURED = "zen5"
MACHINES = {"zen5": "performance.tsv", **{name: f"performance-{name}.tsv" for name in ("granite-rapids", "zen4", "sapphire-rapids", "skylake", "zen3", "zen2")}}
GPUS = {"h100": "performance-h100.tsv"}  # machines too; one that has no table yet has no place on the page either
LEVEL = 0.95  # a ratio from which on Sinter counts as level

# The rows of the page, in their order: a case, and what a user calls it. A machine that did not measure a case has no such row.
ROWS = {
    "sgemm:nn:256x256x256": "product, 256 x 256 x 256",
    "sgemm:nn:1024x1024x1024": "product, 1024 x 1024 x 1024",
    "sgemm:nt:256x10x128": "small product, 256 x 10 x 128",
    "batch:4x8x256x256x256": "batch of 32 products of 256",
    "chain:16777216": "chain of elementwise operations, 16M elements",
    "softmax:8192x1024": "softmax, 8192 rows of 1024",
    "layernorm:8192x1024": "layer norm, 8192 rows of 1024",
    "attention:4x8x512x64": "attention, 4 x 8 heads, 512 x 64",
    "conv:forward:16x64x56x56:64x3x3:1x1x1": "convolution 3 x 3, 16 x 64 x 56 x 56",
    "conv:data:16x64x56x56:64x3x3:1x1x1": "its gradient of the input",
    "conv:filter:16x64x56x56:64x3x3:1x1x1": "its gradient of the weights",
    "conv:forward:16x64x56x56:64x5x5:1x2x64": "depthwise convolution 5 x 5, the same images",
    "step:mlp": "training step, MLP 784-128-10, batch 256",
    "step:conv": "training step, MNIST convolutional net, batch 128",
    "forward:jit:1": "forward pass of the MLP under `jit`, batch 1",
    "start:conv:empty": "start of the net to its first loss, empty caches",
    "memory:conv": "peak memory of the net's training",
    "train:resnet18:32": "ResNet-18, training step, batch 32",
    "train:mobilenet:32": "MobileNetV2 blocks, training step, batch 32",
    "train:unet:8": "U-Net, training step, batch 8",
    "train:gpt:32": "GPT, training step, batch 32",
    "train:lstm-layer:32": "LSTM, training step, batch 32",
    "train:lstm:32": "LSTM as a loop over its cell, training step, batch 32",
    "train:vae:64": "VAE, training step, batch 64",
    "train:mixer:32": "MLP-mixer, training step, batch 32",
    "infer:resnet18:1": "ResNet-18, forward pass, batch 1",
    "infer:resnet18:32": "ResNet-18, forward pass, batch 32",
    "infer:mobilenet:32": "MobileNetV2 blocks, forward pass, batch 32",
    "infer:unet:32": "U-Net, forward pass, batch 32",
    "infer:gpt:32": "GPT, forward pass, batch 32",
}
GPU_ROWS = {
    "softmax:65536x1024": "softmax, 65536 rows of 1024",
    "layernorm:65536x1024": "layer norm, 65536 rows of 1024",
    "chain:67108864": "chain of elementwise operations, 64M elements",
    "columns:4096x4096": "sums of columns, 4096 x 4096",
    "transpose:4096x4096": "transpose, 4096 x 4096",
    "total:16777216": "sum of 16M elements",
    "sgemm:nn:1024x1024x1024": "product of 1024",
    "sgemm:nn:4096x4096x4096": "product of 4096",
    "bf16:gemm:nn:4096x4096x4096": "product of 4096, bfloat16",
    "f16:gemm:nn:4096x4096x4096": "product of 4096, float16",
    "bf16:gemm:nn:8192x8192x8192": "product of 8192, bfloat16",
    "f16:gemm:nn:8192x8192x8192": "product of 8192, float16",
    "attention:4x8x512x64": "attention, 4 x 8 heads, 512 x 64",
    "attention-gradients:4x8x512x64": "its gradients",
    "bf16:attention:1x16x4096x128": "attention, 16 heads, 4096 x 128, bfloat16",
    "bf16:attention-gradients:1x16x4096x128": "its gradients",
    "conv:forward:128x32x24x24:32x5x5": "convolution 5 x 5, 128 x 32 x 24 x 24",
    "conv:data:128x32x24x24:32x5x5": "its gradient of the input",
    "conv:filter:128x32x24x24:32x5x5": "its gradient of the weights",
    "step:mlp": "training step, MLP 784-128-10, batch 256",
    "step:conv": "training step, MNIST convolutional net, batch 128",
    "bf16:step:conv": "the same under autocast, bfloat16",
    "bf16:train:transformer:16": "transformer, training step, batch 16, under autocast, bfloat16",
}
PEERS = {"openblas": "OpenBLAS", "onednn": "oneDNN", "eigen": "Eigen", "torch": "PyTorch", "jax": "JAX", "mlx": "MLX", "cublas": "cuBLAS",
         "cudnn": "cuDNN"}


def shown(device):
    """The cases of the page: name -> words."""
    return ROWS if device == "cpu" else GPU_ROWS


def amount(case, value):
    """A time in us, or a memory in KiB, to three digits in a unit that suits."""
    step, units = (1024, ("KiB", "MiB", "GiB")) if case.startswith("memory:") else (1000, ("us", "ms", "s"))
    while value >= 999.5 and len(units) > 1:
        value, units = value / step, units[1:]
    return f"{value:#.3g}".rstrip(".") + f" {units[0]}"


def peer_name(name):
    """A library for each of its settings; channels innermost are another layout."""
    library, *settings = name.split("-")
    return PEERS.get(library, library) + (" (nhwc)" if "nhwc" in settings else "")


def cells(row):
    if row is None:
        return ["", "", ""]
    if math.isnan(row.ratio):
        return [amount(row.case, row.sinter), "unmeasured", ""]
    return [amount(row.case, row.sinter), f"{amount(row.case, row.peer_time)}, {peer_name(row.peer)}", f"{row.ratio:.2f}"]


def summary(rows):
    """Of all cases with a peer, with one thread and with two."""
    ratios = [[row.ratio for row in rows if row.threads == threads and not math.isnan(row.ratio)] for threads in (1, 2)]
    ratios = [some for some in ratios if some]
    if not ratios:
        return "No case of this table has a peer."
    counts = " / ".join(dict.fromkeys(str(len(some)) for some in ratios))
    level = " / ".join(str(sum(ratio >= LEVEL for ratio in some)) for some in ratios)
    middle, lowest = (" / ".join(f"{of(some):.2f}" for some in ratios) for of in (median, min))
    return f"Ahead or level ({LEVEL}) in {level} of {counts} cases; median ratio {middle}, lowest {lowest}."


def block(comments, rows):
    """Lines of Markdown."""
    by_case = {(row.case, row.threads): row for row in rows}
    shown = [case for case in ROWS if (case, 1) in by_case or (case, 2) in by_case]
    yield from comments
    yield summary(rows)
    yield ""
    yield "| | 1 thread | best peer | ratio | 2 threads | best peer | ratio |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for case in shown:
        texts = [ROWS[case], *cells(by_case.get((case, 1))), *cells(by_case.get((case, 2)))]
        yield "|" + "|".join(f" {text} " if text else " " for text in texts) + "|"


def gpu_block(comments, rows):
    """The same of a GPU, which has no numbers of threads. The last column is the driver's own copy of as many bytes by Sinter's time."""
    by_case = {row.case: row for row in rows}
    yield from comments
    yield summary(rows)
    yield ""
    yield "| | Sinter | best peer | ratio | of a copy |"
    yield "|---|--:|--:|--:|--:|"
    for row in (by_case[case] for case in GPU_ROWS if case in by_case):
        texts = [GPU_ROWS[row.case], *cells(row), "" if math.isnan(row.floor) else f"{row.floor / row.sinter:.2f}"]
        yield "|" + "|".join(f" {text} " if text else " " for text in texts) + "|"


def read(name):
    """(comments, rows) of a machine's table."""
    path = os.path.join(DOCS, {**MACHINES, **GPUS}[name])
    with open(path) as file:
        return [line.lstrip("# ").rstrip() for line in file if line.startswith("#")], table.read_tsv(path)


def filled(text):
    """The page with its blocks written anew. Raises KeyError for a machine that has no table."""
    def anew(found):
        lines = (gpu_block if found[2] in GPUS else block)(*read(found[2]))
        return found[1] + "".join(line + "\n" for line in lines) + found[3]
    return re.sub(r"(<!-- bench:(\S+) -->\n).*?(<!-- /bench -->)", anew, text, flags=re.S)


def picture():
    """The rows of one machine's table as a picture, in words."""
    rows = {(row.case, row.threads): row for row in read(PICTURED)[1]}
    out = io.StringIO()
    plot.draw([replace(rows[case, threads], case=words.replace("`", ""), peer=peer_name(rows[case, threads].peer))
               for case, words in ROWS.items() for threads in (1, 2) if (case, threads) in rows], out)
    return out.getvalue()


def write():
    with open(PAGE) as file:
        text = filled(file.read())
    for path, content in ((PAGE, text), (PICTURE, picture())):
        with open(path, "w") as file:
            file.write(content)
