// Tensor cores and asynchronous copies on the simulated GPU: fragments, products to the bit, bank passes, and what a
// missing wait, barrier or commit brings.
#include <fmt/format.h>

#include <random>
#include <set>

#include "ir/mma_step.h"
#include "sim_support.h"
#include "skip.h"

using namespace cuda_sim_test;
using Catch::Matchers::Contains;
using sinter::ir::MmaOperand;

namespace {

/// D = A B + C for one warp. Each row of A (16) and column of B (8) is 8 words; C and D are 16 x 8. The places of the
/// operands in the registers are those of the PTX ISA's figures.
std::string product_kernel(const std::string& form, const char* number, char constraint) {
  return fmt::format(R"(
extern "C" __global__ void k({0}* d, const unsigned* a, const unsigned* b, const {0}* c) {{
  const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
  const unsigned a0 = a[g * 8 + t], a1 = a[(g + 8) * 8 + t], a2 = a[g * 8 + t + 4], a3 = a[(g + 8) * 8 + t + 4];
  const unsigned b0 = b[g * 8 + t], b1 = b[g * 8 + t + 4];
  {0} d0 = c[g * 8 + 2 * t], d1 = c[g * 8 + 2 * t + 1], d2 = c[(g + 8) * 8 + 2 * t], d3 = c[(g + 8) * 8 + 2 * t + 1];
  asm volatile("mma.sync.aligned.{1} {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
               : "+{2}"(d0), "+{2}"(d1), "+{2}"(d2), "+{2}"(d3)
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  d[g * 8 + 2 * t] = d0, d[g * 8 + 2 * t + 1] = d1;
  d[(g + 8) * 8 + 2 * t] = d2, d[(g + 8) * 8 + 2 * t + 1] = d3;
}}
)",
                     number, form, constraint);
}

/// A is 16 x 16, in rows of `pitch` bytes of shared memory; B is 16 x 8 by rows. The fragments are loaded `times`
/// times.
std::string loaded_kernel(int pitch) {
  return fmt::format(R"(
__device__ unsigned address(const void* p) {{
  unsigned long long a;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
  return (unsigned)a;
}}
extern "C" __global__ void k(float* d, const unsigned* a, const unsigned* b, unsigned times) {{
  __shared__ __attribute__((aligned(16))) unsigned sa[16 * {0} / 4], sb[16 * 4];
  const unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4;
  for (unsigned i = lane; i < 128; i += 32) sa[i / 8 * {0} / 4 + i % 8] = a[i];
  for (unsigned i = lane; i < 64; i += 32) sb[i] = b[i];
  __syncthreads();
  unsigned a0, a1, a2, a3, b0, b1;
#pragma unroll 1
  for (unsigned i = 0; i < times; ++i) {{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%0, %1, %2, %3}}, [%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(address(sa) + lane % 16 * {0} + lane / 16 * 16));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {{%0, %1}}, [%2];"
                 : "=r"(b0), "=r"(b1) : "r"(address(sb) + lane % 16 * 16));
  }}
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, "
               "{{%0, %1, %2, %3}};"
               : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  d[g * 8 + 2 * t] = d0, d[g * 8 + 2 * t + 1] = d1;
  d[(g + 8) * 8 + 2 * t] = d2, d[(g + 8) * 8 + 2 * t + 1] = d3;
}}
)",
                     pitch);
}

std::vector<uint32_t> random_words(size_t n, uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<uint32_t> words(n);
  for (uint32_t& word : words) word = random();
  return words;
}

/// The elements of 8 words.
std::vector<uint32_t> unpacked(MmaOperand type, const uint32_t* words) {
  if (type == MmaOperand::TF32) return {words, words + 8};
  std::vector<uint32_t> out;
  for (int i = 0; i < 8; ++i) out.insert(out.end(), {words[i] & 0xffff, words[i] >> 16});
  return out;
}

/// Tiles of 256 floats through two buffers of shared memory, each read backwards. 64 threads.
constexpr const char* kCopies = R"(
__device__ unsigned address(const void* p) {
  unsigned long long a;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
  return (unsigned)a;
}
extern "C" __global__ void k(float* p, const float* q, unsigned n) {
  __shared__ __attribute__((aligned(16))) float s[2][256];
  const unsigned at = threadIdx.x * 4;
#define COPY(i) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&s[(i) % 2][at])), "l"(q + (i) * 256 + at) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
  COPY(0);
  COMMIT;
#pragma unroll 1
  for (unsigned i = 0; i < n; ++i) {
    if (i + 1 < n) COPY(i + 1);
    COMMIT;
    WAIT(1);
    __syncthreads(/* full */);
    for (unsigned j = 0; j < 4; ++j) p[i * 256 + at + j] = s[i % 2][255 - at - j];
    __syncthreads(/* empty */);
  }
  WAIT(0);
}
)";

