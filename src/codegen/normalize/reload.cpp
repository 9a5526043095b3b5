// Finds the stores that may move to the front, and replaces their values below blocked REDUCEs by loads.
#include "codegen/normalize/normalize.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "codegen/kernel/access.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/rebuild.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

bool in_blocks(UOp n) { return n->op == Op::Reduce && n->reduction().tree.block > 0; }

class Reloader {
 public:
  explicit Reloader(const Kernel& kernel) : kernel_(kernel) {
    for (UOp n : ir::topological(kernel.sink)) {
      if (in_blocks(n))
        for (UOp v : values_of(n)) summed_.insert(v.get());
      if (n->op == Op::Range && is_outer(n)) outer_.push_back(n);
    }
  }

  UOp run() {
    std::vector<UOp> first, others;
    for (UOp store : kernel_.sink->src) {
      UOp value = stored_value(store);
      if (!summed_.contains(value.get()) || loads_.contains(value) || !ir::is_alu(value->op) ||
          !may_come_first(store)) {
        others.push_back(store);
        continue;
      }
      first.push_back(store);
      loads_[value] = ir::load(store->src[0], indices_of(store));
    }
    if (first.empty()) return kernel_.sink;
    for (UOp made :
         ir::rebuild(*kernel_.graph, others, [&](UOp n, const std::vector<UOp>& src) { return change(n, src); }))
      first.push_back(made);
    return ir::sink(*kernel_.graph, first);
  }

 private:
  /// Whether a store may move to the front: each task stores everything it sums, and no other store conflicts. The load
  /// depends on every range of the store: a value that is stored several times would gain one.
  bool may_come_first(UOp store) {
    if (store->integer() != 0 || predicate_of(store)) return false;
    if (ranges_.free(store) != ranges_.free(stored_value(store))) return false;
    if (outer_.size() != kernel_.outer.size()) return false;
    if (!std::ranges::all_of(outer_, [&](UOp r) { return ranges_.depends(store, r); })) return false;
    std::set<int64_t> read;
    for (UOp n : ir::topological(store)) {
      if (in_blocks(n)) return false;  // would be computed twice: for the store, and from loads for the others
      if (n->op == Op::Load) read.insert(slot_of(n));
    }
    bool before = true;
    for (UOp other : kernel_.sink->src) {
      before &= !(other == store);
      if (other == store) continue;
      if (slot_of(other) == slot_of(store) || read.contains(slot_of(other))) return false;
      for (UOp n : ir::topological(other))
        if (before && n->op == Op::Load && slot_of(n) == slot_of(store)) return false;
    }
    return true;
  }

  UOp change(UOp n, const std::vector<UOp>& src) {
    if (!in_blocks(n)) return {};
    std::vector<UOp> now = src;
    for (size_t i = 0; i < values_of(n).size(); ++i)
      if (auto it = loads_.find(n->src[i]); it != loads_.end()) now[i] = it->second;
    return now == src ? UOp() : ir::with_sources(*kernel_.graph, n, now);
  }

  const Kernel& kernel_;
  FreeRanges ranges_;
  std::vector<UOp> outer_;
  std::set<ir::Node*> summed_;
  std::unordered_map<UOp, UOp> loads_;  ///< stored value to the LOAD that replaces it
};

}  // namespace

UOp reload_stores(const Kernel& kernel) { return Reloader(kernel).run(); }

}  // namespace sinter::codegen
