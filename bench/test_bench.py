"""The harness's own logic: the protocol against Sinter's worker, pairs and results against made-up libraries, tables. Asserts
no time. Run by CTest with the worker as argument."""
import importlib.util
import io
import math
import os
import sys
import unittest

import cases
import page
import plot
import table
from cases import CASES, Case
from compare import TOLERANCE, Row, agree, agree_on_losses, compare, floor_us, tolerance
from peers import core_type
from workers import Library, Sample, Worker, WorkerError, parse_answer, run_once

WORKER = sys.argv.pop() if len(sys.argv) > 1 else None

# A small case of each family that the table names, with its type: a new family needs a line here.
SMALL = {
    "sgemm": "sgemm:tn:8x12x4", "bf16:gemm": "bf16:gemm:tn:8x12x4", "f16:gemm": "f16:gemm:nt:8x12x4", "jit": "jit:nt:8x12x4",
    "sum": "sum:4x5x6", "batch": "batch:2x3x4x5x6", "gelu": "gelu:4x5x6", "slice": "slice:4x5x6", "panels": "panels:4x5x128",
    "attention": "attention:1x2x4x8", "attention-gradients": "attention-gradients:1x2x4x8", "bf16:attention": "bf16:attention:1x2x16x8",
    "bf16:attention-gradients": "bf16:attention-gradients:1x2x16x8",
    "matvec": "matvec:tn:4x8", "chain": "chain:100", "softmax": "softmax:4x8",
    "layernorm": "layernorm:4x8", "total": "total:100", "columns": "columns:12x8", "transpose": "transpose:4x8",
    "conv": "conv:data:2x3x8x8:6x3x3:2x1x3", "conv3d": "conv3d:filter:2x3x5x5x5:6x3x3x3:1x1x1",
    "conv-transpose": "conv-transpose:data:2x3x4x4:6x4x4:2x1", "sort": "sort:100", "argsort": "argsort:100", "median": "median:99",
    "topk": "topk:100x5", "cumsum": "cumsum:5x8:0", "nbody": "nbody:12", "kmeans": "kmeans:40x8x16", "decode": "decode:1x64x16x4", "step": "step:mlp", "bf16:step": "bf16:step:conv", "bf16:train": "bf16:train:gpt:2",
    "forward": "forward:mlp:1", "train": "train:vae:2", "infer": "infer:vae:2",
    "launch": "launch:4", "node": "node:4", "walk": "walk:4",
}


def kind_of(case):
    """The key in SMALL."""
    return ":".join(filter(None, (case.type, case.family)))


class Peers(unittest.TestCase):
    def test_kernels_that_a_machine_cannot_run_are_not_asked_for(self):
        self.assertEqual(core_type(["sse2", "avx", "avx2", "avx512f", "avx512vl"]), "SkylakeX")
        self.assertEqual(core_type(["sse2", "avx", "avx2"]), "Haswell")
        self.assertEqual(core_type(["sse2", "avx"]), "")