struct Edit {
  const char *from, *to;
  const char* words;  ///< of the report
};

std::string edited(std::string text, const Edit& edit) {
  const size_t at = text.find(edit.from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, std::strlen(edit.from), edit.to);
}

}  // namespace

TEST_CASE("mma.sync multiplies fragments as its step does, to the bit", "[cuda-sim][mma]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  struct Form {
    const char* words;
    MmaOperand type;
  };
  for (const auto& [words, type] : {Form{"m16n8k16.row.col.f32.bf16.bf16.f32", MmaOperand::BF16},
                                    Form{"m16n8k16.row.col.f32.f16.f16.f32", MmaOperand::F16},
                                    Form{"m16n8k8.row.col.f32.tf32.tf32.f32", MmaOperand::TF32}}) {
    CAPTURE(words);
    Gpu gpu;
    const auto kernel = gpu.load(ptx_of(product_kernel(words, "float", 'f')), "k");
    for (uint64_t seed = 0; seed < 8; ++seed) {
      auto a = random_words(128, 3 * seed), b = random_words(64, 3 * seed + 1), c = random_words(128, 3 * seed + 2);
      if (seed % 2)  // exponents near 1, so that sums cancel; any bits otherwise
        for (auto* operand : {&a, &b, &c})
          for (uint32_t& w : *operand) w = (w & 0x807f807f) | (type == MmaOperand::F16 ? 0x3c003c00 : 0x3f803f80);
      const auto d = gpu.allocate(128 * 4);
      REQUIRE(gpu.launch(kernel, 1, 32, {d, gpu.upload(a), gpu.upload(b), gpu.upload(c)}) == CudaResult::Success);
      const auto result = gpu.download<uint32_t>(d, 128);
      for (size_t row = 0; row < 16; ++row)
        for (size_t column = 0; column < 8; ++column)
          REQUIRE(result[row * 8 + column] == sinter::ir::mma_step(type, unpacked(type, &a[row * 8]),
                                                                   unpacked(type, &b[column * 8]),
                                                                   c[row * 8 + column]));
    }
  }
}

TEST_CASE("mma.sync of bytes is exact modulo 2^32", "[cuda-sim][mma]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  Gpu gpu;
  const auto a = random_words(128, 1), b = random_words(64, 2), c = random_words(128, 3);
  const auto left_by = [&](const std::string& operands) {
    const auto kernel =
        gpu.load(ptx_of(product_kernel("m16n8k32.row.col.s32." + operands + ".s32", "unsigned", 'r')), "k");
    const auto d = gpu.allocate(128 * 4);
    REQUIRE(gpu.launch(kernel, 1, 32, {d, gpu.upload(a), gpu.upload(b), gpu.upload(c)}) == CudaResult::Success);
    return gpu.download<uint32_t>(d, 128);
  };
  /// Of an operand's row of 8 words, extended by its sign if it has one.
  const auto element = [](const uint32_t* words, size_t k, bool has_sign) {
    const uint32_t byte = words[k / 4] >> k % 4 * 8 & 0xff;
    return has_sign && byte >= 128 ? byte - 256 : byte;
  };
  std::set<std::vector<uint32_t>> all;
  for (const bool sign_of_a : {false, true})
    for (const bool sign_of_b : {false, true}) {
      const auto result = left_by(fmt::format("{}8.{}8", sign_of_a ? 's' : 'u', sign_of_b ? 's' : 'u'));
      for (size_t row = 0; row < 16; ++row)
        for (size_t column = 0; column < 8; ++column) {
          uint32_t sum = c[row * 8 + column];
          for (size_t k = 0; k < 32; ++k)
            sum += element(&a[row * 8], k, sign_of_a) * element(&b[column * 8], k, sign_of_b);
          REQUIRE(result[row * 8 + column] == sum);
        }
      all.insert(result);
    }
  CHECK(all.size() == 4);  // another sign would be seen
}

