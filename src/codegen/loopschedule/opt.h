// Opts: loop transformations of a kernel as replayable data. A kernel is correct without any Opt. An Opt affects speed
// only and never changes a bit of the result.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sinter/error.h"

namespace sinter::codegen {

/// An Opt that a kernel cannot have: it would change a result, names a range, level or node that does not exist,
/// repeats a decision, exceeds a limit, or is for another device.
class IllegalOpt : public InternalError {
 public:
  using InternalError::InternalError;
};

// Opts name ranges by their ids. Legality: make_loop_schedule(), then statements and tiles of codegen/nest; is_legal()
// of codegen/nest/loop_tree.h asks all of them. lower() refuses what a device lacks, and Opts of an epilogue that do
// not fit those of its main kernel.

/// Vectorizes a range: `count` adjacent elements are one vector.
struct Lanes {
  int range = 0;
  int count = 1;
  friend bool operator==(const Lanes&, const Lanes&) = default;
};
/// Unrolls a range: `count` copies of everything that depends on it. If the range has lanes, each copy is one vector.
/// On a range that a REDUCE sums, the copies update its accumulators in sequence, as its ReductionTree says.
///
/// A `distance` above 1 puts the copies of an outer range so many values apart, and a loop goes through the values
/// between them: each copy runs through memory of its own. Such a range has no lanes, threads, cuts or tiles.
struct Unroll {
  static constexpr int kMax = 64;  ///< copies
  int range = 0;
  int count = 1;
  int64_t distance = 1;
  friend bool operator==(const Unroll&, const Unroll&) = default;
};
/// Cuts the innermost loop of a range at these values into a loop for each segment between them. Conditions on the
/// range that hold in all of a segment, or nowhere in it, are folded there, and branches that are not taken
/// disappear. A segment of a single step is no loop: the range is a constant there. A statement that unrolls the range
/// differently is not cut.
struct Cut {
  static constexpr size_t kMax = 64;  ///< values, at most: each makes the code longer
  int range = 0;
  std::vector<int64_t> at;
  friend bool operator==(const Cut&, const Cut&) = default;
};
/// Splits a range: one more loop, over blocks of `step` values. Splits of one range are listed outermost first.
struct Split {
  int range = 0;
  int64_t step = 1;
  friend bool operator==(const Split&, const Split&) = default;
};
/// Reorders loops: in every statement the named loops appear in this order, outermost first. Other loops stay in place.
/// If the loop of a REDUCE ends up outside a loop that its result depends on, the REDUCE is carried: its accumulators
/// live in memory (accumulator home) while the outer loop runs.
struct LoopOrder {
  struct Loop {
    int range = 0;
    int level = 0;  ///< 0: the loop over the largest blocks of the range
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  std::vector<Loop> loops;
  friend bool operator==(const LoopOrder&, const LoopOrder&) = default;
};
/// Materializes a value that several sibling loops use in a tile: the first loop writes it, the others read it.
struct Materialize {
  int value = 0;            ///< position in ir::topological(sink) of the normalized kernel
  std::vector<int> ranges;  ///< dims of the tile; the loops over all other ranges enclose its users
  /// Another materialized value, whose tile this one takes element by element: nothing that runs later needs it. -1:
  /// a tile of its own.
  int over = -1;
  int pad = 0;  ///< unused elements after each row of the tile's innermost dim, as in TileCopy
  friend bool operator==(const Materialize&, const Materialize&) = default;
};
/// Copies a value into a tile before its users, at the start of every block that the tile covers. On a CPU this packs
/// an operand for vector loads; on a GPU it stages the operand in the block's shared memory. Of a STORE, the other way
/// round: what it stores goes to the tile, and from there to memory at the end of every block.
struct TileCopy {
  struct CopyDim {
    int range = 0;
    int level = -1;  ///< the tile covers a block of this loop of the range; -1: all values that a task covers
    int lanes = 1, unroll = 1, threads = 1,
        stride = 1;  ///< of the copy loop, as in Lanes, Unroll and ThreadBind
    /// Another range whose sum with `range` is the dim: the tile has each position of overlapping windows once. The
    /// value depends on both only through that sum (codegen/kernel/window.h); -1: `range` alone is the dim.
    int taps = -1;
    /// The elements of this dim and the next lie one behind another, in memory and in the tile: the loop over the last
    /// of joined dims copies all of them, and has the lanes, copies and threads.
    bool joined = false;
    friend bool operator==(const CopyDim&, const CopyDim&) = default;
  };
  int value = 0;              ///< as in Materialize
  std::vector<CopyDim> dims;  ///< ranges that the value depends on; the last is contiguous. Loops over its other
                              ///< ranges enclose the copy
  int panel = 0;              ///< if not 0: this many elements of the last dim are contiguous per index of the others
  /// Layouts that avoid bank conflicts in a GPU's shared memory; 0: none. `pad`: unused elements after each row of the
  /// last dim, or of the dims joined with it. Swizzle: chunks of `swizzle_unit` elements are permuted by an exclusive
  /// or with the row number divided by `swizzle_rows`.
  int pad = 0, swizzle_unit = 0, swizzle_rows = 1;
  int slots = 1;       ///< more: blocks rotate through so many ring slots and are filled ahead (codegen/nest/ring.h)
  bool async = false;  ///< the value is a LOAD and goes to its ring slot without passing through registers (GPU)
  friend bool operator==(const TileCopy&, const TileCopy&) = default;
};
/// One task covers `size` adjacent values of an outer range. The last task covers the remainder.
struct TaskBlock {
  int range = 0;
  int64_t size = 1;
  friend bool operator==(const TaskBlock&, const TaskBlock&) = default;
};
/// Tasks go through `blocks` blocks of an outer range, a band, before the next block of any range behind it: blocks
/// that run at the same time share more of what they read. Without a band the last range varies fastest.
struct TaskBand {
  int range = 0;
  int64_t blocks = 1;
  friend bool operator==(const TaskBand&, const TaskBand&) = default;
};
/// Distributes a range over the threads of a GPU block. Thread t takes the vectors whose number is t / stride modulo
/// `threads`; its unrolled copies are `threads` vectors apart. Ranges of one statement must use disjoint digits of the
/// thread number. On a range that a REDUCE sums, each thread owns some chains of the ReductionTree, which says how the
/// chains are combined.
struct ThreadBind {
  int range = 0;
  int threads = 1;
  int stride = 1;
  friend bool operator==(const ThreadBind&, const ThreadBind&) = default;
};
/// Gives products to tensor cores (GPU): a warp computes tiles of 16 values of `rows` by 8 of `columns`. Unroll,
/// ThreadBind, Split and TaskBlock count whole tiles on these ranges, and whole steps on the range that is summed. It
/// concerns every REDUCE in steps of a tensor core (ir/attr.h) one of whose factors depends on `rows` and the other on
/// `columns`.
struct Mma {
  int rows = 0, columns = 0;
  friend bool operator==(const Mma&, const Mma&) = default;
};
/// Makes a STORE bypass the caches (CPU): lines are neither read for ownership nor kept. Legal only for data that the
/// kernel does not read, in whole aligned vectors.
struct NonTemporal {
  int store = 0;  ///< position in the SINK of the normalized kernel
  friend bool operator==(const NonTemporal&, const NonTemporal&) = default;
};
/// Prefetches for a LOAD: next to it, the element `distance` values of a range further on is prefetched. The address
/// need not be valid. Applies in all sibling loops that contain the LOAD, or in one of them.
struct Prefetch {
  int load = 0;  ///< position in ir::topological(sink) of the normalized kernel
  int range = 0;
  int64_t distance = 1;
  int loop = -1;  ///< index of the sibling loop in execution order, clamped to the last one; -1: all
  friend bool operator==(const Prefetch&, const Prefetch&) = default;
};
/// Limits the registers of a thread (GPU), so that this many blocks fit a multiprocessor at once.
struct Occupancy {
  int blocks = 1;
  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};
/// Runs an epilogue in this many threads of the last block of its main kernel, in place of a launch of its own (GPU):
/// all that the block has, or some of its warps. One task must cover all of the epilogue's outer ranges.
struct LastBlock {
  int threads = 1;
  friend bool operator==(const LastBlock&, const LastBlock&) = default;
};
using Opt = std::variant<Lanes, Unroll, Cut, Split, LoopOrder, Materialize, TileCopy, TaskBlock, TaskBand, ThreadBind,
                         Mma, NonTemporal, Prefetch, Occupancy, LastBlock>;

/// The first Opt of kind T for `range`; null if there is none.
template <class T, class List>
auto find_opt(List& opts, int range) -> decltype(std::get_if<T>(&opts.front())) {
  for (auto& o : opts)
    if (auto* t = std::get_if<T>(&o); t && t->range == range) return t;
  return nullptr;
}

/// The Cut that peels the first `first` and the last `last` whole steps of `width` values from a range of `size`.
Cut peel(int range, int64_t size, int64_t width, int64_t first, int64_t last);

/// E.g. "lanes(1, 16)".
std::string to_string(const Opt& opt);
/// Joined by spaces.
std::string to_string(const std::vector<Opt>& opts);

}  // namespace sinter::codegen
