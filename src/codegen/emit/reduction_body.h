// Accumulators of REDUCEs: one per chain of the ReductionTree, in vectors, unrolled copies or an array. Integer
// reductions may have one per lane.
#pragma once

#include <compare>
#include <map>
#include <utility>
#include <vector>

#include "codegen/emit/values.h"
#include "ir/combine.h"

namespace sinter::codegen {

class Accumulators {
 public:
  /// `threads`: of a block.
  Accumulators(const Statements& statements, Values& values, BlockWriter& emit, int threads);

  /// The condition under which a carried REDUCE resumes from its home; kNone: never.
  Id resume_condition(int statement);
  // Each of these is for the current unrolled copy.
  void init(int statement);
  void resume(int statement);
  /// Adds one element to each chain of the current step. Elements that do not exist are skipped.
  void update(int statement);
  /// The accumulator of a REDUCE with a single chain.
  Id register_of(int statement) { return registers(statement)[0][0]; }
  /// Adds +0 to the sum of a REDUCE with a single chain: Add, Dot or ExpSum.
  void add_zero(int statement);
  /// Whether the sum of a REDUCE with a single chain is -0, of float32: a bool per lane.
  Id has_negative_zero(int statement);
  /// Begins such a sum anew.
  void reset(int statement);
  /// Combines the chains and records the result, at the latest in join_threads().
  void finish(int statement);
  /// Exchanges the chains of results whose threads are in several warps, many results at a time.
  void join_threads();

 private:
  /// Chain c is lane c % width of vector c / width, or cell c of an array.
  struct ChainLayout {
    int count = 1;  ///< chains of one thread
    int width = 1;  ///< chains per vector along the REDUCE's own range
    bool in_array = false;
  };
  /// One instruction per accumulator of the combine.
  using ChainState = std::vector<Id>;
  /// A result that waits for chains of other threads.
  struct OpenResult {
    int statement;
    std::vector<UnrollCopy> copy;
    ChainState state;
    std::vector<int64_t> places;  ///< of the accumulators in the tiles, elements
  };
  /// Threads that share a loop: `near`, `stride` apart, exchange chains by shuffles, and `far` groups of these through
  /// shared memory.
  struct ThreadGroup {
    int stride, near, far;
  };
  struct StateKey {
    int statement;
    uint64_t copy;  ///< of the result
    size_t vector;  ///< of its chains
    auto operator<=>(const StateKey&) const = default;
  };
  /// The combine of one REDUCE on its dtypes, in ops of the target.
  struct LoweredCombine {
    ir::CombineGraph step, merge;
  };
  /// Whether the lanes are along the REDUCE's own range.
  bool along_lanes(const Statement& s) const;
  ChainLayout chain_layout(const Statement& s) const;
  std::vector<ChainState>& registers(int statement);
  Id identity(int statement, size_t accumulator) const;
  uint64_t leading_copy(UOp source, const Statement& s);
  Id element_exists(const Statement& s);
  UOp home_value(const Statement& s, size_t accumulator) const;
  const LoweredCombine& lowered_combine(const Statement& s);
  void record_result(int statement, ChainState state);
  ThreadGroup thread_group(const LoopLevel& level) const;
  int exchange_slot(DType dtype);
  Id chain_address(const OpenResult& result, size_t k, Id thread);
  int64_t place_in_tiles(OpenResult& result, std::map<DType, int64_t>& used);
  void store_chains(const OpenResult& result);
  ChainState load_chains(const OpenResult& result, Id thread);
  ChainState join_far(const OpenResult& result);
  ChainState join_near(const Statement& s, ChainState state);
  ChainState shuffle(const ChainState& state, Id lane);
  ChainState emit_combine(const ir::CombineGraph& rule, int lanes, const ChainState& state, const ChainState& other);
  ChainState read_chain(const ChainState& registers, Id cell) const;
  void emit_assign(const LoweredCombine& rule, const ChainState& registers, Id cell, const ChainState& values,
                   Id exists);
  void step_state(const StateKey& mine, const ChainState& registers, const ChainState& values,
                  const std::vector<StateKey>& leaders);
  void assign_shared(int statement, ChainState values);
  void update_lanes(int statement, const ChainLayout& c, const ChainState& values);

  const Statement& at(int i) const { return statements_.list[i]; }

  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  const int threads_;
  const int64_t exchange_bytes_;  ///< of the tile of each dtype
  std::vector<OpenResult> open_;
  std::map<DType, int> exchanges_;                                         ///< slots for the exchange between threads
  bool exchanged_ = false;                                                 ///< whether the slots were used before
  std::map<std::pair<int, uint64_t>, std::vector<ChainState>> registers_;  ///< one ChainState per vector of chains
  std::map<std::pair<ir::Combine, std::vector<DType>>, LoweredCombine> lowered_combines_;
  std::map<StateKey, ChainState> last_steps_;  ///< what was before the last step
};

}  // namespace sinter::codegen