TEST_CASE("ldmatrix loads fragments, also transposed, and counts its bank passes", "[cuda-sim][mma]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const auto a = random_words(128, 4), b = random_words(64, 5);
  const auto element = [](const std::vector<uint32_t>& words, size_t i) { return words[i / 2] >> i % 2 * 16 & 0xffff; };
  const auto passes = [&](int pitch) {
    uint64_t wavefronts[2], ideal[2];
    for (const uint64_t times : {1, 2}) {
      Gpu gpu;
      const auto kernel = gpu.load(ptx_of(loaded_kernel(pitch)), "k");
      const auto d = gpu.allocate(128 * 4);
      REQUIRE(gpu.launch(kernel, 1, 32, {d, gpu.upload(a), gpu.upload(b), times}) == CudaResult::Success);
      const auto result = gpu.download<uint32_t>(d, 128);
      for (size_t row = 0; row < 16; ++row)
        for (size_t column = 0; column < 8; ++column) {
          std::vector<uint32_t> x, y;
          for (size_t k = 0; k < 16; ++k) {
            x.push_back(element(a, row * 16 + k));
            y.push_back(element(b, k * 8 + column));
          }
          REQUIRE(result[row * 8 + column] == sinter::ir::mma_step(MmaOperand::BF16, x, y, 0));
        }
      wavefronts[times - 1] = sim::counters("k").wavefronts;
      ideal[times - 1] = sim::counters("k").ideal_wavefronts;
    }
    return std::pair(wavefronts[1] - wavefronts[0], ideal[1] - ideal[0]);
  };
  CHECK(passes(32) == std::pair<uint64_t, uint64_t>(4 * 2 + 2, 6));  // two rows of A in each bank
  CHECK(passes(48) == std::pair<uint64_t, uint64_t>(4 + 2, 6));
}

TEST_CASE("instructions of a whole warp need all of its lanes, and rows of matrices their alignment",
          "[cuda-sim][mma]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const auto outcome = [](const Edit& edit, unsigned threads) {
    Gpu gpu;
    const auto kernel = gpu.load(ptx_of(edited(loaded_kernel(32), edit)), "k");
    const CudaResult result = gpu.launch(
        kernel, 1, threads, {gpu.allocate(512), gpu.upload(random_words(128, 1)), gpu.upload(random_words(64, 2)), 1});
    return std::pair(result, sim::last_fault());
  };
  const Edit none{"", "", ""};
  CHECK(outcome(none, 32).first == CudaResult::Success);
  CHECK_THAT(outcome(none, 16).second, Contains("only the lanes 0x0000ffff") && Contains("inactive lane"));
  CHECK_THAT(outcome({"i < times", "i < times + lane / 31", ""}, 32).second, Contains("inactive lane"));
  const auto [code, text] = outcome({"lane / 16 * 16));", "lane / 16 * 16 + 4));", ""}, 32);
  CHECK(code == CudaResult::MisalignedAddress);
  CHECK_THAT(text, Contains("a row of a matrix") && Contains("not a multiple of 16"));
  CHECK_THAT(outcome({"sa[i / 8", "if (i != 5) sa[i / 8", ""}, 32).second, Contains("uninitialized"));
  const auto [beyond, where] = outcome({"lane / 16 * 16));", "lane / 16 * 16 + 1024));", ""}, 32);
  CHECK(beyond == CudaResult::IllegalAddress);
  CHECK_THAT(where, Contains("ldmatrix") && Contains("out of bounds"));
}

TEST_CASE("mma.sync needs all lanes of a warp, and operands that were written", "[cuda-sim][mma]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  for (const char* form : {"m16n8k16.row.col.f32.bf16.bf16.f32", "m16n8k32.row.col.s32.s8.u8.s32"}) {
    const bool bytes = std::string_view(form).find("s8") != std::string_view::npos;
    const std::string text = product_kernel(form, bytes ? "unsigned" : "float", bytes ? 'r' : 'f');
    const auto fault = [&](const Edit& edit, unsigned threads, int unwritten) {
      Gpu gpu;
      const auto operand = [&](int number, size_t words) {
        return number == unwritten ? gpu.allocate(words * 4) : gpu.upload(random_words(words, 1));
      };
      const auto a = operand(0, 128), b = operand(1, 64), c = operand(2, 128), d = gpu.allocate(128 * 4);
      const CudaResult result = gpu.launch(gpu.load(ptx_of(edited(text, edit)), "k"), 1, threads, {d, a, b, c});
      return result == CudaResult::Success ? std::string() : sim::last_fault();
    };
    const Edit none{"", "", ""};
    CHECK(fault(none, 32, -1).empty());
    CHECK_THAT(fault({"  asm volatile", "  if (threadIdx.x != 9) asm volatile", ""}, 32, -1),
               Contains("mma.sync") && Contains("inactive lane"));
    CHECK_THAT(fault(none, 16, -1), Contains("mma.sync") && Contains("only the lanes 0x0000ffff"));
    for (const int operand : {0, 1, 2}) CHECK_THAT(fault(none, 32, operand), Contains("uninitialized"));
  }
}

