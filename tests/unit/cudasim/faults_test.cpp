// Deliberate faults in kernels: each is caught at its line, and a twin without the fault reports nothing.
#include <algorithm>

#include "sim_support.h"
#include "skip.h"

using namespace cuda_sim_test;
using Catch::Matchers::Contains;

namespace {

/// A kernel `k` with `good` in place of $, and the fault that comes of `bad` there.
struct Mutant {
  const char* name;
  const char* text;
  const char *good, *bad;
  CudaResult code;
  const char* words;  ///< of the report
  unsigned blocks = 1, threads = 64;
};

// p and q have 64 floats each, q's are written. The line that ends with HERE is the one to report.
const Mutant kMutants[] = {
    {"the barrier before the first read is missing", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  __shared__ float s[64];
  s[threadIdx.x] = 0;
  __syncthreads();
  s[threadIdx.x] = q[threadIdx.x];
  $
  p[threadIdx.x] = s[63 - threadIdx.x];  // HERE
})",
     "__syncthreads();", "", CudaResult::LaunchFailed, "race"},
    {"a loop lacks the barrier before it reads", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  __shared__ float s[64];
  float sum = 0;
  s[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = 0; i < n; ++i) {
    s[threadIdx.x] = q[(threadIdx.x + i) % 64];
    $
    sum += s[(threadIdx.x + 32) % 64];  // HERE
    __syncthreads();
  }
  p[threadIdx.x] = sum;
})",
     "__syncthreads();", "", CudaResult::LaunchFailed, "race"},
    {"a loop lacks the barrier before it writes again", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  __shared__ float s[64];
  float sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < n; ++i) {
    s[threadIdx.x] = q[(threadIdx.x + i) % 64];  // HERE
    __syncthreads();
    sum += s[(threadIdx.x + 32) % 64];
    $
  }
  p[threadIdx.x] = sum;
})",
     "__syncthreads();", "", CudaResult::LaunchFailed, "race"},
    {"a row of shared memory is never written", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  __shared__ float s[65];
  s[threadIdx.x] = q[threadIdx.x];
  $
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x + 1];  // HERE
})",
     "if (threadIdx.x == 0) s[64] = 0;", "", CudaResult::LaunchFailed, "uninitialized"},
    {"one element too many is written", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (i $ 64) p[i] = q[threadIdx.x];  // HERE
})",
     "<", "<=", CudaResult::IllegalAddress, "out of bounds", 2},
    {"one element too many of shared memory is written", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  __shared__ float s[64], t[64];
  s[threadIdx.x + $] = q[threadIdx.x];  // HERE
  t[threadIdx.x] = 0;
  __syncthreads();
  p[threadIdx.x] = s[(threadIdx.x ^ 1) | 1] + t[threadIdx.x ^ 1];
})",
     "0", "1", CudaResult::IllegalAddress, "out of bounds"},
    {"two threads write one element", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  p[threadIdx.x / $] = q[threadIdx.x];  // HERE
})",
     "1", "2", CudaResult::LaunchFailed, "race"},
    {"a part of the block goes around a barrier", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  if ($) return;
  p[threadIdx.x] = q[threadIdx.x];
  __syncthreads();  // HERE
})",
     "threadIdx.x >= n + 61", "threadIdx.x >= n + 13", CudaResult::LaunchFailed, "divergent barrier"},
    {"whole warps go around a barrier", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  if (threadIdx.x >= $) return;
  p[threadIdx.x] = q[threadIdx.x];
  __syncthreads();  // HERE
})",
     "64", "32", CudaResult::LaunchFailed, "deadlock"},
    {"16 bytes are read from an address that is no multiple of 16", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  const float4 v = *(const float4*)(q + $);  // HERE
  p[threadIdx.x] = v.x + v.y + v.z + v.w;
})",
     "n + 1", "n", CudaResult::MisalignedAddress, "misaligned"},
    {"blocks write one element", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  if (threadIdx.x < 32) p[threadIdx.x + $] = q[threadIdx.x];  // HERE
})",
     "blockIdx.x * 32", "blockIdx.x", CudaResult::LaunchFailed, "another block", 2},
    {"a block reads what another one writes", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  if (blockIdx.x == 0) p[threadIdx.x] = q[threadIdx.x];
  else if ($) p[0] = p[5] + 1;  // HERE
})",
     "n == 0", "threadIdx.x == 0", CudaResult::LaunchFailed, "another block", 2},
    {"a shuffle names lanes that are elsewhere", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  float v = q[threadIdx.x];
  if (threadIdx.x % 32 < $)
    v += __shfl_xor_sync(0xffffffffu, v, 1);  // HERE
  p[threadIdx.x] = v;
})",
     "32", "31", CudaResult::LaunchFailed, "inactive lane"},
    {"a warp's lanes exchange through memory without meeting", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  __shared__ float s[64];
  s[threadIdx.x] = q[threadIdx.x];
  $
  p[threadIdx.x] = s[threadIdx.x ^ 1];  // HERE
})",
     "__syncwarp();", "", CudaResult::LaunchFailed, "race"},
    {"a sum is not atomic", R"(
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  if (threadIdx.x == 0 && n == 0) p[0] = 0;
  $;  // HERE
})",
     "atomicAdd((unsigned*)q, 1u)", "*(unsigned*)q += 1", CudaResult::LaunchFailed, "race"},
};