class Protocol(unittest.TestCase):
    def setUp(self):
        self.log = open("/dev/null", "w")
        self.library = Library("sinter", [WORKER])
        self.worker = Worker(self.library, 1, self.log)

    def tearDown(self):
        self.worker.close()
        self.log.close()

    def test_every_family_is_answered(self):
        """In a small case."""
        for family in {kind_of(case) for case in CASES if case.kind == "time"}:
            sample = self.worker.ask(SMALL[family], 0, 100)
            self.assertGreater(sample.us, 0)
            self.assertTrue(sample.values and all(map(math.isfinite, sample.values)), family)

    def test_numbers_are_those_of_the_formula(self):
        """A total of 3 numbers, from worker.h's hash."""
        def number(i):
            h = (i + 0x9E3779B9) * 2654435761 & 0xFFFFFFFF
            h ^= h >> 15
            h = h * 0x2C1B3C6D & 0xFFFFFFFF
            return ((h ^ h >> 12) >> 8) * 2**-24 - 0.5
        expected = abs(sum(map(number, range(3))))
        self.assertAlmostEqual(self.worker.ask("total:3", 0, 100).values[0], expected, 6)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_python_workers_make_the_same_numbers(self):
        """And fingerprints, at a cache line as Sinter's memory."""
        import worker
        x = worker.uniform((37, 11), 1)
        for mine, sinter in zip(worker.fingerprint(x.T), self.worker.ask("transpose:37x11", 0, 100).values):
            self.assertAlmostEqual(mine, sinter, 6)
        for array in (x, worker.labels(3), *worker.batch("conv"), *worker.parameters("conv")):
            self.assertEqual(array.ctypes.data % worker.LINE, 0)

    def test_a_step_that_does_not_update_is_found(self):
        losses = self.worker.ask("step:mlp", 0, 100).values
        self.assertTrue(agree_on_losses(losses, losses))
        self.assertFalse(agree_on_losses(losses, losses[:1] * len(losses)))

    def test_unknown_cases_leave_the_worker_alive(self):
        with self.assertRaisesRegex(WorkerError, "^unknown case$"):
            self.worker.ask("nothing:1", 0, 100)
        self.assertTrue(self.worker.ask("total:3", 0, 100).values)

    def test_a_family_of_float32_alone_is_not_run_in_another_type(self):
        for case in ("bf16:sgemm:nn:4x4x4", "f16:total:3", "bf16"):
            with self.assertRaisesRegex(WorkerError, "^unknown case$"):
                self.worker.ask(case, 0, 100)

    @unittest.skipUnless(importlib.util.find_spec("torch") and importlib.util.find_spec("numpy"), "no PyTorch")
    def test_pytorch_computes_the_same(self):
        """Small cases of what its worker knows, as bench.py compares them."""
        torch = Worker(Library("torch", [sys.executable, os.path.join(os.path.dirname(cases.__file__), "peer_torch.py")]), 1, self.log)
        self.addCleanup(torch.close)
        for name in SMALL.values():
            case = Case(name)
            try:
                theirs = torch.ask(name, 0, 100).values
            except WorkerError as error:
                self.assertEqual((str(error), case.type), ("unknown case", ""), name)
                continue
            same = agree_on_losses if case.family in ("step", "train") else agree
            ours = self.worker.ask(name, 0, 100).values
            self.assertTrue(same(ours, theirs, tolerance(case)), f"{name}: {ours} {theirs}")

    def test_a_dead_worker_is_an_error(self):
        self.worker.process.kill()
        with self.assertRaises(WorkerError):
            self.worker.ask("total:3", 0, 100)

    def test_a_network_that_is_not_there_is_unknown(self):
        for case in ("train:nothing:1", "infer:nothing:1"):
            with self.assertRaisesRegex(WorkerError, "^unknown case$"):
                self.worker.ask(case, 0, 100)

    def test_networks_draw_nothing_where_losses_are_compared(self):
        """Dropout and noise: two workers give the same losses, and these fall."""
        losses = [self.worker.ask("train:vae:2", 0, 100).values]
        self.worker.ask("total:3", 0, 100)  # another case between them: the network begins anew
        losses.append(self.worker.ask("train:vae:2", 0, 100).values)
        self.assertEqual(*losses)
        self.assertLess(losses[0][-1], losses[0][0])

    def test_checkpoints_change_no_loss(self):
        self.assertEqual(*(self.worker.ask(f"train:{name}:1", 0, 100).values for name in ("blocks", "blocks-checkpoint")))

    def test_once(self):
        case = Case("memory:mlp", kind="memory", once="step:mlp", steps=2)
        sample = run_once(self.library, case, 1, self.worker.cache, self.log, 100)
        self.assertGreater(sample.us, 1000)  # KiB
        self.assertEqual(len(sample.values), 2)


