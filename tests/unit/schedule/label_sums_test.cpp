// Products with the mask of labels: which become scatters, and that these have the values of the products, infinite and
// not a number where they do.
#include <cmath>
#include <limits>

#include "catch.h"
#include "ir/walk.h"
#include "schedule/schedule.h"
#include "schedule/simplify/simplify.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

constexpr int64_t kRows = 2048, kClasses = 10, kWidth = 3;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// label == 0, 1, .. along a new last axis, as a number.
UOp mask_of(UOp label, int64_t classes, DType dtype = DType::F32) {
  Shape shape = label->shape;
  const auto last = static_cast<int64_t>(shape.rank());
  shape.push_back(classes);
  UOp number = axis_iota(*label->graph, shape, last, {});
  if (label->dtype != number->dtype) number = cast(number, label->dtype);
  return cast(cast(eq(expand(label, shape, {last}), number), dtype), DType::F32);
}

bool scatters(UOp value) {
  for (UOp n : topological(value))
    if (n->op == Op::Scatter) return true;
  return false;
}
bool becomes_scatter(Program& p, const runtime::Target& target = kTarget) {
  PlanGraph plan = p.plan;
  sum_by_labels(plan, target);
  return scatters(plan.outputs[0].value);
}

/// Labels from -1 to `most`, and values near 1.
Inputs inputs_of(const Program& p, int64_t most) {
  Inputs in;
  for (const PlanSlot& s : p.plan.slots) {
    std::vector<int64_t> shape;
    for (const Dim& d : s.shape) shape.push_back(d.value());
    runtime::Array x(s.dtype, shape);
    for (int64_t i = 0; i < x.numel(); ++i)
      x.set(i, is_float(s.dtype) ? Scalar::of(s.dtype, 1 + std::sin(1.3 * static_cast<double>(i)))
                                 : Scalar::of(s.dtype, (i * i + i / 7) % (most + 2) - 1));
    in.slots.push_back(x);
  }
  return in;
}

void check(const Program& p, const Inputs& in) {
  const runtime::Array want = oracle(p.plan, in).outputs[0];
  const runtime::Array fused = run(schedule::schedule(p.plan, kTarget), in).outputs[0],
                       unfused = run(schedule::schedule(p.plan, kTarget, Policy::Unfused), in).outputs[0];
  REQUIRE(fused.numel() == want.numel());
  for (int64_t i = 0; i < want.numel(); ++i) {
    const double x = fused.at(i).as_double(), y = want.at(i).as_double(), z = unfused.at(i).as_double();
    INFO(i << ": " << x << " and unfused " << z << " for " << y);
    CHECK((x == z || (std::isnan(x) && std::isnan(z))));
    if (std::isfinite(y))
      CHECK(std::abs(x - y) <= 1e-4 * std::max(1.0, std::abs(y)));
    else
      CHECK((std::isnan(y) ? std::isnan(x) : x == y));
  }
}

}  // namespace

TEST_CASE("a product with the mask of labels adds each row once, at its label", "[schedule]") {
  for (const DType dtype : {DType::I64, DType::I32, DType::U8})
    for (const int form : {0, 1, 2, 3, 4}) {
      INFO(name_of(dtype) << ", form " << form);
      Program p;
      const UOp label = p.slot({kRows}, dtype), mask = mask_of(label, kClasses, form == 1 ? DType::I64 : DType::F32),
                values = p.slot({kRows, kWidth});
      switch (form) {
        case 0:
        case 1: p.store(matmul(permute(mask, {1, 0}), values)); break;
        case 2: p.store(matmul(permute(values, {1, 0}), mask)); break;  // classes behind
        case 3:                                                         // one number per row
          p.store(sum(mask * expand(p.slot({kRows}), {kRows, kClasses}, {1}), {0}));
          break;
        default: {  // rows along two axes, the classes in the middle
          const Shape all{32, kRows / 32, kWidth, kClasses, 2};
          const UOp m = mask_of(p.slot({32, kRows / 32}, dtype), kClasses), v = p.slot({32, kRows / 32, kWidth, 2});
          p.store(sum(expand(m, all, {2, 4}) * expand(v, all, {3}), {0, 1}));
        }
      }
      CHECK(becomes_scatter(p));
      check(p, inputs_of(p, kClasses));
    }
}

