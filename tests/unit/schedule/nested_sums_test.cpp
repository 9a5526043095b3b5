// Slices of sums of products: what lies outside of them is not computed.
#include "schedule/simplify/simplify.h"

#include <cmath>

#include "catch.h"
#include "ir/walk.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

/// Products of x [4, 6] and y [4, 6] that `sums` takes, with the windows without which the pass has nothing to do. The
/// results are the same to the bit; returns the elements of all sums.
int64_t summed(const std::function<std::vector<UOp>(UOp products)>& sums) {
  Program p;
  const UOp x = p.slot({4, 6}), y = p.slot({4, 6});
  const UOp windows = slide(expand(x, Shape{4, 6, 3}, {2}), 1, -1, 8);  // [4, 8, 3]: x moved by each of three taps
  for (UOp out : sums(windows * slide(expand(y, Shape{4, 6, 3}, {2}), 1, -1, 8))) p.store(out);
  runtime::Array a(DType::F32, {4, 6}), b(DType::F32, {4, 6});
  for (int64_t i = 0; i < a.numel(); ++i) {
    a.set(i, Scalar::of(DType::F32, std::sin(static_cast<double>(i))));
    b.set(i, Scalar::of(DType::F32, std::cos(static_cast<double>(i))));
  }
  const Inputs in{{a, b}, {}, {}};
  const Result before = oracle(p.plan, in);
  merge_nested_sums(p.plan);
  const Result after = oracle(p.plan, in);
  REQUIRE(before.outputs.size() == after.outputs.size());
  for (size_t o = 0; o < before.outputs.size(); ++o)
    for (int64_t i = 0; i < before.outputs[o].numel(); ++i)
      CHECK(after.outputs[o].at(i).as_double() == before.outputs[o].at(i).as_double());
  int64_t elements = 0;
  for (UOp n : topological(values_of(p.plan)))
    if (n->op == Op::Reduce) elements += n->shape.numel();
  return elements;
}

UOp middle(UOp sum) { return shrink(sum, {{0, 4}, {1, 7}}); }

}  // namespace

TEST_CASE("of a sum of products a slice is summed, if nothing else reads it", "[schedule]") {
  CHECK(summed([](UOp products) { return std::vector{middle(sum(products, {2}))}; }) == 4 * 6);
  CHECK(summed([](UOp products) {
          const UOp whole = sum(products, {2});
          return std::vector{whole, middle(whole)};
        }) == 4 * 8);
  // Only what is summed last: the slice of what a sum takes is no slice of the sum.
  CHECK(summed([](UOp products) { return std::vector{sum(shrink(products, {{0, 4}, {1, 7}, {0, 3}}), {2})}; }) ==
        4 * 6);
}
