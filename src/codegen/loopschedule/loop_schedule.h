// How each range of a kernel runs: what the Opts make of its axes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"

namespace sinter::codegen {

/// A range and its loops. An axis is never rewritten when it is split: the variable of each loop holds the value at
/// which its block begins, and the innermost one, plus thread, copy and lane, is the value of the range.
struct LoopAxis {
  ir::UOp range;
  int64_t size = 0;            ///< its number of values; 0 if that is known at the launch only
  std::vector<int64_t> steps;  ///< of the loops around the innermost one, outermost first
  int lanes = 1;
  int unroll = 1;
  int threads = 1;
  int thread_stride = 1;    ///< the thread's digit is its number / thread_stride % threads
  int first = 0, last = 0;  ///< steps of the only loop that stand outside of it
  int64_t block = 1;        ///< of an outer range: values that one point of the launch covers

  /// What the innermost loop goes on by.
  int64_t width() const { return int64_t{1} * lanes * unroll * threads; }
  int levels() const { return static_cast<int>(steps.size()) + 1; }
  bool peeled() const { return first > 0 || last > 0; }
  bool outer() const;
  /// Whether one point covers all of an outer range, or the range is none.
  bool whole() const { return !outer() || (size && block >= size); }
  /// Whether an outer range is a few blocks, of which the last one is smaller.
  bool ragged() const { return size % block != 0 && size < 8 * block; }
};

struct LoopSchedule {
  std::vector<LoopAxis> axes;  ///< of every range, by id
  std::vector<ir::UOp> outer;  ///< the outer ranges by id; made where the kernel does not use them
  std::vector<LoopOrder::Loop> order;
  std::vector<Materialize> materializations;
  std::vector<TileCopy> tile_copies;
  std::vector<NonTemporal> nontemporal;
  /// How many elements further a LOAD prefetches, and in which loop, as Prefetch says.
  struct PrefetchOffset {
    int64_t elements = 0;
    int loop = -1;
  };
  std::unordered_map<ir::Node*, PrefetchOffset> prefetches;  ///< by LOAD
  int threads = 1;  ///< that run one point together: as many as the digits of all axes need

  const LoopAxis& of(ir::UOp range) const;
  /// The place of a loop in `order`, or -1.
  int order_position(ir::UOp range, int level) const;
};

/// Applies the Opts one by one. Throws IllegalOpt for one that is not legal: Opts are refused, never repaired. What
/// depends on statements is refused where they are made. A statement whose order of operations lanes or copies of a
/// range would change has a loop of its own over it, without them.
LoopSchedule make_loop_schedule(const Kernel& kernel, const std::vector<Opt>& opts);

/// Throws the IllegalOpt of an Opt and the reason.
[[noreturn]] void refuse(const std::string& opt, const std::string& why);

}  // namespace sinter::codegen