std::string with(const Mutant& mutant, const char* part) {
  std::string text = mutant.text;
  return text.replace(text.find('$'), 1, part);
}

int line_of(const std::string& text, const std::string& mark) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(text.find(mark)), '\n'));
}

CudaResult run(const Mutant& mutant, const std::string& text, uint64_t seed) {
  Gpu gpu({.seed = seed});
  const auto p = gpu.allocate(64 * 4), q = gpu.upload(std::vector<float>(64, 1.0f));
  return gpu.launch(gpu.load(ptx_of(text), "k"), mutant.blocks, mutant.threads, {p, q, 3});
}

}  // namespace

TEST_CASE("deliberate faults in kernels are caught at their lines", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  for (const Mutant& mutant : kMutants)
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const std::string good = with(mutant, mutant.good), bad = with(mutant, mutant.bad);
      INFO(mutant.name);
      CHECK(run(mutant, good, seed) == CudaResult::Success);
      CHECK(sim::last_fault() == "");
      CHECK(run(mutant, bad, seed) == mutant.code);
      const std::string fault = sim::last_fault();
      CHECK_THAT(fault, Contains(mutant.words));
      CHECK_THAT(fault, Contains("kernel k, block (") && Contains("thread ("));
      // A race has two lines: which of them comes second depends on the order of the warps.
      CHECK_THAT(fault, Contains("kernels.cu:" + std::to_string(line_of(bad, "HERE")) + " `"));
    }
}

TEST_CASE("what nothing has written may be read as long as nothing depends on it", "[cuda-sim]") {
  // s has two words, of which the first is written; k(p) reads the second into %r2.
  const std::string head = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 s[8];
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  st.shared.u32 [s], 1;
  ld.shared.u32 %r1, [s];
  ld.shared.u32 %r2, [s+4];
  setp.eq.s32 %p0, %r1, 1;
)";
  const auto outcome = [&](const std::string& rest) {
    Gpu gpu;
    const auto p = gpu.upload(std::vector<uint32_t>(4, 7));
    return gpu.launch(gpu.load(head + rest + "\n  ret;\n}\n", "k"), 1, 1, {p});
  };
  CHECK(outcome("") == CudaResult::Success);
  CHECK(outcome("add.u32 %r3, %r2, 1; selp.u32 %r4, %r1, %r3, %p0; st.global.u32 [%rd0], %r4;") == CudaResult::Success);
  CHECK(outcome("setp.eq.s32 %p1, %r2, 5; not.pred %p2, %p0; and.pred %p1, %p1, %p2; @%p1 bra END;\nEND:") ==
        CudaResult::Success);
  CHECK(outcome("setp.eq.s32 %p1, %r2, 5; or.pred %p1, %p1, %p0; @%p1 bra END;\nEND:") == CudaResult::Success);
  CHECK(outcome("mov.u32 %r2, 3; st.global.u32 [%rd0], %r2;") == CudaResult::Success);
  CHECK(outcome("st.shared.u32 [s+4], %r2; ld.shared.u32 %r3, [s]; st.global.u32 [%rd0], %r3;") == CudaResult::Success);
  for (const char* used : {
           "st.global.u32 [%rd0], %r2;",
           "add.u32 %r3, %r2, 1; selp.u32 %r4, %r3, %r1, %p0; st.global.u32 [%rd0], %r4;",
           "cvt.u64.u32 %rd1, %r2; add.s64 %rd1, %rd1, %rd0; ld.global.u32 %r3, [%rd1];",
           "setp.eq.s32 %p1, %r2, 5; and.pred %p1, %p1, %p0; @%p1 bra END;\nEND:",
           "shfl.sync.idx.b32 %r3, %r2, 0, 31, 1; st.global.u32 [%rd0], %r3;",
           "st.shared.u32 [s], %r2; ld.shared.u32 %r3, [s]; st.global.u32 [%rd0], %r3;",
           "atom.global.add.u32 %r3, [%rd0], %r2;",
       }) {
    INFO(used);
    CHECK(outcome(used) == CudaResult::LaunchFailed);
    CHECK_THAT(sim::last_fault(), Contains("of s (8 bytes) of shared memory") && Contains("uninitialized"));
  }
}

