// Walks down the loops around the readers of a load.
#include "codegen/nest/prefetch.h"
#include "ir/contains.h"

#include <algorithm>

namespace sinter::codegen {
namespace {

class PrefetchPlacer {
 public:
  PrefetchPlacer(UOp load, Statements& statements, FreeRanges& ranges)
      : load_(load), statements_(statements), ranges_(ranges) {
    for (const Statement& s : statements.list) {
      const std::vector<UOp> body = body_of(s.node);
      reads_.push_back(ir::contains(body, load));
    }
  }

  /// Adds the prefetch to every reader. Of several sibling loops along which the load advances only number `number`
  /// counts, or the last one if there are fewer; -1: all.
  void place(const std::vector<LoopItem>& items, int number) {
    std::vector<const LoopItem*> loops;
    for (const LoopItem& item : items) {
      if (!reads(item)) continue;
      if (!item.has_body())
        place(statements_.list[item.statement]);
      else if (item.kind != LoopItem::ItemKind::FillFirst)  // the loop after it has the same fills
        advances(item) ? loops.push_back(&item) : place(item.body, -1);
    }
    if (number >= 0 && loops.size() > 1)
      place(loops[std::min(static_cast<size_t>(number), loops.size() - 1)]->body, -1);
    else
      for (const LoopItem* loop : loops) place(loop->body, number);
  }

 private:
  bool reads(const LoopItem& item) const {
    using ItemKind = LoopItem::ItemKind;
    if (item.kind == ItemKind::Update || item.kind == ItemKind::Store || item.kind == ItemKind::Fetch)
      return reads_[item.statement];
    return std::ranges::any_of(item.body, [this](const LoopItem& inner) { return reads(inner); });
  }
  bool advances(const LoopItem& loop) const {
    const std::vector<UOp> inside = ranges_of(loop);
    return std::ranges::any_of(inside, [this](UOp r) { return ranges_.depends(load_, r); });
  }
  void place(Statement& s) const {
    if (!ir::contains(s.prefetches, load_)) s.prefetches.push_back(load_);
  }

  const UOp load_;
  Statements& statements_;
  FreeRanges& ranges_;
  std::vector<uint8_t> reads_;  ///< per statement
};

}  // namespace

void place_prefetches(const std::vector<LoopItem>& tree, Statements& statements, const LoopSchedule& schedule,
                      FreeRanges& ranges) {
  for (const auto& [load, ahead] : schedule.prefetches)
    PrefetchPlacer(load, statements, ranges).place(tree, ahead.loop);
}

}  // namespace sinter::codegen
