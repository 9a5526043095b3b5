// Long scatters in blocks: which are cut, that the cut changes no value, and that it makes tasks.
#include "schedule/simplify/scatter_blocks.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "ir/names.h"
#include "ir/walk.h"
#include "schedule/schedule.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

constexpr ScatterMode kModes[] = {ScatterMode::Add, ScatterMode::Set, ScatterMode::Mul, ScatterMode::Max,
                                  ScatterMode::Min};

Shape shape_of(const std::vector<int64_t>& sizes) { return Shape(std::vector<Dim>(sizes.begin(), sizes.end())); }

/// Numbers near 1, so that products of many stay finite; whole ones for other types than floats.
runtime::Array wave(DType dtype, std::vector<int64_t> sizes, double phase) {
  runtime::Array x(dtype, std::move(sizes));
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double v = std::sin(1.3 * static_cast<double>(i) + phase);
    x.set(i, is_float(dtype) ? Scalar::of(dtype, 1 + 0.001 * v) : Scalar::of(dtype, std::floor(5 * v)));
  }
  return x;
}

/// Places among `size` elements, some counted from the end; none is the second one.
runtime::Array places(std::vector<int64_t> sizes, int64_t size) {
  runtime::Array x(DType::I64, std::move(sizes));
  for (int64_t i = 0; i < x.numel(); ++i) {
    int64_t at = (i * i + i / 7) % size;
    if (at == 1) at = 0;
    x.set(i, Scalar::of(DType::I64, i % 3 == 0 ? at - size : at));
  }
  return x;
}

/// A scatter of `updates` along an axis of `sizes`, with the rows and fused, unfused and uncut results.
void check_scatter(ScatterMode mode, DType dtype, const std::vector<int64_t>& sizes, int64_t updates, int64_t axis) {
  INFO(ir::name_of(mode) << " of " << updates << " " << sinter::name_of(dtype) << " to " << shape_of(sizes));
  const auto a = static_cast<size_t>(axis);
  std::vector<int64_t> rows = sizes;
  rows[a] = updates;
  Program p;
  const UOp base = p.slot(shape_of(sizes), dtype), index = p.slot(shape_of(rows), DType::I64),
            value = p.slot(shape_of(rows), dtype);
  p.store(scatter(base, index, value, axis, mode));
  const Inputs in{{wave(dtype, sizes, 1), places(rows, sizes[a]), wave(dtype, rows, 2)}, {}, {}};
  const runtime::Array want = oracle(p.plan, in).outputs[0];
  const KernelSchedule made = schedule::schedule(p.plan, kTarget);
  CHECK(made.kernels.size() > 1);
  const runtime::Array fused = run(made, in).outputs[0],
                       unfused = run(schedule::schedule(p.plan, kTarget, Policy::Unfused), in).outputs[0];
  bool same = true, close = true;
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double x = fused.at(i).as_double(), y = want.at(i).as_double();
    same &= fused.at(i) == unfused.at(i);
    close &= std::abs(x - y) <= (is_float(dtype) ? 1e-4 * std::max(1.0, std::abs(y)) : 0.0);
  }
  CHECK(same);
  CHECK(close);
}

}  // namespace

TEST_CASE("blocks of a scatter are of equal length, and longer than the row they fill", "[schedule]") {
  for (const int64_t updates : {8191, 8192, 10007, 1000000, 1 << 20, 100000007})
    for (const int64_t elements : {1, 10, 1000, 3000, 1 << 20})
      for (const int64_t rows : {1, 31}) {
        INFO(updates << " updates of " << rows << " rows of " << elements);
        const int64_t blocks = scatter_blocks(updates, elements, rows);
        const int64_t least = std::max(kScatterBlock, (rows == 1 ? kScatterReuse : kVectorReuse) * elements);
        CHECK((blocks == 0) == (updates < 2 * least));
        if (!blocks) continue;
        CHECK(blocks >= 2);
        CHECK(blocks <= kScatterBlocks);
        CHECK(updates / blocks >= least);
      }
  CHECK(scatter_blocks(1 << 20, 100, kScatterRows) == 0);
  CHECK(scatter_blocks(1 << 20, 0, 1) == 0);
  CHECK(scatter_blocks(1 << 20, 100, 1) == 256);
  CHECK(1000000 % scatter_blocks(1000000, 100, 1) == 0);
}

TEST_CASE("a scatter of few updates, and one of a symbolic number, is one chain", "[schedule]") {
  const Var n("n", 1, 100000);
  for (const Shape& rows : {Shape{8191}, Shape{n(50000)}}) {
    Program p;
    p.store(scatter_add(p.slot({10}), p.slot(rows, DType::I64), p.slot(rows), 0));
    const UOp before = p.plan.outputs[0].value;
    cut_scatters(p.plan);
    CHECK(p.plan.outputs[0].value == before);
  }
}

TEST_CASE("every mode scatters in blocks, with the same bits fused and unfused", "[schedule]") {
  for (const ScatterMode mode : kModes) {
    for (const DType dtype : {DType::F32, DType::I64, DType::U8}) check_scatter(mode, dtype, {9}, 8200, 0);
    check_scatter(mode, DType::F32, {2, 5, 3}, 9001, 1);
    check_scatter(mode, DType::F64, {1}, 12288, 0);
    check_scatter(mode, DType::Bool, {5}, 8192, 0);
  }
  check_scatter(ScatterMode::Set, DType::BF16, {7}, 8193, 0);
}

TEST_CASE("an element without an update keeps its bits in a scatter of blocks", "[schedule]") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const ScatterMode mode : kModes)
    for (const double kept : {-0.0, 0.0, kNan, -std::numeric_limits<double>::infinity()}) {
      INFO(ir::name_of(mode) << ", " << kept);
      Program p;
      const UOp row = p.slot({3}), index = p.slot({8192}, DType::I64), value = p.slot({8192});
      p.store(scatter(row, index, value, 0, mode));
      runtime::Array base(DType::F32, {3});
      for (int64_t i = 0; i < 3; ++i) base.set(i, Scalar::of(DType::F32, kept));
      const Inputs in{{base, places({8192}, 3), wave(DType::F32, {8192}, 0)}, {}, {}};
      CHECK(run(schedule::schedule(p.plan, kTarget), in).outputs[0].at(1) == base.at(1));
    }
}

TEST_CASE("a scatter of a million updates to a vector is many tasks", "[schedule]") {
  for (const ScatterMode mode : kModes) {
    Program p;
    p.store(scatter(p.slot({256}), p.slot({1 << 20}, DType::I64), p.slot({1 << 20}), 0, mode));
    PlanGraph plan = p.plan;
    const Partition parts = partition_plan(plan, kTarget);
    CHECK(parts.kernels.size() <= 3);
    for (const FusionGroup& k : parts.kernels) {
      int64_t tasks = 1;
      for (int a : k.outer) tasks *= parts.space.bound(a);
      CHECK(tasks >= 128);
    }
  }
}
