// The elements at which a node is evaluated: one FusionIndex per use, over the axes of one kernel. Equal indices are
// one evaluation, different ones are instances. The partition computes indices because it must know whether two uses
// are the same element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "ir/contains.h"
#include "ir/node.h"
#include "sinter/shape.h"

namespace sinter::schedule {

using ir::contains;  // linear search: lists of axes are short

/// The value (axis / div) % size.
struct Digit {
  int axis;
  int64_t div, size;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// The index of one dim: digits in row-major order plus an offset, or opaque. An opaque one is some function of `axes`
/// and equals another only if the keys are equal. Without digits and not opaque, it is the offset alone, as for a dim
/// of size 1.
struct DimIndex {
  std::vector<Digit> digits;
  int64_t offset = 0;
  bool opaque = false;
  std::vector<int> axes;  ///< of an opaque dim, ascending
  uint64_t key = 0;       ///< of an opaque dim: a gather, flip, dynamic begin, or a reshape that digits cannot express
  friend bool operator==(const DimIndex&, const DimIndex&) = default;
};

using FusionIndex = std::vector<DimIndex>;
/// Whether the elements are unknown in some dim.
inline bool is_opaque(const FusionIndex& index) {
  return std::ranges::any_of(index, [](const DimIndex& d) { return d.opaque; });
}
using IndexId = int;

/// Axes and the indices over them. Axes are local to a kernel: buffers never unify them. Indices are interned: equal
/// ones have the same id once both are normal.
class IndexSpace {
 public:
  /// A new axis. A symbolic size is planned at its bound.
  int axis(const Dim& size);
  /// The representative of `a` after unifications.
  int find(int a) const;
  const Dim& size(int a) const { return axes_[find(a)].size; }
  int64_t bound(int a) const { return size(a).bound(); }
  int64_t least(int a) const { return size(a).symbolic() ? size(a).var().min() : size(a).value(); }
  /// Makes b another name of a. Requires equal sizes.
  void unify(int a, int b);
  /// Forbids splitting this axis from now on: it runs in blocks, which cannot address its parts.
  void forbid_split(int a) { axes_[find(a)].whole = true; }
  /// The axes, with split ones replaced by their parts, outer to inner.
  std::vector<int> expand(const std::vector<int>& axes) const;
  /// expand() in place.
  void renew(std::vector<int>& axes) const {
    if (!std::ranges::all_of(axes, [&](int a) { return stands(a); })) axes = expand(axes);
  }
  /// Changes with every unification and split. Axis names are valid as long as it is unchanged.
  uint64_t epoch() const { return epoch_; }

  IndexId intern(FusionIndex index);
  const FusionIndex& operator[](IndexId id) const { return entries_[id].index; }
  /// The axes that an index depends on, ascending.
  const std::vector<int>& axes_of(IndexId id) const { return entries_[id].axes; }
  /// The same index in terms of the current axes.
  IndexId normal(IndexId id);

  /// One new axis per dim that is not of size 1.
  IndexId fresh(const Shape& shape);
  DimIndex whole(int a) const { return {.digits = {{a, 1, bound(a)}}, .axes = {}}; }
  /// The index of a movement node's source, given that of the node.
  IndexId through(ir::UOp movement, IndexId id);
  /// The index below a chain of movement nodes that begins at `head`.
  IndexId down(ir::UOp head, IndexId id);
  /// An unknown function of all axes of `id`, distinguished by `key`.
  DimIndex opaque(IndexId id, uint64_t key) const;

  /// Appends the axes of a dim of this size if its index covers all of them exactly once; false otherwise.
  bool covers(const DimIndex& dim, int64_t size, std::vector<int>& axes) const;
  /// Splits axes until two indices of one dim have digits of equal sizes, as far as possible.
  void refine(IndexId a, IndexId b, size_t dim);

 private:
  struct AxisNode {
    Dim size;
    int parent;
    int high = -1, low = -1;  ///< parts of a split axis
    bool whole = false;       ///< never split
  };
  struct InternedIndex {
    FusionIndex index;
    std::vector<int> axes;
    uint64_t epoch;  ///< epoch at which `normal` was computed
    IndexId normal;
  };
  bool stands(int a) const {
    const AxisNode& axis = axes_[a];
    return axis.parent == a && axis.high < 0;
  }
  DimIndex normal(const DimIndex& dim) const;
  bool split_digit(const Digit& digit, std::vector<Digit>& out) const;
  void split(int a, int64_t low);
  DimIndex as_opaque(const DimIndex& dim, uint64_t salt) const;
  FusionIndex regroup(const FusionIndex& index, const Shape& from, const Shape& to) const;
  static uint64_t hash_of(const FusionIndex& index);

  mutable std::vector<AxisNode> axes_;  ///< find() compresses paths
  std::deque<InternedIndex> entries_;   ///< a deque: references stay valid while indices are added
  std::unordered_multimap<uint64_t, IndexId> table_;
  static constexpr uint64_t kNotYet = ~uint64_t{0};
  uint64_t epoch_ = 0;  ///< counts unifications and splits
};

}  // namespace sinter::schedule
