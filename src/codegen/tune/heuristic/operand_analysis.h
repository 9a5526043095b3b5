// What an operand of a product is to it: how many results share an element, whether it is windows, where an Opt finds
// it.
#pragma once

#include "codegen/kernel/kernel.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int64_t kDeepest = 2048;  ///< summed values that one block of a product may have
inline constexpr int64_t kReuseStrided =
    4;  ///< results that share an element, from which copying pays what does not lie along the lanes
inline constexpr double kFarCaches = 4;  ///< second caches that operands fill, from which they are asked for ahead

/// Whether a load reads as much as that.
inline bool is_far(View& view, ir::UOp load, const runtime::Target& target) {
  return view.bytes_read(load) >= kFarCaches * static_cast<double>(target.l2);
}

/// How many results of a product share an element of `operand`.
int64_t reuse_of(View& view, const Work& product, ir::UOp operand);

/// How many matrices beside each other an operand of a product is, with vectors along `lanes`: values of the other
/// outer ranges with which it changes.
int64_t matrices_of(View& view, const Work& product, ir::UOp operand, ir::UOp lanes);

/// Whether a tile of an operand would hold each element of memory several times, as one of windows does, or of what is
/// repeated.
bool overlaps(View& view, ir::UOp operand);

/// Whether a load of a product is rather copied into a tile first, when its vectors lie along `lanes`: its elements are
/// not side by side there, enough results share each of them, and they are no windows that overlap.
bool worth_packing(View& view, const Work& product, ir::UOp load, ir::UOp lanes);

/// Where a Stage or a Prefetch finds a value: its place among the kernel's nodes; -1 for one that it may not hold, or
/// that the kernel lacks.
int number_of(const Kernel& kernel, ir::UOp value);

}  // namespace sinter::codegen
