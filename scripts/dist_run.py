#!/usr/bin/env python3
"""On a machine with a GPU, in the folder that ./dev dist packed: ./run does all steps below within eight minutes, the next one
whatever became of one, and writes a table of the measured cases, docs/performance-GPU.tsv. A step beyond its time is ended.

  ./run                      all steps
  ./run --dry                all of them as small as they get, on a simulated GPU: whether this folder is complete
  ./run STEP [ARGS]          held, test or accuracy, without limit of time, with arguments for its last program
  ./run bench [ARGS]         the benchmark, for people; ./run bench --help
  ./run sanitizer [ARGS]     some random programs under NVIDIA's compute-sanitizer, which is part of the toolkit
  ./run mnist [ARGS]         the example

SINTER_DEVICE says on which device (cuda). Logs lie in results/, kernels in cache/."""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = sys.executable
# Left out: a forked child has no GPU (V7), and one test of V3 maps a file, which the CPU's kernels read.
SEMANTICS = '~"V7*"~"V3 a store writes*"'
HELD = "*recorded*"  # steps of tensor cores against an H100's
ACCURACY = [PYTHON, "scripts/accept.py", "--device", "{device}"]
BENCH = [PYTHON, "bench/bench.py", "--device", "{device}"]


@dataclass(frozen=True)
class Step:
    seconds: int   # at most
    commands: list
    dry: list      # the same programs, with less to do


STEPS = {
    "held": Step(40, [["bin/test_semantics", HELD]], [["bin/test_semantics", HELD]]),
    "test": Step(130, [["bin/test_semantics", SEMANTICS], ["bin/test_fuzz", "random programs agree:*"],
                       ["bin/test_fuzz", "random programs of 16-bit*"]],
                 [["bin/test_semantics", "F1 *"], ["bin/test_fuzz", "random programs agree:*"],
                  ["bin/test_fuzz", "random programs of 16-bit*"]]),
    "accuracy": Step(60, [ACCURACY], [[*ACCURACY, "--model", "mlp", "--smoke"]]),
    "bench": Step(250, [[*BENCH, "--tsv", "--shown", "--pairs", "3"]],
                  [[*BENCH, "--tsv", "--only", "^sgemm:nt:256x10x128$", "--pairs", "1", "--seconds", "0.001"]]),
}
ALONE = {
    "bench": (BENCH, {}),
    "sanitizer": (["compute-sanitizer", "--error-exitcode", "9", "bin/test_fuzz", "random programs agree:*"], {"FUZZ_PROGRAMS": "20"}),
    "mnist": (["bin/mnist", "--device", "{device}"], {}),
}


def environment(device, dry, more={}):
    """What the caller has set stays."""
    few = {"FUZZ_PROGRAMS": "2", "FUZZ_PRODUCTS": "2"} if dry else {"FUZZ_PROGRAMS": "200"}
    return {"SINTER_CACHE": str(HERE / "cache"), **few, **more, **os.environ, "SINTER_DEVICE": device, "TEST_ROOT": str(HERE)}


def filled(command, device):
    return [word.format(device=device) if word == "{device}" else word for word in command]


def run_logged(command, env, log, seconds):
    """The exit status; None if the time is over. Then the program and all that it started are ended, politely: what bench has measured
    it has printed."""
    process = subprocess.Popen(command, cwd=HERE, env=env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return process.wait(timeout=max(seconds, 1))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return None


def run_step(name, device, dry):
    """What became of it, empty if all is well."""
    step = STEPS[name]
    end = time.monotonic() + (step.seconds if not dry else 10 * step.seconds)  # a simulated GPU may sit on a busy machine
    with open(HERE / "results" / f"{name}.log", "wb") as log:
        for command in step.dry if dry else step.commands:
            status = run_logged(filled(command, device), environment(device, dry), log, end - time.monotonic())
            if status is None:
                return f"not done in {step.seconds} s"
            if status:
                return f"{command[0]} ended with {status}"
    if b"No tests ran" in (HERE / "results" / f"{name}.log").read_bytes():  # with Catch2 2 that is no failure
        return "no test has such a name"
    return ""


def machine():
    """(its short name, words for it)"""
    try:
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        name, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return "simulated", "simulated GPU"
    model = re.search(r"\b([A-Z]{1,3}\d{2,4})\b", name)
    return model[1].lower() if model else "gpu", f"{name}, driver {driver}"


def write_table(dry):
    """The rows that bench has printed, as bench/page.py reads them. The path, or None if there is no row."""
    lines = (HERE / "results" / "bench.log").read_text().splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith("case\t")), len(lines))
    rows = [line for line in lines[head + 1:] if re.fullmatch(r"\S+(\t\S+){6}", line)]
    if not rows:
        return None
    roofs = [line[2:] for line in lines if line.startswith("# roof")]
    short, words = ("dry", "dry run") if dry else machine()
    code = (HERE / "code").read_text().strip() if (HERE / "code").exists() else "unknown"
    path = HERE / "docs" / f"performance-{short}.tsv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([f"# {words}, {time.strftime('%Y-%m-%d')}, code {code}. {' '.join(roofs)}".rstrip(), lines[head], *rows]) + "\n")
    return path


def run_all(device, dry):
    (HERE / "results").mkdir(exist_ok=True)
    failed = []
    for name in STEPS:
        start = time.monotonic()
        why = run_step(name, device, dry)
        if name == "bench":
            table = write_table(dry)
            why = why or ("" if table else "no case was measured")
            if table:
                print(f"  {table.relative_to(HERE)}: {len(table.read_text().splitlines()) - 2} cases")
        print(f"{name}: {why or 'passed'}, {time.monotonic() - start:.0f} s", flush=True)
        if why:
            failed.append(name)
            tail = (HERE / "results" / f"{name}.log").read_text(errors="replace").splitlines()[-15:]
            print("\n".join(f"  | {line}" for line in tail), flush=True)
    return f"failed: {', '.join(failed)}" if failed else 0


def main():
    parser = argparse.ArgumentParser(prog="./run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("step", nargs="?", choices=dict.fromkeys([*STEPS, *ALONE]))
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    device = "cuda-sim" if options.dry else os.environ.get("SINTER_DEVICE", "cuda")
    if not options.step:
        return run_all(device, options.dry)
    if options.dry and options.step in STEPS:
        commands, more = STEPS[options.step].dry, {}
    elif options.step in ALONE:
        commands, more = [ALONE[options.step][0]], ALONE[options.step][1]
    else:
        commands, more = STEPS[options.step].commands, {}
    for i, command in enumerate(commands):
        last = options.arguments if i + 1 == len(commands) else []
        status = subprocess.run([*filled(command, device), *last], cwd=HERE, env=environment(device, options.dry, more)).returncode
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
