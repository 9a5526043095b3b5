// The ranges of one kernel, and the indices and predicates at which its values are computed.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "rewrite/index_math.h"
#include "rewrite/movement_index.h"
#include "schedule/fusion/partition.h"

namespace sinter::schedule {

/// Per axis, its index expression.
using AxisIndex = std::map<int, UOp>;

/// The ranges, Params and Args of a kernel, numbered in order of first use, and the interned indices ("places") at
/// which it needs values.
class IndexMap {
 public:
  IndexMap(const Partition& partition, const FusionGroup& kernel);

  ir::Graph& graph() { return *graph_; }
  const std::shared_ptr<ir::Arena>& arena() const { return graph_; }

  // ---- parameters and constants
  UOp param(int buffer, DType dtype, const Shape& shape);
  UOp argument(UOp n);
  UOp zero(DType dtype) { return ir::constant(*graph_, dtype, 0); }
  /// A leaf of the plan graph without a buffer, at this index.
  UOp leaf(UOp n, const ir::ElementIndex& at);
  /// A movement node, with this kernel's arguments for its dynamic begins.
  UOp with_local_arguments(UOp movement);
  const std::vector<int>& buffers() const { return buffers_; }  ///< per Param: the plan's buffer
  const std::vector<int>& args() const { return args_; }        ///< per Arg: the plan's argument
  const std::vector<DType>& arg_types() const { return arg_types_; }

  // ---- ranges
  /// A new inner range. Its id is above all others, so its loop is inside all of them.
  UOp range(const Dim& size) { return ir::range(ir::extent_of(*graph_, size), ranges_++, ir::AxisKind::Inner); }
  const std::vector<Dim>& outer() const { return outer_; }
  /// From now on values are computed after all tasks: in new inner ranges, also along outer axes.
  void begin_epilogue();
  /// The outer range of an axis. For an axis in blocks, that is the block number.
  UOp outer_range(int outer_axis) const { return outer_ranges_.at(outer_axis); }
  /// The axes of a dim's digits.
  static std::vector<int> axes_of(const DimIndex& dim);
  /// The row-major index over these axes.
  UOp expression(const std::vector<int>& axes) { return expression(axes, index_); }
  UOp expression(const std::vector<int>& axes, const AxisIndex& index);
  /// The loops of a reduction at an index: the kernel's ranges, or new ones if the index depends on loops inside those.
  /// (A predicate may depend on more loops than the partition's index.) `index` has the index along their axes.
  struct RangeBinding {
    AxisIndex index;
    std::vector<UOp> ranges;
  };
  RangeBinding bind(const std::vector<int>& axes, const ir::ElementIndex& at);
  bool depends(UOp value, int axis) { return free_.depends(value, inner_.at(axis)); }
  bool empty(const std::vector<int>& axes) const;

  // ---- indices
  int intern(ir::ElementIndex at);
  const ir::ElementIndex& operator[](int index_id) const { return *indices_[index_id]; }
  /// The index below the movement nodes from `head` on. If they pad, `predicate` says where the value is not zero.
  struct ViewSource {
    UOp node;
    int index_id;
    UOp predicate;
  };
  ViewSource down(UOp head, int at);
  /// A loaded index, from a tensor of shape `indices` (SEMANTICS F6). Negative indices count from the end; one out of
  /// range raises the error bit. Narrows the predicate `valid`.
  UOp checked_index(UOp index, const Dim& size, const Shape& indices, UOp& valid);

 private:
  void open_ranges();

  struct ElementIndexHash {
    size_t operator()(const ir::ElementIndex& at) const;
  };
  struct ElementIndexEqual {
    bool operator()(const ir::ElementIndex& a, const ir::ElementIndex& b) const {
      return a.valid == b.valid && a.index == b.index;
    }
  };

  const Partition& p_;
  const FusionGroup& kernel_;
  std::shared_ptr<ir::Arena> graph_;
  ir::IndexMath math_;
  int ranges_ = 0;
  std::vector<Dim> outer_;
  std::map<int, UOp> outer_ranges_,
      inner_;  ///< ranges by axis; for an axis in blocks, `inner_` is the index inside the block
  AxisIndex index_;
  codegen::FreeRanges free_;
  codegen::RangeSet fresh_;  ///< ranges that are not axes of the partition
  std::unordered_map<int, int> param_of_, arg_of_;
  std::vector<int> buffers_, args_;
  std::vector<DType> arg_types_;
  std::unordered_map<ir::ElementIndex, int, ElementIndexHash, ElementIndexEqual> ids_;
  std::vector<const ir::ElementIndex*> indices_;
};

}  // namespace sinter::schedule
