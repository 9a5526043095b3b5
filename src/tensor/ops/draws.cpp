// Distributions: functions of uniform and normal numbers and of the parameters.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "sinter/create.h"
#include "sinter/random.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/core/refusals.h"
#include "tensor/ops/random_words.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;
using ir::Op;

/// The parameters of a distribution, in the type that it is computed in and broadcast to the shape of the result.
class Draw {
 public:
  Draw(Args parameters, const Shape* shape, const RandomOptions& options) : options_(options) {
    DType fallback = float32;
    for (const Arg* a : parameters) {
      if (a->kind() != Arg::Kind::Tensor) continue;
      fallback = common_float_type(parameters);
      options_.device = node_of(a->cell())->device;
    }
    dtype_ = float_type(options, fallback);
    compute_ = dtype_ == float64 ? float64 : float32;
    for (const Arg* a : parameters)
      nodes_.push_back(a->is_tensor() ? operand(*a, compute_)
                                      : ir::constant(ir::TensorGraph::get(), compute_, a->real(), options_.device));
    tensor::broadcast(nodes_);
    shape_ = nodes_[0]->shape;
    if (!shape) return;
    check_shape(*shape);
    if (!(common_shape(shape_, *shape) == *shape))
      usage_error("parameters of shape {} do not fit into {}; give a shape that they broadcast to", to_string(shape_),
                  to_string(*shape));
    shape_ = *shape;
    for (UOp& n : nodes_) n = ir::broadcast_to(n, shape_);
  }

  UOp operator[](size_t i) const { return nodes_[i]; }
  DType compute() const { return compute_; }
  const Shape& shape() const { return shape_; }
  RandomWords words(int per_element) const { return {shape_, options_, per_element}; }
  /// Words for `count` proposals, along a last axis.
  RandomWords proposals(int64_t count, int per_proposal) const {
    Shape all = shape_;
    all.push_back(count);
    return {all, options_, per_proposal};
  }
  UOp open_uniform() const { return open_uniform_of(words(1).get(0), compute_); }
  UOp normal() const {
    const RandomWords w = words(compute_ == float64 ? 2 : 1);
    return compute_ == float64 ? normal_of(w.get(0), w.get(1)) : normal_of(w.get(0));
  }
  /// -log of a uniform number: of rate 1.
  UOp exponential() const { return -ir::log(open_uniform()); }
  Tensor result(UOp value) const { return wrap(ir::cast(value, dtype_)); }

 private:
  RandomOptions options_;
  DType dtype_, compute_;
  Shape shape_;
  std::vector<UOp> nodes_;
};

/// UsageError for a number that is not `allowed`.
void require_number(const Arg& a, const char* what, const char* needed, bool (*allowed)(double)) {
  if (!a.is_tensor() && !allowed(a.real())) usage_error("{} is {}; give {}", what, a.real(), needed);
}
bool positive(double x) { return x > 0 && std::isfinite(x); }
bool not_negative(double x) { return x >= 0 && std::isfinite(x); }
void require_positive(const Arg& a, const char* what) { require_number(a, what, "a number above 0", positive); }
void require_scale(const Arg& a, const char* what) { require_number(a, what, "a number of at least 0", not_negative); }

/// Along the last axis, the first value that is accepted; the first of all if none is.
UOp first_accepted(UOp value, UOp accepted) {
  const auto last = static_cast<int64_t>(value->rank()) - 1;
  const UOp place = ir::axis_iota(*value->graph, value->shape, last, value->device);
  const UOp chances = ir::cast(accepted, DType::I32), values[] = {chances, place};
  const UOp first = ir::reduce(ir::Combine::ArgMax, values, {last}, 1);
  return ir::reduce(ir::Combine::Add,
                    ir::where(ir::eq(place, ir::expand(first, value->shape, {last})), value, ir::like(value, 0.0)),
                    {last});
}

/// The parameter for each proposal.
UOp per_proposal(UOp x, int64_t count) {
  Shape all = x->shape;
  all.push_back(count);
  return ir::expand(x, all, {static_cast<int64_t>(x->rank())});
}

constexpr int64_t kGammaProposals = 8, kPoissonProposals = 10;

