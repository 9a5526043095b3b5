// Reshapes, reductions of the blocks, scans of their results, and the merge of a combine as elementwise ops.
#include "schedule/simplify/scan_blocks.h"

#include <algorithm>
#include <unordered_map>

#include "ir/ceil_div.h"
#include "ir/combine.h"
#include "ir/one_axis.h"
#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

using States = std::vector<UOp>;  ///< a value for each accumulator, all of one shape

/// A divisor of n near `wanted`, multiples of 16 first; else `wanted`.
int64_t piece_of(int64_t n, int64_t wanted) {
  int64_t best = 0, whole = 0;
  for (int64_t d = wanted / 2; d <= wanted * 2; ++d) {
    int64_t& found = d % 16 == 0 ? whole : best;
    if (n % d == 0 && (found == 0 || std::abs(d - wanted) < std::abs(found - wanted))) found = d;
  }
  return whole ? whole : best ? best : wanted;
}

/// Writes one scan.
class ScanBlocks {
 public:
  explicit ScanBlocks(UOp scan) : attr_(scan->reduction()), at_(static_cast<size_t>(attr_.axes[0])) {}

  UOp write(const std::vector<UOp>& values, const std::vector<int64_t>& axes) const {
    const Shape& given = values[0]->shape;
    const int64_t length = given[at_].value();
    int64_t filled = 1;
    for (int64_t size : axes) filled *= size;
    States elements;
    for (UOp v : values)
      elements.push_back(ir::reshape(padded(v, 0, filled, elements.size()), ir::replace_axis(given, at_, axes)));
    const size_t depth = axes.size();
    const ir::Ints innermost{static_cast<int64_t>(at_ + depth - 1)};
    States all, results;
    for (size_t k = 0; k < elements.size(); ++k) {
      all.push_back(scan(elements, depth - 1, k, axes.back()));
      // Stored: as part of the next scan, a chain of all elements of a group would be one task.
      results.push_back(ir::contiguous(ir::reduce(attr_.combine, elements, innermost, static_cast<int>(k))));
    }
    for (size_t level = depth - 1; level-- > 0;) {
      States before, last;
      if (level == 0) {
        before = prefixes(results, axes[0]);
      } else {
        States inside;
        for (size_t k = 0; k < results.size(); ++k) inside.push_back(scan(results, level, k, 0));
        for (size_t k = 0; k < inside.size(); ++k) {
          before.push_back(
              padded(ir::shrink_axis(inside[k], at_ + level, 0, axes[level] - 1), 1, axes[level], k, at_ + level));
          last.push_back(drop(ir::shrink_axis(inside[k], at_ + level, axes[level] - 1, axes[level]), at_ + level));
        }
      }
      ir::Ints inner;
      for (size_t i = level + 1; i < depth; ++i) inner.push_back(static_cast<int64_t>(at_ + i));
      for (UOp& b : before) b = ir::expand(b, all[0]->shape, inner);
      all = merged(before, all);
      results = last;
    }
    // Stored in these axes, as other scans are: along those of its users no loop would be that of a block.
    const UOp joined = ir::contiguous(all[attr_.result]);
    const UOp whole = ir::reshape(joined, ir::replace_axis(given, at_, {filled}));
    return filled == length ? whole : ir::shrink_axis(whole, at_, 0, length);
  }

 private:
  /// Without an axis of size 1.
  static UOp drop(UOp x, size_t axis) { return ir::reshape(x, ir::replace_axis(x->shape, axis, {})); }

  /// x at `begin` of `size` elements along the axis, with the identity of accumulator `k` around it.
  UOp padded(UOp x, int64_t begin, int64_t size, size_t k, size_t axis) const {
    const int64_t length = x->shape[axis].value();
    if (length == size) return x;
    ir::Region box = ir::full_region(x->shape);
    box[axis] = {begin, begin + length};
    const Shape shape = ir::replace_axis(x->shape, axis, {size});
    const UOp placed = ir::pad(x, box, shape);
    const ir::Scalar none = ir::reduction_identity(attr_.combine, x->dtype, static_cast<int>(k));
    if (none == ir::Scalar::of(x->dtype, 0)) return placed;
    return ir::where(ir::pad(ir::true_like(x), box, shape), placed, ir::like(placed, none));
  }
  UOp padded(UOp x, int64_t begin, int64_t size, size_t k) const { return padded(x, begin, size, k, at_); }

