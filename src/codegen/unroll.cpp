// Whole short loops, some steps of long ones.
#include "codegen/unroll.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "codegen/gates.h"
#include "codegen/loop_tree.h"
#include "codegen/memory_node.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kUnrolled = 4;  ///< steps of a long loop
constexpr int kSpare = 3;     ///< registers beside a tile and the vectors of a step: LLVM loads what the next step begins with

/// How many steps of a product's sum of so many follow one another, rather earlier than later ones; none: as they are.
std::vector<int> unrolls_of(int64_t size) {
  if (size <= kWholeLoop) return size > 1 ? std::vector<int>{static_cast<int>(size)} : std::vector<int>();
  const auto dividing = [&](std::initializer_list<int> all) {
    std::vector<int> out;
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](int count) { return size % count == 0; });
    return out;
  };
  if (size <= 2 * kWholeLoop) return dividing({7, 6, 5, 4, 3, 2});  // a rest would be a large part
  std::vector<int> out = dividing({kUnrolled, 5, 7});
  if (size % kUnrolled) out.push_back(kUnrolled);
  return out;
}

}  // namespace

bool meets(View& view, UOp load, UOp copies, int width, UOp range, int count) {
  const int64_t step = view.stride(load, range), copy = copies ? view.stride(load, copies) : 0;
  if (step == 0 || copy == 0) return false;
  return step < 0 || copy < 0 || (copy < count * step && step < width * copy);
}

bool unrolls(View& view, const Work& product, const RegisterTile& tile, UOp range, int count, bool staged, const runtime::Target& target) {
  if (const UOp gate = common_gate(product.node); gate && view.depends(gate, range)) return false;
  const int left = target.vector_registers - tile.rows * tile.columns - tile.columns;
  if (left < kSpare) return false;
  return std::none_of(product.accesses.begin(), product.accesses.end(), [&](UOp a) {
    if (a->op != Op::Load) return false;
    if (const int64_t lane = tile.lanes && !staged ? view.stride(a, tile.lanes) : 0; lane < 0 || lane > 1) return true;
    const auto crowded = [&](UOp copies, int width) { return width + count - 1 > left && meets(view, a, copies, width, range, count); };
    return crowded(tile.first, tile.rows) || (tile.has_other() && crowded(tile.second, tile.columns));
  });
}

std::vector<Opt> unroll_products(Choice& c, std::vector<Opt> opts) {
  const bool staged = std::any_of(opts.begin(), opts.end(), [](const Opt& o) { return std::holds_alternative<Stage>(o); });
  for (const Choice::Product& p : c.products) {
    UOp r = p.work->own.back();
    if (c.width_of(r) > 1 || in(c.fixed, r)) continue;
    for (const int count : unrolls_of(c.view.size(r))) {
      if (!unrolls(c.view, *p.work, p.tile, r, count, staged, c.target)) continue;
      opts.push_back(Unroll{range_id(r), count});
      if (is_legal(c.kernel, opts)) break;  // a block of the range may hold no whole number of them
      opts.pop_back();
    }
  }
  return opts;
}

}  // namespace sinter::codegen
