// Long scans in blocks: how rows are cut, and that the cut changes no value.
#include "schedule/simplify/scan_blocks.h"

#include <cmath>

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

/// What is scanned: x, and what the combine needs beside it.
std::vector<UOp> values_of(Combine combine, UOp x, int64_t axis) {
  switch (combine) {
    case Combine::ArgMax:
    case Combine::ArgMin: return {x, axis_iota(*x->graph, x->shape, axis, x->device)};
    case Combine::ExpSum: return {x, like(x, 1.0)};
    case Combine::Affine: return {x, x * 0.5};
    case Combine::Moments: return {like(x, 1.0), x, like(x, 0.0)};
    default: return {x};
  }
}

runtime::Array wave(DType dtype, std::vector<int64_t> shape) {
  runtime::Array x(dtype, std::move(shape));
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double v = std::sin(1.3 * static_cast<double>(i));
    x.set(i, is_float(dtype) ? Scalar::of(dtype, v) : Scalar::of(dtype, std::floor(5 * v)));
  }
  return x;
}

void check_scan(Combine combine, DType dtype, const std::vector<int64_t>& sizes, int64_t axis) {
  for (int result = 0; result < accumulator_count(combine); ++result) {
    INFO(ir::name_of(combine) << " " << result << " of " << sinter::name_of(dtype) << ", "
                              << sizes[static_cast<size_t>(axis)]);
    Program p;
    const UOp x = p.slot(Shape(std::vector<Dim>(sizes.begin(), sizes.end())), dtype);
    p.store(scan(combine, values_of(combine, x, axis), axis, result));
    const Inputs in{{wave(dtype, sizes)}, {}, {}};
    const runtime::Array want = oracle(p.plan, in).outputs[0];
    const runtime::Array fused = run(schedule::schedule(p.plan, kTarget), in).outputs[0],
                         unfused = run(schedule::schedule(p.plan, kTarget, Policy::Unfused), in).outputs[0];
    bool same = true, close = true;
    for (int64_t i = 0; i < want.numel(); ++i) {
      const double a = fused.at(i).as_double(), b = want.at(i).as_double();
      same &= a == unfused.at(i).as_double();
      close &= std::abs(a - b) <= (is_float(want.dtype) ? 1e-5 * std::max(1.0, std::abs(b)) : 0.0);
    }
    CHECK(same);
    CHECK(close);
  }
}

}  // namespace

TEST_CASE("a long row is scanned in blocks that cover it, and end where it does if sizes permit", "[schedule]") {
  for (int64_t n : {1, 100, 4096}) CHECK(scan_axes(n).empty());
  for (int64_t n : {4097, 5000, 8191, 65536, 99991, 1 << 20, 1000000, 1 << 24, 100000007}) {
    INFO(n);
    const std::vector<int64_t> axes = scan_axes(n);
    REQUIRE(axes.size() >= 2);
    int64_t all = 1;
    for (int64_t size : axes) all *= size;
    CHECK(all >= n);
    CHECK(all - n < n);
    CHECK(axes.back() <= 2 * kScanBlock);
    CHECK(axes.front() <= kScanPrefixes);
    for (size_t i = 1; i + 1 < axes.size(); ++i) CHECK(axes[i] <= 2 * kScanGroup);
    if (n % 1000 == 0 || (n & (n - 1)) == 0) CHECK(all == n);
  }
  CHECK(scan_axes(1 << 20) == std::vector<int64_t>{64, 64, 256});
}

TEST_CASE("a short scan, and one along a symbolic axis, stays one chain", "[schedule]") {
  const Var n("n", 1, 100000);
  for (const Shape& shape : {Shape{3, 4096}, Shape{3, n(50000)}}) {
    Program p;
    p.store(scan(Combine::Add, p.slot(shape), 1));
    const UOp before = p.plan.outputs[0].value;
    cut_scans(p.plan);
    CHECK(p.plan.outputs[0].value == before);
  }
}

TEST_CASE("every combine is scanned in blocks, with the same bits fused and unfused", "[schedule]") {
  for (const Combine c : {Combine::Add, Combine::Mul, Combine::Max, Combine::Min, Combine::ArgMax, Combine::ArgMin,
                          Combine::ExpSum, Combine::Affine})
    for (const int64_t n : {4097, 5120}) check_scan(c, DType::F32, {n}, 0);
  check_scan(Combine::Moments, DType::F64, {4608}, 0);
  for (const Combine c : {Combine::Add, Combine::Mul, Combine::Max, Combine::ArgMin})
    check_scan(c, DType::I64, {4100}, 0);
  check_scan(Combine::Add, DType::F32, {2, 4200, 3}, 1);
  check_scan(Combine::ArgMax, DType::F32, {2, 40000}, 1);
}

TEST_CASE("blocks of a scan are evaluated where they are joined", "[schedule]") {
  Program p;
  p.store(scan(Combine::Add, p.slot({1 << 20}), 0));
  PlanGraph plan = p.plan;
  const Partition parts = partition_plan(plan, kTarget);
  CHECK(parts.kernels.size() == 3);
  for (const FusionGroup& k : parts.kernels) {
    int64_t tasks = 1;
    for (int a : k.outer) tasks *= parts.space.bound(a);
    CHECK(tasks >= 64);
  }
}
