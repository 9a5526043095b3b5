"""The folder of ./dev dist and its ./run: all steps on a simulated GPU with the programs of a build, whose folder is the argument, and
with made-up programs what becomes of failures. Run by CTest."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "bench")]
import dist
import dist_run
import table
from dist_run import Step

BUILD = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
PRINTS = "import sys; print('case\\tthreads\\tsinter_us\\tpeer\\tpeer_us\\tratio\\tfloor_us'); print('total:1\\t1\\t2.0\\t-\\t-\\tunmeasured\\t-', flush=True)"


def python(code):
    return [sys.executable, "-c", code]


class MadeUp(unittest.TestCase):
    """Steps of one line of Python each."""

    def run_all(self, **steps):
        """(what it returns, its lines, the tables that it wrote)"""
        made = {name: Step(seconds, [python(code)], [python("")]) for name, (seconds, code) in steps.items()}
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(dist_run, "HERE", pathlib.Path(folder)), \
                mock.patch.object(dist_run, "STEPS", made), mock.patch.object(dist_run, "machine", lambda: ("h100", "a card")), \
                contextlib.redirect_stdout(out):
            result = dist_run.run_all("cuda", dry=False)
            tables = {path.name: (path.read_text().splitlines()[0], table.read_tsv(path)) for path in pathlib.Path(folder).glob("docs/*")}
        return result, out.getvalue(), tables

    def test_all_is_well(self):
        result, lines, tables = self.run_all(test=(60, "print('fine')"), bench=(60, PRINTS))
        self.assertEqual(result, 0)
        self.assertIn("test: passed", lines)
        self.assertEqual(list(tables), ["performance-h100.tsv"])
        comment, rows = tables["performance-h100.tsv"]
        self.assertRegex(comment, r"^# a card, \d{4}-\d\d-\d\d, code unknown")
        self.assertEqual([(row.case, row.sinter) for row in rows], [("total:1", 2.0)])

    def test_a_failure_is_named_and_the_next_step_runs(self):
        result, lines, tables = self.run_all(held=(60, "print('bits differ'); raise SystemExit(3)"), bench=(60, PRINTS))
        self.assertEqual(result, "failed: held")
        self.assertRegex(lines, r"held: \S+ ended with 3")
        self.assertIn("| bits differ", lines)
        self.assertEqual(len(tables), 1)

    def test_what_was_measured_in_time_is_kept(self):
        result, lines, tables = self.run_all(bench=(1, PRINTS + "; import time; time.sleep(600)"), test=(60, ""))
        self.assertEqual(result, "failed: bench")
        self.assertIn("bench: not done in 1 s", lines)
        self.assertIn("test: passed", lines)
        self.assertEqual(len(tables["performance-h100.tsv"][1]), 1)

    def test_no_test_is_a_failure(self):
        result, lines, _ = self.run_all(held=(60, "print('No tests ran')"), bench=(60, PRINTS))
        self.assertEqual(result, "failed: held")
        self.assertIn("no test has such a name", lines)

    def test_no_row_is_a_failure(self):
        result, lines, tables = self.run_all(bench=(60, "print('case\\tthreads'); print('Traceback')"))
        self.assertEqual((result, tables), ("failed: bench", {}))
        self.assertIn("no case was measured", lines)

    def test_eight_minutes(self):
        self.assertLessEqual(sum(step.seconds for step in dist_run.STEPS.values()), 8 * 60)

    def test_the_machine_is_named(self):
        for name, short in (("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA H200", "h200"), ("NVIDIA GeForce", "gpu")):
            answer = subprocess.CompletedProcess([], 0, stdout=f"{name}, 580.1\n")
            with mock.patch.object(dist_run.subprocess, "run", return_value=answer):
                self.assertEqual(dist_run.machine(), (short, f"{name}, driver 580.1"))


@unittest.skipUnless(BUILD, "no build")
class Dry(unittest.TestCase):
    def test_every_step_runs_on_a_simulated_gpu(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent) / "packed"
            dist.pack(folder, BUILD, lambda source, target: target.symlink_to(source))
            env = {name: value for name, value in os.environ.items() if not name.startswith("SINTER_")}
            made = subprocess.run([folder / "run", "--dry"], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(made.returncode, 0, made.stdout)
            for step in dist_run.STEPS:
                self.assertIn(f"{step}: passed", made.stdout)
            self.assertEqual([row.case for row in table.read_tsv(folder / "docs" / "performance-dry.tsv")], ["sgemm:nt:256x10x128"])
            self.assertRegex((folder / "results" / "held.log").read_text(), r"All tests passed \(\d+ assertions in 3 test cases\)")


if __name__ == "__main__":
    unittest.main()
