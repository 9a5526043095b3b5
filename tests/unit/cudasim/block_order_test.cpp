// The order that fences and atomics give to the blocks of a launch: kernels whose last block sums what all have
// written.
#include <fmt/format.h>

#include "sim_support.h"
#include "skip.h"

using namespace cuda_sim_test;
using Catch::Matchers::Contains;

namespace {

constexpr unsigned kBlocks = 5, kThreads = 96;

/// Where a kernel of the pattern differs from the right one.
struct Variant {
  const char* name;
  const char* stored = "part[i] = x[i];";
  const char* before = "__syncthreads();";  ///< the ticket
  const char* release = "__threadfence();";
  const char* ticket = "atomicInc(done, gridDim.x - 1)";
  const char* acquire = "__threadfence();";
  const char* shared = "if (threadIdx.x == 0) last = ticket == gridDim.x - 1; __syncthreads(); if (!last) return;";
  const char* finish =
      "for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) out[k] = part[k] + 1;";
  const char* fault = nullptr;  ///< null: it is right
};

std::string text_of(const Variant& v) {
  return fmt::format(R"(
extern "C" __global__ void k(const float* x, float* part, float* out, unsigned* done) {{
  __shared__ unsigned last;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned ticket = 0;
  {}
  {}
  if (threadIdx.x == 0) {{
    {}
    ticket = {};
    {}
  }}
  {}
  {}
}})",
                     v.stored, v.before, v.release, v.ticket, v.acquire, v.shared, v.finish);
}

struct Outcome {
  CudaResult result;
  std::vector<float> out;
  unsigned tickets = 0;
};

Outcome run(const std::string& text, uint64_t seed, int launches = 1) {
  Gpu gpu({.seed = seed});
  std::vector<float> values(kBlocks * kThreads);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto x = gpu.upload(values), part = gpu.upload(std::vector<float>(values.size(), -1)),
             out = gpu.upload(std::vector<float>(values.size(), -1)),
             done = gpu.upload(std::vector<unsigned>(kBlocks, 0));
  const cuda::FunctionHandle k = gpu.load(ptx_of(text), "k");
  Outcome made{CudaResult::Success, {}};
  for (int i = 0; i < launches && made.result == CudaResult::Success; ++i)
    made.result = gpu.launch(k, kBlocks, kThreads, {x, part, out, done});
  if (made.result != CudaResult::Success) return made;
  made.out = gpu.download<float>(out, values.size());
  made.tickets = gpu.download<unsigned>(done, 1)[0];
  return made;
}

void check(const Variant& v) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    INFO(v.name << ", seed " << seed);
    const Outcome made = run(text_of(v), seed);
    if (v.fault) {
      CHECK(made.result == CudaResult::LaunchFailed);
      CHECK_THAT(sim::last_fault(), Contains("race") && Contains(v.fault));
      continue;
    }
    INFO(sim::last_fault());
    REQUIRE(made.result == CudaResult::Success);
    CHECK(made.tickets == 0);
    for (size_t i = 0; i < made.out.size(); ++i) REQUIRE(made.out[i] == static_cast<float>(i) + 1);
  }
}

}  // namespace

TEST_CASE("the last block may read what a fence and a ticket have released", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  check({.name = "as it should be"});
  check({.name = "each thread fences for itself, before the barrier and behind it",
         .before = "__threadfence(); __syncthreads();",
         .release = "",
         .acquire = "",
         .shared = "if (threadIdx.x == 0) last = ticket == gridDim.x - 1; __syncthreads(); if (!last) return; "
                   "__threadfence();"});
  check({.name = "the barrier shares whether it was the last",
         .shared = "if (!__syncthreads_or(threadIdx.x == 0 && ticket == gridDim.x - 1)) return;"});
  check({.name = "fences of the system", .release = "__threadfence_system();", .acquire = "__threadfence_system();"});
  check({.name = "it writes where others have written",
         .finish = "for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) "
                   "{ out[k] = part[k] + 1; part[k] = 0; }"});
  check({.name = "it writes what every block has read",
         .stored = "part[i] = x[i]; out[i] = x[7];",
         .finish = "for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) "
                   "{ out[k] = part[k] + 1; ((float*)x)[k] = 0; }"});
}

