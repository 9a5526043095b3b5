// A matrix in panels of some columns: heads that lie one after the other, or packed weights.
#include "codegen/heuristic.h"
#include "codegen_support.h"
#include "schedule/phases.h"

using namespace codegen_test;

namespace {

/// x [m, k] times a matrix of [k, panels * width] that lies as [panels, k, width]: by a column's number, or by its panel's and its own.
Bench product(int64_t m, int64_t k, int64_t panels, int64_t width, bool joined) {
  Bench b;
  UOp x = b.buffer(random_array(DType::F32, {m, k}, 1)), y = b.buffer(random_array(DType::F32, {panels, k, width}, 2));
  UOp row = b.outer(m), step = b.index(width);
  if (joined) {
    UOp out = b.buffer(Array(DType::F32, {m, panels * width})), column = b.outer(panels * width), l = b.over(k, 2);
    b.stores({b.put(out, {row, column}, b.reduce(Combine::Dot, {b.at(x, {row, l}), b.at(y, {idiv(column, step), l, mod(column, step)})}, {l}))});
  } else {
    UOp out = b.buffer(Array(DType::F32, {m, panels, width})), panel = b.outer(panels), column = b.outer(width), l = b.over(k, 3);
    b.stores({b.put(out, {row, panel, column}, b.reduce(Combine::Dot, {b.at(x, {row, l}), b.at(y, {panel, l, column})}, {l}))});
  }
  return b;
}

std::string chosen(const Bench& b) { return to_string(codegen::heuristic(codegen::prepare(b.kernel).main, runtime::reference_target())); }

}  // namespace

TEST_CASE("columns of a matrix in panels are gone through panel by panel", "[codegen][schedule]") {
  Bench joined = product(20, 30, 3, 32, true);
  std::vector<Array> given = joined.interpret();
  std::swap(given, joined.arrays);
  schedule::split_phases(joined.kernel);
  REQUIRE(joined.kernel.outer == std::vector<Dim>{20, 3, 32});
  CHECK(chosen(joined) == chosen(product(20, 30, 3, 32, false)));
  joined.check(codegen::heuristic(codegen::prepare(joined.kernel).main, runtime::reference_target()), false);
  joined.require_equal("the kernel before", given);

  Bench narrow = product(20, 30, 12, 8, true);  // no whole vector
  schedule::split_phases(narrow.kernel);
  CHECK(narrow.kernel.outer == std::vector<Dim>{20, 96});
}

TEST_CASE("each panel passes under as many rows as there are where the caches do not hold all of them", "[codegen]") {
  const int64_t k = 513, all = runtime::reference_target().l2 / (k * 4);  // columns that would fill the second cache
  Bench many = product(40, k, all / 64, 64, false), few = product(40, k, all / 64 / 4, 64, false);
  INFO(chosen(many) << " | " << chosen(few));
  CHECK(chosen(many).find("block(0, 15)") != std::string::npos);
  CHECK(chosen(few).find("block(0") == std::string::npos);
  many.check(codegen::heuristic(codegen::prepare(many.kernel).main, runtime::reference_target()), false);
}
