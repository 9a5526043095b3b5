// Mixed precision: a scope in which products are computed in a 16-bit float.
#pragma once

#include "sinter/dtype.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// While alive, functions that the calling thread calls on float32, float16 and bfloat16 choose the type that they
/// compute in, as under torch.autocast:
/// - matmul, dot, einsum, convolutions, linear layers and attention convert them to `dtype`, which their results have;
/// - exp, log, pow, softmax, norms other than batch_norm, losses, sums and products of elements convert float16 and
///   bfloat16 to float32;
/// - all others take their arguments as they are; float32 wins where types meet.
/// Weights stay float32, and so do their gradients. Open it around the forward pass; gradients need no scope. float64,
/// integers and bool are left alone. Scopes nest: autocast(float32) ends the outer one for its lifetime.
/// @snippet training.cpp autocast
class autocast {
 public:
  /// UsageError unless `dtype` is bfloat16, float16 or float32.
  [[nodiscard("it ends at once: give it a name")]] explicit autocast(DType dtype, Loc where = Loc::current());
  ~autocast();  ///< restores the previous scope
  autocast(const autocast&) = delete;
  autocast& operator=(const autocast&) = delete;

 private:
  DType before_;
};

}  // namespace sinter::inline v0
