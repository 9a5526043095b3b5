// Outer ranges of which sums want the quotient and the remainder: strided windows seen from behind, where it depends on
// an element's place modulo the stride which of a window's places reach it, and what lies in panels.
#pragma once

#include "codegen/kernel/kernel.h"

namespace sinter::schedule {

/// In:  a kernel that sums values for which (r + c) / k and (r + c) % k of an outer range r of n * k values are looked
/// at, for one k: a
///      small one, and not by one load both, as the gradient of a window that goes on by k does, or a transposed
///      convolution; or a multiple of 16, and both of r by one load: heads that were joined, or a matrix in panels of k
///      columns.
/// Out: the same stores with r = q * k + p, of outer ranges q of n values and p, next to each other. What is read lies
/// then at a fixed
///      distance along q, and which places of the window are read depends on p alone; of panels, along both. Points
///      keep their order.
void split_polyphase(codegen::Kernel& kernel);

}  // namespace sinter::schedule
