// Steps of tensor cores as an H100 recorded them, on the device of SINTER_DEVICE, or a simulated one: as a warp
// computes them, as a thread does by itself, and in the kernel of a product. F8 of docs/semantics.md.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <map>
#include <optional>

#include "codegen/loopschedule/opt_parse.h"
#include "gpu_launch.h"
#include "recorded_steps.h"
#include "semantics/tensor_cores.h"
#include "skip.h"
#include "unit/codegen_support.h"
#include "unit/tensor_support.h"

using namespace semantics;
using codegen_test::KernelHarness;
using runtime::Array;
using testing::RecordedStep;
using testing::RecordedSteps;

namespace {

constexpr size_t kWords = 17;  ///< of a case: a, b, c

DType factor_type(ir::MmaOperand type) {
  return type == ir::MmaOperand::BF16 ? bfloat16 : type == ir::MmaOperand::F16 ? float16 : float32;
}

/// The functions that a kernel of a product has for its steps: under these Opts a warp's, without Opts a thread's.
std::string functions_of(DType factor, const char* opts, const runtime::Target& target) {
  KernelHarness b;
  ir::UOp x = b.buffer(Array(factor, {16, 16})), y = b.buffer(Array(factor, {16, 8}));
  ir::UOp out = b.buffer(Array(float32, {16, 8}));
  ir::UOp m = b.outer(16), n = b.outer(8), k = b.over(16, 2);
  b.stores({b.put(out, {m, n}, b.reduce(ir::Combine::Dot, {b.at(x, {m, k}), b.at(y, {k, n})}, {k}, {.mma = true}))});
  const std::string text = codegen::generate_source(b.kernel, target, codegen::parse_opts(opts)).text;
  const size_t kernel = text.find("extern \"C\" __global__");
  REQUIRE(kernel != std::string::npos);
  return text.substr(0, kernel);
}

/// Each thread computes the case of its number.
constexpr const char* kByThreads = R"(
extern "C" __global__ void __launch_bounds__(32) {name}(unsigned* error, const unsigned* p0, unsigned* p1) {{
  const unsigned* x = p0 + (blockIdx.x * 32 + threadIdx.x) * 17;
  unsigned a[{length}], b[{length}];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < {packed}; ++j) {{
      a[i * {packed} + j] = x[i] >> 16 * j & {mask}u;
      b[i * {packed} + j] = x[8 + i] >> 16 * j & {mask}u;
    }}
  p1[blockIdx.x * 32 + threadIdx.x] = __float_as_uint(sn_step_{type}(__uint_as_float(x[16]), a, b));
}}
)";

/// A warp computes 8 cases on the diagonals of the upper and the lower half of a tile.
constexpr const char* kByWarps = R"(
extern "C" __global__ void __launch_bounds__(32) {name}(unsigned* error, const unsigned* p0, unsigned* p1) {{
  const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
  const unsigned* x = p0 + (blockIdx.x * 8 + g) * 17;
  float d[4];
  d[0] = d[2] = g == 2 * t ? __uint_as_float(x[16]) : 0;
  d[1] = d[3] = g == 2 * t + 1 ? __uint_as_float(x[16]) : 0;
  sn_mma_{type}(d[0], d[1], d[2], d[3], x[t], x[t], x[4 + t], x[4 + t], x[8 + t], x[12 + t]);
  if (g / 2 != t) return;
  p1[(blockIdx.x * 8 + g) * 2] = __float_as_uint(d[g % 2]);
  p1[(blockIdx.x * 8 + g) * 2 + 1] = __float_as_uint(d[2 + g % 2]);
}}
)";

/// What a kernel of this text leaves for each case, `copies` words, where a block has `cases` of them.
std::vector<uint32_t> launch(const std::string& name, const std::string& text, const RecordedSteps& all, size_t cases,
                             size_t copies) {
  const size_t blocks = (all.steps.size() + cases - 1) / cases;
  std::vector<Array> memory;
  memory.emplace_back(uint32, std::vector{static_cast<int64_t>(blocks * cases * kWords)});
  memory.emplace_back(uint32, std::vector{static_cast<int64_t>(blocks * cases * copies)});
  for (size_t i = 0; i < all.steps.size(); ++i) {
    const RecordedStep& step = all.steps[i];
    std::array<uint32_t, kWords> words{};
    std::ranges::copy(step.a, words.begin());
    std::ranges::copy(step.b, words.begin() + 8);
    words[16] = step.c;
    std::memcpy(memory[0].data.data() + i * sizeof words, words.data(), sizeof words);
  }
  const auto gpu = runtime::cuda::Context::get(0);
  const runtime::KernelSource source{.name = name, .text = text, .threads = 32};
  const auto program = runtime::compile({&source, 1}, gpu->target()).at(0);
  const auto left = launched(*gpu, *program, static_cast<int64_t>(blocks), memory, {});
  std::vector<uint32_t> results(all.steps.size() * copies);
  std::memcpy(results.data(), left[2].data(), results.size() * sizeof(uint32_t));
  return results;
}

/// Runs on the simulated GPU where SINTER_DEVICE names no GPU.
class OnGpu {
 public:
  OnGpu() {
    if (before_.kind() != Device::Kind::Cpu) return;
    setting_.emplace("SINTER_DEVICE", "cuda-sim");
    set_default_device(Device::cuda());
  }
  ~OnGpu() { set_default_device(before_); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

 private:
  const Device before_ = default_device();
  std::optional<runtime_test::ScopedEnv> setting_;
};

}  // namespace