TEST_CASE("what nothing has written is followed bit by bit", "[cuda-sim]") {
  // Of the two words of s, all of %r1 and the lowest byte of %r2 are written; 9 is in both.
  const std::string head = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<4>;
  .reg .b16 %rs<4>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  .shared .align 8 .b8 s[8];
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, 9;
  st.shared.u32 [s], %r0;
  st.shared.u8 [s+4], %r0;
  ld.shared.v2.u32 {%r1, %r2}, [s];
  setp.eq.u32 %p0, %r1, 9;
)";
  const auto outcome = [&](const std::string& rest) {
    Gpu gpu;
    const auto p = gpu.upload(std::vector<uint32_t>(4, 7));
    return gpu.launch(gpu.load(head + rest + "\n  ret;\n}\n", "k"), 1, 1, {p});
  };
  struct Row {
    const char *good, *bad;
  };
  const Row rows[] = {
      {"st.global.u8 [%rd0], %r2;", "st.global.u16 [%rd0], %r2;"},
      {"st.shared.u32 [s], %r2; ld.shared.u8 %r3, [s]; st.global.u32 [%rd0], %r3;",
       "st.shared.u32 [s], %r2; ld.shared.u16 %r3, [s]; st.global.u32 [%rd0], %r3;"},
      {"ld.shared.u16 %r3, [s+4]; shr.u32 %r3, %r3, 16; st.global.u8 [%rd0], %r3;",
       "ld.shared.s16 %r3, [s+4]; shr.u32 %r3, %r3, 16; st.global.u8 [%rd0], %r3;"},
      {"and.b32 %r3, %r2, 255; st.global.u32 [%rd0], %r3;", "and.b32 %r3, %r2, 511; st.global.u32 [%rd0], %r3;"},
      {"or.b32 %r3, %r2, -256; st.global.u32 [%rd0], %r3;", "or.b32 %r3, %r2, -512; st.global.u32 [%rd0], %r3;"},
      {"xor.b32 %r3, %r2, %r1; st.global.u8 [%rd0], %r3;", "xor.b32 %r3, %r2, %r1; st.global.u16 [%rd0], %r3;"},
      {"not.b32 %r3, %r2; st.global.u8 [%rd0], %r3;", "not.b32 %r3, %r2; st.global.u32 [%rd0], %r3;"},
      {"lop3.b32 %r3, %r2, 255, %r1, 0xea; st.global.u32 [%rd0], %r3;",
       "lop3.b32 %r3, %r2, 256, %r1, 0xea; st.global.u32 [%rd0], %r3;"},
      {"shl.b32 %r3, %r2, 24; st.global.u32 [%rd0], %r3;", "shl.b32 %r3, %r2, 23; st.global.u32 [%rd0], %r3;"},
      {"shr.u32 %r3, %r1, 8; st.global.u32 [%rd0], %r3;", "shr.u32 %r3, %r2, 8; st.global.u8 [%rd0], %r3;"},
      {"shr.u32 %r3, %r1, %r1; st.global.u8 [%rd0], %r3;", "shr.u32 %r3, %r1, %r2; st.global.u8 [%rd0], %r3;"},
      {"shf.l.wrap.b32 %r3, %r1, %r2, 24; st.global.u32 [%rd0], %r3;",
       "shf.l.wrap.b32 %r3, %r1, %r2, 16; st.global.u32 [%rd0], %r3;"},
      {"bfe.u32 %r3, %r2, 0, 8; st.global.u32 [%rd0], %r3;", "bfe.s32 %r3, %r2, 8, 8; st.global.u32 [%rd0], %r3;"},
      {"bfi.b32 %r3, %r2, %r1, 8, 8; st.global.u32 [%rd0], %r3;",
       "bfi.b32 %r3, %r1, %r2, 8, 8; st.global.u32 [%rd0], %r3;"},
      {"prmt.b32 %r3, %r2, %r1, 0x8640; st.global.u32 [%rd0], %r3;",
       "prmt.b32 %r3, %r2, %r1, 0x9640; st.global.u32 [%rd0], %r3;"},
      {"brev.b32 %r3, %r2; shr.u32 %r3, %r3, 24; st.global.u32 [%rd0], %r3;",
       "brev.b32 %r3, %r2; st.global.u8 [%rd0], %r3;"},
      {"cvt.u32.u8 %r3, %r2; st.global.u32 [%rd0], %r3;", "cvt.u32.u16 %r3, %r2; st.global.u32 [%rd0], %r3;"},
      {"cvt.rn.f32.u8 %f0, %r2; st.global.f32 [%rd0], %f0;", "cvt.rn.f32.u16 %f0, %r2; st.global.f32 [%rd0], %f0;"},
      {"mov.b32 %f0, %r2; cvt.rn.f16x2.f32 %r3, %f0, 0f3F800000; st.global.u16 [%rd0], %r3;",
       "mov.b32 %f0, %r2; cvt.rn.f16x2.f32 %r3, 0f3F800000, %f0; st.global.u16 [%rd0], %r3;"},
      {"mov.b32 {%rs0, %rs1}, %r2; mov.b32 %r3, {%rs1, %rs0}; shl.b32 %r3, %r3, 8; shr.u32 %r3, %r3, 24; st.global.u32 "
       "[%rd0], %r3;",
       "mov.b32 {%rs0, %rs1}, %r2; mov.b32 %r3, {%rs1, %rs0}; st.global.u8 [%rd0], %r3;"},
      {"mov.b64 %rd1, {%r1, %r2}; shl.b64 %rd1, %rd1, 24; st.global.u64 [%rd0], %rd1;",
       "mov.b64 %rd1, {%r1, %r2}; shl.b64 %rd1, %rd1, 16; st.global.u64 [%rd0], %rd1;"},
      {"cvt.u16.u32 %rs0, %r2; add.s16 %rs0, %rs0, 7; st.global.u8 [%rd0], %rs0;",
       "cvt.u16.u32 %rs0, %r2; add.s16 %rs0, %rs0, 7; st.global.u16 [%rd0], %rs0;"},
      {"mul.lo.s32 %r3, %r2, %r1; st.global.u8 [%rd0], %r3;", "mul.hi.u32 %r3, %r2, %r1; st.global.u8 [%rd0], %r3;"},
      {"mad.lo.s32 %r3, %r1, %r1, %r2; sub.s32 %r3, %r1, %r3; neg.s32 %r3, %r3; st.global.u8 [%rd0], %r3;",
       "mad.lo.s32 %r3, %r1, %r1, %r2; st.global.u16 [%rd0], %r3;"},
      {"add.cc.u32 %r3, %r1, 1; addc.u32 %r4, 0, 0; st.global.u32 [%rd0], %r4;",
       "add.cc.u32 %r3, %r2, 1; addc.u32 %r4, 0, 0; st.global.u32 [%rd0], %r4;"},
      {"selp.u32 %r3, %r2, %r1, %p0; st.global.u8 [%rd0], %r3;",
       "selp.u32 %r3, %r2, %r1, %p0; st.global.u32 [%rd0], %r3;"},
      {"setp.eq.u32 %p1, %r2, 9; selp.u32 %r3, %r1, %r0, %p1; st.global.u32 [%rd0], %r3;",
       "setp.eq.u32 %p1, %r2, 9; selp.u32 %r3, %r1, 8, %p1; st.global.u32 [%rd0], %r3;"},
      {"and.b32 %r3, %r2, 255; setp.eq.u32 %p1, %r3, 9; @%p1 bra END;\nEND:",
       "setp.eq.u32 %p1, %r2, 9; @%p1 bra END;\nEND:"},
      {"shfl.sync.idx.b32 %r3, %r2, 0, 31, 1; st.global.u8 [%rd0], %r3;",
       "shfl.sync.idx.b32 %r3, %r2, 0, 31, 1; st.global.u32 [%rd0], %r3;"},
      {"sub.u32 %r2, %r1, %r0; shfl.sync.idx.b32 %r3, %r1, %r2, 31, 1;", "shfl.sync.idx.b32 %r3, %r1, %r2, 31, 1;"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.good, row.bad);
    CHECK(outcome(row.good) == CudaResult::Success);
    CHECK(sim::last_fault() == "");
    CHECK(outcome(row.bad) == CudaResult::LaunchFailed);
    CHECK_THAT(sim::last_fault(), Contains(" of s (8 bytes) of shared memory") && Contains("uninitialized"));
  }
}

