#include "codegen/tune/gpu/thread_loop.h"

#include <algorithm>

#include "codegen/nest/live_iterations.h"
#include "ir/ceil_div.h"
#include "ir/contains.h"
#include "ir/scalar_eval.h"

namespace sinter::codegen {

/// Recursion depth: that of the index.
std::optional<int64_t> index_at(UOp index, const std::function<int64_t(UOp)>& value_of_range) {
  if (index->op == ir::Op::Range) return value_of_range(index);
  if (index->op == ir::Op::Const) return index->scalar().as_int();
  if (!ir::is_alu(index->op) || is_float(index->dtype)) return {};
  std::vector<ir::Scalar> src;
  for (UOp s : index->src) {
    const std::optional<int64_t> value = index_at(s, value_of_range);
    if (!value) return {};
    src.push_back(ir::Scalar::of(s->dtype, *value));
  }
  return ir::evaluate(index->op, index->dtype, index->src.back()->dtype, src).as_int();
}

std::vector<ThreadLoop> thread_loops_of(const Statement& s, const LoopSchedule& schedule, FreeRanges& ranges) {
  std::vector<ThreadLoop> out;
  const std::vector<UOp> own = s.is_reduce() ? ranges_of(s.node) : std::vector<UOp>{};
  for (const LoopLevel& l : s.loops) {
    const LoopAxis& a = schedule.of(l.range);
    auto block_of_level = [&](int level) {
      const LoopAxis& blocks = a.window ? schedule.of(a.window->along) : a;
      int64_t block = max_trip_count(blocks.range);
      if (level >= 0)
        block = std::min(block, blocks.steps[level]);
      else if (blocks.outer())
        block = std::min(block, blocks.block);
      return a.window ? a.window->extent(block) : block;
    };
    ThreadLoop t{l.range};
    t.extent = block_of_level(l.fills ? l.covers : l.number - 1);
    if (l.joined_values == 1) t.step = t.extent;
    if (l.joined_values) t.extent = l.joined_values;
    t.own = ir::contains(own, l.range);
    if (l.straight && !t.own && !ranges.depends(s.node, l.range)) {
      out.push_back({l.range});
      continue;
    }
    if (l.number + 1 < a.levels() && !l.fills) {
      t.step = a.steps[l.number];
      t.iterations = static_cast<double>(ceil_div(t.extent, t.step));
    } else {
      // What ends inside a tile of a tensor core has the code of whole tiles.
      const int64_t inside = l.warp.threads > 1 ? int64_t{1} * l.lanes * l.warp.copies : 1;
      const auto each = static_cast<double>(inside * ceil_div(t.extent, inside * l.threads * l.warp.threads));
      t.lanes = l.lanes;
      if (l.warp.threads > 1) t.digits.push_back({l.warp.threads, l.warp.stride, l.lanes});
      if (l.threads > 1)
        t.digits.push_back({l.threads, l.thread_stride, int64_t{1} * l.lanes * l.warp.threads * l.warp.copies});
      t.copies = std::min(each, static_cast<double>(l.lanes * l.unroll));
      t.iterations = std::max(1.0, each / t.copies);
    }
    if (l.live) t.iterations *= live_share(l, schedule);
    out.push_back(t);
  }
  // A loop that fills a tile has its own lanes, copies and threads, inside the loops of the tile's user.
  for (size_t i = 0; i < out.size(); ++i)
    for (size_t k = i + 1; k < out.size(); ++k)
      if (s.loops[k].fills && !s.loops[i].fills && s.loops[k].range == s.loops[i].range) {
        out[i].copies = out[i].lanes = 1;
        out[i].digits.clear();
        if (s.loops[k].joined_values == 1) out[i].extent = ceil_div(out[i].extent, out[k].step);
      }
  return out;
}

std::vector<ThreadLoop> factor_loops(const Statement& s, std::vector<ThreadLoop> loops) {
  for (ThreadLoop& t : loops)
    if (t.range == s.mma->columns && t.lanes > 1) {
      t.copies /= t.lanes;
      t.lanes = 1;
      t.digits[0] = {kMmaFactorColumns.warp.threads, kMmaFactorColumns.warp.stride, 1};
    }
  return loops;
}

std::vector<ThreadLoop> matrix_loops(const Statement& s, std::vector<ThreadLoop> loops, bool rows, bool transposed) {
  for (ThreadLoop& t : loops) {
    const bool depth = t.range == s.loops.back().range;
    if (!depth && !(t.range == (rows ? s.mma->rows : s.mma->columns))) continue;
    if (t.digits.empty()) continue;
    const ThreadLoop::ThreadDigit warps = t.digits.back();
    const bool several = t.digits.size() > 1;
    t.digits.clear();
    if (depth == transposed) t.digits.push_back({kMatrixRows, 1, 1});
    if (depth) t.digits.push_back({2, rows ? 16 : 8, matrix_row(s.node->src[0]->dtype)});
    if (!depth && rows) t.digits.push_back({2, 8, kMatrixRows});
    if (several) t.digits.push_back(warps);
  }
  return loops;
}

}  // namespace sinter::codegen
