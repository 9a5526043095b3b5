// Stores of a GPU that stand next to each other. They take turns, copy by copy: what two of them need is not held while
// other copies pass. Where their text would be long, a loop runs over some of the copies: compilers take longer than
// in proportion to a text, and caches hold few instructions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codegen/emit/unrolled_copies.h"
#include "codegen/emit/values.h"
#include "codegen/nest/loop_tree.h"

namespace sinter::codegen {

class StoreRuns {
 public:
  StoreRuns(const Kernel& kernel, const Statements& statements, Values& values, BlockWriter& emit,
            UnrolledCopies& copies, FreeRanges& ranges)
      : kernel_(kernel),
        statements_(statements),
        values_(values),
        emit_(emit),
        unrolled_copies_(copies),
        ranges_(ranges) {}

  /// How many items from `first` on, a Store, are a run: each copy needs nothing that another copy stores.
  size_t length(std::span<const LoopItem> items, size_t first) const;

  /// Emits a run, in all unrolled copies. `store`: of the current copy of a statement.
  void emit(std::span<const LoopItem> run, const std::function<void(const Statement&)>& store);

 private:
  /// A loop over the copies of a range, `together` in an iteration.
  struct Roll {
    UOp range;
    int count = 0;
    CopyDistance copies;
  };

  const Statement& at(const LoopItem& item) const { return statements_.list[static_cast<size_t>(item.statement)]; }
  bool joins(const LoopItem& item, std::span<const LoopItem> run) const;
  void emit_copies(std::span<const LoopItem> run, const std::function<void(const Statement&)>& store);
  std::vector<UOp> nodes_of(std::span<const LoopItem> run) const;
  int64_t copies_of(UOp n) const;
  std::optional<Roll> roll_of(std::span<const LoopItem> run, const std::vector<UOp>& nodes) const;
  bool can_roll(UOp range, const std::vector<UOp>& nodes) const;
  bool is_carried(UOp result) const;
  std::vector<UOp> results_along(UOp range, const std::vector<UOp>& nodes) const;

  const Kernel& kernel_;
  const Statements& statements_;
  Values& values_;
  BlockWriter& emit_;
  UnrolledCopies& unrolled_copies_;
  FreeRanges& ranges_;
};

}  // namespace sinter::codegen
