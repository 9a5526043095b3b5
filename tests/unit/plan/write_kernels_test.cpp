// Kernels of a plan are written by several threads, or one after the other where somebody reads a log of it.
#include "catch.h"
#include "explain.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace runtime_test;

TEST_CASE("kernels are the same whether one thread writes them or several", "[plan]") {
  // Sums of sums of matrices of other sizes: a kernel or two for each, with as many threads as there are.
  const auto program = [] {
    std::vector<Tensor> sums;
    for (const int64_t n : {24, 40, 56, 72, 88, 104}) {
      Tensor x = full({n, n}, 0.5f).realize();
      sums.push_back(matmul(relu(matmul(x, x)), x).sum({0}));
    }
    return sums;
  };
  runtime::Target target = runtime::reference_target();
  target.threads = 8;
  const auto texts = [&] {
    std::vector<std::string> all;
    for (const runtime::KernelSource& s : testing::explain(program(), target).sources) all.push_back(s.text);
    return all;
  };
  const std::vector<std::string> several = texts();
  REQUIRE(several.size() >= 6);
  const ScopedEnv level("DEBUG", "3");
  CapturedLog captured;
  CHECK(texts() == several);
}
