// What a kernel does, as a list of statements with their loops: every REDUCE and STORE is one.
#pragma once

#include <string>
#include <vector>

#include "codegen/opt.h"
#include "codegen/ranges.h"

namespace sinter::codegen {

/// One loop around a statement. Statements share a loop only if all of this agrees.
struct Level {
  ir::UOp range;
  int lanes = 1;   ///< elements of the range that are one vector
  int unroll = 1;  ///< written-out copies
  int turn = -1;   ///< runs only at this turn, an index into Statements::turns
  friend bool operator==(const Level&, const Level&) = default;
};

/// Where a STORE that lacks outer ranges runs: at 0 of those outside its own loops (`zero`), and, if it lacks the ones
/// that would come next (`first`), at the first point of those.
struct Turn {
  std::vector<ir::UOp> zero;
  bool first = false;
  bool always() const { return zero.empty() && !first; }
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// That a statement comes after another.
struct Dep {
  int on = 0;
  enum class Why : uint8_t {
    Value,    ///< reads the finished result of a REDUCE
    Element,  ///< touches the same element of a Param: the two may share every loop
    Memory    ///< touches other elements of a Param: the two share outer loops only
  } why = Why::Value;
};

/// A STORE, or one REDUCE at one place. `loops` from the outermost: first those it stands in, then (from `own` on) a
/// REDUCE's own ranges in the order of its Tree, or the inner ranges of a STORE.
struct Statement {
  ir::UOp node;
  std::vector<Level> loops;
  size_t own = 0;
  std::vector<Dep> deps;
  int turn = -1;  ///< index into Statements::turns; -1: always
  /// How often each of the Params that this kernel both reads and writes was stored before: says which value a LOAD
  /// sees.
  std::vector<int> versions;
  bool is_reduce() const { return node->op == ir::Op::Reduce; }
};

struct Statements {
  std::vector<Statement> list;  ///< in the program's order
  std::vector<int64_t>
      rewritten;  ///< slots of the Params that are both loaded and stored; `versions` counts along them
  std::vector<Turn> turns;
  std::vector<ir::UOp> outer;  ///< the outer ranges with more than one value, outermost first
};

/// Sources before users, stores in the SINK's order. A REDUCE stands in the loops of its user down to the innermost
/// that it depends on, so it is computed once per distinct value; users in the same loops share it. Loops of one trip
/// are left out.
Statements make_statements(const Kernel& kernel, const Schedule& schedule, Ranges& ranges);

/// Throws InternalError: a statement depends on a later one, or on a range that is not among its loops.
void verify(const Statements& statements, Ranges& ranges);

/// "inner 3 lanes 16".
std::string to_string(const Level& level);
/// One line per statement.
std::string to_string(const Statements& statements);

/// Whether the range has a single value, so that it needs no loop.
bool one_trip(ir::UOp range);

}  // namespace sinter::codegen
