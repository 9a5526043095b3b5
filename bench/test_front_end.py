"""./dev bench as it is called, on libraries that are made up: which cases and numbers of threads are measured and printed, on which
CPUs, in which order, and beside whom. Asserts no time: made-up libraries say what they took. Run by CTest."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

import bench
import table
from cases import CASES
from workers import ALL_CPUS, Library

# A worker that takes as long as its second argument says, and notes each request: on which CPUs, with how many threads, whether all other
# workers are stopped (a signal may still be on its way), and how many files its cache held.
WORKER = r"""
import json, os, sys, time
name, us, folder = sys.argv[1:4]
def stopped(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] in "TZ"
    except OSError:
        return True
def note(case):
    others = [pid for pid in os.listdir(folder) if pid.isdigit() and int(pid) != os.getpid()]
    late = os.path.join(folder, "late")
    end = time.monotonic() + (0 if os.path.exists(late) else 5)
    while not all(map(stopped, others)):
        if time.monotonic() > end:
            open(late, "w").close()
            break
        time.sleep(0.001)
    cache = os.environ["SINTER_CACHE"]
    line = dict(name=name, case=case, cpus=sorted(os.sched_getaffinity(0)), threads=int(os.environ["SINTER_THREADS"]),
                alone=all(map(stopped, others)), cached=len(os.listdir(cache)), keeps="MALLOC_TRIM_THRESHOLD_" in os.environ)
    open(os.path.join(cache, str(time.monotonic_ns())), "w").close()
    with open(os.path.join(folder, "requests"), "a") as requests:
        requests.write(json.dumps(line) + "\n")
if "--once" in sys.argv:
    case = sys.argv[sys.argv.index("--once") + 1]
    note(case)
    sys.exit(print(case, "ok 4321 2.3"))
open(os.path.join(folder, str(os.getpid())), "w").close()
for line in sys.stdin:
    case, seconds = line.split()
    note(case)
    losses = "2.3,2.3" if name == "still" else "2.3,2.299"
    print(case, "ok 1", us, losses if case.startswith("train:") else "2,3" if name == "wrong" else "1,2", flush=True)