/// Of rate 1.
UOp gamma_of(const Draw& draw, UOp concentration) {
  const DType t = draw.compute();
  const int normals = t == float64 ? 2 : 1;
  const RandomWords words = draw.proposals(kGammaProposals, normals + 1);
  const UOp x = t == float64 ? normal_of(words.get(0), words.get(1)) : normal_of(words.get(0));
  const UOp u = open_uniform_of(words.get(normals), t);
  // Below 1 the density has a pole: gamma(a) is gamma(a + 1) u^(1/a).
  const UOp one = ir::like(concentration, 1.0), low = ir::lt(concentration, one);
  const UOp d = ir::where(low, concentration + 1.0, concentration) - 1.0 / 3, c = 1.0 / ir::sqrt(d * 9.0);
  const UOp ds = per_proposal(d, kGammaProposals), root = per_proposal(c, kGammaProposals) * x + 1.0;
  const UOp v = root * root * root, inside = ir::lt(ir::like(root, 0.0), root);
  const UOp safe = ir::where(inside, v, ir::like(v, 1.0));
  const UOp accepted = inside & ir::lt(ir::log(u), x * x * 0.5 + ds * (1.0 - v + ir::log(safe)));
  const UOp whole = d * first_accepted(v, accepted);
  const UOp boost = ir::exp(ir::log(draw.open_uniform()) / concentration);
  return ir::where(low, whole * boost, whole);
}

/// log(k!), for whole k >= 0: Stirling's series four places further on.
UOp log_factorial(UOp k) {
  const UOp z = k + 5.0, inverse = 1.0 / z, square = inverse * inverse;
  const UOp series = inverse * (1.0 / 12 - square * (1.0 / 360)) + inverse * square * square * (1.0 / 1260);
  const UOp near = ir::log((k + 1.0) * (k + 2.0) * (k + 3.0) * (k + 4.0));
  return (z - 0.5) * ir::log(z) - z + 0.5 * std::log(2 * std::numbers::pi) + series - near;
}

/// Inverts the distribution function: how many of its values a uniform number is not below.
UOp small_poisson(const Draw& draw, UOp rate) {
  constexpr int kLargest = 40;  // beyond, less than 1e-12 is left at a rate of 10
  const UOp u = uniform_of(draw.words(1).get(0), draw.compute());
  UOp probability = ir::exp(-rate), below = probability, count = ir::like(rate, 0.0);
  for (int k = 1; k <= kLargest; ++k) {
    count = count + ir::cast(ir::le(below, u), rate->dtype);
    probability = probability * rate * (1.0 / k);
    below = below + probability;
  }
  return count;
}

/// The proposals of Hormann's PTRS, in float64: exponents of large rates need it.
UOp large_poisson(const Draw& draw, UOp rate) {
  const RandomWords words = draw.proposals(kPoissonProposals, 2);
  const UOp mean = ir::cast(rate, DType::F64), root = ir::sqrt(mean), b = root * 2.53 + 0.931;
  const UOp a = b * 0.02483 - 0.059, alpha = 1.1328 / (b - 3.4) + 1.1239, quick = 0.9277 - 3.6224 / (b - 2.0);
  const auto each = [](UOp x) { return per_proposal(x, kPoissonProposals); };
  const UOp u = open_uniform_of(words.get(0), DType::F64) - 0.5, v = open_uniform_of(words.get(1), DType::F64);
  const UOp distance = 0.5 - ir::alu(Op::Abs, {u});
  const UOp k = ir::alu(Op::Floor, {(each(a) * 2.0 / distance + each(b)) * u + each(mean) + 0.43});
  const UOp zero = ir::like(k, 0.0), inside = ir::le(zero, k), safe = ir::where(inside, k, zero);
  const UOp left = ir::log(v * each(alpha) / (each(a) / (distance * distance) + each(b)));
  const UOp right = safe * ir::log(each(mean)) - each(mean) - log_factorial(safe);
  const UOp at_once = ir::le(ir::like(distance, 0.07), distance) & ir::le(v, each(quick));
  return ir::cast(first_accepted(safe, at_once | (inside & ir::le(left, right))), rate->dtype);
}