TEST_CASE("sums by label are not a number where another label's value is not finite", "[schedule]") {
  Program p;
  const UOp label = p.slot({kRows}, DType::I64), values = p.slot({kRows, 7});
  p.store(matmul(permute(mask_of(label, kClasses), {1, 0}), values));
  REQUIRE(becomes_scatter(p));
  Inputs in = inputs_of(p, kClasses - 1);
  const auto put = [&](int64_t row, int64_t column, int64_t to, double value) {
    in.slots[0].set(row, Scalar::of(DType::I64, to));
    in.slots[1].set(row * 7 + column, Scalar::of(DType::F32, value));
  };
  put(5, 1, 3, kInf);  // of one class
  put(700, 1, 3, kInf);
  put(6, 2, 3, kInf);  // of two
  put(701, 2, 4, -kInf);
  put(7, 3, 0, std::nan(""));
  put(8, 4, 9, kInf);  // of one class, with both signs
  put(702, 4, 9, -kInf);
  put(9, 5, -1, kInf);                                          // of no class
  for (const int64_t row : {20, 21, 22}) put(row, 6, 2, 3e38);  // too large for float32 only as a sum
  check(p, in);
}

TEST_CASE("other products with masks stay products", "[schedule]") {
  const auto stays = [](const runtime::Target& target, auto&& make) {
    Program p;
    p.store(make(p));
    CHECK_FALSE(becomes_scatter(p, target));
  };
  const auto product = [](Program& p, const Dim& rows, int64_t classes) {
    return matmul(permute(mask_of(p.slot({rows}, DType::I64), classes), {1, 0}), p.slot({rows, kWidth}));
  };
  runtime::Target gpu = kTarget;
  gpu.dialect = runtime::Dialect::Cuda;
  stays(gpu, [&](Program& p) { return product(p, kRows, kClasses); });
  stays(kTarget, [&](Program& p) { return product(p, kRows, 4); });
  stays(kTarget, [&](Program& p) { return product(p, 500, kClasses); });
  stays(kTarget, [&](Program& p) { return product(p, kRows, kRows / 2); });
  stays(kTarget, [&](Program& p) { return product(p, Var("n", 1, 10000)(kRows), kClasses); });
  // Labels and values that differ between the results.
  stays(kTarget, [](Program& p) {
    const UOp mask = mask_of(p.slot({kRows, kWidth}, DType::I64), kClasses);
    return sum(mask * expand(p.slot({kRows, kWidth}), mask->shape, {2}), {0});
  });
  stays(kTarget, [](Program& p) {
    const UOp mask = mask_of(p.slot({kRows}, DType::I64), kClasses);
    return sum(mask * p.slot({kRows, kClasses}), {0});
  });
  // Classes that do not begin at 0, or whose numbers wrap, and ones that are summed.
  stays(kTarget, [](Program& p) {
    return matmul(permute(mask_of(p.slot({kRows}, DType::I8), 200), {1, 0}), p.slot({kRows, kWidth}));
  });
  stays(kTarget, [](Program& p) {
    const UOp mask = shrink(mask_of(p.slot({kRows}, DType::I64), kClasses + 1), {{0, kRows}, {1, kClasses + 1}});
    return matmul(permute(mask, {1, 0}), p.slot({kRows, kWidth}));
  });
  stays(kTarget,
        [](Program& p) { return matmul(mask_of(p.slot({kWidth}, DType::I64), kRows), p.slot({kRows, kClasses})); });
}
