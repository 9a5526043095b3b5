"""Worker processes: started with their environment on their CPUs, asked one at a time, stopped in between."""
import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field


class WorkerError(Exception):
    """What a worker said, or that it died or took too long."""


@dataclass(frozen=True)
class Library:
    """Sinter or a peer."""
    name: str
    command: list
    env: dict = field(default_factory=dict)  # its best setting; None removes a variable
    cases: str = ""                          # a regular expression of the cases that it is there for


@dataclass(frozen=True)
class Sample:
    us: float      # median of a run; of memory: KiB
    values: tuple  # what was computed


def environment(library, threads, cache):
    """Every library gets the number of threads in the words that it knows, and disk caches of its own."""
    env = dict(os.environ)
    for name in ("SINTER_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUM_CPU_THREADS", "CPU_COUNT",
                 "BENCH_THREADS"):
        env[name] = str(threads)
    for name in ("SINTER_CACHE", "XDG_CACHE_HOME", "TMPDIR", "JAX_COMPILATION_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        env[name] = cache
    env["CACHEDB"] = os.path.join(cache, "tinygrad.db")
    for name, value in {**{"OPENBLAS_CORETYPE": None, "OPENBLAS_L2_SIZE": None}, **library.env}.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def cpus_for(threads):
    """The CPUs that so many threads run on: the first of those that this process may use."""
    return sorted(ALL_CPUS)[:threads]


ALL_CPUS = os.sched_getaffinity(0)


def parse_answer(line, case):
    """(words between ok and the values, values) of `CASE ok WORD... VALUES`. Raises WorkerError for `CASE error TEXT`."""
    name, _, rest = line.partition(" ")
    status, _, rest = rest.partition(" ")
    if name != case or status not in ("ok", "error"):
        raise WorkerError(f"answered {line!r} to {case}")
    if status == "error":
        raise WorkerError(rest.strip())
    *words, values = rest.split()
    return words, tuple(float(v) for v in values.split(","))


class Answers:
    """Lines of a process's stdout, with a limit of time. A library may print lines of its own in between."""

    def __init__(self, process):
        self.process = process
        self.pending = b""

    def next(self, case, timeout):
        """The next line that begins with the case. Raises WorkerError when the process ends or `timeout` seconds pass."""
        end = time.monotonic() + timeout
        while True:
            line, newline, rest = self.pending.partition(b"\n")
            if newline:
                self.pending = rest
                if line.startswith(case.encode() + b" "):
                    return line.decode()
            elif not select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                raise WorkerError(f"no answer in {timeout:.0f} s")
            elif chunk := os.read(self.process.stdout.fileno(), 1 << 16):
                self.pending += chunk
            else:
                raise WorkerError(f"ended with {self.process.wait()}")


def start(command, library, threads, cache, log, stdin):
    """The process, pinned to its CPUs: it inherits them from here, since a preexec_fn would cost a slow fork. It leads a
    group of its own, in which its helpers are."""
    os.sched_setaffinity(0, cpus_for(threads))
    try:
        return subprocess.Popen(command, bufsize=0, stdin=stdin, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                                env=environment(library, threads, cache))
    finally:
        os.sched_setaffinity(0, ALL_CPUS)


def signal_group(process, number):
    """To the process and its helpers, if they still are."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


class Worker:
    """A library's process with a number of threads. It is stopped (SIGSTOP) except while it answers, so that no thread
    of it spins beside the one that is measured."""

    def __init__(self, library, threads, log):
        self.library = library
        self.cache = tempfile.mkdtemp(prefix="bench-")
        self.process = start(library.command, library, threads, self.cache, log, subprocess.PIPE)
        self.answers = Answers(self.process)

    def ask(self, case, seconds, timeout):
        """A Sample of `case` over at least `seconds`. After a WorkerError that says that it took too long, or is gone, the
        process is dead."""
        try:
            signal_group(self.process, signal.SIGCONT)
            self.process.stdin.write(f"{case} {seconds}\n".encode())
            self.process.stdin.flush()
            line = self.answers.next(case, timeout)
        except (OSError, WorkerError) as error:
            self.close()
            raise WorkerError(str(error)) from None
        signal_group(self.process, signal.SIGSTOP)
        (_, median), values = parse_answer(line, case)
        return Sample(float(median), values)

    def alive(self):
        return self.process.poll() is None

    def close(self):
        signal_group(self.process, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        shutil.rmtree(self.cache, ignore_errors=True)


def run_once(library, case, threads, cache, log, timeout):
    """Runs a training from process start in a process of its own: a Sample in us, or in KiB for a case of memory."""
    begin = time.perf_counter()
    process = start([*library.command, "--once", case.once, str(case.steps)], library, threads, cache, log, subprocess.DEVNULL)
    try:
        line = Answers(process).next(case.once, timeout)
        us = (time.perf_counter() - begin) * 1e6
    except WorkerError:
        signal_group(process, signal.SIGKILL)
        raise
    finally:
        process.wait()
        process.stdout.close()
    (peak,), values = parse_answer(line, case.once)
    return Sample(us if case.kind == "start" else float(peak), values)
