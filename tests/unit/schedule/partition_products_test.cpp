// What the partition computes in one kernel with a product of matrices.
#include <algorithm>

#include "catch.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

UOp product(UOp a, UOp b) {  // [m, k] and [k, n]
  const Shape all{a->shape[0], a->shape[1], b->shape[1]};
  return ir::sum(ir::expand(a, all, {2}) * ir::expand(b, all, {0}), {1});
}

}  // namespace

TEST_CASE("two products in one kernel share loops only where they share an operand", "[schedule]") {
  for (const bool shared : {false, true}) {
    Program p;
    UOp a = p.slot({512, 16}), b = p.slot({16, 512}), c = shared ? a : p.slot({512, 16});
    p.store(product(a, b) + product(c, p.slot({16, 512})));
    const Partition cut = schedule::partition_plan(p.plan, kTarget);
    INFO(to_string(cut));
    REQUIRE(cut.kernels.size() == 1);
    const std::vector<ReductionNest>& nests = cut.kernels[0].nests;
    REQUIRE(nests.size() == 2);
    CHECK((nests[0].axes == nests[1].axes) == shared);
  }
}

TEST_CASE("a product is not computed at the points of what it is joined to", "[schedule]") {
  for (const int64_t rows : {4, 512}) {  // of the other part
    Program p;
    const UOp parts[] = {p.slot({rows, 256}), product(p.slot({512, 64}), p.slot({64, 256}))};
    p.store(exp(ir::cat(parts, 0)));
    const Partition cut = schedule::partition_plan(p.plan, kTarget);
    INFO(to_string(cut));
    CHECK(cut.kernels.size() == (rows == 4 ? 1 : 2));
  }
}

TEST_CASE("a sum over what a large product sums is no guest in its kernel", "[schedule]") {
  Program p;
  UOp x = p.slot({2048, 128}), g = p.slot({2048, 512});
  p.store(product(permute(g, {1, 0}), x));
  p.store(sum(g, {0}));
  const Partition cut = schedule::partition_plan(p.plan, kTarget);
  INFO(to_string(cut));
  CHECK(cut.kernels.size() == 2);
}

TEST_CASE("a sum beside two products of one kernel does not make their loops one", "[schedule]") {
  Program p;
  UOp a = p.slot({512, 16}), b = p.slot({16, 512}), c = p.slot({512, 16}), d = p.slot({16, 512});
  p.store(product(a, b) + sum(p.slot({512, 16, 512}), {1}) + product(c, d));
  const Partition cut = schedule::partition_plan(p.plan, kTarget);
  INFO(to_string(cut));
  std::vector<std::vector<int>> loops;
  for (const ReductionNest& nest : cut.kernels.at(0).nests)
    if (cut.graph.nodes[static_cast<size_t>(nest.node)].contraction) loops.push_back(nest.axes);
  REQUIRE(loops.size() == 2);
  CHECK(loops[0] != loops[1]);
}

TEST_CASE("a product is no row of tasks that each reread a matrix larger than the second cache", "[schedule]") {
  for (const int64_t deep : {512, 4096}) {
    Program p;
    const UOp x = p.slot({384, deep});
    p.store(product(exp(ir::alu(Op::Tanh, {x}) * 2.0), permute(p.slot({64, deep}), {1, 0})));
    const Partition cut = schedule::partition_plan(p.plan, kTarget);
    INFO(deep << "\n" << to_string(cut));
    CHECK(cut.kernels.size() == (deep == 512 ? 1 : 2));  // exp is computed once per row, or stored
  }
}

TEST_CASE("a product is not stored across the rows of a kernel whose sum has lanes along them", "[schedule]") {
  Program p;
  const Shape all{32, 128, 16, 64};  // image, channel, what is summed, patch
  const UOp a = ir::expand(p.slot({32, 128, 16}), all, {3}), b = ir::expand(p.slot({16, 64}), all, {0, 1});
  const UOp product = ir::sum(a * b, {2}), turned = permute(product, {0, 2, 1});
  const UOp weights = ir::expand(p.slot({128}), {32, 64, 128}, {0, 1});
  p.store(ir::sum(turned * weights * p.slot({32, 64, 128}), {2}));
  p.store(ir::sum(turned * p.slot({32, 64, 128}), {0, 1}));
  p.store(ir::sum(turned, {0, 1}));
  const Partition cut = schedule::partition_plan(p.plan, kTarget);
  INFO(to_string(cut));
  for (const FusionGroup& k : cut.kernels) {
    const auto is_product = [&](const ReductionNest& n) {
      return cut.graph.nodes[static_cast<size_t>(n.node)].contraction;
    };
    if (std::any_of(k.nests.begin(), k.nests.end(), is_product)) CHECK(k.nests.size() == 1);
  }
}

TEST_CASE("threads share blocks of a long product that has few results", "[schedule]") {
  const auto cut_of = [](int64_t rows, int64_t left, int64_t right) {
    Program p;
    p.store(product(permute(p.slot({rows, left}), {1, 0}), p.slot({rows, right})));
    const Partition cut = schedule::partition_plan(p.plan, kTarget);
    REQUIRE(cut.kernels.size() == 1);
    return std::pair(cut.kernels[0].blocks.axis, cut.kernels[0].outer.front());
  };
  const auto [blocks, first] = cut_of(1000000, 16, 8);
  CHECK(blocks >= 0);
  CHECK(first == blocks);  // all results of a block together: its rows are read once
  CHECK(cut_of(1000000, 64, 64).first < 0);
  CHECK(cut_of(1000, 16, 8).first < 0);
}
