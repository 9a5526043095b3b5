// Axes that lie in one piece wherever a kernel looks, and so are one.
#pragma once

#include "codegen/kernel/kernel.h"

namespace sinter::schedule {

/// In:  a kernel in which neighbouring outer ranges of fixed sizes always go on where the next one ends, in memory and
/// in every index: the
///      rows and columns of values that are computed one by one, or batches and heads of what lies in rows.
/// Out: the same stores with one range for them, whose loop is long, divides into vectors with at most one rest, and
/// takes one text; where
///      they were several dims of a Param, these are one dim as well. Points keep their order.
void collapse_axes(codegen::Kernel& kernel);

}  // namespace sinter::schedule
