// Splits outer ranges of which sums use quotient and remainder: transposed strided windows, where the taps that reach
// an element depend on its position modulo the stride, and data in panels.
#pragma once

#include "codegen/kernel/kernel.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

/// In:  a kernel with sums that depend on (r + c) / k and (r + c) % k, for an outer range r of n * k values and one k.
///      Either k is small and no load uses both: the gradient of a window with stride k, or a transposed convolution.
///      Or k is a multiple of 16 and one load uses both of r: joined heads, or a matrix in panels of k columns.
/// Out: the same stores with r = q * k + p, for adjacent outer ranges q of n values and p of k. Reads have a fixed
///      stride along q, and the taps depend on p alone; in panels the stride is fixed along both. Tasks keep their
///      order.
void split_polyphase(codegen::Kernel& kernel);

}  // namespace sinter::schedule
