#!/usr/bin/env python3
"""./dev bench: Sinter against the peers that are installed, each in a process of its own, in pairs. See --help and README.md."""
import argparse
import os
import re
import signal
import sys
import tempfile
from functools import partial
from statistics import median

import page
import peers
import plot
import table
from cases import CASES
from compare import agree, agree_on_losses, compare, tolerance
from workers import Worker, WorkerError, run_once

LOSS = (0.5, 8.0)  # of a first step: of a pixel, of ten classes, of 256 tokens, whatever the initial values are
LOG = os.path.join(peers.BIN, "..", "bench.log")
FIRST_ANSWER = 400  # seconds: some peers compile for long


def cannot_run(device):
    """Why Sinter has nothing to run on there: what the worker says to a tiny case; empty if it has."""
    with open(os.devnull, "w") as log:
        worker = Worker(peers.sinter(device), 1, log)
        try:
            worker.ask("total:1", 0, FIRST_ANSWER)
            return ""
        except WorkerError as error:
            return f"--device {device}: {error}"
        finally:
            worker.close()


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--only", metavar="REGEX", default="", help="cases whose name matches")
    parser.add_argument("--shown", action="store_true", help="only the cases that docs/performance.md shows of such a device")
    parser.add_argument("--peers", metavar="REGEX", default="", help="peers whose name matches")
    parser.add_argument("--threads", help="numbers of threads, with commas between them (1,2; on a GPU 1)")
    parser.add_argument("--device", choices=("cpu", "cuda", "cuda-sim"), default="cpu",
                        help="cuda-sim, a GPU that is simulated, has no peer and no roof: its times say nothing")
    parser.add_argument("--pairs", type=int, default=7, help="turns of Sinter and each near peer (7)")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each turn (0.1)")
    parser.add_argument("--tsv", action="store_true", help=" ".join(table.COLUMNS))
    parser.add_argument("--list", action="store_true", help="cases and installed peers; measures nothing")
    parser.add_argument("--setup", action="store_true", help="alone: install the peers that package registries offer")
    parser.add_argument("--plot", nargs=2, metavar=("TSV", "SVG"), help="draw what --tsv printed")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md and its picture anew from the tables beside it")
    return parser.parse_args()


class Bench:
    """The workers of one number of threads, started when a case needs them."""

    def __init__(self, options, threads, libraries, log, complain):
        self.options, self.threads, self.log, self.complain = options, threads, log, complain
        self.libraries = {library.name: library for library in libraries}
        self.workers = {}
        self.roofs = {}  # unit -> us of a thousand million, each time it was asked

    def row(self, case):
        complain = lambda name, text: self.complain(f"{case.name}, {self.threads} threads: {name}: {text}")
        names = [name for name, library in self.libraries.items() if name != "sinter" and re.search(library.cases, case.name)]
        if case.kind == "time":
            same = partial(agree_on_losses if case.family in ("step", "train") else agree, tolerance=tolerance(case))
            return compare(case, self.threads, lambda name: self.ask(name, case), names, self.options.pairs, self.ask_roof, complain, same)
        caches = {name: tempfile.TemporaryDirectory(prefix="bench-") for name in ["sinter", *names]}
        try:
            if case.warm:
                for name in caches:
                    self.once(name, case, caches[name].name, ignore=True)
            count = case.runs if case.kind == "start" else 1
            plausible = lambda a, b: all(LOSS[0] < loss < LOSS[1] for loss in (a[0], b[0]))
            return compare(case, self.threads, lambda name: self.once(name, case, caches[name].name), names, count, self.ask_roof, complain,
                           same=plausible)
        finally:
            for cache in caches.values():
                cache.cleanup()

    def ask(self, name, case):
        return self.worker(self.libraries[name]).ask(case.name, self.options.seconds, FIRST_ANSWER)

    def ask_roof(self, unit):
        if self.options.device == "cuda-sim":
            raise WorkerError("unknown case")
        sample = self.worker(peers.roofs(self.options.device)).ask(unit, self.options.seconds, FIRST_ANSWER)
        self.roofs.setdefault(unit, []).append(sample.us)
        return sample

    def worker(self, library):
        worker = self.workers.get(library.name)
        if worker is None or not worker.alive():
            worker = self.workers[library.name] = Worker(library, self.threads, self.log)
        return worker

    def once(self, name, case, cache, ignore=False):
        library = peers.sparing(self.libraries[name]) if case.kind == "memory" else self.libraries[name]
        try:
            if case.warm:
                return run_once(library, case, self.threads, cache, self.log, FIRST_ANSWER)
            with tempfile.TemporaryDirectory(prefix="bench-") as empty:
                return run_once(library, case, self.threads, empty, self.log, FIRST_ANSWER)
        except WorkerError:
            if not ignore:
                raise

    def close(self):
        for worker in self.workers.values():
            worker.close()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # workers, which may be stopped, are ended on the way out
    options = arguments()
    options.threads = options.threads or ("1,2" if options.device == "cpu" else "1")
    if options.plot:
        with open(options.plot[1], "w") as svg:
            plot.draw(table.read_tsv(options.plot[0]), svg)
        return
    if options.page:
        page.write()
        return
    kind = "cpu" if options.device == "cpu" else "cuda"
    wanted = page.shown(kind) if options.shown else {case.name for case in CASES}
    cases = [case for case in CASES if re.search(options.only, case.name) and case.device in ("", kind) and case.name in wanted]
    if not cases:
        sys.exit(f"--only {options.only}: no case matches; --list names them")
    libraries = [peer for peer in peers.installed(options.device) if re.search(options.peers, peer.name)]
    if options.list:
        print("cases: " + " ".join(case.name for case in cases))
        print("peers: " + (" ".join(peer.name for peer in libraries) or "none; ./dev bench --setup installs them"))
        return
    if not libraries:
        print("no peer is installed: every case is unmeasured; ./dev bench --setup installs some", file=sys.stderr)
    reason = cannot_run(options.device)
    if reason:
        sys.exit(reason)
    faults, rows = [], []
    print("\t".join(table.COLUMNS) if options.tsv else table.header(), flush=True)
    with open(LOG, "w") as log:
        for threads in map(int, options.threads.split(",")):
            bench = Bench(options, threads, [peers.sinter(options.device), *libraries], log, faults.append)
            try:
                for case in cases:
                    if row := bench.row(case):
                        rows.append(row)
                        print(table.to_tsv(row) if options.tsv else table.to_text(row), flush=True)
            finally:
                bench.close()
            for unit, us in bench.roofs.items():
                print(f"# roof, {threads} threads: {unit}, {1e6 / median(us):.1f}e9 a second", file=sys.stderr)
    for line in [*table.summary(rows, CASES), *faults]:
        print(line, file=sys.stderr)
    if faults:
        sys.exit(f"what went wrong stands above; {LOG} has what the workers printed")


if __name__ == "__main__":
    main()
