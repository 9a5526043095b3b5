// The meaning of numbers, slices, newaxis and ellipsis for a shape, for reads (index.cpp) and writes (assign.cpp).
#pragma once

#include <span>
#include <vector>

#include "ir/build.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

/// A resolved basic index. Source axis a contributes count[a] elements: begin[a], begin[a] + step[a], ...
struct BasicIndex {
  struct AxisSlice {
    int64_t begin = 0, step = 1;
    Dim count = 0;
    bool whole = false;  ///< all elements in order; a symbolic axis is whole or mirrored
                         ///< a symbolic count of a fixed axis: begin 0, step 1
  };
  std::vector<AxisSlice> slices;  ///< one per axis of the source
  Shape shape;                    ///< of the result: without axes indexed by a number, with newaxis
  /// Whether all steps are 1: the part is a box of the source.
  bool box() const;
  /// The part as a region; only for a box.
  ir::Region region() const;
};

/// The items of which some are integer tensors, for pick() and put() of the basic result.
struct AdvancedIndex {
  std::vector<Index> basic;  ///< the items, with a whole slice in place of each tensor
  ir::Ints axes;             ///< of the basic result, one per tensor
  std::vector<ir::UOp> index;
  int64_t place = 0;  ///< of their common shape among the other axes: in place if all numbers and tensors are adjacent,
                      ///< otherwise in front
};
AdvancedIndex resolve_advanced(ir::UOp x, std::span<const Index> items);
/// Whether one of the items is a tensor or begins at one.
bool has_tensor(std::span<const Index> items);

/// The items as slices, with the ellipsis expanded (one at the end is implied). Every axis of x has its item.
std::vector<Index> expand_ellipsis(ir::UOp x, std::span<const Index> items);
/// UsageError: too many items, a number out of range, a step of 0, a part of a symbolic axis. No item is a tensor.
BasicIndex resolve(ir::UOp x, std::span<const Index> items);
/// The part as a value of shape `index.shape`.
ir::UOp read(ir::UOp x, const BasicIndex& index);
/// x with v, of shape `index.shape`, in the part. For steps other than 1, where the part is not a box.
ir::UOp overwrite(ir::UOp x, const BasicIndex& index, ir::UOp v);

}  // namespace sinter::tensor
