"""./dev sass: which kernels it takes of a log, what it prints of one, and what it says where a part of the toolkit is missing. Run by
CTest with its compiler as argument."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import sass

CUBIN = sys.argv.pop() if len(sys.argv) > 1 else str(sass.CUBIN)

KERNEL = """extern "C" __global__ void __launch_bounds__(32) NAME(unsigned* error, const float* __restrict__ p0, float* __restrict__ p1) {
  __shared__ float tile[32];
  tile[threadIdx.x] = p0[threadIdx.x];
  __syncthreads();
  p1[threadIdx.x] = tile[31 - threadIdx.x] * 2.0f;
}
"""
LOG = f"""partition: 1 nodes, 1 kernels
// kernel e_32_aa (compiled)
{KERNEL.replace("NAME", "e_32_aa")}  e_32_aa      4 tasks       29.6 us
// kernel e_32_bb (from the cache)
{KERNEL.replace("NAME", "e_32_bb")}plan: 1 launches of 1 kernels
// kernel e_32_aa (from memory)
{KERNEL.replace("NAME", "e_32_aa")}"""


def missing():
    """Why no machine code can be made here; empty if it can."""
    try:
        sass.find_nvdisasm()
    except SystemExit:
        return "no nvdisasm"
    with tempfile.TemporaryDirectory() as folder:
        text = KERNEL.replace("NAME", "k")
        done = subprocess.run([CUBIN, "90", os.path.join(folder, "cubin")], input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else "no NVRTC for sm_90"


MISSING = missing()


def call(*arguments, given="", **environment):
    """(what was printed, what was said at the end)"""
    out, said = io.StringIO(), ""
    with mock.patch("sys.argv", ["sass", *arguments]), mock.patch("sys.stdin", io.StringIO(given)), \
            mock.patch("sass.CUBIN", CUBIN), mock.patch.dict(os.environ, environment), contextlib.redirect_stdout(out):
        try:
            sass.main()
        except SystemExit as end:
            said = str(end.code)
    return out.getvalue(), said


class Sass(unittest.TestCase):
    def test_kernels_of_a_log(self):
        """Each once, from its head to its last brace."""
        self.assertEqual(sass.kernels_of(LOG), [(name, KERNEL.replace("NAME", name)) for name in ("e_32_aa", "e_32_bb")])
        self.assertEqual(sass.kernels_of(KERNEL), [("kernel", KERNEL)])

    def test_summary(self):
        code = "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n        /*0010*/              @!P0 BRA `(.L_x_0) ;\n.L_x_0:\n" \
               "        /*0020*/              @UP0 LDC.64 R2, c[0x0][0x210] ;\n"
        self.assertEqual(sass.summary(code), "// 3 instructions: LDC 2, BRA 1\n")

    def test_what_is_refused(self):
        self.assertEqual(call("-", "--only", "cc", given=LOG), ("", "--only cc: no kernel matches"))
        self.assertIn("No such file", call("/nowhere/log")[1])
        with contextlib.redirect_stderr(io.StringIO()) as said:
            call("-", "--arch", "compute_90", given=LOG)
        self.assertIn("compute_90 is no architecture", said.getvalue())

    def test_without_nvdisasm(self):
        with mock.patch("sass.places", list):
            self.assertIn("pip install nvidia-cuda-nvdisasm", call("-", given=LOG, PATH="/nowhere")[1])

    def test_a_folder_of_the_toolkit(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"CUDA_HOME": folder, "PATH": "/nowhere"}):
            path = pathlib.Path(folder, "bin", "nvdisasm")
            path.parent.mkdir()
            path.write_text("#!/bin/sh\n")
            path.chmod(0o755)
            self.assertEqual(sass.find_nvdisasm(), str(path))

    def test_without_nvrtc(self):
        with mock.patch("sass.find_nvdisasm", lambda: "nvdisasm"):
            out, said = call("-", given=LOG, SINTER_NVRTC_LIB="/nowhere/libnvrtc.so")
        self.assertEqual(out, "")
        self.assertIn("/nowhere/libnvrtc.so", said)

    @unittest.skipIf(MISSING, MISSING)
    def test_machine_code(self):
        for arch in ("sm_80", "sm_90"):
            out, said = call("-", "--only", "aa", "--arch", arch, given=LOG)
            self.assertEqual(said, "")
            self.assertRegex(out, rf"^// e_32_aa for {arch}a?: \d+ registers, 128 bytes of shared memory, 0 of stack, 0 and 0 of spills")
            self.assertRegex(out, r"\n// \d+ instructions: ")
            self.assertIn("LDS", out)
            self.assertNotIn("e_32_bb", out)

    @unittest.skipIf(MISSING, MISSING)
    def test_a_text_that_does_not_compile(self):
        self.assertIn("error", call("-", given="__global__ void k() { x; }\n")[1])
        self.assertIn("was it written for a CPU?", call("-", given="void k() {}\n")[1])


if __name__ == "__main__":
    done = unittest.main(exit=False).result
    if done.skipped:  # as tests/skip.cpp says it
        print(f"{len(done.skipped)} tests skipped: {MISSING} x{len(done.skipped)}")
    sys.exit(not done.wasSuccessful())