TEST_CASE("the padding behind a variable may be read with it, and no more", "[cuda-sim]") {
  // s has three words in a place for four: NVRTC reads all four at once where three are wanted.
  const std::string head = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  .shared .align 16 .b8 s[12];
  ld.param.u64 %rd0, [p];
  st.shared.u32 [s], 1;
  st.shared.u32 [s+4], 2;
  st.shared.u32 [s+8], 3;
)";
  const auto outcome = [&](const std::string& rest) {
    Gpu gpu;
    const auto p = gpu.upload(std::vector<uint32_t>(4, 7));
    return gpu.launch(gpu.load(head + rest + "\n  ret;\n}\n", "k"), 1, 1, {p});
  };
  CHECK(outcome("ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [s]; st.global.v2.u32 [%rd0], {%r1, %r2};") ==
        CudaResult::Success);
  CHECK(outcome("ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [s]; st.global.u32 [%rd0], %r3;") == CudaResult::LaunchFailed);
  CHECK_THAT(sim::last_fault(), Contains("uninitialized"));
  CHECK(outcome("st.shared.u32 [s+12], 4;") == CudaResult::IllegalAddress);
  CHECK_THAT(sim::last_fault(), Contains("byte 12 of s (12 bytes)") && Contains("out of bounds"));
  CHECK(outcome("ld.shared.u32 %r0, [s+16];") == CudaResult::IllegalAddress);
}

