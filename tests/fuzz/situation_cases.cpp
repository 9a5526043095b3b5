// Situations for random programs that the ops of the table meet too rarely.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bounds.h"

namespace fuzz {

using namespace sinter;

namespace {

/// A version in place, and readers of the one before, in one plan.
Item update(ProgramBuilder& r) {
  const DType d = r.chance(15) ? float32 : r.type();
  const int64_t n = r.pick(2, 20);
  Item x = r.leaf(d, {n, n}), w = r.leaf(d, {n, n});
  r.pool.pop_back();
  r.pool.pop_back();
  x.t = x.t.clone();
  realize(x.t, w.t);
  // Products are kernels of their own: only the first of three reads the version before, and one reads the new
  // version.
  const bool chain = r.chance(50);
  Tensor reader = chain ? matmul(matmul(matmul(x.t, w.t), w.t), w.t) : x.t.transpose() + w.t;
  double m = x.magnitude;
  switch (r.pick(0, 4)) {
    case 0:
      x.t += w.t;
      m += w.magnitude;
      break;
    case 1:
      x.t.assign(x.t.flip({0}) + w.t);
      m += w.magnitude;
      break;
    case 2:
      x.t.assign(x.t.transpose() + x.t);
      m *= 2;
      break;
    default: x.t.at({Slice{0, n / 2}}) = x.t.index({Slice{n - n / 2, n}}); break;
  }
  const Tensor after = chain ? matmul(x.t, w.t) : x.t;
  r.met(reader);
  r.met(after);
  if (r.chance(50))
    realize(reader, after);
  else
    realize(after, reader);
  const double k = static_cast<double>(n),
               largest = m + x.magnitude * std::pow(k * w.magnitude, 3) + k * m * w.magnitude;
  return finish(r, cat({reader, after, x.t}, 0), largest, 3 * k * rounding(r, d, largest));
}

/// One skeleton, other numbers.
Item repeat(ProgramBuilder& r) {
  Item& a = r.leaf(r.chance(50) ? float32 : float64, r.shape(1));
  Tensor x = a.t;
  x.realize();
  const int64_t n = x.shape()[0].value();
  std::vector<Tensor> made;
  for (int i = 0; i < 3; ++i) {
    const int64_t from = r.pick(0, n - 1);
    const double k = static_cast<double>(r.pick(2, 9));
    made.push_back(r.chance(50) ? x.slice(0, {from, from + 1}) * 2 + x : x * k + 1);
    r.met(made.back());
    made.back().realize();
  }
  const double m = 9 * a.magnitude + 1;
  return finish(r, stack(made, 0), m, 9 * a.error + rounding(r, x.dtype(), m));
}

/// Sums over slices whose offset changes from plan to plan, of elements whose neighbors lie along either axis.
Item moving_sum(ProgramBuilder& r) {
  const DType d = r.chance(70) ? float32 : float64;
  const int64_t steps = r.pick(2, 4), n = r.pick(2, 40), m = r.pick(2, 40);
  Item a = r.leaf(d, {steps, n, m}), b = r.leaf(d, {m, n});
  r.pool.pop_back();
  r.pool.pop_back();
  realize(a.t, b.t);
  const int64_t axis = r.pick(0, 1), form = r.pick(0, 2);
  std::vector<Tensor> made;
  for (int i = 0; i < 3; ++i) {
    const int64_t from = r.pick(0, steps - 1);
    const Tensor x = a.t.slice(0, {from, from + 1}).reshape({n, m}), y = b.t.transpose();
    const Tensor v = form == 0 ? x + y : form == 1 ? (x + y) * x : x * y + x;
    made.push_back(v.sum({axis}));
    r.met(made.back());
    made.back().realize();
  }
  const double k = static_cast<double>(axis == 0 ? n : m), each = (a.magnitude + b.magnitude + 1) * (a.magnitude + 1);
  return finish(r, stack(made, 0), k * each, k * rounding(r, d, k * each));
}

/// A product with the mask of labels, some of no class; in exact programs with a number that is not finite, perhaps.
Item label_sum(ProgramBuilder& r) {
  const int64_t n = r.pick(1024, 1100), classes = r.pick(8, 14), width = r.pick(1, 9);
  Item labels = r.leaf(r.chance(50) ? int64 : int32, {n}, -1, classes), values = r.leaf(float32, {n, width});
  r.pool.pop_back();
  r.pool.pop_back();
  realize(labels.t, values.t);
  Tensor x = values.t;
  const bool finite = !r.exact || r.chance(50);
  if (!finite) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double given = r.chance(50) ? infinity : infinity - infinity;
    x = where((arange(n) == r.pick(0, n - 1)).unsqueeze(1), given, x);
  }
  const Tensor mask = (labels.t.unsqueeze(1) == arange(classes)).to(float32);
  Tensor t = r.chance(50) ? matmul(mask.transpose(), x) : matmul(x.transpose(), mask);
  if (!finite) t = where(t != t, 5.0, minimum(t, 1e6));
  const double largest = static_cast<double>(n) * values.magnitude;
  return finish(r, t, finite ? largest : 1e6, static_cast<double>(n) * rounding(r, float32, largest));
}

/// Kernels that differ in their buffers only.
Item twins(ProgramBuilder& r) {
  const Shape shape = r.shape(1);
  Tensor sums[3];
  double m = 0;
  for (Tensor& s : sums) {
    Item& a = r.leaf(float32, shape);
    const double n = static_cast<double>(a.t.numel());
    s = (a.t * 2 + 1).sum();
    m = n * (2 * a.magnitude + 1);
  }
  return finish(r, stack({sums[0], sums[1], sums[2]}, 0), m, 33 * 49 * rounding(r, float32, m));
}

/// With lanes, their tail and, in real programs, roundings that depend on the order.
Item long_sum(ProgramBuilder& r) {
  const DType d = r.chance(70) ? float32 : float64;
  const int64_t n = r.pick(64, 150);
  Item& a = r.leaf(d, {r.pick(1, 5), n});
  Item& b = r.like(a);
  const double k = static_cast<double>(n), m = 3 * k * (a.magnitude + b.magnitude);
  Tensor t = (a.t * 3.0 + b.t).sum({1}, true);
  if (r.chance(50)) t = (b.t - t).sum({1});
  return finish(r, t, m * k, k * rounding(r, d, m * k) * 4);
}

Item not_numbers(ProgramBuilder& r) {
  const DType d = r.chance(50) ? float32 : float64;
  const Shape shape = r.shape(1);
  Item &a = r.leaf(d, shape), &b = r.leaf(d, shape);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = where(a.t == 1.0, nan, a.t), y = where(b.t == 2.0, nan, b.t);
  Tensor t = r.chance(50) ? maximum(x, y) : r.chance(50) ? minimum(x, y) : x.max({-1}, true) + y.min({0}, true);
  return Item{where(t != t, 5.0, t), 6, 0};
}

/// NaNs of either sign among what is sorted: an x86 machine makes one with the sign of infinity - infinity.
Item sorted_not_numbers(ProgramBuilder& r) {
  const DType d = r.chance(70) ? float32 : r.chance(50) ? float64 : float16;
  Item& a = r.leaf(d, {r.pick(1, 4), r.pick(2, 40)});
  const Tensor infinite = where(a.t == 2.0, std::numeric_limits<double>::infinity(), a.t);
  Tensor x = where(a.t == 1.0, std::numeric_limits<double>::quiet_NaN(), infinite - infinite + a.t);
  const bool descending = r.chance(50);
  switch (r.pick(0, 3)) {
    case 0: return Item{argsort(x, 1, descending), 40, 0};
    case 1: x = topk(x, r.pick(1, a.t.size(1)), 1, descending).values; break;
    case 2: x = median(x, 1).values; break;
    default: x = sort(x, 1, descending).values; break;
  }
  return Item{where(x != x, 5.0, x), 6, 0};
}

Item saturate(ProgramBuilder& r) {
  const DType d = r.chance(50) ? float32 : float64;
  static constexpr DType kinds[] = {int8, int16, int32, int64, uint8, uint16, uint32, uint64};
  Item& a = r.leaf(d, r.shape());
  const Tensor t = (a.t * (r.chance(50) ? 4e9 : 1e20)).to(kinds[r.pick(0, 7)]);
  return Item{t % 13, 13, 0};
}

Item truth(ProgramBuilder& r) { return Item{(r.floating().t * 0.5).to(boolean), 1, 0}; }

}  // namespace

void add_situation_cases(std::vector<OpCase>& cases) {
  cases.push_back({"update", true, true, update});
  cases.push_back({"repeat", true, true, repeat});
  cases.push_back({"moving sum", true, true, moving_sum});
  cases.push_back({"label sum", true, true, label_sum});
  cases.push_back({"twins", true, true, twins});
  cases.push_back({"long sum", true, true, long_sum});
  cases.push_back({"nan", true, false, not_numbers});
  cases.push_back({"sort nan", true, false, sorted_not_numbers});
  cases.push_back({"saturate", true, false, saturate});
  cases.push_back({"truth", true, false, truth});
}

}  // namespace fuzz
