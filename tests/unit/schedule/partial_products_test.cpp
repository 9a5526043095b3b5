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

/// Sums over the first axes of the products of all columns of two tensors.
Program outer_products(const std::vector<int64_t>& summed, int64_t columns) {
  Program p;
  Shape operand(summed);
  operand.push_back(columns);
  Shape all = operand;
  all.push_back(columns);
  const auto rank = static_cast<int64_t>(summed.size());
  const UOp x = expand(p.slot(operand), all, {rank + 1}), y = expand(p.slot(operand), all, {rank});
  Ints axes;
  for (int64_t a = 0; a < rank; ++a) axes.push_back(a);
  p.store(sum(x * y, axes));
  return p;
}

runtime::Target with_units(int count) {
  runtime::CudaDevice device;
  device.multiprocessors = count;
  return runtime::cuda_target(device);
}

Inputs numbers(const Program& p) {
  Inputs in;
  uint32_t state = 1;
  for (const PlanSlot& s : p.plan.slots) {
    std::vector<int64_t> shape;
    for (const Dim& d : s.shape) shape.push_back(d.value());
    runtime::Array array(s.dtype, shape);
    for (int64_t i = 0; i < s.shape.numel(); ++i)
      array.set(i, Scalar::of(s.dtype, static_cast<double>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24));
    in.slots.push_back(array);
  }
  return in;
}

}  // namespace

TEST_CASE("a GPU whose results fill it sums long products in one step, others in two", "[schedule]") {
  const auto kernels = [](const std::vector<int64_t>& summed, int64_t columns, const runtime::Target& target) {
    return schedule::schedule(outer_products(summed, columns).plan, target).kernels.size();
  };
  CHECK(kernels({2048}, 64, with_units(132)) == 2);
  CHECK(kernels({12, 100}, 64, with_units(132)) == 2);
  CHECK(kernels({2048}, 64, with_units(1)) == 1);
  CHECK(kernels({2048}, 1024, with_units(132)) == 1);
  CHECK(kernels({512}, 64, with_units(132)) == 1);  // no blocks
  CHECK(kernels({2048}, 64, kTarget) == 1);
}

TEST_CASE("a sum of products in two steps has the bits of one step", "[schedule]") {
  for (const std::vector<int64_t>& summed : {std::vector<int64_t>{1100}, {12, 100}, {3, 7, 100}}) {
    const Program p = outer_products(summed, 64);
    const Inputs in = numbers(p);
    const KernelSchedule one = schedule::schedule(p.plan, with_units(1)),
                         two = schedule::schedule(p.plan, with_units(132));
    REQUIRE(one.kernels.size() == 1);
    REQUIRE(two.kernels.size() == 2);
    CHECK(run(one, in).outputs[0].data == run(two, in).outputs[0].data);
  }
}
