#!/usr/bin/env python3
"""Installs the build, moves the installed tree, and builds and runs a consumer of it with CMake and with pkg-config, while the
source and the build tree are out of reach: nothing installed names them, and where the system allows it (mount namespaces)
an empty folder lies over them."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*words, env=None, cwd=None):
    done = subprocess.run([str(w) for w in words], env=env, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def names(tree, texts):
    """Files below `tree` that hold one of the texts."""
    for path in sorted(tree.rglob("*")):
        if path.is_file() and any(t.encode() in path.read_bytes() for t in texts):
            yield path.relative_to(tree)


def hidden(folders):
    """Words before a command that lay an empty folder over each of `folders`; none where the system forbids it."""
    cover = " && ".join(f"mount -t tmpfs none '{f}'" for f in folders)
    words = ["unshare", "--mount", "--map-root-user", "sh", "-c", f'{cover} && exec "$@"', "sh"]
    try:
        allowed = subprocess.run([*words, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        allowed = False
    print("source and build tree are", "covered" if allowed else "reachable, but nothing installed names them")
    return words if allowed else []


def check(folder, source, build, compiler):
    run("cmake", "--install", build, "--prefix", folder / "first")
    prefix = folder / "moved" / "tree"
    prefix.parent.mkdir()
    (folder / "first").rename(prefix)
    leaks = list(names(prefix, [str(source), str(build), str(folder)]))
    if leaks:
        sys.exit(f"installed files name the tree they come from: {', '.join(map(str, leaks))}")

    project = folder / "project"
    shutil.copytree(HERE / "consumer", project)
    away = hidden([source] if build.is_relative_to(source) else [source, build])
    env = {k: v for k, v in os.environ.items() if not k.startswith("SINTER_")}
    env["XDG_CACHE_HOME"] = str(folder / "cache")
    env["PKG_CONFIG_PATH"] = os.pathsep.join(map(str, prefix.rglob("pkgconfig")))
    run(*away, "cmake", "-S", project, "-B", folder / "out", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", env=env, cwd=folder)
    run(*away, "cmake", "--build", folder / "out", env=env, cwd=folder)
    flags = run(*away, "pkg-config", "--cflags", "--libs", "sinter-data", env=env, cwd=folder).split()
    run(*away, compiler, "-std=c++20", project / "consumer.cpp", "-o", folder / "one_liner", *flags, env=env, cwd=folder)

    if not any(prefix.rglob("libsinter_cudasim.so")):
        sys.exit(f"{prefix}: the simulated GPU is not installed")
    has_plugin = any(prefix.rglob("libsinter_clang.so"))
    for program in (folder / "out" / "consumer", folder / "one_liner"):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        if any(prefix.rglob("libsinter.so")):  # a plain g++ line leaves the search of shared libraries to its user
            env["LD_LIBRARY_PATH"] = str(next(prefix.rglob("libsinter.so")).parent)
        lines = run(*away, program, env=env, cwd=folder).splitlines()
        if lines[:1] != ["learned"]:
            sys.exit(f"{program}: {lines}")
        plugin = pathlib.Path(lines[1].removeprefix("plugin ")) if len(lines) > 1 else None
        if has_plugin and not (plugin and plugin.resolve().is_relative_to(prefix.resolve())):
            sys.exit(f"{program}: the plugin of {prefix} was not opened, but {plugin}")
        if has_plugin:  # which compiles for the simulated GPU
            sums = run(*away, program, "sum", env={**env, "SINTER_DEVICE": "cuda-sim"}, cwd=folder).split()
            if sums != ["6"]:
                sys.exit(f"{program} on the simulated GPU: {sums}")
        print(f"{program.name}: built, ran, learned, plugin {plugin}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="c++")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sinter-install-") as folder:
        check(pathlib.Path(folder).resolve(), args.source.resolve(), args.build.resolve(), args.compiler)


if __name__ == "__main__":
    main()
