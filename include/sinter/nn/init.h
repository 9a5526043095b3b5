// Initial values of parameters, drawn from the seeded generator (`manual_seed`). Names and formulas are PyTorch's.
#pragma once

#include <cstdint>

#include "sinter/tensor.h"

namespace sinter::inline v0 {
/// Initial values of parameters.
namespace nn::init {

/// What follows a layer.
enum class Nonlinearity : uint8_t { Linear, Sigmoid, Tanh, ReLU, LeakyReLU, SELU };
/// Which fan a kaiming form divides by: In keeps the variance of what goes forward, Out that of the gradients.
enum class FanMode : uint8_t { In, Out };
/// Options of the kaiming forms.
struct KaimingOptions {
  double a = 0;                                         ///< slope of a LeakyReLU; 0: a ReLU's
  FanMode mode = FanMode::In;                           ///< fan_in or fan_out
  Nonlinearity nonlinearity = Nonlinearity::LeakyReLU;  ///< whose gain is taken
};

/// @defgroup init Initial values
/// New float32 tensors of a shape. Weights have the shape [out, in, window...]: fan_in = in * window, fan_out = out *
/// window. The xavier and kaiming forms and orthogonal() need a shape of at least rank 2 (UsageError).
/// @snippet training.cpp init
/// @{

/// The factor by which a nonlinearity scales a standard deviation: 1 for Linear and Sigmoid, 5/3 for Tanh, sqrt(2) for
/// ReLU, sqrt(2 / (1 + a^2)) for LeakyReLU, 3/4 for SELU.
double calculate_gain(Nonlinearity nonlinearity, double a = 0.01);
/// Uniform from low to high; rounding may reach high.
Tensor uniform(const Shape& shape, double low, double high, Loc where = Loc::current());
/// Normal with the given mean and standard deviation.
Tensor normal(const Shape& shape, double mean = 0.0, double std = 1.0, Loc where = Loc::current());
/// Uniform in +-gain * sqrt(6 / (fan_in + fan_out)). Glorot and Bengio, AISTATS 2010.
Tensor xavier_uniform(const Shape& shape, double gain = 1.0, Loc where = Loc::current());
/// Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)).
Tensor xavier_normal(const Shape& shape, double gain = 1.0, Loc where = Loc::current());
/// Uniform in +-gain * sqrt(3 / fan), without options +-sqrt(6 / fan_in), for layers followed by a ReLU. He et al.,
/// ICCV 2015.
Tensor kaiming_uniform(const Shape& shape, KaimingOptions options = {}, Loc where = Loc::current());
/// Normal with standard deviation gain / sqrt(fan), without options sqrt(2 / fan_in).
Tensor kaiming_normal(const Shape& shape, KaimingOptions options = {}, Loc where = Loc::current());
/// Normal within [low, high], as sinter::trunc_normal().
Tensor trunc_normal(const Shape& shape, double mean = 0.0, double std = 1.0, double low = -2.0, double high = 2.0,
                    Loc where = Loc::current());
/// gain times a matrix [out, in * window] with orthonormal rows or, if it has more rows than columns, columns: the q of
/// qr() of a normal matrix. Saxe et al., ICLR 2014. Needs LAPACK.
Tensor orthogonal(const Shape& shape, double gain = 1.0, Loc where = Loc::current());
/// Weights of a convolution, rank 3 to 5, that give as many input channels as there are unchanged: 1 in the middle of
/// the window of output i and input i, of each group alone. UsageError unless groups divides out.
Tensor dirac(const Shape& shape, int64_t groups = 1, Loc where = Loc::current());
/// @}

/// @defgroup init_in_place Initial values in place
/// The forms above, and constants, for a parameter or another tensor, in its type and on its device: it gets a new
/// version under no_grad, and stays the parameter that it was. They return it.
/// @snippet training.cpp init_in_place
/// @{

Tensor uniform_(Tensor t, double low = 0.0, double high = 1.0, Loc where = Loc::current());  ///< uniform()
Tensor normal_(Tensor t, double mean = 0.0, double std = 1.0, Loc where = Loc::current());   ///< normal()
Tensor constant_(Tensor t, double value, Loc where = Loc::current());                        ///< value
Tensor zeros_(Tensor t, Loc where = Loc::current());                                         ///< 0
Tensor ones_(Tensor t, Loc where = Loc::current());                                          ///< 1
Tensor eye_(Tensor t, Loc where = Loc::current());  ///< ones on the diagonal of a matrix; UsageError for other ranks
Tensor xavier_uniform_(Tensor t, double gain = 1.0, Loc where = Loc::current());             ///< xavier_uniform()
Tensor xavier_normal_(Tensor t, double gain = 1.0, Loc where = Loc::current());              ///< xavier_normal()
Tensor kaiming_uniform_(Tensor t, KaimingOptions options = {}, Loc where = Loc::current());  ///< kaiming_uniform()
Tensor kaiming_normal_(Tensor t, KaimingOptions options = {}, Loc where = Loc::current());   ///< kaiming_normal()
Tensor trunc_normal_(Tensor t, double mean = 0.0, double std = 1.0, double low = -2.0, double high = 2.0,
                     Loc where = Loc::current());                             ///< trunc_normal()
Tensor orthogonal_(Tensor t, double gain = 1.0, Loc where = Loc::current());  ///< orthogonal()
Tensor dirac_(Tensor t, int64_t groups = 1, Loc where = Loc::current());      ///< dirac()
/// @}

}  // namespace nn::init
}  // namespace sinter::inline v0
