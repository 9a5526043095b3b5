// Opts: the decisions about a kernel's loops as replayable data. A kernel without any is right; each Opt only makes it
// faster and never changes a bit of its result.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sinter/error.h"

namespace sinter::codegen {

/// An Opt that a kernel cannot have: it would change a result, or names what is not there.
class IllegalOpt : public InternalError {
 public:
  using InternalError::InternalError;
};

// Ranges are named by their ids. What an Opt may say about a range, codegen/loopschedule/loop_schedule.h checks.

/// `count` neighbouring elements along a range are one vector.
struct Lanes {
  int range = 0;
  int count = 1;
  friend bool operator==(const Lanes&, const Lanes&) = default;
};
/// `count` written-out copies of what depends on a range, each of one vector where the range has lanes. On a range that
/// a REDUCE sums the copies follow one another in its accumulators, as its ReductionTree says.
struct Unroll {
  int range = 0;
  int count = 1;
  friend bool operator==(const Unroll&, const Unroll&) = default;
};
/// So many first and last steps of the only loop of a range, which has copies, stand outside of it, where the value of
/// each copy is a known number: gates that hold everywhere else need not be asked for inside, and those at the edges
/// know their answer. Statements that have other copies of the range than it says go over all of it.
struct Peel {
  int range = 0;
  int first = 1, last = 1;
  friend bool operator==(const Peel&, const Peel&) = default;
};
/// One more loop over blocks of `step` values of a range. Steps of one range come from the outermost to the innermost.
struct Split {
  int range = 0;
  int64_t step = 1;
  friend bool operator==(const Split&, const Split&) = default;
};
/// The loops that are named stand in this order, outermost first, wherever a statement has them; the others stay where
/// they are. A REDUCE whose own loop comes before one that its result depends on is carried: its accumulators rest in
/// memory while the outer loop turns.
struct LoopOrder {
  struct Loop {
    int range = 0;
    int level = 0;  ///< 0: over the largest blocks of the range
    friend bool operator==(const Loop&, const Loop&) = default;
  };
  std::vector<Loop> loops;
  friend bool operator==(const LoopOrder&, const LoopOrder&) = default;
};
/// A value that several sibling loops use is kept in a tile: the first of them writes it, the others read it.
struct Materialize {
  int value = 0;            ///< its place in ir::topological(sink) of the normalized kernel
  std::vector<int> ranges;  ///< the tile lies along them; loops over all other ranges stand around its users
  friend bool operator==(const Materialize&, const Materialize&) = default;
};
/// A value is copied into a tile ahead of its users, each time that a loop begins a block which the tile covers: an
/// operand packed for a CPU's vectors, or shared memory of a GPU's block.
struct TileCopy {
  struct CopyDim {
    int range = 0;
    int level = -1;  ///< the tile covers a block of this loop of the range; -1: all values that a point covers
    int lanes = 1, unroll = 1, threads = 1,
        stride = 1;  ///< of the loop that copies, as in Lanes, Unroll and ThreadBind
    friend bool operator==(const CopyDim&, const CopyDim&) = default;
  };
  int value = 0;              ///< as in Materialize
  std::vector<CopyDim> dims;  ///< ranges that it depends on; the last lies innermost in memory. Loops over the others
                              ///< stand around the copying
  int panel = 0;              ///< 0, or: so many elements of the last dim lie together for each element of the others
  /// 0, or how rows of the last dim lie in a GPU's shared memory, so that what threads touch together is in different
  /// banks: `pad` elements stay free behind each; or pieces of `swizzle_unit` elements have changed places, by an
  /// exclusive or with the row's number divided by `swizzle_rows`.
  int pad = 0, swizzle_unit = 0, swizzle_rows = 1;
  int slots = 1;  ///< 2: while one block is used, the next one is copied into the other slot (codegen/nest/ring.h)
  friend bool operator==(const TileCopy&, const TileCopy&) = default;
};
/// One point of the launch covers `size` neighbouring values of an outer range (the last one what is left).
struct TaskBlock {
  int range = 0;
  int64_t size = 1;
  friend bool operator==(const TaskBlock&, const TaskBlock&) = default;
};
/// The threads of a GPU's block share a range: thread t takes the vectors whose number is t / stride modulo `threads`,
/// and its copies lie `threads` vectors apart. Ranges of one statement need digits of the thread's number that do not
/// overlap. On a range that a REDUCE sums the threads have chains of its ReductionTree each, combined as that says.
struct ThreadBind {
  int range = 0;
  int threads = 1;
  int stride = 1;
  friend bool operator==(const ThreadBind&, const ThreadBind&) = default;
};
/// A STORE goes past the caches: a CPU neither reads the lines before nor keeps them. Only what the kernel does not
/// read, in whole vectors at multiples of their size.
struct NonTemporal {
  int store = 0;  ///< its place in the SINK of the normalized kernel
  friend bool operator==(const NonTemporal&, const NonTemporal&) = default;
};
/// Where a LOAD stands the element `distance` values of a range further is asked for, of which nothing is known but its
/// address: in all loops that have it, or in one of those beside each other.
struct Prefetch {
  int load = 0;  ///< its place in ir::topological(sink) of the normalized kernel
  int range = 0;
  int64_t distance = 1;
  int loop = -1;  ///< which, from 0 in the order in which they run, or the last where there are fewer; -1: all
  friend bool operator==(const Prefetch&, const Prefetch&) = default;
};
using Opt = std::variant<Lanes, Unroll, Peel, Split, LoopOrder, Materialize, TileCopy, TaskBlock, ThreadBind,
                         NonTemporal, Prefetch>;

/// The first Opt of this kind for a range in a list; null if there is none.
template <class T, class List>
auto find_opt(List& opts, int range) -> decltype(std::get_if<T>(&opts.front())) {
  for (auto& o : opts)
    if (auto* t = std::get_if<T>(&o); t && t->range == range) return t;
  return nullptr;
}

/// "lanes(1, 16)".
std::string to_string(const Opt& opt);
/// Separated by spaces.
std::string to_string(const std::vector<Opt>& opts);

}  // namespace sinter::codegen
