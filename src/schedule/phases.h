// Strided windows seen from behind: which of a window's places reach an element depends on the element's place modulo the stride.
#pragma once

#include "codegen/kernel.h"

namespace sinter::schedule {

/// In:  a kernel that sums values for which (r + c) / k and (r + c) % k of an outer range r of n * k values are looked at, for one small k,
///      and not by one load both, as the gradient of a window that goes on by k does, or a transposed convolution.
/// Out: the same stores with r = q * k + p, of outer ranges q of n values and p, next to each other. What is read lies then at a fixed
///      distance along q, and which places of the window are read depends on p alone. Points keep their order in memory.
void split_phases(codegen::Kernel& kernel);

}  // namespace sinter::schedule
