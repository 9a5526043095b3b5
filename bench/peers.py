"""Sinter and its peers: how each is started, at its best setting. A peer that is not installed is left out."""
import glob
import os
import shutil
import subprocess
import sys
from dataclasses import replace

from workers import Library

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# Where the workers are: in the build, or, in what ./dev dist packed, beside this folder.
BIN = next((path for path in (os.path.join(ROOT, "build", "release", "bin"), os.path.join(ROOT, "bin")) if os.path.isdir(path)), "")

# glibc keeps its memory, on huge pages: a fresh mapping for each large result costs more than the work itself. Threads of
# OpenMP stay where they are.
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 34), "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
HEAP = {**KEPT, "MALLOC_ARENA_MAX": "1"}
OPENMP = {**HEAP, "OMP_PROC_BIND": "close"}


def core_type(flags):
    """OpenBLAS's name for kernels of these instructions, which one that does not know the machine would not take; empty: it chooses."""
    return "SkylakeX" if "avx512vl" in flags else "Haswell" if "avx2" in flags else ""


with open("/proc/cpuinfo") as cpuinfo:
    CORE = core_type(cpuinfo.read().split())
OF_CORE = {"OPENBLAS_CORETYPE": CORE} if CORE else {}

BUILT = {  # C++: name -> executable and environment
    "openblas": ("bench_openblas", HEAP),
    **({f"openblas-{CORE.lower()}": ("bench_openblas", {**HEAP, **OF_CORE})} if CORE else {}),
    "onednn": ("bench_onednn", OPENMP),
    "onednn-sgemm": ("bench_onednn", {**OPENMP, "BENCH_SGEMM": "1"}),
    "eigen": ("bench_eigen", OPENMP),
}
# The Python that --setup put peers into, or this one; and Debian's, whose PyTorch is older, smaller and uses OpenBLAS.
OWN = os.path.join(ROOT, "build", "peers", "bin", "python")
OWN = OWN if os.path.exists(OWN) else sys.executable
DEBIAN = "/usr/bin/python3"
PYTHON = {  # name -> interpreter, module that must be there, script, arguments and environment
    "torch": (OWN, "torch", "peer_torch.py", [], OPENMP),
    "torch-compile": (OWN, "torch", "peer_torch.py", ["--compile"], {**OPENMP, "TORCHINDUCTOR_COMPILE_THREADS": "1"}),
    "torch-nhwc": (OWN, "torch", "peer_torch.py", ["--channels-last"], OPENMP),
    "torch-debian": (DEBIAN, "torch", "peer_torch.py", [], {**OPENMP, **OF_CORE}),
    "torch-debian-nhwc": (DEBIAN, "torch", "peer_torch.py", ["--channels-last"], {**OPENMP, **OF_CORE}),
    "numpy": (OWN, "numpy", "peer_numpy.py", [], HEAP),
    "jax": (OWN, "jax", "peer_jax.py", [], {**HEAP, "JAX_PLATFORMS": "cpu"}),
    "mlx": (OWN, "mlx", "peer_mlx.py", [], HEAP),
    "tinygrad": (OWN, "tinygrad", "peer_tinygrad.py", [], {**HEAP, "DEV": "CPU"}),
}
IMAGES = "^conv:|^(bf16:|f16:)?(step:conv|(train|infer):(resnet18|mobilenet|unet|vae))"
CASES = {  # of a peer that is not for all
    "numpy": "^(sort|argsort|topk|median|cumsum):",
    "torch-nhwc": IMAGES, "torch-debian-nhwc": IMAGES,
    "torch-compile": "^(?!(start|memory):)|:(mlp|conv)",  # it compiles a network for a minute or two: no first step at its best
}
# On a GPU. Builds of the others from a registry are for the CPU; cuBLAS and cuDNN come with PyTorch.
NVIDIA = {"LD_LIBRARY_PATH": os.pathsep.join(
    [*glob.glob(os.path.join(ROOT, "build", "peers", "lib", "python*", "site-packages", "nvidia", "*", "lib")),
     *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])}
GPU_BUILT = {"cublas": ("bench_cublas", NVIDIA), "cudnn": ("bench_cudnn", NVIDIA)}
GPU = {"torch": "", "torch-nhwc": IMAGES, "torch-compile": "(step|train):"}  # and the cases that each is there for


def sparing(library):
    """The same for rows of memory: what keeps it saves time only."""
    return replace(library, env={name: value for name, value in library.env.items() if name not in KEPT})


def sinter(device):
    return Library("sinter", [os.path.join(BIN, "bench_sinter")], {"SINTER_DEVICE": device})


def roofs(device):
    """What the machine allows: asked in turns like a peer."""
    return Library("roofs", [os.path.join(BIN, "bench_roofs")], {"SINTER_DEVICE": device})


def has_module(python, name):
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def installed(device):
    """The peers that can be started, in the order of the tables above."""
    if device == "cuda-sim":
        return
    for name, (executable, env) in (BUILT if device == "cpu" else GPU_BUILT).items():
        path = os.path.join(BIN, executable)
        if os.path.exists(path):
            yield Library(name, [path], env)
    for name, (python, module, script, arguments, env) in PYTHON.items():
        if device == "cuda" and (name not in GPU or name == "torch-compile" and not shutil.which("cc")):  # which Triton calls
            continue
        if has_module(python, module):
            cases = (CASES if device == "cpu" else GPU).get(name, "")
            yield Library(name, [python, os.path.join(HERE, script), *arguments], {**env, "BENCH_DEVICE": device}, cases)
