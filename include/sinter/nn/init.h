// Initial values of parameters, drawn from the seeded generator (`manual_seed`).
#pragma once

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {
namespace nn::init {

/// Uniform in [low, high).
Tensor uniform(const Shape& shape, double low, double high, Loc where = Loc::current());
Tensor normal(const Shape& shape, double mean = 0.0, double std = 1.0, Loc where = Loc::current());
/// Glorot and Bengio, AISTATS 2010: bound gain * sqrt(6 / (fan_in + fan_out)); std gain * sqrt(2 / (fan_in + fan_out)).
Tensor xavier_uniform(const Shape& shape, double gain = 1.0, Loc where = Loc::current());
Tensor xavier_normal(const Shape& shape, double gain = 1.0, Loc where = Loc::current());
/// He et al., ICCV 2015: bound sqrt(6 / fan_in), std sqrt(2 / fan_in), for layers followed by a ReLU.
Tensor kaiming_uniform(const Shape& shape, Loc where = Loc::current());
Tensor kaiming_normal(const Shape& shape, Loc where = Loc::current());

}  // namespace nn::init
}  // namespace v0
}  // namespace sinter
