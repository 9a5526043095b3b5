// Registers between memory and the tile slot that a GPU block uses next.
#pragma once

#include <map>
#include <vector>

#include "codegen/emit/values.h"
#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

/// Values fetched for ring tiles (codegen/nest/ring.h): one register per vector that a thread copies.
class StagingRegisters {
 public:
  StagingRegisters(const Statements& statements, Values& values, BlockWriter& emit, int threads)
      : statements_(statements), values_(values), emit_(emit), threads_(threads) {}

  /// Makes the registers of all Fetch items in `items`, in the innermost open block. They outlive the items.
  void allocate(const std::vector<LoopItem>& items);
  /// Loads what the current unrolled copy of a statement stores into its register.
  void fetch(int statement);
  /// Stores that register to where the statement stores.
  void put(int statement);

 private:
  const Statement& at(int i) const { return statements_.list[i]; }
  Id register_of_copy(int statement) const;

  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  const int threads_;
  std::map<int, std::vector<Id>> registers_;
};

}  // namespace sinter::codegen