TEST_CASE("a kernel that never ends is a fault which names it", "[cuda-sim]") {
  const std::string ptx = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry forever(.param .u64 turns)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [turns];
  mov.u64 %rd2, 0;
$again:
  add.s64 %rd2, %rd2, 1;
  setp.ne.s64 %p1, %rd2, %rd1;
  @%p1 bra $again;
  ret;
}
)";
  for (const unsigned threads : {32, 96}) {  // warps take turns, or one runs alone
    Gpu gpu({.instructions = 10000});
    const cuda::FunctionHandle forever = gpu.load(ptx, "forever");
    INFO(sim::last_fault());
    CHECK(gpu.launch(forever, 2, threads, {500}) == CudaResult::Success);
    CHECK(gpu.launch(forever, 2, threads, {500}) == CudaResult::Success);  // each launch has as many
    CHECK(sim::last_fault() == "");
    CHECK(gpu.launch(forever, 2, threads, {0}) == CudaResult::LaunchTimeout);
    CHECK_THAT(sim::last_fault(), Contains("kernel forever, block (0,0,0)") && Contains("the launch does not end") &&
                                      Contains("10000 instructions"));
    CHECK(gpu.launch(forever, 1, threads, {1}) == CudaResult::LaunchTimeout);  // sticky
  }
}