Tensor uniform_in(const Arg& low, const Arg& high, const Shape* shape, const RandomOptions& options) {
  Call call("uniform", low.where());
  if (!low.is_tensor() && !high.is_tensor() && !(low.real() <= high.real()))
    usage_error("no number lies in [{}, {}); give low < high", low.real(), high.real());
  const Draw draw({&low, &high}, shape, options);
  return draw.result(draw[0] + (draw[1] - draw[0]) * uniform_of(draw.words(1).get(0), draw.compute()));
}
Tensor normal_in(const Arg& mean, const Arg& deviation, const Shape* shape, const RandomOptions& options) {
  Call call("normal", mean.where());
  require_scale(deviation, "the deviation");
  const Draw draw({&mean, &deviation}, shape, options);
  return draw.result(draw[0] + draw[1] * draw.normal());
}
Tensor log_normal_in(const Arg& mean, const Arg& deviation, const Shape* shape, const RandomOptions& options) {
  Call call("log_normal", mean.where());
  require_scale(deviation, "the deviation");
  const Draw draw({&mean, &deviation}, shape, options);
  return draw.result(ir::exp(draw[0] + draw[1] * draw.normal()));
}
Tensor exponential_in(const Arg& rate, const Shape* shape, const RandomOptions& options) {
  Call call("exponential", rate.where());
  require_positive(rate, "the rate");
  const Draw draw({&rate}, shape, options);
  return draw.result(draw.exponential() / draw[0]);
}
Tensor gumbel_in(const Arg& location, const Arg& scale, const Shape* shape, const RandomOptions& options) {
  Call call("gumbel", location.where());
  require_scale(scale, "the scale");
  const Draw draw({&location, &scale}, shape, options);
  return draw.result(draw[0] - draw[1] * ir::log(draw.exponential()));
}
Tensor laplace_in(const Arg& location, const Arg& scale, const Shape* shape, const RandomOptions& options) {
  Call call("laplace", location.where());
  require_scale(scale, "the scale");
  const Draw draw({&location, &scale}, shape, options);
  const UOp u = draw.open_uniform() * 2.0 - 1.0, size = -ir::log(1.0 - ir::alu(Op::Abs, {u}));
  return draw.result(draw[0] + draw[1] * ir::where(ir::lt(u, ir::like(u, 0.0)), -size, size));
}
Tensor cauchy_in(const Arg& location, const Arg& scale, const Shape* shape, const RandomOptions& options) {
  Call call("cauchy", location.where());
  require_scale(scale, "the scale");
  const Draw draw({&location, &scale}, shape, options);
  const UOp angle = (draw.open_uniform() - 0.5) * std::numbers::pi;
  return draw.result(draw[0] + draw[1] * (ir::alu(Op::Sin, {angle}) / ir::alu(Op::Cos, {angle})));
}
Tensor geometric_in(const Arg& p, const Shape* shape, const RandomOptions& options) {
  Call call("geometric", p.where());
  require_number(p, "the probability", "a number in (0, 1]", [](double x) { return x > 0 && x <= 1; });
  const Draw draw({&p}, shape, options);
  // p = 1 divides by -inf.
  return draw.result(ir::alu(Op::Floor, {draw.exponential() / -ir::log(1.0 - draw[0])}) + 1.0);
}
Tensor gamma_in(const Arg& concentration, const Arg& rate, const Shape* shape, const RandomOptions& options) {
  Call call("gamma", concentration.where());
  require_positive(concentration, "the concentration");
  require_positive(rate, "the rate");
  const Draw draw({&concentration, &rate}, shape, options);
  return draw.result(gamma_of(draw, ir::detach(draw[0])) / draw[1]);
}
Tensor beta_in(const Arg& a, const Arg& b, const Shape* shape, const RandomOptions& options) {
  Call call("beta", a.where());
  require_positive(a, "the first parameter");
  require_positive(b, "the second parameter");
  const Draw draw({&a, &b}, shape, options);
  const UOp x = gamma_of(draw, ir::detach(draw[0])), y = gamma_of(draw, ir::detach(draw[1]));
  return draw.result(x / (x + y));
}
Tensor poisson_in(const Arg& rate, const Shape* shape, const RandomOptions& options) {
  Call call("poisson", rate.where());
  require_scale(rate, "the rate");
  const Draw draw({&rate}, shape, options);
  const UOp x = ir::detach(draw[0]), border = ir::like(x, 10.0), small = ir::lt(x, border);
  const UOp few = small_poisson(draw, ir::where(small, x, ir::like(x, 0.0)));
  const UOp many = large_poisson(draw, ir::where(small, border, x));
  const UOp bad = ir::lt(x, ir::like(x, 0.0)) | ir::ne(x, x);
  return draw.result(ir::where(bad, ir::like(x, std::nan("")), ir::where(small, few, many)));
}