"""


class FrontEnd(unittest.TestCase):
    PEERS = {"near": 11, "best": 10, "slow": 100}

    def run_main(self, *arguments, peers=PEERS, cases={}):
        """(lines of stdout, what went to stderr with the reason of the exit, requests but the tiny one by which main() sees what runs)"""
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as patches:
            command = lambda name, us: [sys.executable, "-c", WORKER, name, str(us), folder]
            made = lambda name, us: Library(name, command(name, us), bench.peers.HEAP, cases.get(name, ""))
            for target, value in {"bench.peers.sinter": lambda device: made("sinter", 5), "bench.peers.roofs": lambda device: made("roofs", 7),
                                  "bench.peers.installed": lambda device: [made(name, us) for name, us in peers.items()],
                                  "bench.LOG": os.path.join(folder, "log"), "sys.argv": ["bench", *arguments]}.items():
                patches.enter_context(mock.patch(target, value))
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    bench.main()
                except SystemExit as end:
                    print(end.code, file=err)
            with open(os.path.join(folder, "requests"), "a+") as notes:
                notes.seek(0)
                requests = [request for request in map(json.loads, notes) if request["case"] != "total:1"]
        return out.getvalue().splitlines(), err.getvalue(), requests

    def test_only(self):
        lines, err, requests = self.run_main("--only", "^(total|matvec:tn)", "--threads", "1", "--pairs", "1", "--tsv")
        names = [case.name for case in CASES if case.name.startswith(("total:", "matvec:tn:"))]
        self.assertEqual(lines[0], "case\tthreads\tsinter_us\tpeer\tpeer_us\tratio\tfloor_us")
        self.assertEqual([table.from_tsv(line).case for line in lines[1:]], names)
        self.assertEqual({r["case"] for r in requests if r["name"] != "roofs"}, set(names))
        row = table.from_tsv(lines[1])
        self.assertEqual((row.threads, row.sinter, row.peer, row.peer_time, row.ratio), (1, 5.0, "best", 10.0, 2.0))
        self.assertAlmostEqual(row.floor, 7e-9 * next(case.bytes for case in CASES if case.name == row.case), 3)
        lines, err, requests = self.run_main("--only", "no such")
        self.assertEqual((lines, requests), ([], []))
        self.assertIn("--only no such: no case matches", err)

    def test_shown(self):
        lines, _, _ = self.run_main("--shown", "--list", "--only", "^(columns|softmax:8192x1024|attention)")
        self.assertEqual(lines[0], "cases: softmax:8192x1024 attention:4x8x512x64")
        lines, _, _ = self.run_main("--shown", "--list", "--device", "cuda", "--only", "^columns")
        self.assertEqual(lines[0], "cases: columns:4096x4096")

    def test_without_tsv_people_read_it(self):
        lines, _, _ = self.run_main("--only", "^total", "--threads", "1", "--pairs", "1")
        self.assertEqual(lines[0], table.header())
        self.assertEqual(lines[1].split()[1:], ["1", "5", "best", "10.0", "2.000", "0.4698", "10.64"])  # the last is not in the other form

    def test_threads_have_as_many_cpus(self):
        """In the order of the option; the caller has all of its CPUs afterwards."""
        for option, numbers in ((["--threads", "2,1"], [2, 1]), ([], [1, 2])):
            lines, _, requests = self.run_main("--only", "^total", "--pairs", "1", "--tsv", *option)
            self.assertEqual([table.from_tsv(line).threads for line in lines[1:]], numbers)
            self.assertEqual({r["threads"] for r in requests}, {1, 2})
            for r in requests:
                self.assertEqual(r["cpus"], sorted(ALL_CPUS)[:r["threads"]])
            self.assertEqual(list(dict.fromkeys(r["threads"] for r in requests)), numbers)
            self.assertEqual(os.sched_getaffinity(0), ALL_CPUS)

    def test_turns(self):
        """A first look at all; then roofs, Sinter and each near peer take turns, and whoever is asked is alone."""
        _, _, requests = self.run_main("--only", "^total", "--threads", "1", "--pairs", "3", "--tsv")
        turn = ["roofs", "sinter", "near", "sinter", "best"]
        self.assertEqual([r["name"] for r in requests], ["sinter", "near", "best", "slow", "roofs"] + 3 * turn)
        self.assertTrue(all(r["alone"] for r in requests), [r["name"] for r in requests if not r["alone"]])

    def test_peers(self):
        lines, _, requests = self.run_main("--only", "^total", "--threads", "1", "--pairs", "1", "--tsv", "--peers", "near|slow")
        self.assertEqual(table.from_tsv(lines[1]).peer, "near")
        self.assertNotIn("best", {r["name"] for r in requests})
        lines, err, _ = self.run_main("--only", "^total", "--threads", "1", "--pairs", "1", "--tsv", peers={})
        self.assertIn("unmeasured", lines[1])
        self.assertIn("no peer is installed", err)

    def test_another_result_is_a_fault(self):
        lines, err, _ = self.run_main("--only", "^total", "--threads", "1", "--pairs", "1", "--tsv", peers={"wrong": 1, "best": 10})
        self.assertEqual(table.from_tsv(lines[1]).peer, "best")
        self.assertRegex(err, r"total:\d+, 1 threads: wrong: computes .*\n(.*\n)*what went wrong stands above")

    def test_losses_that_do_not_fall_are_a_fault(self):
        lines, err, _ = self.run_main("--only", "^train:vae", "--threads", "1", "--pairs", "1", "--tsv", peers={"still": 1, "best": 10})
        self.assertEqual(table.from_tsv(lines[1]).peer, "best")
        self.assertRegex(err, r"train:vae:\d+, 1 threads: still: computes")

    def test_list_measures_nothing(self):
        lines, _, requests = self.run_main("--list", "--only", "^total")
        self.assertRegex(lines[0], r"^cases: total:\d+$")
        self.assertEqual((lines[1:], requests), (["peers: near best slow"], []))

    def test_the_page_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            page, picture = (os.path.join(folder, name) for name in ("page.md", "picture.svg"))
            with open(page, "w") as file:
                file.write("before\n<!-- bench:zen5 -->\nstale\n<!-- /bench -->\nafter\n")
            with mock.patch("bench.page.PAGE", page), mock.patch("bench.page.PICTURE", picture):
                lines, _, requests = self.run_main("--page")
            self.assertEqual((lines, requests), ([], []))
            with open(page) as file:
                text = file.read()
            self.assertRegex(text, r"^before\n<!-- bench:zen5 -->\n(?s:.*)\n\| product, .*\n(?s:.*)<!-- /bench -->\nafter\n$")
            self.assertNotIn("stale", text)
            self.assertTrue(os.path.getsize(picture))

    def test_caches_of_whole_processes(self):
        """Empty ones for each start, or full ones, which a run that does not count has filled; nobody has another's."""
        for case, full in (("start:mlp:empty", False), ("start:mlp:warm", True)):
            lines, _, requests = self.run_main("--only", case, "--threads", "1", "--tsv", peers={"best": 10})
            self.assertEqual(len(lines), 2)
            for name in ("sinter", "best"):
                cached = [r["cached"] for r in requests if r["name"] == name]
                self.assertEqual(cached, [*range(13)] if full else [0] * 12)
        _, _, requests = self.run_main("--only", "start:vae:empty", "--threads", "1", "--tsv", peers={"best": 10})
        asked = [r["case"] for r in requests if r["name"] == "best"]
        self.assertEqual(asked, 4 * ["train:vae:64"])  # a network takes long: a look, and three
        lines, _, _ = self.run_main("--only", "memory:mlp", "--threads", "1", "--tsv", peers={"best": 10})
        self.assertEqual(table.from_tsv(lines[1]).sinter, 4321)

    def test_memory_is_kept_for_time_only(self):
        for case, keeps in (("^total:", True), ("^start:mlp:warm", True), ("^memory:mlp", False)):
            _, _, requests = self.run_main("--only", case, "--threads", "1", "--pairs", "1", peers={"best": 10})
            self.assertEqual({r["keeps"] for r in requests if r["name"] == "best"}, {keeps}, case)

    def test_a_peer_for_some_cases(self):
        for case in ("^total:", "^memory:mlp"):
            _, err, requests = self.run_main("--only", case, "--threads", "1", "--pairs", "1", cases={"best": "^columns:"})
            self.assertEqual({r["name"] for r in requests} - {"sinter", "roofs"}, {"near", "slow"})
            self.assertEqual(err.count("best"), 0)


if __name__ == "__main__":
    unittest.main()
