// How many rows of a scan run side by side, and that none of them loses a bit.
#include "unit/codegen/choice.h"

using namespace codegen_test;

namespace {

/// Running sums of `rows` rows of 40 elements, of tasks or inside one.
KernelHarness running_sums(int64_t rows, bool tasks) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {rows, 40}, 1)), out = b.buffer(Array(DType::F32, {rows, 40}));
  UOp row = tasks ? b.outer(rows) : b.over(rows, 1), at = b.over(40, 2);
  b.stores(
      {b.put(out, {row, at}, scan_over(Combine::Add, std::vector<UOp>{b.at(x, {row, at})}, std::vector<UOp>{at}))});
  return b;
}

int range_of(bool tasks) { return tasks ? 0 : 1; }

}  // namespace

TEST_CASE("four rows of a scan run side by side, or five or three of what these divide", "[codegen]") {
  for (const bool tasks : {true, false})
    for (const auto& [rows, wanted] : {std::pair{64, 4}, {125, 5}, {81, 3}, {77, 1}}) {
      KernelHarness b = running_sums(rows, tasks);
      INFO(rows << (tasks ? " tasks" : " rows in a task"));
      CHECK(Choice(b).copies(range_of(tasks)) == wanted);
      b.check(chosen(b), false);
    }
}

TEST_CASE("rows of a scan do not share a task where units would be idle", "[codegen]") {
  const int64_t units = runtime::reference_target().parallel_units;
  CHECK(Choice(running_sums(4 * units, true)).copies(0) == 4);
  CHECK(Choice(running_sums(4 * units - 4, true)).copies(0) < 4);
}
