// Opts: the decisions about a kernel's loops as replayable data. A kernel without any is right; each Opt only makes it
// faster and never changes a bit of its result.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "codegen/kernel.h"
#include "runtime/target.h"

namespace sinter::codegen {

/// `count` neighbouring elements along an outer or inner range are one vector.
struct Lanes {
  int range = 0;
  int count = 1;
  friend bool operator==(const Lanes&, const Lanes&) = default;
};
/// `count` written-out copies of what depends on an outer or inner range: a register tile.
struct Unroll {
  int range = 0;
  int count = 1;
  friend bool operator==(const Unroll&, const Unroll&) = default;
};
using Opt = std::variant<Lanes, Unroll>;

/// "lanes(1, 16)".
std::string to_string(const Opt& opt);
std::string to_string(const std::vector<Opt>& opts);

/// How one axis runs.
struct Axis {
  ir::UOp range;
  int lanes = 1;
  int unroll = 1;
};

/// The axes of a kernel: its outer and inner ranges, by id. (How a reduced range runs is its REDUCE's Tree.)
struct Schedule {
  std::vector<Axis> axes;
  /// The axis of a range; null for reduced ranges.
  const Axis* find(ir::UOp range) const;
};

/// Applies the Opts one by one. Throws InternalError for one that is not legal: Opts are refused, never repaired.
Schedule make_schedule(const Kernel& kernel, const std::vector<Opt>& opts);

}  // namespace sinter::codegen