TEST_CASE("F8 a warp's step and a thread's have the bits that an H100 recorded", "[semantics]") {
  const OnGpu on_gpu;
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  const runtime::Target target = runtime::cuda::Context::get(0)->target();
  for (const RecordedSteps& all : testing::recorded_steps()) {
    INFO(all.name);
    const char* type = all.type == ir::MmaOperand::BF16 ? "bf16" : all.type == ir::MmaOperand::F16 ? "f16" : "tf32";
    const DType factor = factor_type(all.type);
    const size_t length = ir::mma_step_length(all.type);
    const auto text = [&](const char* opts, const char* kernel, const std::string& name) {
      return functions_of(factor, opts, target) + fmt::format(fmt::runtime(kernel), fmt::arg("name", name),
                                                              fmt::arg("type", type), fmt::arg("length", length),
                                                              fmt::arg("packed", length / 8),
                                                              fmt::arg("mask", length == 8 ? "0xffffffff" : "0xffff"));
    };
    const std::string thread = fmt::format("thread_steps_{}", type), warp = fmt::format("warp_steps_{}", type);
    const auto by_threads = launch(thread, text("", kByThreads, thread), all, 32, 1);
    const auto by_warps = launch(warp, text("mma(0, 1)", kByWarps, warp), all, 8, 2);
    std::map<uint32_t, int> wrong;  // by kind
    for (size_t i = 0; i < all.steps.size(); ++i) {
      const uint32_t result = all.steps[i].result;
      if (by_threads[i] != result || by_warps[2 * i] != result || by_warps[2 * i + 1] != result)
        ++wrong[all.steps[i].kind];
    }
    for (const auto& [kind, count] : wrong) FAIL_CHECK(count << " cases of kind " << kind << " differ");
  }
}

TEST_CASE("F8 the interpreter gives the bits that an H100 recorded", "[semantics]") {
  for (const RecordedSteps& all : testing::recorded_steps()) {
    INFO(all.name);
    const DType dtype = factor_type(all.type);
    std::vector<RecordedStep> steps;  // a kernel's sums begin at 0
    std::ranges::copy_if(all.steps, std::back_inserter(steps), [](const RecordedStep& s) { return s.c == 0; });
    CHECK(steps.size() >= 600);
    const auto count = static_cast<int64_t>(steps.size());
    const auto length = static_cast<int64_t>(ir::mma_step_length(all.type));
    const auto factor = [&](std::array<uint32_t, 8> RecordedStep::* words) {
      Array a(dtype, {count, length});
      for (size_t i = 0; i < steps.size(); ++i) {
        std::array<uint32_t, 8> bits = steps[i].*words;
        if (all.type == ir::MmaOperand::TF32)  // the instruction ignores the lowest bits, a kernel rounds them
          for (uint32_t& x : bits) x &= ~uint32_t{0x1fff};
        std::memcpy(a.data.data() + i * sizeof bits, bits.data(), sizeof bits);
      }
      return a;
    };
    KernelHarness b;
    ir::UOp x = b.buffer(factor(&RecordedStep::a)), y = b.buffer(factor(&RecordedStep::b));
    ir::UOp out = b.buffer(Array(float32, {count})), i = b.outer(count), k = b.over(length, 1);
    b.stores({b.put(out, {i}, b.reduce(ir::Combine::Dot, {b.at(x, {i, k}), b.at(y, {i, k})}, {k}, {.mma = true}))});
    b.interpret();
    int wrong = 0;
    for (size_t n = 0; n < steps.size(); ++n) {
      uint32_t is = 0;
      std::memcpy(&is, b.arrays[2].data.data() + n * sizeof is, sizeof is);
      wrong += is != steps[n].result;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("F8 products of recorded factors have the bits of their steps", "[semantics]") {
  const OnGpu on_gpu;
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  constexpr size_t kSide = 32;
  for (const RecordedSteps& all : testing::recorded_steps()) {
    if (all.type == ir::MmaOperand::TF32) continue;  // whose factors are rounded first
    const DType dtype = factor_type(all.type);
    // One case in many: of all kinds, infinities and subnormal numbers too.
    std::vector<std::vector<uint32_t>> rows, columns;
    for (size_t i = 0; i < kSide; ++i) {
      const RecordedStep& step = all.steps[i * all.steps.size() / kSide];
      rows.push_back(testing::elements_of(all.type, step.a));
      columns.push_back(testing::elements_of(all.type, step.b));
    }
    const auto tensor = [&](const std::vector<std::vector<uint32_t>>& bits) {
      std::vector<uint16_t> elements;
      for (const auto& row : bits) elements.insert(elements.end(), row.begin(), row.end());
      return from_bytes(elements.data(), elements.size() * 2, dtype, {kSide, 16});
    };
    const Tensor a = tensor(rows), b = tensor(columns);
    const auto product = [&] { return (a.to(float32).unsqueeze(1) * b.to(float32)).sum(2); };
    for (const debug::Executor e : {debug::Executor::Compiled, debug::Executor::Unfused}) {
      const sinter::testing::ScopedExecutor executing(e);
      const std::vector<float> got = product().to_vector<float>();
      for (size_t m = 0; m < kSide; ++m)
        for (size_t n = 0; n < kSide; ++n) {
          const uint32_t want = ir::mma_step(all.type, rows[m], columns[n], 0),
                         is = std::bit_cast<uint32_t>(got[m * kSide + n]);
          INFO(all.name << " " << m << " " << n << ", executor " << static_cast<int>(e) << ": " << got[m * kSide + n]);
          CHECK((is == want || (std::isnan(std::bit_cast<float>(is)) && std::isnan(std::bit_cast<float>(want)))));
        }
    }
  }
}