class Comparison(unittest.TestCase):
    CASE = Case("sgemm:nn:1x1x1", flops=2000)

    def run_case(self, times, values={}, pairs=3, answers={}):
        """compare() where library n always takes times[n] and computes values[n], and fails after answers[n]."""
        self.asked, self.complaints = [], []

        def ask(name):
            self.asked.append(name)
            if times[name] is None:
                raise WorkerError("unknown case")
            if self.asked.count(name) > answers.get(name, math.inf):
                raise WorkerError("gone")
            return Sample(times[name], values.get(name, (1.0, 2.0)))
        def ask_roof(unit):
            self.asked.append(unit)
            return Sample(self.roofs.pop(), (1e9,))
        self.roofs = [9e6, 1e6, 1e6, 2e6]  # the first is a look
        peers = [name for name in times if name != "sinter"]
        return compare(self.CASE, 2, ask, peers, pairs, ask_roof, lambda *fault: self.complaints.append(fault))

    def test_best_peer_in_turns(self):
        row = self.run_case({"sinter": 4.0, "slow": 100.0, "near": 5.5, "best": 5.0, "lacks it": None})
        self.assertEqual((row.peer, row.peer_time, row.ratio, row.floor), ("best", 5.0, 1.25, 2.0))
        self.assertEqual(self.asked[5:], ["flops"] + ["flops", "sinter", "near", "sinter", "best"] * 3)
        self.assertEqual(self.complaints, [])

    def test_without_a_peer_it_is_unmeasured(self):
        row = self.run_case({"sinter": 4.0})
        self.assertEqual((row.peer, row.sinter), ("", 4.0))
        self.assertIn("unmeasured", table.to_tsv(row))

    def test_a_peer_with_another_result_is_none(self):
        row = self.run_case({"sinter": 4.0, "wrong": 1.0}, {"wrong": (1.0, 2.1)})
        self.assertEqual(row.peer, "")
        self.assertEqual([name for name, _ in self.complaints], ["wrong"])

    def test_a_peer_that_fails_in_a_turn_is_left_out(self):
        row = self.run_case({"sinter": 4.0, "fails": 1.0, "lasts": 1.2}, answers={"fails": 2})
        self.assertEqual((row.peer, row.sinter, self.asked.count("lasts")), ("lasts", 4.0, 4))
        self.assertEqual(self.complaints, [("fails", "gone")])
        row = self.run_case({"sinter": 4.0, "fails": 1.0}, answers={"fails": 1})
        self.assertEqual((row.peer, row.sinter, self.asked.count("sinter")), ("", 4.0, 4))

    def test_sinter_without_an_answer_is_no_row(self):
        self.assertIsNone(self.run_case({"sinter": None, "peer": 1.0}))
        self.assertIsNone(self.run_case({"sinter": 4.0, "peer": 1.0}, answers={"sinter": 2}))
        self.assertEqual(self.complaints, [("sinter", "gone")])

    def test_floors(self):
        """Of what is measured: a GPU's FLOPs are not."""
        case = Case("a", flops=5000, bytes=2000)
        self.assertEqual(floor_us(case, {"flops": 1e6, "copy": 1e6}), 5.0)
        self.assertEqual(floor_us(case, {"copy": 1e6}), 2.0)
        self.assertEqual(floor_us(Case("a", reads=4000), {"copy": 1e6, "read": 2e6}), 8.0)
        self.assertTrue(math.isnan(floor_us(Case("a", flops=5000), {"copy": 1e6})))
        self.assertTrue(math.isnan(floor_us(Case("a"), {})))

    def test_agreement(self):
        self.assertTrue(agree((100.0, 0.1), (100.01, 0.2)))
        self.assertFalse(agree((100.0, 0.1), (100.0, 1.0)))
        self.assertFalse(agree((1.0,), (1.0, 1.0)))
        self.assertFalse(agree((math.nan,), (math.nan,)))

    def test_tolerance(self):
        """A step of bfloat16 is 2^-7 of a number; one of float16 is below what float32's rounding is granted."""
        self.assertEqual([tolerance(Case(name)) for name in ("sgemm:a", "f16:gemm:a", "bf16:gemm:a")], [TOLERANCE, TOLERANCE, 2 ** -7])
        self.assertEqual([Case(name).family for name in ("sgemm:a", "f16:gemm:a")], ["sgemm", "gemm"])
        self.assertTrue(agree((100.0, 0.1), (100.7, 0.2), 2 ** -7))
        self.assertFalse(agree((100.0, 0.1), (101.0, 0.2), 2 ** -7))

    def test_agreement_of_losses(self):
        """As those of step:mlp: rounding is none, another rate of learning is, and so is a bias that is not learnt, 0.7 % of the fall."""
        losses = lambda rate, *noise: tuple(2.3039279 - rate * 3.36e-4 * i + n for i, n in enumerate(noise or [0.0] * 6))
        self.assertTrue(agree_on_losses(losses(1), losses(1, 2e-7, -5e-7, 5e-7, -5e-7, 0.0, 1e-6)))
        for rate in (0, -1, 2, 0.5, 0.993):
            self.assertTrue(agree(losses(1), losses(rate)))
            self.assertFalse(agree_on_losses(losses(1), losses(rate)), rate)
        self.assertFalse(agree_on_losses(losses(1), tuple(1.01 * loss for loss in losses(1))))


