// Vectors along the innermost outer range where memory lies along it, register copies of the ranges around it.
#include "codegen/heuristic.h"

#include <algorithm>

#include "codegen/ranges.h"
#include "rewrite/linear.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::AxisKind;
using ir::Op;
using ir::UOp;

/// How many values a range has; 0 where that is known at the launch only.
int64_t size_of_range(UOp range) { return range->src[0]->op == Op::Const ? range->src[0]->scalar().as_int() : 0; }

/// Whether neighbours along the range are neighbours in memory.
bool contiguous(Ranges& ranges, UOp access, UOp range) {
  const size_t rank = access->src[0]->rank();
  if (rank == 0) return false;
  for (size_t d = 0; d + 1 < rank; ++d)
    if (ranges.depends(access->src[1 + d], range)) return false;
  return ir::linear_of(access->src[rank]).factor(range) == 1;
}

}  // namespace

std::vector<Opt> heuristic(const Kernel& kernel, const runtime::Target& target) {
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  Ranges ranges;
  std::vector<UOp> outer(kernel.outer.size());
  bool reduces = false, lanes_inside = false;
  for (UOp n : nodes)
    if (n->op == Op::Range && range_kind(n) == AxisKind::Outer) outer[static_cast<size_t>(range_id(n))] = n;
  const int last = static_cast<int>(outer.size()) - 1;
  if (last < 0 || !outer.back()) return {};
  const UOp j = outer.back();
  // The last block of a range may be shorter: its loops inside run from point to point.
  for (UOp n : nodes)
    if (n->op == Op::Range && ranges.free(n->src[0]).any()) return {};
  bool along = false;
  for (UOp n : nodes) {
    if (n->op == Op::Reduce) {
      for (UOp r : ranges_of(n)) reduces |= ranges.free(n)[ranges.number(j)] && size_of_range(r) != 1;
      lanes_inside |= n->reduction().tree.lanes > 1;
    }
    if (n->op == Op::Load || n->op == Op::Store) along |= contiguous(ranges, n, j);
  }
  const int64_t size = size_of_range(j);
  std::vector<Opt> opts;
  std::vector<int64_t> width(outer.size(), 1);
  if (lanes_inside) {
    if (size >= 4) opts.push_back(Unroll{last, 4}), width.back() = 4;
    if (last > 0 && outer[static_cast<size_t>(last) - 1] && size_of_range(outer[static_cast<size_t>(last) - 1]) >= 8)
      opts.push_back(Unroll{last - 1, 2}), width[static_cast<size_t>(last) - 1] = 2;
  } else {
    int lanes = target.vector_bytes / 4;
    while (lanes > 1 && size && size < lanes) lanes /= 2;
    if (along && lanes > 1) {
      if (reduces && last > 0 && outer[static_cast<size_t>(last) - 1] &&
          size_of_range(outer[static_cast<size_t>(last) - 1]) >= 8)
        opts.push_back(Unroll{last - 1, 4}), width[static_cast<size_t>(last) - 1] = 4;
      opts.push_back(Lanes{last, lanes});
      const int copies = reduces && size >= 4 * lanes ? 4 : 1;
      if (copies > 1) opts.push_back(Unroll{last, copies});
      width.back() = lanes * copies;
    }
  }
  int64_t points = 1;
  for (const Dim& d : kernel.outer) points *= d.bound();
  int64_t each = std::clamp<int64_t>(points / (8 * target.parallel_units), 1, 4096);
  for (size_t i = outer.size(); i-- > 0;) {
    const int64_t block = (each + width[i] - 1) / width[i] * width[i];
    if (block > width[i]) opts.push_back(Block{static_cast<int>(i), block});
    each = std::max<int64_t>(each / std::min(block, std::max<int64_t>(kernel.outer[i].bound(), 1)), 1);
    if (each == 1) break;
  }
  return opts;
}

}  // namespace sinter::codegen
