// The table of ops for random programs: how each is drawn, and what it does to magnitude and error.
#include <algorithm>
#include <cmath>

#include "bounds.h"

namespace fuzz {

using namespace sinter;

Axes some_axes(ProgramBuilder& r, const Tensor& t) {
  if (t.rank() == 0 || r.chance(25)) return all_axes;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < t.rank(); ++i)
    if (r.chance(50)) axes.push_back(r.chance(30) ? i - t.rank() : i);
  if (axes.empty()) axes.push_back(0);
  return axes;
}

namespace {

using Binary = Tensor (*)(Arg, Arg);
using Unary = Tensor (*)(Arg);

/// Two operands of one dtype; sometimes the second broadcasts or is a C++ number.
Item binary(ProgramBuilder& r, Item& a, Binary f, double (*magnitude)(double, double),
            double (*error)(const Item&, const Item&)) {
  if (r.chance(20)) {
    Item c{{}, 2, 0};
    const int64_t k = r.pick(0, 2);
    return finish(r, f(a.t, is_float(a.t.dtype()) ? Arg(static_cast<double>(k)) : Arg(k)), magnitude(a.magnitude, 2),
                  error(a, c));
  }
  Item& b = r.like(a);
  Tensor right = b.t;
  if (r.chance(30) && right.rank() > 0) right = right.slice(r.pick(0, right.rank() - 1), {0, 1});
  if (right.numel() == 0) right = b.t;
  return finish(r, f(a.t, right), magnitude(a.magnitude, b.magnitude), error(a, b));
}

double sum_m(double a, double b) { return a + b; }
double max_m(double a, double b) { return std::max(a, b); }
double one_m(double, double) { return 1; }
double mul_m(double a, double b) { return a * b; }
double sum_e(const Item& a, const Item& b) { return a.error + b.error; }
double max_e(const Item& a, const Item& b) { return std::max(a.error, b.error); }
double mul_e(const Item& a, const Item& b) { return a.magnitude * b.error + b.magnitude * a.error + a.error * b.error; }
double no_e(const Item&, const Item&) { return 0; }

/// A function of a real number with the stated largest slope and value on what it gets.
Item smooth(ProgramBuilder& r, Unary f, double clip, double slope, double largest) {
  Item& a = r.floating();
  Tensor x = clip > 0 ? clamp(a.t, -clip, clip) : a.t;
  return finish(
      r, f(x), largest,
      slope * a.error +
          rounding(r, a.t.dtype(), std::max(largest, slope * std::min(a.magnitude, clip > 0 ? clip : a.magnitude))));
}

Item reduction(ProgramBuilder& r, Item& a, Tensor (Tensor::*f)(Axes, bool, Loc) const, bool adds) {
  // Whole sums stay below 2^24, where float32 is exact in every order.
  if (adds && r.exact && is_float(a.t.dtype()) && a.magnitude * static_cast<double>(a.t.numel()) > 1.6e7)
    a = {a.t % 13.0, 13, 0};
  const Axes axes = some_axes(r, a.t);
  Tensor t = (a.t.*f)(axes, r.chance(50), Loc::current());
  const double n = t.numel() ? static_cast<double>(a.t.numel()) / static_cast<double>(t.numel()) : 1;
  if (!adds) return finish(r, t, a.magnitude, a.error);
  return finish(r, t, n * a.magnitude, n * a.error + n * rounding(r, a.t.dtype(), n * a.magnitude) / 4);
}

Tensor index_for(ProgramBuilder& r, int64_t size, const Shape& shape) {
  std::vector<int64_t> index;
  for (int64_t i = 0; i < shape.numel(); ++i) index.push_back(r.pick(-size, size - 1));
  return from(index, shape).to(r.chance(70) ? int64 : int32);
}

std::vector<OpCase> make_cases() {
  std::vector<OpCase> c;
  auto both = [&](const char* name, std::function<Item(ProgramBuilder&)> f) {
    c.push_back({name, true, true, std::move(f)});
  };
  auto exact = [&](const char* name, std::function<Item(ProgramBuilder&)> f) {
    c.push_back({name, true, false, std::move(f)});
  };
  auto real = [&](const char* name, std::function<Item(ProgramBuilder&)> f) {
    c.push_back({name, false, true, std::move(f)});
  };

  both("add", [](ProgramBuilder& r) { return binary(r, r.any(), operator+, sum_m, sum_e); });
  both("sub", [](ProgramBuilder& r) { return binary(r, r.number(), static_cast<Binary>(operator-), sum_m, sum_e); });
  both("mul", [](ProgramBuilder& r) { return binary(r, r.any(), operator*, mul_m, mul_e); });
  both("maximum", [](ProgramBuilder& r) { return binary(r, r.any(), maximum, max_m, max_e); });
  both("minimum", [](ProgramBuilder& r) { return binary(r, r.any(), minimum, max_m, max_e); });
  both("neg", [](ProgramBuilder& r) {
    Item& a = r.number();
    return finish(r, -a.t, a.magnitude, a.error);
  });
  both("abs", [](ProgramBuilder& r) {
    Item& a = r.number();
    return finish(r, abs(a.t), a.magnitude, a.error);
  });
  both("relu", [](ProgramBuilder& r) {
    Item& a = r.number();
    return finish(r, relu(a.t), a.magnitude, a.error);
  });
  both("clamp", [](ProgramBuilder& r) {
    Item& a = r.number();
    return finish(r, clamp(a.t, is_unsigned(a.t.dtype()) ? 1 : -2, 3), std::min(a.magnitude, 3.0), a.error);
  });
  both("where", [](ProgramBuilder& r) {
    Item& a = r.any();
    Item& b = r.like(a);
    Tensor index = arange(a.t.numel()).reshape(a.t.shape());
    return finish(r, where(index % r.pick(2, 5) == 1, a.t, b.t), std::max(a.magnitude, b.magnitude),
                  std::max(a.error, b.error));
  });
  exact("eq", [](ProgramBuilder& r) { return binary(r, r.any(), operator==, one_m, no_e); });
  exact("ne", [](ProgramBuilder& r) { return binary(r, r.any(), operator!=, one_m, no_e); });
  exact("lt", [](ProgramBuilder& r) { return binary(r, r.any(), operator<, one_m, no_e); });
  exact("le", [](ProgramBuilder& r) { return binary(r, r.any(), operator<=, one_m, no_e); });
  exact("gt", [](ProgramBuilder& r) { return binary(r, r.any(), operator>, one_m, no_e); });
  exact("floor_divide", [](ProgramBuilder& r) {
    return binary(r, r.of([](DType d) { return is_integer(d); }, int64), floor_divide, max_m, no_e);
  });
  exact("remainder", [](ProgramBuilder& r) {
    return binary(r, r.of([](DType d) { return is_integer(d); }, int32), operator%, max_m, no_e);
  });
  auto bits = [](ProgramBuilder& r) -> Item& { return r.of([](DType d) { return !is_float(d); }, uint8); };
  exact("and", [bits](ProgramBuilder& r) { return binary(r, bits(r), operator&, sum_m, no_e); });
  exact("or", [bits](ProgramBuilder& r) { return binary(r, bits(r), operator|, sum_m, no_e); });
  exact("xor", [bits](ProgramBuilder& r) { return binary(r, bits(r), operator^, sum_m, no_e); });
  exact("not", [bits](ProgramBuilder& r) {
    Item& a = bits(r);
    return finish(r, ~a.t, a.magnitude + 1, 0);
  });
  exact("shift left", [](ProgramBuilder& r) {
    return binary(
        r, r.of([](DType d) { return is_integer(d); }, int32), static_cast<Binary>(operator<<),
        [](double a, double) { return a * 8; }, no_e);
  });
  exact("shift right", [](ProgramBuilder& r) {
    return binary(r, r.of([](DType d) { return is_integer(d); }, int32), static_cast<Binary>(operator>>), max_m, no_e);
  });
  exact("sign", [](ProgramBuilder& r) {
    Item& a = r.number();
    return finish(r, sign(a.t), 1, 0);
  });
  exact("floor", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, floor(a.t * 0.5), a.magnitude, 0);
  });
  exact("ceil", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, ceil(a.t * 0.5), a.magnitude, 0);
  });
  exact("round", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, round(a.t * 0.5), a.magnitude, 0);
  });
  exact("trunc", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, trunc(a.t * 0.5), a.magnitude, 0);
  });
  exact("cast", [](ProgramBuilder& r) {
    static constexpr DType kinds[] = {float32, float64, float16, bfloat16, int64, int32,  int16,
                                      int8,    uint64,  uint32,  uint16,   uint8, boolean};
    Item x = r.any();
    for (int64_t i = r.pick(3, 8); i > 0; --i) {
      const DType d = kinds[r.pick(0, 12)];
      x = finish(r, x.t.to(d), d == boolean ? 1 : x.magnitude, 0);
    }
    return x;
  });

  both("reshape", [](ProgramBuilder& r) {
    Item& a = r.any();
    std::vector<Dim> dims;
    int64_t left = a.t.numel();
    for (int64_t f : {2, 3, 5, 2})
      if (left > 0 && left % f == 0 && r.chance(60)) {
        dims.push_back(f);
        left /= f;
      }
    dims.insert(dims.begin() + r.pick(0, static_cast<int64_t>(dims.size())), left);
    return moved(a, a.t.reshape(Shape(dims)));
  });
  both("permute", [](ProgramBuilder& r) {
    Item& a = r.any();
    std::vector<int64_t> order(static_cast<size_t>(a.t.rank()));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(r.pick(0, static_cast<int64_t>(i) - 1))]);
    return moved(a, a.t.permute(order));
  });
  both("expand", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.numel() > 600) return moved(a, a.t);
    Shape wide = a.t.shape();
    std::vector<Dim> dims{r.pick(1, 4)};
    for (const Dim& d : wide) dims.push_back(d == 1 ? Dim(r.pick(1, 3)) : d);
    return moved(a, a.t.expand(Shape(dims)));
  });
  both("slice", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0) return moved(a, a.t);
    const int64_t axis = r.pick(0, a.t.rank() - 1), n = a.t.shape()[static_cast<size_t>(axis)].value();
    const int64_t begin = r.pick(0, std::max<int64_t>(0, n - 1));
    const int64_t end = r.pick(std::min(n, begin + 1), n);
    return moved(a, a.t.slice(axis, {begin, end, r.chance(70) ? 1 : r.pick(1, 3)}));
  });
  both("pad", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.numel() > 1500) return moved(a, a.t);
    std::vector<std::pair<int64_t, int64_t>> widths;
    for (int64_t i = 0; i < a.t.rank(); ++i) widths.emplace_back(r.pick(0, 2), r.pick(0, 2));
    const bool with_one = r.chance(30);
    return Item{a.t.pad(widths, with_one ? 1 : 0), std::max(a.magnitude, 1.0), a.error};
  });
  both("flip", [](ProgramBuilder& r) {
    Item& a = r.any();
    return moved(a, a.t.flip(some_axes(r, a.t)));
  });
  both("cat", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0 || a.t.numel() > 1500) return moved(a, a.t);
    Item& b = r.like(a);
    return Item{cat({a.t, b.t, a.t}, r.pick(-a.t.rank(), a.t.rank() - 1)), std::max(a.magnitude, b.magnitude),
                std::max(a.error, b.error)};
  });
  both("stack", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.numel() > 1500) return moved(a, a.t);
    Item& b = r.like(a);
    return Item{stack({a.t, b.t}, r.pick(0, a.t.rank())), std::max(a.magnitude, b.magnitude),
                std::max(a.error, b.error)};
  });
  exact("randint",
        [](ProgramBuilder& r) { return Item{randint(-3, 4, r.shape(), {.generator = &r.generator}), 3, 0}; });
  real("rand", [](ProgramBuilder& r) {
    return Item{rand(r.shape(), {.generator = &r.generator}), 1, 0};
  });  // exact: bits, scaled
  both("contiguous", [](ProgramBuilder& r) {
    Item& a = r.any();
    return moved(a, a.t.contiguous());
  });

  both("sum", [](ProgramBuilder& r) { return reduction(r, r.any(), &Tensor::sum, true); });
  both("max", [](ProgramBuilder& r) {
    Item& a = r.any();
    return a.t.numel() ? reduction(r, a, &Tensor::max, false) : moved(a, a.t);
  });
  both("min", [](ProgramBuilder& r) {
    Item& a = r.any();
    return a.t.numel() ? reduction(r, a, &Tensor::min, false) : moved(a, a.t);
  });
  exact("any", [](ProgramBuilder& r) { return Item{r.any().t.any(), 1, 0}; });
  exact("all", [](ProgramBuilder& r) { return Item{r.any().t.all(), 1, 0}; });
  both("cumsum", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0 || !a.t.numel()) return moved(a, a.t);
    const int64_t axis = r.pick(-a.t.rank(), a.t.rank() - 1);
    const double n = static_cast<double>(a.t.shape()[static_cast<size_t>(axis < 0 ? axis + a.t.rank() : axis)].value());
    if (r.exact && is_float(a.t.dtype()) && a.magnitude * n > 1.6e7) a = {a.t % 13.0, 13, 0};
    Tensor t = cumsum(a.t, axis);
    return finish(r, t, n * a.magnitude, n * a.error + n * rounding(r, a.t.dtype(), n * a.magnitude));
  });
  exact("argmax", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (!a.t.numel()) return moved(a, a.t);
    if (a.t.rank() == 0 || r.chance(30)) return Item{a.t.argmax(), static_cast<double>(a.t.numel()), 0};
    return Item{a.t.argmax(r.pick(-a.t.rank(), a.t.rank() - 1), r.chance(50)), static_cast<double>(a.t.numel()), 0};
  });
  exact("argmin", [](ProgramBuilder& r) {
    Item& a = r.any();
    return a.t.numel() ? Item{a.t.argmin(), static_cast<double>(a.t.numel()), 0} : moved(a, a.t);
  });
  exact("prod", [](ProgramBuilder& r) {
    Item& a = r.number();
    Tensor t = (is_float(a.t.dtype()) ? clamp(a.t, -1, 1) : a.t).prod(some_axes(r, a.t));
    return finish(r, t, is_float(t.dtype()) ? 1 : 1e15, 0);
  });
  both("matmul", [](ProgramBuilder& r) {
    const int64_t m = r.pick(1, 20), k = r.pick(1, 40), n = r.pick(1, 20), batch = r.pick(1, 3);
    const DType d = r.chance(60) ? float32 : r.type();
    Item& a = r.leaf(d, r.chance(30) ? Shape{batch, m, k} : Shape{m, k});
    Item& b = r.leaf(d, r.chance(50) ? Shape{k, n} : Shape{n, k});
    const bool turned = b.t.shape()[1] == k && !(b.t.shape()[0] == k);
    const double kk = static_cast<double>(k), mag = kk * a.magnitude * b.magnitude;
    return finish(r,
                  matmul(a.t, turned                ? b.t.transpose()
                              : b.t.shape()[0] == k ? b.t
                                                    : b.t.transpose()),
                  mag, kk * mul_e(a, b) + kk * rounding(r, d, mag));
  });

  both("conv2d", [](ProgramBuilder& r) {
    const DType d = r.chance(80) ? float32 : r.exact && r.chance(50) ? int32 : float64;
    const int64_t groups = r.pick(1, 2), in = groups * r.pick(1, 2), out = groups * r.pick(1, 3), kernel = r.pick(1, 3);
    const int64_t dilation = r.pick(1, 2), padding = r.pick(0, 2), least = dilation * (kernel - 1) + 1;
    Item& a = r.leaf(d, {r.pick(1, 2), in, least + r.pick(0, 5), least + r.pick(0, 5)});
    Item& w = r.leaf(d, {out, in / groups, kernel, kernel});
    const double k = static_cast<double>(in / groups * kernel * kernel), mag = k * a.magnitude * w.magnitude;
    // Behind an op, so that gates meet values that the kernel makes.
    const Tensor x = r.chance(50) ? a.t : a.t * 2 + 1;
    const double grown = 2 * a.magnitude + 1;
    return finish(
        r, conv2d(x, w.t, {}, {.stride = r.pick(1, 3), .padding = padding, .dilation = dilation, .groups = groups}),
        mag / std::max(a.magnitude, 1e-9) * grown, k * rounding(r, d, mag * 3 + k * w.magnitude));
  });
  both("max_pool2d", [](ProgramBuilder& r) {
    const int64_t kernel = r.pick(1, 3);
    const DType d = r.type();
    Item& a = r.leaf(d == boolean ? int32 : d, {r.pick(1, 3), kernel + r.pick(0, 6), kernel + r.pick(0, 6)});
    return moved(a, max_pool2d(a.t, kernel, {.stride = r.pick(0, 2), .padding = r.pick(0, kernel / 2)}));
  });
  both("conv gradient", [](ProgramBuilder& r) {  // windows that slide back, with a gate
    const DType d = r.chance(80) ? float32 : float64;
    const int64_t in = r.pick(1, 3), out = r.pick(1, 3), kernel = r.pick(1, 3), size = kernel + r.pick(0, 6);
    Item a = r.leaf(d, {r.pick(1, 2), in, size}), w = r.leaf(d, {out, in, kernel});
    a.t = a.t.clone();
    w.t = w.t.clone();
    const Tensor y =
        conv1d(a.t.requires_grad(), w.t.requires_grad(), {}, {.stride = r.pick(1, 2), .padding = r.pick(0, 1)});
    const double k = static_cast<double>(size * in * out),
                 mag = 2 * k * k * a.magnitude * w.magnitude * std::max(a.magnitude, w.magnitude);
    const std::vector<Tensor> grads = gradient((y * y).sum() * 0.5, {a.t, w.t});
    const Tensor both = cat({grads[0].flatten(), grads[1].flatten()}).detach();
    return finish(r, both, mag, k * k * rounding(r, d, mag));
  });

  both("gather", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0 || a.t.numel() == 0) return moved(a, a.t);
    const int64_t axis = r.pick(0, a.t.rank() - 1);
    Shape s = a.t.shape();
    const int64_t n = s[static_cast<size_t>(axis)].value();
    s[static_cast<size_t>(axis)] = r.pick(1, 4);
    return moved(a, gather(a.t, axis, index_for(r, n, s)));
  });
  both("sort", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0) return moved(a, a.t);
    const int64_t axis = r.pick(-a.t.rank(), a.t.rank() - 1), n = a.t.size(axis);
    if (r.chance(40)) return moved(a, topk(a.t, r.pick(0, n), axis, r.chance(50)).values);
    return moved(a, sort(a.t, axis, r.chance(50)).values);
  });
  exact("argsort", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0) return moved(a, a.t);
    return Item{argsort(a.t, r.pick(-a.t.rank(), a.t.rank() - 1)), static_cast<double>(a.t.numel() + 1), 0};
  });
  both("scatter_add", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0 || a.t.numel() == 0) return moved(a, a.t);
    const int64_t axis = r.pick(0, a.t.rank() - 1);
    Shape s = a.t.shape();
    const int64_t n = s[static_cast<size_t>(axis)].value(), k = r.pick(1, 6);
    s[static_cast<size_t>(axis)] = k;
    Item& v = r.leaf(a.t.dtype(), s);
    const double kk = static_cast<double>(k), mag = a.magnitude + kk * v.magnitude;
    return finish(r, scatter_add(a.t, axis, index_for(r, n, s), v.t), mag,
                  a.error + kk * v.error + kk * rounding(r, a.t.dtype(), mag));
  });
  both("scatter", [](ProgramBuilder& r) {  // the other modes
    Item& a = r.any();
    if (a.t.rank() == 0 || a.t.numel() == 0) return moved(a, a.t);
    const int64_t axis = r.pick(0, a.t.rank() - 1);
    Shape s = a.t.shape();
    const int64_t n = s[static_cast<size_t>(axis)].value(), k = r.pick(1, 4);
    s[static_cast<size_t>(axis)] = k;
    Item& v = r.leaf(a.t.dtype(), s);
    const Tensor index = index_for(r, n, s);
    const double mag = std::max(a.magnitude, v.magnitude), error = std::max(a.error, v.error);
    if (r.chance(40)) return finish(r, scatter(a.t, axis, index, v.t), mag, error);
    const bool self = r.chance(70);
    if (r.chance(50))
      return finish(
          r, scatter_reduce(a.t, axis, index, v.t, r.chance(50) ? ScatterReduce::Amax : ScatterReduce::Amin, self), mag,
          error);
    const double kk = static_cast<double>(k), factor = std::max(1.0, v.magnitude),
                 product = std::max(1.0, a.magnitude) * std::pow(factor, kk);
    return finish(r, scatter_reduce(a.t, axis, index, v.t, ScatterReduce::Prod, self), product,
                  a.error * std::pow(factor, kk) + kk * (v.error * product + rounding(r, a.t.dtype(), product)));
  });
  both("index", [](ProgramBuilder& r) {
    Item& a = r.any();
    if (a.t.rank() == 0 || a.t.numel() == 0) return moved(a, a.t);
    const int64_t n = a.t.shape()[0].value();
    if (r.chance(40)) return moved(a, a.t[r.pick(-n, n - 1)]);
    return moved(a, a.t.index({index_for(r, n, {r.pick(1, 5)}), ellipsis}));
  });

  add_situation_cases(c);
  add_matrix_cases(c);

  real("exp", [](ProgramBuilder& r) { return smooth(r, exp, 3, 21, 21); });
  real("exp2", [](ProgramBuilder& r) { return smooth(r, exp2, 3, 6, 8); });
  real("sin", [](ProgramBuilder& r) { return smooth(r, sin, 0, 1, 1); });
  real("cos", [](ProgramBuilder& r) { return smooth(r, cos, 0, 1, 1); });
  real("tanh", [](ProgramBuilder& r) { return smooth(r, tanh, 0, 1, 1); });
  real("sigmoid", [](ProgramBuilder& r) { return smooth(r, sigmoid, 0, 0.25, 1); });
  real("silu", [](ProgramBuilder& r) { return smooth(r, silu, 8, 1.1, 8); });
  real("erf", [](ProgramBuilder& r) { return smooth(r, erf, 0, 1.13, 1); });
  real("erfc", [](ProgramBuilder& r) { return smooth(r, erfc, 0, 1.13, 2); });
  real("erfinv", [](ProgramBuilder& r) { return smooth(r, erfinv, 0.9, 3.5, 1.2); });
  real("sinh", [](ProgramBuilder& r) { return smooth(r, sinh, 3, 10.1, 10.1); });
  real("cosh", [](ProgramBuilder& r) { return smooth(r, cosh, 3, 10.1, 10.1); });
  real("asinh", [](ProgramBuilder& r) { return smooth(r, asinh, 3, 1, 1.9); });
  real("acosh", [](ProgramBuilder& r) { return smooth(r, [](Arg x) { return acosh(abs(x) + 1.5); }, 3, 1, 2.2); });
  real("atanh", [](ProgramBuilder& r) { return smooth(r, atanh, 0.9, 5.3, 1.5); });
  real("log10", [](ProgramBuilder& r) { return smooth(r, [](Arg x) { return log10(abs(x) + 0.5); }, 3, 0.9, 0.6); });
  real("atan2", [](ProgramBuilder& r) {
    Item& a = r.floating();
    Item& b = r.like(a);
    return finish(r, atan2(a.t, abs(b.t) + 0.5), 1.6,
                  2 * (a.error + b.error) + rounding(r, a.t.dtype(), b.magnitude + 2));
  });
  real("gelu", [](ProgramBuilder& r) { return smooth(r, [](Arg x) { return gelu(x); }, 8, 1.13, 8); });
  real("log", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, log(abs(a.t) + 0.5), std::log(a.magnitude + 1.5), 2 * a.error + rounding(r, a.t.dtype(), 4));
  });
  real("log1p", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, log1p(abs(a.t)), std::log1p(a.magnitude), a.error + rounding(r, a.t.dtype(), 4));
  });
  real("expm1", [](ProgramBuilder& r) { return smooth(r, expm1, 3, 21, 20); });
  real("log2", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, log2(abs(a.t) + 0.5), std::log2(a.magnitude + 1.5), 3 * a.error + rounding(r, a.t.dtype(), 6));
  });
  real("tan", [](ProgramBuilder& r) { return smooth(r, tan, 1, 3.5, 1.6); });
  real("pow", [](ProgramBuilder& r) {
    Item& a = r.floating();
    Item& b = r.like(a);
    return finish(r, pow(clamp(abs(a.t), 0.5, 4), clamp(b.t, -1, 2)), 16,
                  8 * a.error + 23 * b.error + rounding(r, a.t.dtype(), 16));
  });
  real("sqrt", [](ProgramBuilder& r) {
    Item& a = r.floating();
    return finish(r, sqrt(abs(a.t) + 0.5), std::sqrt(a.magnitude + 0.5),
                  a.error + rounding(r, a.t.dtype(), a.magnitude + 1));
  });
  real("div", [](ProgramBuilder& r) {
    Item& a = r.floating();
    Item& b = r.like(a);
    return finish(r, a.t / (abs(b.t) + 1.0), a.magnitude,
                  a.error + a.magnitude * (b.error + rounding(r, a.t.dtype(), b.magnitude + 1)));
  });
  real("mean", [](ProgramBuilder& r) {
    Item& a = r.floating();
    if (!a.t.numel()) return moved(a, a.t);
    const double n = static_cast<double>(a.t.numel());
    return finish(r, a.t.mean(some_axes(r, a.t)), a.magnitude, a.error + n * rounding(r, a.t.dtype(), a.magnitude));
  });
  real("softmax", [](ProgramBuilder& r) {
    Item& a = r.floating();
    if (a.t.rank() == 0 || !a.t.numel()) return moved(a, a.t);
    const int64_t axis = r.pick(-a.t.rank(), a.t.rank() - 1);
    const double n = static_cast<double>(a.t.shape()[static_cast<size_t>(axis < 0 ? axis + a.t.rank() : axis)].value());
    const double largest = std::min(1.0, std::exp(2 * std::min(a.magnitude, 20.0)) / n);
    return finish(r, softmax(clamp(a.t, -20, 20), axis), largest,
                  largest * (std::expm1(4 * a.error) + (n + 40) * rounding(r, a.t.dtype(), 1)));
  });
  add_row_cases(c);
  return c;
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase>* cases = new std::vector<OpCase>(make_cases());
  return *cases;
}

}  // namespace fuzz
