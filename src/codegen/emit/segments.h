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
  /// LOAD has no predicate or is no load. Indices that raise an error still do.
  UOp reduced(UOp n);
  /// Whether the condition holds: 1, or 0; -1: it is not known.
  int outcome(UOp condition);

 private:
  struct Segment {
    UOp range;
    int64_t from, to;
  };
  void analyze();
  bool raises(UOp n);

  FreeRanges& ranges_;
  std::vector<Segment> open_;
  std::optional<ir::IntervalAnalysis> intervals_;
  std::unordered_map<ir::Node*, bool> raises_;  ///< whether a node is computed from a CHECK
};

}  // namespace sinter::codegen
