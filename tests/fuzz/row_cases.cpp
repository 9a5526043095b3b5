// Ops for random programs that look at rows more than once, or along rows and columns at a time: what the scheduler
// makes one reduction, or one kernel with a finish.
#include <cmath>
#include <limits>

#include "bounds.h"

namespace fuzz {

using namespace sinter;

namespace {

/// Along the last axis often: that is where rows are long.
Axes row_axes(ProgramBuilder& r, const Tensor& t) {
  if (t.rank() && r.chance(50)) return {-1};
  return some_axes(r, t);
}

Item variance(ProgramBuilder& r) {
  Item& a = r.floating();
  if (!a.t.numel()) return moved(a, a.t);
  const DType d = a.t.dtype();
  const Axes axes = row_axes(r, a.t);
  const bool keep = r.chance(50);
  const Tensor mean = a.t.mean(axes, keep);
  const double n = count_of(a.t, mean), m = a.magnitude, squares = m * m;
  const double error = 4 * m * a.error + a.error * a.error + n * rounding(r, d, squares) / 2;
  switch (r.pick(0, 4)) {
    case 0: return finish(r, a.t.var(axes, 0, keep), squares, error);
    case 1: return finish(r, a.t.std(axes, 0, keep), m, std::sqrt(error));
    case 2: return finish(r, a.t.var(axes, 0, keep) + mean, squares + m, error + a.error + n * rounding(r, d, m));
    case 3: {  // not from the mean
      const Tensor off = a.t - a.t.sum(axes, true) / (n + 1);
      return finish(r, (off * off).sum(axes, keep) / n, 4 * squares, 4 * error);
    }
    default: {
      const Tensor off = a.t - a.t.mean(axes, true);
      return finish(r, (off * off).sum(axes, keep) / n, squares, error);
    }
  }
}

/// Some elements are infinite or NaN.
Tensor spoilt(ProgramBuilder& r, const Tensor& x) {
  const Tensor place = arange(x.numel()).reshape(x.shape());
  static constexpr double kWhat[] = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()};
  const double what = kWhat[r.pick(0, 2)];
  switch (r.pick(0, 2)) {
    case 0: return where(place == r.pick(0, x.numel() - 1), what, x);
    case 1: return where(place % 3 == 1, what, x);
    default: return where(place < (x.numel() + 1) / 2, what, x);  // whole rows
  }
}
Tensor mended(const Tensor& t) { return where(t != t, 7.0, where(isinf(t), where(t > 0, 5.0, -5.0), t)); }

Item exponents(ProgramBuilder& r) {
  Item& a = r.floating();
  if (!a.t.numel() || a.t.rank() == 0) return moved(a, a.t);
  const DType d = a.t.dtype();
  const double m = std::min(a.magnitude, 20.0), e = a.error;
  Tensor x = clamp(a.t, -20, 20);
  const bool bad = r.chance(30);
  if (bad) x = spoilt(r, x);
  auto done = [&](const Tensor& t, double magnitude, double error) {
    return finish(r, bad ? mended(t) : t, std::max(magnitude, 7.0), error);
  };
  const Axes axes = row_axes(r, x);
  Tensor largest = x.max(axes, true);
  const double n = count_of(x, largest), roundings = (n + 80) * rounding(r, d, 1) / 2;
  const double size = m + std::log(n);
  switch (r.pick(0, 4)) {
    case 0: {
      const double width = count_of(x, x.max({-1})), most = 2 * m + std::log(width);
      return done(log_softmax(x, -1), most, 2 * e + (width + 80) * rounding(r, d, 1) / 2 + rounding(r, d, most));
    }
    case 1: return done(exp(x - largest).sum(axes), n, n * (std::expm1(2 * e) + roundings));
    case 2: {  // the maximum of other rows: of each piece
      for (int64_t pieces : {2, 3, 5, 7})
        if (x.numel() % pieces == 0) x = x.reshape({pieces, x.numel() / pieces});
      largest = x.max({-1}, true);
      const double all = static_cast<double>(x.numel());
      return done(exp(x - largest).sum(), all, all * (std::expm1(2 * e) + (all + 80) * rounding(r, d, 1) / 2));
    }
    case 3: return done(logsumexp(x, axes, true) + largest, 2 * size, 2 * e + roundings + rounding(r, d, 2 * size));
    default: return done(logsumexp(x, axes, r.chance(50)), size, e + roundings + rounding(r, d, size));
  }
}

/// Sums along rows, along columns and over everything, of values that wait for the rows.
Item sums_both_ways(ProgramBuilder& r) {
  const DType d = r.chance(80) ? float32 : float64;
  Item a = r.leaf(d, r.shape(1));
  Item b = r.like(a);
  const Tensor scale = b.magnitude > 3 ? clamp(b.t, -3, 3) : b.t;  // whole sums stay below 2^24
  const Tensor off = r.chance(50) ? a.t - a.t.max({-1}, true) : a.t * 2;
  std::vector<Tensor> made{(off * scale).sum({0})};
  if (r.chance(60)) made.push_back(off.sum({-1}));
  if (r.chance(60)) made.push_back(r.chance(50) ? off.sum() : off.max());
  if (r.chance(40)) made.push_back(off + (off * 2).sum({-1}, true));
  if (r.chance(40)) made.push_back(made[0] * 2 - 1);
  if (r.chance(30)) {  // many ops on few elements, beside few on many
    Tensor t = a.t.max({-1}, true);
    made.push_back(a.t - t);
    for (int64_t i = r.pick(3, 9); i > 0; --i) t = where(t > 0, t - 2, 1 - t);
    made.push_back(t);
  }
  for (const Tensor& t : made) r.met(t);
  if (r.chance(60)) realize_all(made);
  for (Tensor& t : made) t = t.flatten();
  const double n = static_cast<double>(a.t.numel()), largest = 40 * n;
  return finish(r, cat(made, 0), largest, n * (12 * b.error + rounding(r, d, 40)) + n * rounding(r, d, largest) / 2);
}

/// Sums over the same elements, of which one value is made.
Item weighted_sum(ProgramBuilder& r) {
  const DType d = r.chance(80) ? float32 : float64;
  Item a = r.leaf(d, r.shape(1));
  if (!a.t.numel()) return a;
  const Tensor rows = a.t.rank() > 1 && r.chance(60) ? a.t.max({-1}) : a.t;  // what is summed waits for a row
  const Tensor counts = rows > 0;
  const double n = static_cast<double>(rows.numel()), largest = 3 * n, error = n * rounding(r, d, largest) / 2;
  Tensor sum = where(counts, rows, 0.0).sum(), count = counts.to(d).sum();
  if (r.chance(50)) return finish(r, sum * 2 - count, 3 * largest, 3 * error);
  if (r.chance(50)) count = counts.to(int64).sum().to(d);
  return finish(r, sum + count * (rows * rows).max(), 20 * largest, 20 * error);
}

/// A value that is needed again behind a kernel which waits for it.
Item detour(ProgramBuilder& r) {
  const DType d = r.chance(80) ? float32 : float64;
  Item a = r.leaf(d, r.shape(1));
  const Tensor x = a.t * 2 + 1, sums = x.sum({-1}, true);
  const Tensor waits = r.chance(60)   ? sums.contiguous().flip({0})
                       : r.chance(50) ? cumsum(sums, 0)
                                      : scatter_add(sums, 0, zeros(sums.shape(), int64), sums);
  const double n = static_cast<double>(a.t.numel()), largest = 14 * n + 7;
  return finish(r, r.chance(50) ? x - waits : x * waits, 7 * largest, 14 * n * rounding(r, d, largest));
}

/// Scans by combines other than a sum, and by pairs.
Item running(ProgramBuilder& r) {
  Item& a = r.exact ? r.number() : r.floating();
  if (a.t.rank() == 0 || !a.t.numel()) return moved(a, a.t);
  const DType d = a.t.dtype();
  const int64_t axis = r.pick(0, a.t.rank() - 1);
  const double n = static_cast<double>(a.t.shape()[static_cast<size_t>(axis)].value());
  switch (r.pick(0, r.exact ? 1 : 3)) {
    case 0: {
      const auto [values, indices] = r.chance(50) ? cummax(a.t, axis) : cummin(a.t, axis);
      if (r.exact && r.chance(50)) return {indices, n, 0};
      return moved(a, values);
    }
    case 1: {
      if (!is_float(d)) return finish(r, cumprod(a.t, axis), 1e15, 0);
      return finish(r, cumprod(clamp(a.t, -1, 1), axis), 1, n * a.error + n * rounding(r, d, 1));
    }
    case 2: {
      const double m = std::min(a.magnitude, 20.0), size = m + std::log(n);
      return finish(r, logcumsumexp(clamp(a.t, -20, 20), axis), size,
                    a.error + (n + 80) * rounding(r, d, 1) / 2 + rounding(r, d, size));
    }
    default: {
      const double m = 2 * n * a.magnitude;
      return finish(r, cumulative_trapezoid(a.t, 2, axis), m, 2 * n * a.error + n * rounding(r, d, m));
    }
  }
}

/// What training makes of rows: sums across them for parameters, and their own gradient, together.
Item row_gradient(ProgramBuilder& r) {
  const DType d = r.chance(80) ? float32 : float64;
  Shape shape = r.shape(2);
  if (shape.rank() < 2) shape = {3, shape[0]};
  if (shape.rank() > 2) shape = {shape[0], Dim(shape.numel() / std::max<int64_t>(1, shape[0].value()))};
  const int64_t n = shape[0].value(), m = shape[1].value();
  const auto leaf = [&](const Shape& s) { return r.leaf(d, s).t.clone().requires_grad(); };
  const Tensor x = leaf(shape);
  std::vector<Tensor> made;
  const double rows = static_cast<double>(n), width = static_cast<double>(m);
  double largest = 18 * rows + 400;
  if (r.chance(40)) {
    std::vector<int64_t> classes;
    for (int64_t i = 0; i < n; ++i) classes.push_back(r.pick(0, m - 1));
    CrossEntropyOptions options;
    if (r.chance(50)) options.ignore_index = {};
    const Tensor loss = cross_entropy(x, from(classes), options);
    made = gradient(loss, {x});
    made.push_back(loss.detach());
    largest = std::log(width) + 12;
  } else {
    const Tensor w = leaf({m}), g = r.leaf(d, shape).t;
    if (r.chance(30)) {
      made = gradient((rms_norm(x, {m}, w, 1.0) * g).sum(), {x, w});
    } else {
      const Tensor b = leaf({m});
      made = gradient((layer_norm(x, {m}, w, b, 1.0) * g).sum(), {x, w, b});
    }
  }
  for (Tensor& t : made) t = t.detach();
  for (const Tensor& t : made) r.met(t);
  realize_all(made);
  for (Tensor& t : made) t = t.flatten();
  return finish(r, cat(made, 0), largest, 4 * (rows + width + 80) * rounding(r, d, largest));
}

/// Updates many times as many as the places that they go to. Some places get none.
Item tally(ProgramBuilder& r) {
  const DType d = r.chance(50) ? float32 : r.exact ? int64 : float64;
  const int64_t n = r.pick(8192, 12500), places = r.pick(2, 40);
  const Tensor at = arange(n), place = (at * r.pick(1, 99)) % ((places + 1) / 2) * 2,
               x = ((at * r.pick(1, 9)) % 7 - 3).to(d);
  const Tensor base = r.leaf(d, {places}).t;
  const double largest = 3 * static_cast<double>(n) + 3, error = static_cast<double>(n) * rounding(r, d, largest) / 2;
  switch (r.pick(0, 3)) {
    case 0: return finish(r, scatter(base, 0, place, x), 3, 0);
    case 1: return finish(r, scatter_reduce(base, 0, place, x, ScatterReduce::Amax), 3, 0);
    default: return finish(r, scatter_add(base, 0, place, x), largest, error);
  }
}

}  // namespace

void add_row_cases(std::vector<OpCase>& cases) {
  cases.push_back({"var", false, true, variance});
  cases.push_back({"exponents", false, true, exponents});
  cases.push_back({"sums both ways", true, true, sums_both_ways});
  cases.push_back({"weighted sum", true, true, weighted_sum});
  cases.push_back({"detour", true, true, detour});
  cases.push_back({"row gradient", false, true, row_gradient});
  cases.push_back({"running", true, true, running});
  cases.push_back({"tally", true, true, tally});
}

}  // namespace fuzz
