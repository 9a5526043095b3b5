// A walk down the loops that read a load.
#include "codegen/nest/prefetch.h"

#include <algorithm>

namespace sinter::codegen {
namespace {

using ir::UOp;

class Readers {
 public:
  Readers(UOp load, Statements& statements, Ranges& ranges) : load_(load), statements_(statements), ranges_(ranges) {
    for (const Statement& s : statements.list) {
      const std::vector<UOp> body = body_of(s.node);
      reads_.push_back(std::find(body.begin(), body.end(), load) != body.end());
    }
  }

  /// All that read it, but of several loops in which it moves the one of that number; -1: also those.
  void ask(const std::vector<Item>& items, int number) {
    std::vector<const Item*> loops;
    for (const Item& item : items) {
      if (!reads(item)) continue;
      if (!item.has_body())
        ask(statements_.list[static_cast<size_t>(item.statement)]);
      else if (item.what != Item::What::First)  // what it fills the loop behind it fills, too
        moves(item) ? loops.push_back(&item) : ask(item.body, -1);
    }
    if (number >= 0 && loops.size() > 1)
      ask(loops[std::min(static_cast<size_t>(number), loops.size() - 1)]->body, -1);
    else
      for (const Item* loop : loops) ask(loop->body, number);
  }

 private:
  bool reads(const Item& item) const {
    using What = Item::What;
    if (item.what == What::Update || item.what == What::Store || item.what == What::Fetch)
      return reads_[static_cast<size_t>(item.statement)];
    return std::any_of(item.body.begin(), item.body.end(), [this](const Item& inner) { return reads(inner); });
  }
  bool moves(const Item& loop) const {
    const std::vector<UOp> inside = ranges_of(loop);
    return std::any_of(inside.begin(), inside.end(), [this](UOp r) { return ranges_.depends(load_, r); });
  }
  void ask(Statement& s) const {
    if (std::find(s.prefetches.begin(), s.prefetches.end(), load_) == s.prefetches.end()) s.prefetches.push_back(load_);
  }

  const UOp load_;
  Statements& statements_;
  Ranges& ranges_;
  std::vector<uint8_t> reads_;  ///< per statement
};

}  // namespace

void place_prefetches(const std::vector<Item>& tree, Statements& statements, const Schedule& schedule, Ranges& ranges) {
  for (const auto& [load, ahead] : schedule.ahead) Readers(load, statements, ranges).ask(tree, ahead.loop);
}

}  // namespace sinter::codegen
