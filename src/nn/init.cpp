// Initial values. Formulas and sources are in the header.
#include "sinter/nn/init.h"

#include <cmath>

#include "nn/layer_checks.h"
#include "runtime/cpu/float_control.h"
#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/ops.h"
#include "sinter/random.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn::init {
namespace {

using namespace tensor;
using runtime::cpu::with_default_float_env;

struct Fans {
  double in, out;
};
/// Weights are [out, in, window...], as in PyTorch.
Fans fans(const Shape& shape, Loc where) {
  if (shape.rank() < 2)
    usage_error_at(where, "init: shape {} has no fan-in and fan-out; weights have at least 2 axes", to_string(shape));
  double window = 1;
  for (size_t i = 2; i < shape.rank(); ++i) window *= static_cast<double>(shape[i].value());
  return {static_cast<double>(shape[1].value()) * window, static_cast<double>(shape[0].value()) * window};
}

/// Half the width of a uniform distribution, or the standard deviation of a normal one.
double xavier(double variance, const Shape& shape, double gain, Loc where) {
  return with_default_float_env([&] {
    const Fans f = fans(shape, where);
    return gain * std::sqrt(variance / (f.in + f.out));
  });
}
double kaiming(double variance, const Shape& shape, const KaimingOptions& o, Loc where) {
  return with_default_float_env([&] {
    const Fans f = fans(shape, where);
    return calculate_gain(o.nonlinearity, o.a) * std::sqrt(variance / (o.mode == FanMode::In ? f.in : f.out));
  });
}

/// Where and in which type numbers are drawn: 16-bit floats in float32.
RandomOptions drawn_for(const Tensor& t) {
  return {.dtype = t.dtype() == float64 ? float64 : float32, .device = t.device()};
}
Tensor uniform(const Shape& shape, double low, double high, const RandomOptions& options) {
  return rand(shape, options) * with_default_float_env([&] { return high - low; }) + low;
}
Tensor normal(const Shape& shape, double mean, double std, const RandomOptions& options) {
  return randn(shape, options) * std + mean;
}

Tensor orthogonal(const Shape& shape, double gain, const RandomOptions& options, Loc where) {
  fans(shape, where);
  const int64_t rows = shape[0].value(), columns = rows ? shape.numel() / rows : 0;
  const bool wide = rows < columns;
  const QR factors = qr(randn(wide ? Shape{columns, rows} : Shape{rows, columns}, options));
  // The signs make the distribution uniform: Mezzadri, "How to generate random matrices from the classical compact
  // groups" (2007).
  const Tensor q = factors.q * sign(diagonal(factors.r));
  return ((wide ? q.transpose() : q) * gain).reshape(shape);
}

/// Assigns as an initial value.
Tensor& set(Tensor& t, const Arg& value) {
  const no_grad guard;
  return t.assign(value);
}

}  // namespace

double calculate_gain(Nonlinearity nonlinearity, double a) {
  switch (nonlinearity) {
    case Nonlinearity::Tanh: return 5.0 / 3;
    case Nonlinearity::ReLU: return std::sqrt(2.0);
    case Nonlinearity::LeakyReLU: return std::sqrt(2.0 / (1 + a * a));
    case Nonlinearity::SELU: return 0.75;
    default: return 1;
  }
}

Tensor uniform(const Shape& shape, double low, double high, Loc where) {
  const OuterCall call("init::uniform", where);
  return uniform(shape, low, high, RandomOptions());
}
Tensor normal(const Shape& shape, double mean, double std, Loc where) {
  const OuterCall call("init::normal", where);
  return normal(shape, mean, std, RandomOptions());
}
Tensor xavier_uniform(const Shape& shape, double gain, Loc where) {
  const double bound = xavier(6, shape, gain, where);
  return uniform(shape, -bound, bound, where);
}
Tensor xavier_normal(const Shape& shape, double gain, Loc where) {
  return normal(shape, 0, xavier(2, shape, gain, where), where);
}
Tensor kaiming_uniform(const Shape& shape, KaimingOptions options, Loc where) {
  const double bound = kaiming(3, shape, options, where);
  return uniform(shape, -bound, bound, where);
}
Tensor kaiming_normal(const Shape& shape, KaimingOptions options, Loc where) {
  return normal(shape, 0, kaiming(1, shape, options, where), where);
}

