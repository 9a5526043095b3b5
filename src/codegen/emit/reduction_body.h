// The accumulators of REDUCEs: as many as its ReductionTree has chains, in vectors, register copies or an array; of
// integers one per lane.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "codegen/emit/values.h"
#include "ir/combine.h"

namespace sinter::codegen {

class Accumulators {
 public:
  /// `threads`: of a block.
  Accumulators(const Statements& statements, Values& values, BlockWriter& emit, int threads)
      : statements_(statements), values_(values), emit_(emit), threads_(threads) {}

  /// Whether a carried REDUCE goes on with what it left in its home; kNone: none did.
  Id resume_condition(int statement);
  // Each for the present register copy.
  void init(int statement);
  void resume(int statement);
  /// One element per chain that the present step has: those that exist.
  void update(int statement);
  /// Adds +0 to a sum in one chain.
  void add_zero(int statement);
  /// Combines the chains and makes the result known.
  void finish(int statement);

 private:
  /// Chain c is lane c % width of the vector c / width; or, in an array, cell c.
  struct ChainLayout {
    int count = 1;  ///< all of one thread
    int width = 1;  ///< of them in one vector along the REDUCE's own range
    bool in_array = false;
  };
  /// One instruction per accumulator of the combine.
  using ChainState = std::vector<Id>;
  /// A combine on the types of one REDUCE, in ops that the target has.
  struct LoweredCombine {
    ir::CombineGraph step, merge;
  };
  /// Whether lanes lie along the REDUCE's own range.
  bool along_lanes(const Statement& s) const;
  ChainLayout chain_layout(const Statement& s) const;
  std::vector<ChainState>& registers(int statement);
  Id identity(int statement, size_t accumulator) const;
  Id element_exists(const Statement& s);
  ir::UOp home_value(const Statement& s, size_t accumulator) const;
  const LoweredCombine& lowered_combine(const Statement& s);
  ChainState thread_reduce(const LoopLevel& level, const ir::CombineGraph& merge, ChainState state);
  std::vector<ChainState> exchange_states(const ChainState& mine, int near, int far, int stride);
  ChainState shuffle(const ChainState& state, Id lane);
  ChainState emit_combine(const ir::CombineGraph& rule, int lanes, const ChainState& state, const ChainState& other);
  ChainState read_chain(const ChainState& registers, Id cell) const;
  void emit_assign(const LoweredCombine& rule, const ChainState& registers, Id cell, const ChainState& values,
                   Id exists);
  void update_lanes(const Statement& s, const ChainLayout& c, const std::vector<ChainState>& registers,
                    const ChainState& values);

  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }

  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  const int threads_;
  std::map<std::pair<size_t, DType>, int> exchanges_;  ///< slots through which threads see each other's accumulators
  bool exchanged_ = false;                             ///< they were used before
  std::map<std::pair<int, uint64_t>, std::vector<ChainState>> registers_;  ///< one ChainState per vector of chains
  std::map<std::pair<ir::Combine, std::vector<DType>>, LoweredCombine> lowered_combines_;
};

}  // namespace sinter::codegen
