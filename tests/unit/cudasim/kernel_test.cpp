// Whole kernels on the simulated GPU: from CUDA text by Clang, and from PTX as NVRTC writes it.
#include "sim_support.h"
#include "skip.h"

using namespace cuda_sim_test;

namespace {

constexpr const char* kSquares = R"(
extern "C" __global__ void __launch_bounds__(256) squares(unsigned* error, float* p0, const float* p1, long long n) {
  const long i = blockIdx.x * 256l + threadIdx.x;
  if (i < n) p0[i] = p1[i] * p1[i] + 1.0f;
}
)";

constexpr const char* kBlockSums = R"(
extern "C" __global__ void __launch_bounds__(256) block_sums(float* p0, const float* p1, long long n) {
  __shared__ float s[8];
  const long i = blockIdx.x * 256l + threadIdx.x;
  float x = i < n ? p1[i] : 0;
  for (int o = 16; o; o /= 2) x += __shfl_down_sync(0xffffffffu, x, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = x;
  __syncthreads();
  float a = 0;
  for (int j = 0; j < 8; ++j) a += s[j];
  if (threadIdx.x == 0) p0[blockIdx.x] = a;
}
)";

std::vector<float> counting(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 17);
  return values;
}

}  // namespace

TEST_CASE("a kernel of CUDA text runs on the simulated GPU", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  Gpu gpu;
  const size_t n = 1000;
  const auto input = counting(n);
  const auto in = gpu.upload(input), out = gpu.allocate(n * 4), error = gpu.upload<uint32_t>({0});
  const auto kernel = gpu.load(ptx_of(kSquares), "squares");
  CHECK(gpu.launch(kernel, 4, 256, {error, out, in, n}) == CudaResult::Success);
  const auto result = gpu.download<float>(out, n);
  for (size_t i = 0; i < n; ++i) REQUIRE(result[i] == input[i] * input[i] + 1);
  const sim::CostCounters counted = sim::counters("squares");
  CHECK(counted.launches == 1);
  CHECK(counted.sectors == 250);
  CHECK(counted.ideal_sectors == 250);
}

TEST_CASE("shuffles, shared memory and barriers make sums of blocks", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Gpu gpu({.seed = seed});
    const size_t n = 3000;
    const auto input = counting(n);
    const auto in = gpu.upload(input), out = gpu.allocate(12 * 4);
    const auto kernel = gpu.load(ptx_of(kBlockSums), "block_sums");
    CHECK(gpu.launch(kernel, 12, 256, {out, in, n}) == CudaResult::Success);
    const auto result = gpu.download<float>(out, 12);
    for (size_t b = 0; b < 12; ++b) {
      float sum = 0;
      for (size_t i = b * 256; i < std::min(n, b * 256 + 256); ++i) sum += input[i];
      CHECK(result[b] == sum);  // small whole numbers: exact in any order
    }
    CHECK(sim::counters("block_sums").barriers == 12);
  }
}

TEST_CASE("text that does not compile is an error with the line", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  try {
    ptx_of("extern \"C\" __global__ void k() {\n  undeclared = 1;\n}\n");
    FAIL("it compiled");
  } catch (const sinter::CompileError& error) {
    CHECK_THAT(error.what(), Catch::Matchers::Contains("kernels.cu:2:3") && Catch::Matchers::Contains("undeclared"));
  }
}

TEST_CASE("no function of the simulated driver's table is missing", "[cuda-sim]") {
  const cuda::DriverApi& table = cuda::simulated_driver();
#define FN(field, symbol, ...) CHECK(table.field != nullptr);
#include "runtime/cuda/driver.def"
#undef FN
}
