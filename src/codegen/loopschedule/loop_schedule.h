// The loop schedule of a kernel: the loops of each range, as the Opts set them.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/kernel/window.h"
#include "codegen/loopschedule/mma_tile.h"
#include "codegen/loopschedule/opt.h"

namespace sinter::codegen {

/// A range and its loops. A split does not rewrite the range: each loop variable holds the first value of its block.
/// The value of the range is the innermost loop variable plus the offsets of thread, unrolled copy and lane.
struct LoopAxis {
  UOp range;
  int64_t size = 0;            ///< trip count of the range; 0 if it is known only at the launch
  std::vector<int64_t> steps;  ///< steps of the loops around the innermost one, outermost first
  int lanes = 1;
  int unroll = 1;
  int64_t distance = 1;  ///< values between unrolled copies; vectors where it is 1
  int threads = 1;
  int thread_stride = 1;           ///< the digit is thread number / thread_stride % threads
  WarpDigits warp = {};            ///< inside lanes and threads, a dim of a tensor core's tile; `unroll` counts tiles
  std::vector<int64_t> cuts = {};  ///< values at which the innermost loop is cut, ascending
  int64_t block = 1;               ///< outer range: values that one task covers
  int64_t band = 1;                ///< outer range: blocks that tasks take before the next of a range behind it
  /// The range counts the positions of a window, for a TileCopy. The kernel has no such range.
  std::optional<Window> window = {};

  /// Step of the innermost loop.
  int64_t width() const { return int64_t{1} * lanes * warp.threads * warp.copies * unroll * distance * threads; }
  /// Whether tasks compute whole tiles of tensor cores also where the rows end inside one. Code of its own for the last
  /// rows would be as long as all the rest.
  bool pads_blocks() const {
    return outer() && !(warp == WarpDigits{}) && lanes == 1 && block == width() && (size == 0 || size % block != 0);
  }
  int levels() const { return static_cast<int>(steps.size()) + 1; }
  bool outer() const;
  /// Whether one task covers the whole range. True for inner ranges.
  bool whole() const { return !outer() || (size && block >= size); }
  /// Whether a task has one value of the range, and no loop over it. A cut range has a loop: it says which segment.
  bool single() const { return outer() && block == 1 && cuts.empty(); }
  /// Whether an outer range has only a few blocks and the last one is partial.
  bool ragged() const { return size % block != 0 && size < 8 * block; }
};

struct LoopSchedule {
  std::vector<LoopAxis> axes;  ///< one per range, by id
  std::vector<UOp> outer;      ///< outer ranges by id, including those that the kernel does not use
  std::vector<LoopOrder::Loop> order;
  std::vector<Materialize> materializations;
  std::vector<TileCopy> tile_copies;
  std::vector<NonTemporal> nontemporal;
  /// Rows and columns of the tiles of tensor cores.
  struct MmaRanges {
    UOp rows, columns;
    friend bool operator==(const MmaRanges&, const MmaRanges&) = default;
  };
  std::vector<MmaRanges> mma;
  /// How many elements ahead a LOAD prefetches, and in which loop (see Prefetch).
  struct PrefetchOffset {
    int64_t elements = 0;
    int loop = -1;
  };
  std::unordered_map<ir::Node*, PrefetchOffset> prefetches;  ///< by LOAD
  int threads = 1;          ///< threads of a GPU block: as many as the digits of all axes need, or as LastBlock says
  int occupancy = 0;        ///< GPU blocks that must fit a multiprocessor at once; 0: as it comes
  bool last_block = false;  ///< an epilogue that the last GPU block of its main kernel runs

  const LoopAxis& of(UOp range) const;
  /// The axis of a TileCopy's dim.
  const LoopAxis& of(const TileCopy::CopyDim& dim) const;
  /// Position of a loop in `order`, or -1.
  int order_position(UOp range, int level) const;
};

/// Applies the Opts in order. Throws IllegalOpt for an illegal Opt: Opts are refused, never repaired. Checks that need
/// statements happen where statements are made. If lanes or unrolling of a range would reorder the operations of a
/// statement, that statement gets its own loop over the range, without them.
LoopSchedule make_loop_schedule(const Kernel& kernel, const std::vector<Opt>& opts);

/// Throws IllegalOpt with the Opt's text and the reason.
[[noreturn]] void refuse(const std::string& opt, const std::string& why);

}  // namespace sinter::codegen