class Tables(unittest.TestCase):
    ROWS = [Row("sgemm:nn:512x512x512", 1, 10.0, "openblas", 12.5, 1.25, 9.5), Row("gelu:1024x1024x1024", 1, 100.0, floor=80.0)]

    def test_tsv_is_read_back(self):
        for row in self.ROWS:
            again = table.from_tsv(table.to_tsv(row))
            self.assertEqual(table.to_tsv(again), table.to_tsv(row))
            self.assertEqual((again.case, again.peer, again.sinter), (row.case, row.peer, row.sinter))
        with self.assertRaises(ValueError):
            table.from_tsv("sgemm\t1")

    def test_summary(self):
        some = [Case("a", flops=100, ranked="products"), Case("b", flops=200, ranked="products"), Case("c", flops=50, plain="a")]
        rows = [Row("a", 1, 1.0, "p", 2.0, 2.0), Row("b", 1, 1.0, "p", 0.5, 0.5), Row("c", 1, 1.0)]
        self.assertEqual(list(table.summary(rows, some)),
                         ["products: geometric mean of 2 ratios 1.000, lowest 0.500", "c, 1 threads: 0.50 of the rate of a"])
        some = [Case("a", ranked="products"), Case("b", ranked="networks"), Case("c", ranked="networks")]
        means = [line for line in table.summary(rows, some) if "mean" in line]
        self.assertEqual(means, ["products: geometric mean of 1 ratios 2.000, lowest 2.000",
                                 "networks: geometric mean of 1 ratios 0.500, lowest 0.500"])

    def test_flops_of_a_network(self):
        """Those of ResNet-18 for CIFAR, published as 0.56e9 multiply-adds, and the weights of the GPT for each of its positions."""
        self.assertAlmostEqual(cases.resnet18_macs()[0] / 1e9, 0.56, 2)
        self.assertEqual(cases.gpt_macs(positions=1)[0], 4 * (12 * 128 ** 2 + 2 * 128) + 128 * 256)
        self.assertEqual(cases.conv_macs(3, 2, 5), 3 * 3 * 2 * 5 * 3 * 3)
        by_name = {case.name: case for case in CASES}
        self.assertAlmostEqual(by_name["train:gpt:32"].flops, 3 * by_name["infer:gpt:32"].flops, -3)

    def test_names_are_unique(self):
        names = [case.name for case in CASES]
        self.assertEqual(len(names), len(set(names)))

    def test_plot_shows_each_case(self):
        import xml.etree.ElementTree as xml
        out = io.StringIO()
        plot.draw(self.ROWS, out)
        text = "".join(xml.fromstring(out.getvalue()).itertext())
        for row in self.ROWS:
            self.assertIn(row.case, text)
        self.assertIn("unmeasured", text)


class Page(unittest.TestCase):
    def test_it_is_what_the_tables_say(self):
        with open(page.PAGE) as file:
            text = file.read()
        self.assertEqual(page.filled(text), text, "./dev bench --page writes it anew")
        for name in page.MACHINES:
            self.assertIn(f"<!-- bench:{name} -->", text)
        with open(page.PICTURE) as file:
            self.assertEqual(page.picture(), file.read(), "./dev bench --page writes it anew")

    def test_its_rows_are_cases(self):
        for device in ("cpu", "cuda"):
            self.assertLessEqual(set(page.shown(device)), {case.name for case in CASES if case.device in ("", device)})

    def test_amounts(self):
        self.assertEqual([page.amount("step:mlp", us) for us in (0.1161, 3.355, 838.5, 1538.1, 1387501.2)],
                         ["0.116 us", "3.35 us", "838 us", "1.54 ms", "1.39 s"])
        self.assertEqual([page.amount("memory:mlp", kib) for kib in (512.0, 43488.0)], ["512 KiB", "42.5 MiB"])
        self.assertEqual(page.amount("step:mlp", 999.7), "1.00 ms")

    def test_a_block(self):
        rows = [Row("step:mlp", 1, 10.0, "torch-debian-nhwc", 8.0, 0.8), Row("sgemm:nn:256x256x256", 1, 10.0, "onednn-sgemm", 12.5, 1.25),
                Row("sgemm:nn:256x256x256", 2, 5.0), Row("total:1", 2, 5.0, "jax", 10.0, 2.0)]
        lines = list(page.block(["A machine."], rows))
        self.assertEqual(lines[:2], ["A machine.", "Ahead or level (0.95) in 1 / 1 of 2 / 1 cases; median ratio 1.02 / 2.00, lowest 0.80 / 2.00."])
        self.assertEqual(lines[5:], ["| product, 256 x 256 x 256 | 10.0 us | 12.5 us, oneDNN | 1.25 | 5.00 us | unmeasured | |",
                                     "| training step, MLP 784-128-10, batch 256 | 10.0 us | 8.00 us, PyTorch (nhwc) | 0.80 | | | |"])

    def test_a_block_of_a_gpu(self):
        rows = [Row("softmax:65536x1024", 1, 200.0, "torch", 194.0, 0.97, 180.0), Row("sgemm:nn:1024x1024x1024", 1, 80.0, "cublas", 72.0, 0.9)]
        self.assertEqual(list(page.gpu_block(["A card."], rows))[1:], [
            "Ahead or level (0.95) in 1 of 2 cases; median ratio 0.94, lowest 0.90.", "", "| | Sinter | best peer | ratio | of a copy |",
            "|---|--:|--:|--:|--:|", "| softmax, 65536 rows of 1024 | 200 us | 194 us, PyTorch | 0.97 | 0.90 |",
            "| product of 1024 | 80.0 us | 72.0 us, cuBLAS | 0.90 | |"])


if __name__ == "__main__":
    unittest.main()
