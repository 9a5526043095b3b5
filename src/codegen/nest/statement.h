// What a kernel does, as a list of statements with their loops: every REDUCE and STORE is one.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/store_guards.h"
#include "codegen/nest/tile.h"

namespace sinter::codegen {

/// One loop around a statement. Statements share a loop only if all of this agrees.
struct LoopLevel {
  ir::UOp range;
  int number = 0;   ///< which loop of its axis
  int lanes = 1;    ///< of the innermost one: elements of the range that are one vector
  int unroll = 1;   ///< of the innermost one: written-out copies
  int threads = 1;  ///< of the innermost one: that take different vectors
  int thread_stride = 1;
  int guard = -1;      ///< runs only at this turn, an index into Statements::guards
  bool fills = false;  ///< goes over all of a tile, also where a loop of the same range stands around it
  int covers = -1;     ///< of such a loop: the loop whose block the tile covers
  /// The loop of its range around it; -1: the point.
  int enclosing() const { return fills ? covers : number - 1; }
  int64_t width() const { return int64_t{1} * lanes * unroll * threads; }
  friend bool operator==(const LoopLevel&, const LoopLevel&) = default;
};

/// That a statement comes after another.
struct Dependence {
  int on = 0;
  enum class Reason : uint8_t {
    Value,    ///< reads the finished result of a REDUCE
    Element,  ///< touches the same element of a Param: the two may share every loop
    Memory    ///< touches other elements of a Param: the two share outer loops only
  } reason = Reason::Value;
};

/// A STORE, or one REDUCE or SCAN at one place. `loops` from the outermost: first those it stands in; from `own_depth`
/// on those that run before its result is there. A REDUCE is carried if loops that its result depends on stand behind
/// one of its own: its accumulators then lie in `homes` between the turns of that loop.
struct Statement {
  ir::UOp node;
  std::vector<LoopLevel> loops;
  size_t own_depth = 0;  ///< of a REDUCE: the outermost of its own loops; of a STORE: the end
  size_t accumulator_depth =
      0;  ///< of a REDUCE: from here on all loops are its own: what its accumulators live through
  std::vector<Dependence> deps = {};
  int guard = -1;  ///< index into Statements::guards; -1: always
  /// How often each of the Params that this kernel both reads and writes was stored before: says which value a LOAD
  /// sees.
  std::vector<int> versions = {};
  /// Of a carried REDUCE, per accumulator: a LOAD of where it lies, a tile or an output.
  std::vector<ir::UOp> homes = {};
  /// The loops along which threads have results of their own; in those that its result does not change with, as in
  /// none, all threads run it alike.
  std::vector<LoopLevel> thread_loops = {};
  bool nontemporal = false;              ///< of a STORE: past the caches
  std::vector<ir::UOp> prefetches = {};  ///< LOADs that ask ahead where it reads them (codegen/nest/prefetch.h)
  bool is_reduce() const { return node->op == ir::Op::Reduce; }
  /// Its loops end with those of its ranges, from `accumulator_depth` on; none is its own, because users stand in them.
  bool is_scan() const { return node->op == ir::Op::Scan; }
  bool accumulates() const { return has_accumulators(node); }
  bool carried() const { return is_reduce() && own_depth < accumulator_depth; }
};

struct Statements {
  std::vector<Statement> list;  ///< in the program's order
  /// Slots of the Params that are both loaded and stored; `versions` counts along them.
  std::vector<int64_t> read_write_slots;
  std::vector<StoreGuard> guards;
  std::vector<Tile> tiles;
};

/// Sources before users, stores in the SINK's order. A REDUCE stands in the loops of its user down to the innermost
/// that it depends on, so it is computed once per distinct value; users in the same loops share it. Loops over ranges
/// of one value are left out. Throws InternalError for an Opt that is not legal.
Statements make_statements(const Kernel& kernel, const LoopSchedule& schedule, FreeRanges& ranges);

/// Throws InternalError: a statement depends on a later one, or on a range that is not among its loops.
void verify(const Statements& statements, FreeRanges& ranges);

/// "inner 3 lanes 16".
std::string to_string(const LoopLevel& level);
/// One line per statement.
std::string to_string(const Statements& statements);

/// The nodes below `root` that belong to its own statement: REDUCEs below it are listed, but not entered.
std::vector<ir::UOp> body_of(ir::UOp root);

/// Whether the range has a single value, so that it needs no loop.
bool one_trip(ir::UOp range);
/// Whether its loop may make no turn: that is known at the launch only.
bool may_be_empty(ir::UOp range);

}  // namespace sinter::codegen
