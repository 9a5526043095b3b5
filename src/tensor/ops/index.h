// What an index of numbers, slices, newaxis and ellipsis means for a shape, for reading (index.cpp) and writing
// (places).
#pragma once

#include <span>
#include <vector>

#include "ir/build.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

/// A basic index, resolved: of source axis a, the elements begin[a], begin[a] + step[a], ... count[a] of them.
struct BasicIndex {
  struct AxisSlice {
    int64_t begin = 0, step = 1;
    Dim count = 0;
    bool whole = false;  ///< all elements in order; the only thing that a symbolic axis can be, but for mirrored
  };
  std::vector<AxisSlice> slices;  ///< one per axis of the source
  Shape shape;                    ///< of the result: numbered axes are gone, newaxis is in
  /// All steps are 1: the part is a box of the source.
  bool box() const;
  /// Of a box.
  ir::Region region() const;
};

/// The items with the ellipsis, written or meant at the end, as slices: every axis of x has its item.
std::vector<Index> expand_ellipsis(ir::UOp x, std::span<const Index> items);
/// UsageError: too many items, a number out of range, a step of 0, a part of a symbolic axis, a tensor item.
BasicIndex resolve(ir::UOp x, std::span<const Index> items);
/// The part as a value, of shape `index.shape`.
ir::UOp read(ir::UOp x, const BasicIndex& index);
/// x with v, of shape `index.shape`, in the part: for steps other than 1, where the part is no box.
ir::UOp overwrite(ir::UOp x, const BasicIndex& index, ir::UOp v);

}  // namespace sinter::tensor