TEST_CASE("asynchronous copies land when they are waited for", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const size_t tiles = 5;
  std::vector<float> q(tiles * 256);
  for (size_t i = 0; i < q.size(); ++i) q[i] = static_cast<float>(i);
  const auto run = [&](const std::string& text, uint64_t seed) {
    Gpu gpu({.seed = seed});
    const auto p = gpu.allocate(q.size() * 4);
    const CudaResult result = gpu.launch(gpu.load(ptx_of(text), "k"), 1, 64, {p, gpu.upload(q), tiles});
    if (result != CudaResult::Success) return sim::last_fault();
    const auto got = gpu.download<float>(p, q.size());
    for (size_t i = 0; i < q.size(); ++i) REQUIRE(got[i] == q[i / 256 * 256 + 255 - i % 256]);
    return std::string();
  };
  for (uint64_t seed = 0; seed < 5; ++seed) CHECK(run(kCopies, seed).empty());
  const Edit faults[] = {
      {"    WAIT(1);\n", "", "uninitialized"},
      {"WAIT(1);", "WAIT(2);", "uninitialized"},
      {"    COMMIT;\n    WAIT(1);", "    WAIT(1);", "uninitialized"},
      {"__syncthreads(/* full */);", "", "uninitialized"},
      {"__syncthreads(/* empty */);", "", "race"},
      {"  COPY(0);\n", "", "uninitialized"},
      {"  WAIT(0);\n}", "  COPY(0);\n}", "pending copy"},
      {"q + (i) * 256 + at", "q + (i) * 256 + at + 1", "misaligned"},
      {"q + (i) * 256 + at", "q + (i) * 256 + 4096 + at", "out of bounds"},
      {"address(&s[(i) % 2][at])", "address(&s[(i) % 2][at + 1])", "misaligned"},
  };
  for (const Edit& fault : faults) {
    CAPTURE(fault.from, fault.to);
    const std::string report = run(edited(kCopies, fault), 1);
    CHECK_THAT(report, Contains(fault.words));
  }
}

namespace {

/// 64 threads copy 16 bytes each, one behind the other; then thread t stores what the copy of thread 63 - t brought.
constexpr const char* kOneCopy = R"(
__device__ unsigned address(const void* p) {
  unsigned long long a;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
  return (unsigned)a;
}
extern "C" __global__ void k(float* p, float* q, unsigned bytes) {
  __shared__ __attribute__((aligned(16))) float s[256];
  const unsigned at = threadIdx.x * 4, other = 252 - at;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(address(&s[at])), "l"(q + at), "r"(bytes) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  /* before the barrier */
  __syncthreads();
  /* before the wait */
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  /* after the wait */
  __syncthreads();
  for (unsigned i = 0; i < 4; ++i) p[other + i] = s[other + i];
}
)";

}  // namespace

TEST_CASE("both ends of an asynchronous copy belong to it until the wait", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  std::vector<float> q(256);
  for (size_t i = 0; i < q.size(); ++i) q[i] = static_cast<float>(i);
  const auto run = [&](const Edit& edit, uint64_t bytes) {
    Gpu gpu;
    const auto p = gpu.allocate(q.size() * 4);
    const auto kernel = gpu.load(ptx_of(edited(kOneCopy, edit)), "k");
    const CudaResult result = gpu.launch(kernel, 1, 64, {p, gpu.upload(q), bytes});
    return result == CudaResult::Success ? std::pair(gpu.download<float>(p, q.size()), std::string())
                                         : std::pair(std::vector<float>(), sim::last_fault());
  };
  CHECK(run({"", "", ""}, 16) == std::pair(q, std::string()));
  CHECK_THAT(run({"", "", ""}, 20).second, Contains("a copy of 16 bytes reads 20 bytes"));
  // The thread itself may write its source: the copy may still read the old number, but need not.
  const auto [changed, none] = run({"/* before the wait */", "q[at] = -1;", ""}, 16);
  CHECK(none.empty());
  REQUIRE(changed.size() == q.size());
  CHECK(changed[8] == -1);
  CHECK(changed[9] == 9);
  // Barriers before the wait order nothing.
  const Edit faults[] = {
      {"/* before the wait */", "q[other] = -1;", "race"},
      {"/* before the wait */", "s[other] = -1;", "race"},
      {"/* before the wait */", "p[at] = s[at];", "uninitialized"},
      {"/* before the wait */", "p[at] = s[other];", "uninitialized"},
      {"/* before the barrier */", "q[other] = -1;", "race"},
      {"/* after the wait */", "p[other] = s[other];", "uninitialized"},
  };
  for (const Edit& fault : faults) {
    CAPTURE(fault.from, fault.to);
    CHECK_THAT(run(fault, 16).second, Contains(fault.words));
  }
}

