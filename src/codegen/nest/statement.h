// A kernel as a list of statements with their loops. Every REDUCE, SCAN and STORE is a statement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/store_guards.h"
#include "codegen/nest/tile.h"

namespace sinter::codegen {

/// One loop around a statement. Statements share a loop only if all fields agree.
struct LoopLevel {
  UOp range;
  int number = 0;   ///< level within its axis, 0: outermost
  int lanes = 1;    ///< of the innermost loop: elements per vector
  int unroll = 1;   ///< of the innermost loop: unrolled copies
  int threads = 1;  ///< of the innermost loop: threads, each with its own vectors
  int thread_stride = 1;
  WarpDigits warp = {};  ///< of the innermost loop, as in LoopAxis; `unroll` counts their copies too
  int64_t distance = 1;  ///< as in LoopAxis
  int guard = -1;        ///< index into Statements::guards; -1: none
  bool fills = false;    ///< covers a whole tile, even inside a loop over its range
  int covers = -1;       ///< of a loop that fills: level whose block the tile covers
  /// Of a loop that copies joined dims: how many values it takes from the first of the block on, those beyond the end
  /// of the range too. 1: of a dim joined with a later one. 0: the values of the block.
  int64_t joined_values = 0;
  /// Fully unrolled: one iteration takes all values of the range, in every task of a kernel with tiles of tensor cores.
  /// No loop is left of it, and what is computed inside stays in registers.
  bool straight = false;
  /// Where it is false, an iteration adds zeros only: one +0 stands for all that do not run. Null: each
  /// iteration counts.
  UOp live = {};
  /// Level of the loop over the same range around it; -1: the task.
  int enclosing() const { return fills ? covers : number - 1; }
  int64_t width() const { return int64_t{1} * lanes * warp.threads * unroll * distance * threads; }
  /// Whether threads of a block differ along the loop.
  bool threaded() const { return threads > 1 || warp.threads > 1; }
  friend bool operator==(const LoopLevel&, const LoopLevel&) = default;
};

/// An earlier statement that must run first.
struct Dependence {
  int on = 0;
  enum class Reason : uint8_t {
    Value,    ///< reads the finished result of a REDUCE
    Element,  ///< touches the same element of a Param: may share every loop
    Memory    ///< touches other elements of a Param: shares outer loops only
  } reason = Reason::Value;
};

/// A STORE, or one REDUCE or SCAN at one place. `loops`, outermost first: those up to `own_depth` enclose the
/// statement, the rest run before its result is complete. A REDUCE is carried if a loop that its result depends on
/// stands inside one of its own. Its accumulators then live in `homes` between iterations of its own loop.
struct Statement {
  UOp node;
  std::vector<LoopLevel> loops;
  size_t own_depth = 0;          ///< of a REDUCE: its outermost own loop; of a STORE: the end
  size_t accumulator_depth = 0;  ///< of a REDUCE: from here on all loops are its own; accumulators live across them
  std::vector<Dependence> deps = {};
  int guard = -1;  ///< index into Statements::guards; -1: none
  /// How often each Param that the kernel both reads and writes was stored before. Tells which value a LOAD sees.
  std::vector<int> versions = {};
  /// Of a carried REDUCE, per accumulator: a LOAD of its home, a tile or an output.
  std::vector<UOp> homes = {};
  /// Loops along which threads have results of their own. Along all other thread digits the threads compute the same
  /// result redundantly.
  std::vector<LoopLevel> thread_loops = {};
  /// Of a REDUCE that tensor cores compute: the ranges of its tiles. The last of its loops sums.
  std::optional<LoopSchedule::MmaRanges> mma = {};
  bool nontemporal = false;          ///< of a STORE: bypasses the caches
  std::vector<UOp> prefetches = {};  ///< LOADs to prefetch where it reads them (codegen/nest/prefetch.h)
  bool is_reduce() const { return node->op == Op::Reduce; }
  /// Its loops end with those of its ranges, from `accumulator_depth` on. None is its own, because users stand in them.
  bool is_scan() const { return node->op == Op::Scan; }
  bool accumulates() const { return has_accumulators(node); }
  bool carried() const { return is_reduce() && own_depth < accumulator_depth; }
  /// Whether a REDUCE is complete after one update, so that its users may share even its own loops: all are straight.
  bool at_once() const;
};

struct Statements {
  std::vector<Statement> list;  ///< in program order
  /// Slots of Params that are both loaded and stored. `Statement::versions` is indexed alike.
  std::vector<int64_t> read_write_slots;
  std::vector<StoreGuard> guards;
  std::vector<Tile> tiles;
};

/// Sources before users, stores in the order of the SINK. A REDUCE stands in the loops of its user down to the
/// innermost that it depends on: it is computed once per distinct value, and users in the same loops share it. Ranges
/// with a single value get no loop. Throws IllegalOpt, an InternalError.
Statements make_statements(const Kernel& kernel, const LoopSchedule& schedule, FreeRanges& ranges);

/// Throws InternalError if a statement depends on a later one, or on a range that is not among its loops.
void verify(const Statements& statements, FreeRanges& ranges);

/// "inner 3 lanes 16".
std::string to_string(const LoopLevel& level);
/// One line per statement.
std::string to_string(const Statements& statements);

/// The nodes below `root` that belong to its own statement. REDUCEs below it are listed, but not entered.
std::vector<UOp> body_of(UOp root);

/// Whether the range has a single value and needs no loop.
bool one_trip(UOp range);
/// Whether the trip count may be 0, which is known at launch only.
bool may_be_empty(UOp range);

}  // namespace sinter::codegen
