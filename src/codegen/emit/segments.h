// What the segments of cut loops (Cut) decide of a kernel's nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/ranges.h"
#include "rewrite/interval.h"

namespace sinter::codegen {

class Segments {
 public:
  explicit Segments(FreeRanges& ranges) : ranges_(ranges) {}

  /// Until leave() the range has the values of [from, to) only.
  void enter(UOp range, int64_t from, int64_t to);
  void leave();
  /// The simpler node that n is in the present segments, or n: a condition is a number, a select one of its values, a
  /// LOAD has no predicate or is no load, and of zeros that are added to a number one is left. Indices that raise an
  /// error still do.
  UOp simplified(UOp n);
  /// Whether the condition holds: 1, or 0; -1: it is not known.
  int outcome(UOp condition);

 private:
  struct Segment {
    UOp range;
    int64_t from, to;
  };
  void analyze();
  /// Of a node whose sources are in simplified_.
  UOp simplify(UOp n);
  /// Whether n is 0.0 in the present segments.
  bool is_zero(UOp n) const;
  /// If n adds 0.0 to a value in the present segments: that value. Else null.
  UOp without_zero(UOp n) const;
  bool raises(UOp n);

  FreeRanges& ranges_;
  std::vector<Segment> open_;
  std::optional<ir::IntervalAnalysis> intervals_;
  std::unordered_map<ir::Node*, bool> raises_;     ///< whether a node is computed from a CHECK
  std::unordered_map<ir::Node*, UOp> simplified_;  ///< in the present segments
};

}  // namespace sinter::codegen