TEST_CASE("asynchronous copies have pieces of 4, 8 and 16 bytes, whose requests are counted", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  // 32 lanes copy a piece each, `apart` bytes from the next lane's in global and in shared memory.
  const auto text = [](int piece, int from, int to) {
    return fmt::format(R"(
__device__ unsigned address(const void* p) {{
  unsigned long long a;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
  return (unsigned)a;
}}
extern "C" __global__ void k(unsigned* p, const char* q, unsigned times) {{
  __shared__ __attribute__((aligned(16))) char s[32 * {2}];
  const unsigned lane = threadIdx.x;
#pragma unroll 1
  for (unsigned i = 0; i < times; ++i)
    asm volatile("cp.async.ca.shared.global [%0], [%1], {0};" ::"r"(address(s) + lane * {2}), "l"(q + lane * {1}) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  p[lane] = *(const unsigned*)(s + lane * {2} + {0} - 4);
}}
)",
                       piece, from, to);
  };
  struct Requests {
    uint64_t global, sectors, ideal_sectors, shared, wavefronts, ideal_wavefronts;
    bool operator==(const Requests&) const = default;
  };
  const auto q = random_words(32 * 64, 9);
  const auto requests = [&](int piece, int from, int to) {
    Requests all[2];
    for (const uint64_t times : {1, 2}) {
      Gpu gpu;
      const auto p = gpu.allocate(32 * 4);
      const auto kernel = gpu.load(ptx_of(text(piece, from, to)), "k");
      REQUIRE(gpu.launch(kernel, 1, 32, {p, gpu.upload(q), times}) == CudaResult::Success);
      const auto got = gpu.download<uint32_t>(p, 32);
      for (size_t lane = 0; lane < 32; ++lane)
        REQUIRE(got[lane] == q[(lane * static_cast<size_t>(from) + static_cast<size_t>(piece)) / 4 - 1]);
      const sim::CostCounters c = sim::counters("k");
      all[times - 1] = {c.global_requests, c.sectors,    c.ideal_sectors,
                        c.shared_requests, c.wavefronts, c.ideal_wavefronts};
    }
    return Requests{all[1].global - all[0].global,
                    all[1].sectors - all[0].sectors,
                    all[1].ideal_sectors - all[0].ideal_sectors,
                    all[1].shared - all[0].shared,
                    all[1].wavefronts - all[0].wavefronts,
                    all[1].ideal_wavefronts - all[0].ideal_wavefronts};
  };
  CHECK(requests(16, 16, 16) == Requests{1, 16, 16, 1, 4, 4});
  CHECK(requests(8, 8, 8) == Requests{1, 8, 8, 1, 2, 2});
  CHECK(requests(4, 4, 4) == Requests{1, 4, 4, 1, 1, 1});
  CHECK(requests(16, 64, 16) == Requests{1, 32, 16, 1, 4, 4});    // half of each sector
  CHECK(requests(16, 16, 128) == Requests{1, 16, 16, 1, 32, 4});  // each lane at the same four banks
  CHECK(requests(4, 4, 8) == Requests{1, 4, 4, 1, 2, 1});
}

TEST_CASE("an asynchronous copy of fewer bytes fills up with zeros and reads no more", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const std::string text = R"(
__device__ unsigned address(const void* p) {
  unsigned long long a;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(a) : "l"(p));
  return (unsigned)a;
}
extern "C" __global__ void k(unsigned* p, const unsigned* q, unsigned bytes) {
  __shared__ __attribute__((aligned(16))) unsigned s[4];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(address(s)), "l"(q), "r"(bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (unsigned i = 0; i < 4; ++i) p[i] = s[i];
}
)";
  for (const uint64_t bytes : {0, 4, 12, 16}) {
    Gpu gpu;
    const auto p = gpu.allocate(16), q = gpu.allocate(bytes ? bytes : 4);
    const std::vector<uint32_t> values = {1, 2, 3, 4};
    if (bytes) CHECK(gpu.driver().memcpy_htod_async(q, values.data(), bytes, gpu.stream()) == CudaResult::Success);
    REQUIRE(gpu.launch(gpu.load(ptx_of(text), "k"), 1, 1, {p, q, bytes}) == CudaResult::Success);
    const auto got = gpu.download<uint32_t>(p, 4);
    for (size_t i = 0; i < 4; ++i) CHECK(got[i] == (i * 4 < bytes ? values[i] : 0));
  }
}
