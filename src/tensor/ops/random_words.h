// What every call that draws is made of: random words of counters taken at the call, and uniform numbers of words.
#pragma once

#include "ir/build.h"
#include "sinter/random.h"

namespace sinter::tensor {

/// The random words of one call, 64 bits each; `per_element` words for every element. Inside a Call.
class RandomWords {
 public:
  RandomWords(const Shape& shape, const RandomOptions& options, int per_element);
  /// The n-th word of every element: uint64, of the shape.
  ir::UOp get(int n) const;

 private:
  ir::UOp key_, counter_;
};

/// Uniform in [0, 1). Takes as many of the highest bits as the dtype has significand digits, so every value is exact
/// and 1 does not occur.
ir::UOp uniform_of(ir::UOp word, DType dtype);
/// Uniform in (0, 1): one bit less, and in the middle of its interval. For float32 and float64.
ir::UOp open_uniform_of(ir::UOp word, DType dtype);
/// A standard normal number in float32 by the Box-Muller method; both uniform numbers come from the one word.
ir::UOp normal_of(ir::UOp word);
/// The same in float64, of two words.
ir::UOp normal_of(ir::UOp first, ir::UOp second);
/// The float type that options ask for; `fallback` if they do not. UsageError for another type.
DType float_type(const RandomOptions& options, DType fallback = float32);

}  // namespace sinter::tensor