  UOp scan(const States& values, size_t level, size_t k, int64_t block) const {
    ir::ReduceAttr attr{attr_.combine, {static_cast<int64_t>(at_ + level)}, {}, static_cast<int>(k)};
    attr.tree.block = block;
    return values[0]->graph->make(
        {Op::Scan, values[k]->dtype, values[k]->shape, ir::Sources(values.begin(), values.end()), std::move(attr)});
  }

  /// The results before each one along the axis, joined in order.
  States prefixes(const States& results, int64_t size) const {
    const Shape pairs = ir::replace_axis(results[0]->shape, at_, {size, size});
    const auto axis = static_cast<int64_t>(at_);
    const UOp like = results[0];
    const auto number = [&](int64_t at) { return ir::axis_iota(*like->graph, pairs, at, like->device); };
    const UOp before = ir::lt(number(axis + 1), number(axis));
    States chosen, out;
    for (size_t k = 0; k < results.size(); ++k) {
      const UOp all = ir::expand(results[k], pairs, {axis});
      chosen.push_back(ir::where(
          before, all, ir::like(all, ir::reduction_identity(attr_.combine, all->dtype, static_cast<int>(k)))));
    }
    for (size_t k = 0; k < results.size(); ++k)
      out.push_back(ir::reduce(attr_.combine, chosen, {axis + 1}, static_cast<int>(k)));
    return out;
  }

  /// The merge of the combine on whole tensors.
  States merged(const States& a, const States& b) const {
    std::vector<DType> types = ir::mapped(a, [](UOp x) { return x->dtype; });
    const ir::CombineGraph rule = ir::combine_merge(attr_.combine, types);
    std::unordered_map<UOp, UOp> made;
    for (UOp n : ir::topological(rule.next)) {
      if (n->op == Op::Arg) {
        const auto i = static_cast<size_t>(n->integer());
        made[n] = i < a.size() ? a[i] : b[i - a.size()];
      } else if (n->op == Op::Const) {
        UOp number = ir::constant(*a[0]->graph, n->scalar(), n->dtype, a[0]->device);
        made[n] = ir::broadcast_to(number, a[0]->shape);
      } else {
        auto src = ir::mapped<ir::Sources>(n->src, [&](UOp s) { return made.at(s); });
        made[n] = a[0]->graph->make({n->op, n->dtype, a[0]->shape, std::move(src), n->attr});
      }
    }
    return ir::mapped<States>(rule.next, [&](UOp n) { return made.at(n); });
  }

  const ir::ReduceAttr& attr_;
  const size_t at_;
};

}  // namespace

std::vector<int64_t> scan_axes(int64_t length) {
  if (length <= kLongestScan) return {};
  std::vector<int64_t> axes{piece_of(length, kScanBlock)};
  int64_t rest = ceil_div(length, axes[0]);
  while (rest > kScanPrefixes) {
    axes.push_back(piece_of(rest, kScanGroup));
    rest = ceil_div(rest, axes.back());
  }
  axes.push_back(rest);
  std::ranges::reverse(axes);
  return axes;
}

void cut_scans(PlanGraph& plan) {
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Scan || n->reduction().combine == ir::Combine::Dot) return {};
    const Dim& size = n->shape[n->reduction().axes[0]];
    const std::vector<int64_t> axes = size.symbolic() ? std::vector<int64_t>() : scan_axes(size.value());
    return axes.empty() ? UOp() : ScanBlocks(n).write(src, axes);
  });
}

}  // namespace sinter::schedule