TEST_CASE("a launch that takes tickets can be repeated", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const Outcome made = run(text_of({.name = ""}), 1, 3);
  INFO(sim::last_fault());
  CHECK(made.result == CudaResult::Success);
  CHECK(made.tickets == 0);
}

TEST_CASE("whatever is left out between two blocks is a race", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const char* kOther = "another block of this launch";
  check({.name = "no fence before the ticket", .release = "", .fault = kOther});
  check({.name = "no fence behind the ticket", .acquire = "", .fault = kOther});
  check({.name = "no barrier before the ticket", .before = "", .fault = kOther});
  check({.name = "no barrier behind the ticket",
         .shared = "if (threadIdx.x == 0) last = ticket == gridDim.x - 1; if (gridDim.x - 1 != blockIdx.x) return;",
         .fault = kOther});
  check({.name = "it reads before the ticket",
         .before = "if (blockIdx.x == 4 && part[7] == 0.5f) out[0] = 0; __syncthreads();",
         .fault = kOther});
  check({.name = "fences of the block", .release = "__threadfence_block();", .fault = kOther});
  check({.name = "a fence of the block behind it", .acquire = "__threadfence_block();", .fault = kOther});
  check(
      {.name = "the ticket is no atomic", .ticket = "*(volatile unsigned*)done; *done = ticket + 1", .fault = kOther});
  check({.name = "an atomic of the block's scope",
         .ticket = R"(0; asm volatile("atom.global.cta.inc.u32 %0, [%1], %2;"
                                      : "=r"(ticket) : "l"(done), "r"(gridDim.x - 1) : "memory"))",
         .fault = kOther});
  check({.name = "comparisons that fail release nothing",
         .release = "__threadfence(); atomicCAS(done + 1, 77u, 0u);",
         .ticket = R"(0; asm volatile("atom.global.cta.inc.u32 %0, [%1], %2;"
                                      : "=r"(ticket) : "l"(done), "r"(gridDim.x - 1) : "memory"))",
         .acquire = "atomicCAS(done + 1, 77u, 0u); __threadfence();",
         .fault = kOther});
  check({.name = "each block has a word of its own",
         .ticket = "blockIdx.x + 0 * atomicInc(done + blockIdx.x, gridDim.x - 1)",
         .fault = kOther});
  check({.name = "a block writes once more behind its ticket",
         .acquire = "__threadfence(); part[i] = 3;",
         .fault = kOther});
  check({.name = "a block reads what the last one writes, behind its ticket",
         .stored = "part[i] = x[i]; out[i] = x[7];",
         .acquire = "__threadfence(); out[i] = x[7];",
         .finish = "for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) "
                   "((float*)x)[k] = part[k];",
         .fault = kOther});
}

TEST_CASE("a block that is the last one by its number alone races where others run behind it", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const std::string text = text_of({.name = "", .ticket = "blockIdx.x + 0 * atomicInc(done, gridDim.x - 1)"});
  int races = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) races += run(text, seed).result == CudaResult::LaunchFailed;
  CHECK(races >= 3);  // the last number runs last for one seed of five
  CHECK_THAT(sim::last_fault(), Contains("race") && Contains("another block of this launch"));
}

TEST_CASE("a load by .nc of what the launch has written is a fault, ordered or not", "[cuda-sim]") {
  if (!cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const std::string text = text_of({.name = "", .finish = R"(
      for (unsigned k = threadIdx.x; k < gridDim.x * blockDim.x; k += blockDim.x) {
        float number;
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(number) : "l"(part + k));
        out[k] = number + 1;
      })"});
  CHECK(run(text, 0).result == CudaResult::LaunchFailed);
  CHECK_THAT(sim::last_fault(), Contains("a non-coherent load") && Contains("st.global"));
}
