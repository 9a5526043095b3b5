#!/usr/bin/env python3
"""Runs a program of the documentation in an empty folder and compares what it prints with the lines `//> ...` of its source, in order.
`...` in such a line stands for any text. With --any-output it may print anything. [--any-output] PROGRAM SOURCE"""
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    program, source = (pathlib.Path(a).resolve() for a in sys.argv[-2:])
    wanted = re.findall(r"^ *//> ?(.*)$", source.read_text(), re.M)
    if bool(wanted) == ("--any-output" in sys.argv):
        sys.exit(f"{source.name}: {len(wanted)} lines `//> ...` say what it prints")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program.name} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    printed = done.stdout.splitlines()
    for number in range(max(len(wanted), len(printed)) if wanted else 0):
        want = wanted[number] if number < len(wanted) else None
        got = printed[number] if number < len(printed) else None
        pattern = None if want is None else ".*".join(map(re.escape, want.split("...")))
        if want is None or got is None or not re.fullmatch(pattern, got):
            sys.exit(f"{source.name}: line {number + 1} of what it prints is\n  {got}\nand should be\n  {want}")
    print(f"{source.name}: prints the {len(wanted)} lines that it says")


if __name__ == "__main__":
    main()
