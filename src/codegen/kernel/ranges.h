// The ranges that a node depends on. A REDUCE binds its own ranges. A range also depends on the ranges in its bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/kernel/ir.h"
#include "ir/node_map.h"

namespace sinter::codegen {

/// Bit set of range numbers. The first 64 need no heap memory.
class RangeSet {
 public:
  bool operator[](size_t i) const { return word(i / 64) >> i % 64 & 1; }
  void set(size_t i) {
    if (i / 64 > more_.size()) more_.resize(i / 64);
    (i < 64 ? first_ : more_[i / 64 - 1]) |= uint64_t{1} << i % 64;
  }
  void reset(size_t i) {
    if (i / 64 > more_.size()) return;
    (i < 64 ? first_ : more_[i / 64 - 1]) &= ~(uint64_t{1} << i % 64);
    trim();
  }
  bool any() const { return first_ || !more_.empty(); }

  RangeSet& operator|=(const RangeSet& other) {
    first_ |= other.first_;
    if (more_.size() < other.more_.size()) more_.resize(other.more_.size());
    for (size_t w = 0; w < other.more_.size(); ++w) more_[w] |= other.more_[w];
    return *this;
  }
  friend RangeSet operator&(RangeSet a, const RangeSet& b) {
    a.first_ &= b.first_;
    a.more_.resize(std::min(a.more_.size(), b.more_.size()));
    for (size_t w = 0; w < a.more_.size(); ++w) a.more_[w] &= b.more_[w];
    a.trim();
    return a;
  }
  friend bool operator==(const RangeSet&, const RangeSet&) = default;

 private:
  uint64_t word(size_t w) const { return w == 0 ? first_ : w <= more_.size() ? more_[w - 1] : 0; }
  void trim() {
    while (!more_.empty() && !more_.back()) more_.pop_back();
  }

  uint64_t first_ = 0;
  std::vector<uint64_t> more_;  ///< the last word is not 0
};

inline int range_id(UOp range) { return range->get<ir::RangeAttr>().id; }
inline AxisKind range_kind(UOp range) { return range->get<ir::RangeAttr>().kind; }
/// Upper bound of the trip count over all values of the variables, at least 1.
int64_t max_trip_count(UOp range);
inline bool is_outer(UOp range) { return range_kind(range) == AxisKind::Outer; }
/// Whether the node has accumulators: a REDUCE, or a SCAN, which has a value in each iteration of its ranges.
inline bool has_accumulators(UOp n) { return n->op == Op::Reduce || n->op == Op::Scan; }
/// The sources of a REDUCE or SCAN: first the values, then the ranges.
std::vector<UOp> values_of(UOp reduce);
std::vector<UOp> ranges_of(UOp reduce);
/// The node of another accumulator (`result`) of the same reduction. All accumulators of a reduction form one
/// statement, that of accumulator 0.
UOp result_of(UOp reduce, int result);

/// Free ranges of all nodes of one graph. Nodes may be added later.
class FreeRanges {
 public:
  /// The ranges that are free in n.
  RangeSet free(UOp n) { return known(n); }
  /// The range's number: its bit in a RangeSet.
  size_t number(UOp range);
  /// Of no range (null) nothing depends.
  bool depends(UOp n, UOp range) { return range && known(n)[number(range)]; }

 private:
  /// Valid until the next call of it.
  const RangeSet& known(UOp n);

  ir::NodeMap<RangeSet> free_;
  ir::NodeMap<size_t> numbers_;
};

}  // namespace sinter::codegen
