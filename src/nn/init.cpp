// Initial values. Formulas and sources are in the header.
#include "sinter/nn/init.h"

#include <fmt/core.h>

#include <cmath>

#include "runtime/cpu/float_control.h"
#include "sinter/ops.h"
#include "sinter/random.h"
#include "tensor/core/cell.h"

namespace sinter {
inline namespace v0 {
namespace nn::init {
namespace {

using runtime::cpu::with_default_float_env;

struct Fans {
  double in, out;
};
/// Weights are [out, in, window...], as in PyTorch.
Fans fans(const Shape& shape, Loc where) {
  if (shape.rank() < 2)
    throw UsageError(
        fmt::format("init: shape {} has no fan-in and fan-out; weights have at least 2 axes", to_string(shape)), where);
  double window = 1;
  for (size_t i = 2; i < shape.rank(); ++i) window *= static_cast<double>(shape[i].value());
  return {static_cast<double>(shape[1].value()) * window, static_cast<double>(shape[0].value()) * window};
}

}  // namespace

Tensor uniform(const Shape& shape, double low, double high, Loc where) {
  const tensor::OuterCall call("init::uniform", where);
  return rand(shape) * with_default_float_env([&] { return high - low; }) + low;
}
Tensor normal(const Shape& shape, double mean, double std, Loc where) {
  const tensor::OuterCall call("init::normal", where);
  return randn(shape) * std + mean;
}
Tensor xavier_uniform(const Shape& shape, double gain, Loc where) {
  const double bound = with_default_float_env([&] {
    const Fans f = fans(shape, where);
    return gain * std::sqrt(6.0 / (f.in + f.out));
  });
  return uniform(shape, -bound, bound, where);
}
Tensor xavier_normal(const Shape& shape, double gain, Loc where) {
  const double std = with_default_float_env([&] {
    const Fans f = fans(shape, where);
    return gain * std::sqrt(2.0 / (f.in + f.out));
  });
  return normal(shape, 0.0, std, where);
}
Tensor kaiming_uniform(const Shape& shape, Loc where) {
  const double bound = with_default_float_env([&] { return std::sqrt(6.0 / fans(shape, where).in); });
  return uniform(shape, -bound, bound, where);
}
Tensor kaiming_normal(const Shape& shape, Loc where) {
  const double std = with_default_float_env([&] { return std::sqrt(2.0 / fans(shape, where).in); });
  return normal(shape, 0.0, std, where);
}

Tensor trunc_normal(const Shape& shape, double mean, double std, double low, double high, Loc where) {
  return sinter::trunc_normal(Arg(mean, where), std, low, high, shape);
}

}  // namespace nn::init
}  // namespace v0
}  // namespace sinter
