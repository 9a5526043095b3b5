// Which sorts give their elements alone, and that these are the elements at the positions.
#include "schedule/simplify/simplify.h"

#include <cmath>

#include "catch.h"
#include "ir/sort_runs.h"
#include "schedule/schedule.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

/// Two rows of four with zeros of both signs and several NaNs.
const Inputs kIn{{[] {
                   runtime::Array x(DType::F32, {2, 4});
                   const double values[] = {0.0, -0.0, 0.0, -1, NAN, 2, -NAN, NAN};
                   for (int64_t i = 0; i < 8; ++i) x.set(i, Scalar::of(DType::F32, values[i]));
                   return x;
                 }()},
                 {},
                 {}};

/// How many steps of sorts the plan has that give elements, and that give positions.
std::pair<int, int> steps_of(const Program& p, const runtime::Target& target = kTarget) {
  const KernelSchedule made = schedule::schedule(p.plan, target);
  std::pair<int, int> out{0, 0};
  for (const codegen::Kernel& k : made.kernels)
    if (sorts_runs(k.sink)) ++(sort_runs_of(k.sink->src[0]).values ? out.first : out.second);
  const std::vector<runtime::Array> want = oracle(p.plan, kIn).outputs, got = run(made, kIn).outputs;
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) CHECK(got[i].data == want[i].data);
  return out;
}

}  // namespace

TEST_CASE("a sort whose positions nobody reads gives its elements", "[schedule]") {
  for (const bool descending : {false, true})
    for (const int64_t count : {1, 3, 4}) {
      Program p;
      const UOp x = p.slot({2, 4});
      p.store(gather(x, sort_positions(x, 4 - count, count, descending), 1));
      CHECK(steps_of(p) == std::pair{1, 0});
      CHECK(steps_of(p, runtime::cuda_target({})) == std::pair{0, 1});
    }
}

TEST_CASE("a sort of what a kernel computes gives its elements", "[schedule]") {
  Program p;
  const UOp x = p.slot({2, 4}), y = contiguous(x + 1.0);
  p.store(gather(y, sort_positions(y, 0, 4, false), 1));
  CHECK(steps_of(p) == std::pair{1, 0});
}

TEST_CASE("two readers of the elements share a sort", "[schedule]") {
  Program p;
  const UOp x = p.slot({2, 4}), sorted = gather(x, sort_positions(x, 0, 4, false), 1);
  p.store(sorted + 1.0);
  p.store(reduce(Combine::Max, sorted, {0}));
  CHECK(steps_of(p) == std::pair{1, 0});
}

TEST_CASE("a sort whose positions are read gives them", "[schedule]") {
  Program p;
  const UOp x = p.slot({2, 4}), at = sort_positions(x, 0, 4, false);
  SECTION("as an output") {
    p.store(gather(x, at, 1));
    p.store(at);
  }
  SECTION("by arithmetic") {
    p.store(gather(x, at, 1));
    p.store(at + 1.0);
  }
  SECTION("as places in another tensor") {
    p.store(gather(x, at, 1));
    p.store(gather(x * 2.0, at, 1));
  }
  SECTION("as places along another axis") {
    const UOp square = contiguous(shrink(x, {{0, 2}, {0, 2}}));
    p.store(gather(square, sort_positions(square, 0, 2, false), 0));
    CHECK(steps_of(p) == std::pair{0, 1});
    return;
  }
  SECTION("as what is gathered") { p.store(gather(at, at, 1)); }
  CHECK(steps_of(p) == std::pair{0, 1});
}

TEST_CASE("a sort of values in runs, and merges of them", "[schedule]") {
  for (const DType dtype : {DType::F32, DType::F64, DType::I16})
    for (const bool descending : {false, true}) {
      INFO(sinter::name_of(dtype) << (descending ? " descending" : ""));
      const int64_t row = dtype == DType::I16 ? 1 << 15 : 1 << 18;  // two of the shortest runs
      runtime::Target two = kTarget;
      two.threads = 2;
      Program p;
      const UOp x = p.slot({row}, dtype);
      p.store(gather(x, sort_positions(x, 0, row, descending), 0));
      Inputs in{{runtime::Array(dtype, {row})}, {}, {}};
      for (int64_t i = 0; i < row; ++i) {
        const double v = static_cast<double>(i * 7919 % 613 - 300);
        in.slots[0].set(i, Scalar::of(dtype, v == 0 && i % 2 ? -0.0 : v == 200 && is_float(dtype) ? NAN : v));
      }
      const KernelSchedule made = schedule::schedule(p.plan, two);
      REQUIRE(made.kernels.size() == 2);
      CHECK(sort_runs_of(made.kernels[1].sink->src[0]).sorted == row / 2);
      CHECK(run(made, in).outputs[0].data == oracle(p.plan, in).outputs[0].data);
    }
}
