// Registers between memory and the slot of a tile that a GPU's block uses next.
#pragma once

#include <map>
#include <vector>

#include "codegen/emit/values.h"
#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

/// What a thread has fetched for tiles that are filled ahead (codegen/nest/ring.h): a register for each vector that
/// it copies.
class StagingRegisters {
 public:
  StagingRegisters(const Statements& statements, Values& values, BlockWriter& emit, int threads)
      : statements_(statements), values_(values), emit_(emit), threads_(threads) {}

  /// Makes those of all Fetch items below, where they outlive these.
  void allocate(const std::vector<LoopItem>& items);
  /// The present copy of what a statement stores, into its register.
  void fetch(int statement);
  /// From there to where the statement stores it.
  void put(int statement);

 private:
  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }
  Id register_of_copy(int statement) const;

  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  const int threads_;
  std::map<int, std::vector<Id>> registers_;
};

}  // namespace sinter::codegen
