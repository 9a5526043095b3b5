// Kernels of a plan are written by several threads, or one after the other where somebody reads a log of it.
#include <set>

#include "catch.h"
#include "explain.h"
#include "ir/walk.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
using namespace runtime_test;

namespace {

/// Sums of products of matrices, each of other sizes; and parts of a stack, for which there are kernels that share one
/// lowering.
std::vector<Tensor> program() {
  std::vector<Tensor> all, parts;
  for (const int64_t n : {24, 40, 56, 72, 88, 104}) {
    Tensor x = full({n, n}, 0.5f).realize();
    all.push_back(matmul(relu(matmul(x, x)), x).sum({0}));
    parts.push_back(exp(x.sum({1})));
  }
  all.push_back(cat(parts, 0));
  return all;
}

plan::KernelSources written() {
  runtime::Target target = runtime::reference_target();
  target.threads = 8;
  return testing::explain(program(), target);
}

}  // namespace

TEST_CASE("kernels are the same whether one thread writes them or several", "[plan]") {
  const plan::KernelSources several = written();
  REQUIRE(several.sources.size() >= 7);
  std::set<const ir::Graph*> graphs;  // what threads write to
  for (const codegen::Kernel& kernel : several.scheduled.kernels) {
    CHECK(graphs.insert(kernel.graph.get()).second);
    for (const ir::UOp n : ir::topological(kernel.sink)) CHECK(n->graph == kernel.graph.get());
  }
  const ScopedEnv level("DEBUG", "1");  // one thread
  CapturedLog captured;
  const plan::KernelSources alone = written();
  REQUIRE(alone.sources.size() == several.sources.size());
  for (size_t i = 0; i < alone.sources.size(); ++i) CHECK(alone.sources[i].text == several.sources[i].text);
}
