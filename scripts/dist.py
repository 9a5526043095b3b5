#!/usr/bin/env python3
"""./dev dist: packs what the preset `dist` built - tests, example, benchmark, the simulated GPU - with the data that they read into one archive
for a machine with a GPU that has neither compilers nor packages. Fails if a program needs more than the C library, or if the
folder is too large."""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "dist"
PROGRAMS = ["test_semantics", "test_fuzz", "mnist", "bench_sinter", "bench_roofs", "bench_cublas", "bench_cudnn"]
PLUGINS = ["libsinter_cudasim.so"]  # found in ../lib of a program
DATA = ["bench/*.py", "scripts/accept.py", "tests/data/*", "LICENSE"]  # a subset of MNIST is in the example
MNIST = ROOT.parent / "shared/data/mnist"  # the full one, where it is there
SYSTEM = re.compile(r"lib[cm]\.so\.6|ld-linux-x86-64\.so\.2")  # what a program may need
LIMIT = 60_000_000  # bytes, unpacked


def objdump(option, program):
    return subprocess.run(["objdump", option, program], capture_output=True, text=True, check=True).stdout


def c_library(program):
    """The version of the C library that it asks for, as (2, 35). Exits if it needs another library."""
    needed = re.findall(r"NEEDED\s+(\S+)", objdump("-p", program))
    if others := [name for name in needed if not SYSTEM.fullmatch(name)]:
        sys.exit(f"{program.name} needs {', '.join(others)}; only the C library is on the other machine")
    return max(tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", objdump("-T", program)))


def commit():
    """What the code is, in words of git."""
    made = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return made.stdout.strip() or "unknown"


def pack(folder, build=BUILD, put=shutil.copy2):
    """Fills a new folder. `put(from, to)` brings what was built."""
    for place, names in (("bin", PROGRAMS), ("lib", PLUGINS)):
        (folder / place).mkdir(parents=True)
        for name in names:
            put(build / place / name, folder / place / name)
    for pattern in DATA:
        for source in ROOT.glob(pattern):
            target = folder / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)
    if MNIST.is_dir():
        shutil.copytree(MNIST, folder / "data" / "mnist")
    (folder / "code").write_text(commit() + "\n")
    shutil.copy2(ROOT / "scripts" / "dist_run.py", folder / "run")


def main():
    version = ".".join(re.findall(r"(?:MAJOR|MINOR|PATCH) (\d+)", (ROOT / "include/sinter/version.h").read_text()))
    folder = BUILD / f"sinter-{version}-x86_64"
    shutil.rmtree(folder, ignore_errors=True)
    pack(folder)
    oldest = max(c_library(program) for place in ("bin", "lib") for program in (folder / place).iterdir())
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > LIMIT:
        sys.exit(f"{folder} has {size / 1e6:.1f} MB, more than {LIMIT / 1e6:.0f}")
    archive = folder.parent / f"{folder.name}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, folder.name)
    print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB unpacked; needs glibc "
          f"{'.'.join(map(str, oldest))} or later, an NVIDIA driver and NVRTC. There: ./run")


if __name__ == "__main__":
    main()
