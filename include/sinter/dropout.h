// Dropout: elements or channels that become zero by chance while a network is trained.
#pragma once

#include "sinter/random.h"

namespace sinter::inline v0 {

/// @defgroup dropout Dropout
/// Each function gives x itself unless `training`. p is the probability, in [0, 1], that an element or a channel is
/// dropped; what is kept is scaled so that the mean stays. Floats keep their type; integers and bools are computed in
/// float32. Draws come from `generator`; nullptr: the default one. With p = 1 all is zero. UsageError for another p.
/// @snippet dropout.cpp dropout
/// @{

/// Zeroes elements; the others are divided by 1 - p. Srivastava et al., 2014.
Tensor dropout(Arg x, double p = 0.5, bool training = true, Generator* generator = nullptr);
/// Zeroes channels of x [n, channels, ...] with all that follows.
Tensor feature_dropout(Arg x, double p = 0.5, bool training = true, Generator* generator = nullptr);
/// feature_dropout() of x [n, channels, l] or [channels, l]. UsageError for another rank.
Tensor dropout1d(Arg x, double p = 0.5, bool training = true, Generator* generator = nullptr);
/// feature_dropout() of x [n, channels, h, w], or [n, channels, l] as in PyTorch. UsageError for another rank.
Tensor dropout2d(Arg x, double p = 0.5, bool training = true, Generator* generator = nullptr);
/// feature_dropout() of x [n, channels, d, h, w] or [channels, d, h, w]. UsageError for another rank.
Tensor dropout3d(Arg x, double p = 0.5, bool training = true, Generator* generator = nullptr);
/// Drops elements to the value that selu() has at -infinity, then scales and shifts so that mean 0 and variance 1 stay.
/// Klambauer et al., 2017.
Tensor alpha_dropout(Arg x, double p = 0.5, bool training = true, Generator* generator = nullptr);
/// alpha_dropout() of the channels of x [n, channels, ...].
Tensor feature_alpha_dropout(Arg x, double p = 0.5, bool training = true, Generator* generator = nullptr);
/// @}

}  // namespace sinter::inline v0
