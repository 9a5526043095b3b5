// What tests of jitted functions compute with.
#pragma once

#include <vector>

#include "sinter/sinter.h"

namespace jit_test {

/// Stored: from, from + 0.25, ...
inline sinter::Tensor numbers(const sinter::Shape& shape, double from = 0) {
  return (sinter::arange(shape.numel(), sinter::float32) * 0.25 + from).reshape(shape).contiguous().realize();
}

inline std::vector<float> values(const sinter::Tensor& t) { return t.to_vector<float>(); }

}  // namespace jit_test
