#!/usr/bin/env python3
"""Machine code of kernels for an NVIDIA GPU, and what ptxas says of their registers, shared memory and spills. Nothing
runs, so no GPU is needed: only NVRTC, which compiles as Sinter does, and nvdisasm of the CUDA toolkit.

FILE is what DEBUG=4 prints, of which it takes the kernels whose names match --only, or one kernel's text; - is stdin:

  SINTER_DEVICE=cuda-sim DEBUG=4 build/release/bin/tour 2>&1 | ./dev sass - --only r_4

prints the tour's kernels of that name. DEBUG=4 prints what lies in the cache folder too, and before it runs."""
import argparse
import collections
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CUBIN = ROOT / "build" / "release" / "bin" / "sass_cubin"
HEAD = re.compile(r"// kernel (\S+) \(.*\)$")  # before each text that DEBUG=4 prints
# Beside PATH. Python's wheels have it too: nvidia-cuda-nvdisasm, and Triton's.
INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?([A-Z]\w*)")
COUNTED = 12  # kinds of instructions that the summary names
PLACES = ["/usr/local/cuda/bin", "/usr/local/cuda-*/bin"]
WHEELS = ["nvidia/*/bin", "triton/backends/nvidia/bin"]


def kernels_of(text):
    """(name, text) of each kernel of a log, once; of a text without such lines, one that is called kernel. A kernel ends with the brace
    of its last function: other lines may follow."""
    found, name = {}, None
    for line in text.splitlines():
        if head := HEAD.match(line):
            name = head[1]
            found[name] = []
        elif name:
            found[name].append(line)
    if not found:
        return [("kernel", text)]
    return [(name, "\n".join(lines[:last_brace(lines) + 1]) + "\n") for name, lines in found.items()]


def last_brace(lines):
    return max((i for i, line in enumerate(lines) if line == "}"), default=len(lines) - 1)


def places():
    """Folders that may hold programs of the toolkit."""
    toolkits = [os.path.join(os.environ[name], "bin") for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)] + PLACES
    packages = [path for path in sys.path if path.endswith("-packages")]
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(name):
            packages.append(os.path.join(os.environ[name], "lib", "python3*", "site-packages"))
    packages.append(str(ROOT / "build" / "peers" / "lib" / "python3*" / "site-packages"))
    return toolkits + [os.path.join(folder, wheel) for folder in packages for wheel in WHEELS]


def find_nvdisasm():
    """Its path. Exits with what to do where there is none."""
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), *(found for place in places() for found in sorted(glob.glob(place)))]:
        if path := shutil.which("nvdisasm", path=folder or "."):
            return path
    sys.exit("nvdisasm is in neither PATH nor CUDA_HOME nor /usr/local/cuda nor a Python package; "
             "install the CUDA toolkit, or: pip install nvidia-cuda-nvdisasm")


def disassembled(text, sm, nvdisasm):
    """What ptxas says of a text's functions, and their machine code. Exits with what a program of NVIDIA's said against it."""
    with tempfile.TemporaryDirectory(prefix="sass-") as folder:
        cubin = os.path.join(folder, "kernel.cubin")
        said, code = run([CUBIN, str(sm), cubin], text), run([nvdisasm, "-c", cubin])
    return said + summary(code) + code


def summary(code):
    """How many instructions there are, and of which kinds most."""
    counts = collections.Counter(found[1] for line in code.splitlines() if (found := INSTRUCTION.match(line)))
    most = ", ".join(f"{kind} {count}" for kind, count in counts.most_common(COUNTED))
    return f"// {counts.total()} instructions: {most}\n"


def run(command, given=""):
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{os.path.basename(command[0])}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def sm_of(arch):
    """sm_90, sm_90a and 90 are all 90."""
    found = re.fullmatch(r"(?:sm_)?(\d+)a?", arch)
    if not found:
        raise argparse.ArgumentTypeError(f"{arch} is no architecture; sm_90, say")
    return int(found[1])


def main():
    parser = argparse.ArgumentParser(prog="./dev sass", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--arch", type=sm_of, default=90, help="of the GPU (sm_90)")
    parser.add_argument("--only", metavar="REGEX", default="", help="kernels whose name matches")
    options = parser.parse_args()
    try:
        text = sys.stdin.read() if options.file == "-" else pathlib.Path(options.file).read_text(errors="replace")
    except OSError as error:
        sys.exit(f"{options.file}: {error.strerror}")
    kernels = [(name, text) for name, text in kernels_of(text) if re.search(options.only, name)]
    if not kernels:
        sys.exit(f"--only {options.only}: no kernel matches")
    nvdisasm = find_nvdisasm()
    for name, text in kernels:
        if "__global__" not in text:
            sys.exit(f"{name}: no text of a CUDA kernel; was it written for a CPU?")
        print(disassembled(text, options.arch, nvdisasm), end="")


if __name__ == "__main__":
    main()
