// Which loops a node's value changes with. A REDUCE closes its own ranges; a range whose bound depends on others
// depends on them too.
#pragma once

#include <bitset>
#include <unordered_map>
#include <vector>

#include "uop/graph.h"

namespace sinter::codegen {

/// The most loops that one kernel may have.
inline constexpr size_t kMaxRanges = 128;
using RangeSet = std::bitset<kMaxRanges>;

inline int range_id(ir::UOp range) { return range->get<ir::RangeAttr>().id; }
inline ir::AxisKind range_kind(ir::UOp range) { return range->get<ir::RangeAttr>().kind; }
/// The value sources of a REDUCE, and the ranges after them.
std::vector<ir::UOp> values_of(ir::UOp reduce);
std::vector<ir::UOp> ranges_of(ir::UOp reduce);

/// Answers for every node of one graph, also for nodes made later. Throws InternalError above kMaxRanges.
class Ranges {
 public:
  /// The ranges that are free in n.
  const RangeSet& free(ir::UOp n);
  /// The bit of a range.
  size_t number(ir::UOp range);
  bool depends(ir::UOp n, ir::UOp range) { return free(n)[number(range)]; }

 private:
  std::unordered_map<ir::Node*, RangeSet> free_;
  std::unordered_map<ir::Node*, size_t> numbers_;
};

}  // namespace sinter::codegen