RandomOptions like(const Tensor& x, RandomOptions options) {
  const UOp n = node_of(x);
  options.dtype = type_or(options.dtype, n->dtype);
  options.device = n->device;
  return options;
}

/// Numbers of which the largest, along the last axis, is a class drawn with probability exp(logit): Gumbel's.
UOp chances_of(UOp logits, RandomOptions options) {
  options.device = logits->device;
  const DType t = logits->dtype == DType::F64 ? float64 : float32;
  const UOp u = open_uniform_of(RandomWords(logits->shape, options, 1).get(0), t);
  return logits - ir::log(-ir::log(u));
}

/// The logits as they compute, without their history. UsageError if there is no class, or `count` is no number of
/// draws.
UOp logits_of(const Tensor& logits, int64_t count, const char* what) {
  const UOp n = ir::detach(float_operand(logits));
  if (n->rank() == 0 || n->shape[n->rank() - 1] == 0)
    usage_error("{} has no classes along its last axis; give {} of shape [.., classes]", describe(n), what);
  if (count < 0) usage_error("{} classes cannot be drawn of {}; give at least 0", count, describe(n));
  return ir::to_compute_type(n);
}

/// One class per row, or `count` of them, drawn independently.
UOp classes_of(UOp logits, std::optional<int64_t> count, const RandomOptions& options) {
  Shape shape = logits->shape;
  const auto last = static_cast<int64_t>(logits->rank()) - 1;
  if (count) {
    const Dim classes = shape[last];
    shape[last] = *count;
    shape.push_back(classes);
    logits = ir::expand(logits, shape, {last});
  }
  const auto axis = static_cast<int64_t>(shape.rank()) - 1;
  const UOp values[] = {chances_of(logits, options), ir::axis_iota(*logits->graph, shape, axis, logits->device)};
  return ir::reduce(ir::Combine::ArgMax, values, {axis}, 1);
}

Tensor trunc_normal_in(const Arg& mean, const Arg& deviation, const Arg& low, const Arg& high, const Shape* shape,
                       const RandomOptions& options) {
  Call call("trunc_normal", mean.where());
  require_positive(deviation, "the deviation");
  if (!low.is_tensor() && !high.is_tensor() && !(low.real() < high.real()))
    usage_error("no number lies in [{}, {}]; give low < high", low.real(), high.real());
  const Draw draw({&mean, &deviation, &low, &high}, shape, options);
  const UOp scale = draw[1] * std::numbers::sqrt2;
  const auto erf = [&](UOp bound) { return ir::alu(Op::Erf, {(bound - draw[0]) / scale}); };
  const UOp from = erf(draw[2]), to = erf(draw[3]);
  const UOp x = draw[0] + scale * ir::alu(Op::Erfinv, {from + (to - from) * draw.open_uniform()});
  return draw.result(ir::minimum(ir::maximum(x, draw[2]), draw[3]));  // where the tails round to 1
}

}  // namespace

Tensor bernoulli(const Tensor& p, RandomOptions options, Loc where) {
  Call call("bernoulli", where);
  const UOp n = node_of(p);
  if (!is_float(n->dtype)) usage_error("probabilities are floats, not {}; convert them with to(float32)", describe(n));
  if (options.dtype != DType::Void && options.dtype != boolean)
    usage_error("the result is bool, not {}; convert it with to(dtype)", name_of(options.dtype));
  options.device = n->device;
  const UOp x = ir::detach(ir::to_compute_type(n));
  return wrap(ir::lt(uniform_of(RandomWords(n->shape, options, 1).get(0), x->dtype), x));
}
Tensor rand_like(const Tensor& x, RandomOptions options, Loc where) {
  const OuterCall call("rand_like", where);
  return rand(x.shape(), like(x, options), where);
}
Tensor randn_like(const Tensor& x, RandomOptions options, Loc where) {
  const OuterCall call("randn_like", where);
  return randn(x.shape(), like(x, options), where);
}
Tensor randint_like(const Tensor& x, int64_t low, int64_t high, RandomOptions options, Loc where) {
  const OuterCall call("randint_like", where);
  RandomOptions drawn = like(x, options);
  const DType t = drawn.dtype;
  if (is_float(t)) drawn.dtype = int64;
  return randint(low, high, x.shape(), drawn, where).to(t, where);
}
Tensor randint_like(const Tensor& x, int64_t high, RandomOptions options, Loc where) {
  return randint_like(x, 0, high, options, where);
}

