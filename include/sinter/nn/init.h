// Initial values of parameters, drawn from the seeded generator (`manual_seed`).
#pragma once

#include "sinter/tensor.h"

namespace sinter {
inline namespace v0 {
/// Initial values of parameters.
namespace nn::init {

/// @defgroup init Initial values
/// float32. Weights have the shape [out, in, window...]: fan_in = in * window, fan_out = out * window. The last four
/// need a shape of at least rank 2 (UsageError).
/// @snippet training.cpp init
/// @{

/// Uniform from low to high; rounding may reach high.
Tensor uniform(const Shape& shape, double low, double high, Loc where = Loc::current());
/// Normal with the given mean and standard deviation.
Tensor normal(const Shape& shape, double mean = 0.0, double std = 1.0, Loc where = Loc::current());
/// Uniform in +-gain * sqrt(6 / (fan_in + fan_out)). Glorot and Bengio, AISTATS 2010.
Tensor xavier_uniform(const Shape& shape, double gain = 1.0, Loc where = Loc::current());
/// Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)).
Tensor xavier_normal(const Shape& shape, double gain = 1.0, Loc where = Loc::current());
/// Uniform in +-sqrt(6 / fan_in), for layers followed by a ReLU. He et al., ICCV 2015.
Tensor kaiming_uniform(const Shape& shape, Loc where = Loc::current());
/// Normal with standard deviation sqrt(2 / fan_in).
Tensor kaiming_normal(const Shape& shape, Loc where = Loc::current());
/// Normal within [low, high], as sinter::trunc_normal().
Tensor trunc_normal(const Shape& shape, double mean = 0.0, double std = 1.0, double low = -2.0, double high = 2.0,
                    Loc where = Loc::current());
/// @}

}  // namespace nn::init
}  // namespace v0
}  // namespace sinter
