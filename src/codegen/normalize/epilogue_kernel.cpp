// Replaces common inner ranges by outer ranges.
#include "codegen/normalize/normalize.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "codegen/kernel/access.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/rebuild.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

/// Whether a task may read what another one writes. It may read the element that it writes itself.
bool reads_other_results(UOp sink) {
  std::map<int64_t, UOp> written;  // slot -> STORE; null: several
  for (UOp store : sink->src)
    if (const auto [it, fresh] = written.try_emplace(slot_of(store), store); !fresh) it->second = {};
  const std::vector<UOp> nodes = ir::topological(sink);
  return std::ranges::any_of(nodes, [&](UOp n) {
    const auto it = n->op == Op::Load ? written.find(slot_of(n)) : written.end();
    return it != written.end() && !(it->second && std::ranges::equal(indices_of(n), indices_of(it->second)));
  });
}

/// Ranges of constant size that all stores run over and no REDUCE or SCAN binds, by id. None if a store adds.
std::vector<UOp> common_ranges(UOp sink) {
  FreeRanges free;
  std::vector<UOp> all, closed;
  for (UOp n : ir::topological(sink))
    if (has_accumulators(n))
      for (UOp r : ranges_of(n)) closed.push_back(r);
  for (UOp n : ir::topological(sink))
    if (n->op == Op::Range && !ir::contains(closed, n) && n->src[0]->op == Op::Const &&
        std::ranges::all_of(sink->src, [&](UOp store) { return store->integer() == 0 && free.depends(store, n); }))
      all.push_back(n);
  std::ranges::sort(all, [](UOp a, UOp b) { return range_id(a) < range_id(b); });
  return all;
}

}  // namespace

Kernel make_epilogue_kernel(const Kernel& kernel, const runtime::Target& target) {
  Kernel last = kernel;
  last.name += "_finish";
  last.sink = kernel.epilogue_sink;
  last.epilogue_sink = {};
  last.outer.clear();
  if (!target.cuda() || reads_other_results(last.sink)) return last;
  std::unordered_map<UOp, int> places;
  for (UOp r : common_ranges(last.sink)) {
    places[r] = static_cast<int>(last.outer.size());
    last.outer.emplace_back(r->src[0]->scalar().as_int());
  }
  const int count = static_cast<int>(last.outer.size());
  last.sink = ir::rebuild(*last.graph, last.sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Range) return {};
    auto it = places.find(n);
    return it != places.end() ? ir::range(src[0], it->second, AxisKind::Outer)
                              : ir::range(src[0], range_id(n) + count, AxisKind::Inner);
  });
  collapse_axes(last);
  return last;
}

}  // namespace sinter::codegen
