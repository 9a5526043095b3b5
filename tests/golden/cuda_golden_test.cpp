// The kernels of the golden programs as NVRTC takes them: for each kind of GPU, with no register spilled and no more
// shared memory than there is. Nothing runs, so no GPU is needed.
#include "catch.h"
#include "cuda_lint.h"
#include "explain.h"
#include "programs.h"
#include "skip.h"

using namespace sinter;
namespace gpu = runtime::cuda;

namespace {

/// One of each kind.
std::vector<runtime::Target> targets() {
  struct Gpu {
    int sm;
    int64_t shared;  ///< bytes that a block may have
  };
  std::vector<runtime::Target> all;
  for (const Gpu& device : {Gpu{80, 163 << 10}, Gpu{90, 227 << 10}, Gpu{100, 227 << 10}, Gpu{120, 99 << 10}})
    all.push_back(runtime::cuda_target({.sm = device.sm, .shared_bytes = device.shared}));
  return all;
}

}  // namespace

TEST_CASE("NVRTC compiles the kernels of golden programs without a lint", "[golden][cuda]") {
  if (!gpu::find_nvrtc().table) SKIP_TEST("no NVRTC");
  for (const runtime::Target& target : targets())
    for (const golden::Program& program : golden::programs()) {
      INFO(program.name);
      check_lint(testing::explain(program.build(), target).sources, target);
    }
}

TEST_CASE("NVRTC spills no register of a product, however its operands lie", "[golden][cuda]") {
  if (!gpu::find_nvrtc().table) SKIP_TEST("no NVRTC");
  struct Case {
    int64_t size;
    bool a_turned, b_turned;
  };
  // Of whole blocks in every layout; with edges and without vectors.
  for (const Case& c : {Case{1024, false, false}, Case{1024, false, true}, Case{1024, true, false},
                        Case{1024, true, true}, Case{1023, false, true}})
    for (const runtime::Target& target : targets()) {
      INFO(c.size << ": A" << (c.a_turned ? "^T" : "") << " B" << (c.b_turned ? "^T" : ""));
      const std::vector<float> zeros(static_cast<size_t>(c.size * c.size));
      const Tensor a = from(zeros, {c.size, c.size}), b = from(zeros, {c.size, c.size});
      const std::vector<runtime::KernelSource> sources =
          testing::explain(std::vector{matmul(c.a_turned ? a.transpose() : a, c.b_turned ? b.transpose() : b)}, target)
              .sources;
      REQUIRE(sources.size() == 1);
      CHECK_THAT(sources[0].text, Catch::Matchers::Contains("__syncthreads"));  // its operands are staged
      check_lint(sources, target);
    }
}