// A distribution's two functions: with a shape, and in the shape of its parameters.
#define SINTER_DRAW_OF_ONE(name, a)                                                                       \
  Tensor name(Arg a, const Shape& shape, RandomOptions options) { return name##_in(a, &shape, options); } \
  Tensor name(Arg a, RandomOptions options) { return name##_in(a, nullptr, options); }
#define SINTER_DRAW_OF_TWO(name, a, b)                                                                              \
  Tensor name(Arg a, Arg b, const Shape& shape, RandomOptions options) { return name##_in(a, b, &shape, options); } \
  Tensor name(Arg a, Arg b, RandomOptions options) { return name##_in(a, b, nullptr, options); }
SINTER_DRAW_OF_TWO(uniform, low, high)
SINTER_DRAW_OF_TWO(normal, mean, deviation)
SINTER_DRAW_OF_TWO(log_normal, mean, deviation)
SINTER_DRAW_OF_TWO(gumbel, location, scale)
SINTER_DRAW_OF_TWO(laplace, location, scale)
SINTER_DRAW_OF_TWO(cauchy, location, scale)
SINTER_DRAW_OF_TWO(gamma, concentration, rate)
SINTER_DRAW_OF_TWO(beta, a, b)
SINTER_DRAW_OF_ONE(exponential, rate)
SINTER_DRAW_OF_ONE(geometric, p)
SINTER_DRAW_OF_ONE(poisson, rate)
#undef SINTER_DRAW_OF_ONE
#undef SINTER_DRAW_OF_TWO

Tensor dirichlet(const Tensor& concentration, RandomOptions options, Loc where) {
  const OuterCall call("dirichlet", where);
  if (concentration.rank() == 0)
    usage_error("{} has no axis of classes; give concentrations of shape [.., classes]",
                describe(node_of(concentration)));
  const Tensor x = gamma_in(Arg(concentration, where), Arg(1.0, where), nullptr, options);
  return x / x.sum(-1, true, where);
}
Tensor categorical(const Tensor& logits, int64_t count, RandomOptions options, Loc where) {
  Call call("categorical", where);
  return wrap(classes_of(logits_of(logits, count, "logits"), count, options));
}
Tensor categorical(const Tensor& logits, RandomOptions options, Loc where) {
  Call call("categorical", where);
  return wrap(classes_of(logits_of(logits, 0, "logits"), {}, options));
}
Tensor multinomial(const Tensor& p, int64_t count, bool replacement, RandomOptions options, Loc where) {
  Call call("multinomial", where);
  const UOp weights = logits_of(p, count, "probabilities"), logits = ir::log(weights);
  // A row that cannot be drawn from gives 0s, beside the report.
  const auto accepted = [&](UOp drawn, int64_t positive) {
    return wrap(drawn * ir::broadcast_to(accepted_weights(weights, positive), drawn->shape));
  };
  if (replacement) return accepted(classes_of(logits, count, options), 1);
  const auto last = static_cast<int64_t>(logits->rank()) - 1;
  const int64_t classes = fixed_size(logits, last, "drawn from without replacement");
  if (count > classes)
    usage_error("{} classes are drawn of {}, which has {}; draw fewer, or with replacement", count,
                describe(node_of(p)), classes);
  return accepted(ir::sort_positions(chances_of(logits, options), 0, count, true), std::max<int64_t>(count, 1));
}
Tensor randperm(int64_t n, RandomOptions options, Loc where) {
  Call call("randperm", where);
  if (n < 0) usage_error("{} numbers; give at least {}", n, 0);
  const DType type = type_or(options.dtype, int64);
  if (is_bool(type)) usage_error("bool holds no numbers 0 to n - 1; give an integer type, such as int64");
  options.dtype = DType::Void;
  return wrap(ir::cast(ir::sort_positions(RandomWords({n}, options, 1).get(0), 0, n, false), type));
}
Tensor trunc_normal(Arg mean, Arg deviation, Arg low, Arg high, const Shape& shape, RandomOptions options) {
  return trunc_normal_in(mean, deviation, low, high, &shape, options);
}
Tensor trunc_normal(Arg mean, Arg deviation, Arg low, Arg high, RandomOptions options) {
  return trunc_normal_in(mean, deviation, low, high, nullptr, options);
}

}  // namespace sinter::inline v0
