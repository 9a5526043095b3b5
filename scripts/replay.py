#!/usr/bin/env python3
"""./dev replay record | check | text PLAN MACHINE: proves that a change alters no kernel.

record   runs tests, examples and the cases of the benchmark, keeps every plan that they schedule, and writes each as
         kernels for six fixed machines: build/replay/plans and build/replay/lines, some ten minutes
check    writes the same plans again, with the library as it is now, and fails where a text or a launch differs
text     prints a plan and its kernels for a machine, to be compared with what another build prints"""
import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
FOLDER = ROOT / "build" / "replay"
HEAD = "plan "  # how the text of a plan begins

# One test is left out, in which no file may grow.
TESTS = [["test_unit", "~[.]~[codegen]~[deploy]~[interpreter]~*files may not grow*"], ["test_semantics"], ["test_acceptance"], ["test_training"],
         ["test_fuzz", "random programs agree*"]]


LONGEST = 5e11  # FLOPs of a case of the benchmark that is run: a CPU takes a minute for more
SMALLER = ["bf16:train:transformer:1"]  # of those that are left out


def bench_cases():
    sys.path.insert(0, str(ROOT / "bench"))
    from cases import CASES
    return [case.name for case in CASES if case.kind == "time" and case.flops < LONGEST] + SMALLER


def commands():
    """(words, stdin) of what is run."""
    for words in TESTS:
        yield [str(BIN / words[0]), *words[1:]], ""
    for example in sorted(BIN.glob("example_*")):
        yield [str(example)], ""
    yield [str(BIN / "tour")], ""
    for model in ("mlp", "conv"):
        yield [str(BIN / "mnist"), "--model", model, "--epochs", "1"], ""
    yield [str(BIN / "bench_sinter")], "".join(f"{name} 0.001\n" for name in bench_cases())


def environment(**settings):
    """Nothing of the caller's environment decides how a plan is written."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SINTER_") and k not in ("DEBUG", "REPLAY_RECORD")}
    return {**kept, **settings}


def replay(*words, folder=FOLDER):
    done = subprocess.run([BIN / "replay", folder / "plans", *words], env=environment(), stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def read(file):
    return file.read_bytes().decode()  # as it is: names may hold any character


def plans_in(folder):
    return sum(("\n" + read(f)).count("\n" + HEAD) for f in folder.iterdir())


def record():
    new = FOLDER.with_suffix(".new")  # what was recorded before stays until this is whole
    shutil.rmtree(new, ignore_errors=True)
    raw = new / "raw"
    raw.mkdir(parents=True)
    env = environment(REPLAY_RECORD=str(raw), SINTER_CACHE=str(new / "cache"), FUZZ_PROGRAMS="300")
    for words, given in commands():
        before = plans_in(raw)
        done = subprocess.run(words, input=given, env=env, cwd=ROOT, capture_output=True, text=True)
        made, name = plans_in(raw) - before, pathlib.Path(words[0]).name
        print(f"{name}: {made} plans", file=sys.stderr)
        failed = [line for line in done.stdout.splitlines() if line.split()[1:2] == ["error"]]  # the benchmark's
        if done.returncode or failed or not made:
            sys.exit(f"{name}: exit code {done.returncode}\n{failed}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    texts = set()
    for file in raw.iterdir():
        texts |= {HEAD + text for text in ("\n" + read(file)).split("\n" + HEAD)[1:]}
    (new / "plans").write_bytes("".join(text.rstrip("\n") + "\n" for text in sorted(texts)).encode())
    (new / "lines").write_text(replay(folder=new))
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout
    (new / "commit").write_text(commit)
    shutil.rmtree(raw)
    shutil.rmtree(FOLDER, ignore_errors=True)
    new.rename(FOLDER)


def check():
    if not (FOLDER / "lines").exists():
        sys.exit("nothing is recorded: ./dev replay record, at the commit to compare with")
    before, now = ({tuple(line.split("\t")[:2]): line for line in text.splitlines()}
                   for text in ((FOLDER / "lines").read_text(), replay()))
    other = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    for plan, machine in other[:10]:
        print(f"{plan} {machine}: other kernels; ./dev replay text {plan} {machine}")
    counts = collections.Counter(machine for _, machine in other)
    print(f"{len(before)} pairs of plan and machine of {(FOLDER / 'commit').read_text().strip()}, {len(other)} differ"
          + "".join(f"; {machine}: {count}" for machine, count in sorted(counts.items())))
    return 1 if other or not before else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "check", "text"])
    parser.add_argument("words", nargs="*", metavar="PLAN MACHINE")
    args = parser.parse_args()
    if len(args.words) != (2 if args.what == "text" else 0):
        parser.error("text takes a plan and a machine, the others nothing")
    if args.what == "text":
        print(replay(*args.words), end="")
        return 0
    return record() or 0 if args.what == "record" else check()


if __name__ == "__main__":
    sys.exit(main())
