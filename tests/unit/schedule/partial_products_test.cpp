// Which sums of products a GPU computes in two steps, and that they add in the same order as in one.
#include "schedule/simplify/partial_products.h"

#include "catch.h"
#include "schedule/schedule.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

/// Sums of the products of all columns of two tensors over the other axes, which lie before the columns or behind.
Program outer_products(const std::vector<Dim>& summed, const Dim& columns, bool columns_first = false) {
  Program p;
  const auto rank = static_cast<int64_t>(summed.size()), first = columns_first ? 0 : rank;  // axis of the columns
  Shape operand(summed), all(summed);
  if (columns_first) operand = all = Shape();
  operand.push_back(columns), all.push_back(columns), all.push_back(columns);
  if (columns_first)
    for (const Dim& d : summed) operand.push_back(d), all.push_back(d);
  const UOp x = expand(p.slot(operand), all, {first + 1}), y = expand(p.slot(operand), all, {first});
  Ints axes;
  for (int64_t a = 0; a < rank; ++a) axes.push_back(columns_first ? a + 2 : a);
  p.store(sum(x * y, axes));
  return p;
}

runtime::Target with_units(int count) {
  runtime::CudaDevice device;
  device.multiprocessors = count;
  return runtime::cuda_target(device);
}

}  // namespace

TEST_CASE("a GPU whose results fill it sums long products in one step, others in two", "[schedule]") {
  const auto kernels = [](const std::vector<Dim>& summed, const Dim& columns, const runtime::Target& target) {
    return schedule::schedule(outer_products(summed, columns).plan, target).kernels.size();
  };
  CHECK(kernels({2048}, 64, with_units(132)) == 2);
  CHECK(kernels({12, 100}, 64, with_units(132)) == 2);
  CHECK(kernels({2048}, 64, with_units(1)) == 1);
  CHECK(kernels({2048}, 1024, with_units(132)) == 1);
  CHECK(kernels({131072}, 64, with_units(132)) == 2);  // 128 blocks
  CHECK(kernels({512}, 64, with_units(132)) == 1);     // no blocks
  CHECK(kernels({2048}, 64, kTarget) == 1);
  const Var size("size", 1, 4096);
  CHECK(kernels({2048}, size(64), with_units(132)) == 1);  // may be 4096
  CHECK(kernels({2048}, Var("columns", 1, 64)(64), with_units(132)) == 2);
  CHECK(kernels({size(2048)}, 64, with_units(132)) == 1);  // blocks of no fixed number
}

TEST_CASE("a sum of products in two steps has the bits of one step", "[schedule]") {
  struct Case {
    std::vector<Dim> summed;
    int64_t columns = 64;
    bool columns_first = false;
  };
  const std::vector<Case> cases{{{1100}}, {{12, 100}}, {{3, 7, 100}}, {{1100}, 64, true}, {{12, 100}, 64, true}};
  for (const auto& [summed, columns, columns_first] : cases) {
    const Program p = outer_products(summed, columns, columns_first);
    INFO(to_string(Shape(summed)) << ", " << columns << " columns" << (columns_first ? " first" : ""));
    const Inputs in = random_inputs(p);
    const KernelSchedule one = schedule::schedule(p.plan, with_units(1)),
                         two = schedule::schedule(p.plan, with_units(132));
    REQUIRE(one.kernels.size() == 1);
    REQUIRE(two.kernels.size() == 2);
    CHECK(run(one, in).outputs[0].data == run(two, in).outputs[0].data);
  }
}