Tensor trunc_normal(const Shape& shape, double mean, double std, double low, double high, Loc where) {
  return sinter::trunc_normal(Arg(mean, where), std, low, high, shape);
}

Tensor orthogonal(const Shape& shape, double gain, Loc where) {
  const OuterCall call("init::orthogonal", where);
  return orthogonal(shape, gain, RandomOptions(), where);
}

Tensor dirac(const Shape& shape, int64_t groups, Loc where) {
  const OuterCall call("init::dirac", where);
  const size_t rank = shape.rank();
  if (rank < 3 || rank > 5)
    usage_error("shape {} has {} axes; weights of a convolution have 3 to 5", to_string(shape), rank);
  const int64_t out = shape[0].value(), in = shape[1].value();
  if (groups < 1 || out % groups)
    usage_error("{} channels out do not fall into {} groups; choose a divisor", out, groups);
  Shape thin{out, in};
  std::vector<std::pair<int64_t, int64_t>> widths;
  for (size_t i = 2; i < rank; ++i) {
    const int64_t size = shape[i].value();
    thin.push_back(1);
    widths.emplace_back(size / 2, size - size / 2 - 1);
  }
  return eye(out / groups, in).reshape({1, out / groups, in}).expand({groups, -1, -1}).reshape(thin).pad(widths);
}

Tensor uniform_(Tensor t, double low, double high, Loc where) {
  const OuterCall call("init::uniform_", where);
  return set(t, uniform(t.shape(), low, high, drawn_for(t)));
}
Tensor normal_(Tensor t, double mean, double std, Loc where) {
  const OuterCall call("init::normal_", where);
  return set(t, normal(t.shape(), mean, std, drawn_for(t)));
}
Tensor constant_(Tensor t, double value, Loc where) {
  const OuterCall call("init::constant_", where);
  return set(t, value);
}
Tensor zeros_(Tensor t, Loc where) {
  const OuterCall call("init::zeros_", where);
  return set(t, 0);
}
Tensor ones_(Tensor t, Loc where) {
  const OuterCall call("init::ones_", where);
  return set(t, 1);
}
Tensor eye_(Tensor t, Loc where) {
  const OuterCall call("init::eye_", where);
  const Shape shape = t.shape();
  if (shape.rank() != 2) usage_error("shape {} has {} axes; a matrix has 2", to_string(shape), shape.rank());
  return set(t, eye(shape[0], shape[1], t.dtype(), t.device()));
}
Tensor xavier_uniform_(Tensor t, double gain, Loc where) {
  const OuterCall call("init::xavier_uniform_", where);
  const double bound = xavier(6, t.shape(), gain, where);
  return set(t, uniform(t.shape(), -bound, bound, drawn_for(t)));
}
Tensor xavier_normal_(Tensor t, double gain, Loc where) {
  const OuterCall call("init::xavier_normal_", where);
  return set(t, normal(t.shape(), 0, xavier(2, t.shape(), gain, where), drawn_for(t)));
}
Tensor kaiming_uniform_(Tensor t, KaimingOptions options, Loc where) {
  const OuterCall call("init::kaiming_uniform_", where);
  const double bound = kaiming(3, t.shape(), options, where);
  return set(t, uniform(t.shape(), -bound, bound, drawn_for(t)));
}
Tensor kaiming_normal_(Tensor t, KaimingOptions options, Loc where) {
  const OuterCall call("init::kaiming_normal_", where);
  return set(t, normal(t.shape(), 0, kaiming(1, t.shape(), options, where), drawn_for(t)));
}
Tensor trunc_normal_(Tensor t, double mean, double std, double low, double high, Loc where) {
  const OuterCall call("init::trunc_normal_", where);
  return set(t, sinter::trunc_normal(mean, std, low, high, t.shape(), drawn_for(t)));
}
Tensor orthogonal_(Tensor t, double gain, Loc where) {
  const OuterCall call("init::orthogonal_", where);
  return set(t, orthogonal(t.shape(), gain, drawn_for(t), where));
}
Tensor dirac_(Tensor t, int64_t groups, Loc where) {
  const OuterCall call("init::dirac_", where);
  return set(t, dirac(t.shape(), groups, where).to(t.device()));
}

}  // namespace sinter::inline v0::nn::init
