// The accumulators of REDUCEs: as many as its Tree has chains, in vectors, register copies or an array; of integers one
// per lane.
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
  Accumulators(const Statements& statements, Values& values, Emitter& emit, int threads)
      : statements_(statements), values_(values), emit_(emit), threads_(threads) {}

  /// Whether a carried REDUCE goes on with what it left in its home; kNone: none did.
  Id goes_on(int statement);
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
  struct Chains {
    int count = 1;  ///< all of one thread
    int width = 1;  ///< of them in one vector along the REDUCE's own range
    bool cells = false;
  };
  /// One instruction per accumulator of the combine.
  using State = std::vector<Id>;
  /// A combine on the types of one REDUCE, in ops that the target has.
  struct Combiner {
    ir::Combination step, merge;
  };
  /// Whether lanes lie along the REDUCE's own range.
  bool along_lanes(const Statement& s) const;
  Chains chains(const Statement& s) const;
  std::vector<State>& registers(int statement);
  Id identity(int statement, size_t accumulator) const;
  Id present(const Statement& s);
  ir::UOp rested(const Statement& s, size_t accumulator) const;
  const Combiner& combiner(const Statement& s);
  State joined(const Level& level, const ir::Combination& merge, State state);
  std::vector<State> exchange(const State& mine, int near, int far, int stride);
  State shuffled(const State& state, Id lane);
  State combined(const ir::Combination& rule, int lanes, const State& state, const State& other);
  State read_chain(const State& registers, Id cell) const;
  void assign(const Combiner& rule, const State& registers, Id cell, const State& values, Id exists);
  void update_lanes(const Statement& s, const Chains& c, const std::vector<State>& registers, const State& values);

  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }

  const Statements& statements_;
  Values& values_;
  Emitter& emit_;
  const int threads_;
  std::map<std::pair<size_t, DType>, int> exchanges_;  ///< slots through which threads see each other's accumulators
  bool exchanged_ = false;                             ///< they were used before
  std::map<std::pair<int, uint64_t>, std::vector<State>> registers_;  ///< one State per vector of chains
  std::map<std::pair<ir::Combine, std::vector<DType>>, Combiner> combiners_;
};

}  // namespace sinter::codegen
