// Checks every sum in which outer ranges occur; for a LOAD or STORE that is the whole offset. The collapsed range takes
// the place of the last of its parts and the others become 0, so the sums keep their values.
#include "codegen/normalize/normalize.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "rewrite/linear.h"
#include "rewrite/movement_index.h"

namespace sinter::codegen {
namespace {

/// Which outer ranges are contiguous with the next one.
class CollapsibleAxes {
 public:
  explicit CollapsibleAxes(const Kernel& kernel) : outer_(kernel.outer), contiguous_with_next_(outer_.size()) {
    for (size_t i = 0; i + 1 < outer_.size(); ++i)
      contiguous_with_next_[i] = !outer_[i].symbolic() && !outer_[i + 1].symbolic();
    todo_ = {kernel.sink};
    while (!todo_.empty() && any()) {
      UOp n = todo_.back();
      todo_.pop_back();
      if (seen_.insert(n.get()).second) visit(n);
    }
  }
  /// By range id; false for the last.
  const std::vector<bool>& contiguous_with_next() const { return contiguous_with_next_; }
  bool any() const { return ir::contains(contiguous_with_next_, true); }

 private:
  void visit(UOp n) {
    if (is_access(n)) {
      if (n->src[0]->shape.symbolic()) {  // keeps its dims
        for (UOp i : indices_of(n)) look(ir::linear_of(i));
      } else {
        look(ir::merge_divmod(offset_of(n)));
      }
      todo_.insert(todo_.end(), n->src.begin() + 1 + static_cast<std::ptrdiff_t>(n->src[0]->rank()), n->src.end());
    } else if (n->dtype == DType::Index) {
      look(ir::linear_of(n));
    } else {
      todo_.insert(todo_.end(), n->src.begin(), n->src.end());
    }
  }
  void look(const ir::LinearExpr& sum) {
    std::vector<int64_t> factors(outer_.size());
    for (const ir::LinearTerm& t : sum.terms)
      if (t.atom->op == Op::Range && is_outer(t.atom))
        factors[range_id(t.atom)] = t.factor;
      else
        todo_.insert(todo_.end(), t.atom->src.begin(), t.atom->src.end());
    for (size_t i = 0; i + 1 < outer_.size(); ++i)
      contiguous_with_next_[i] = contiguous_with_next_[i] && factors[i] == factors[i + 1] * outer_[i + 1].value();
  }

  const std::vector<Dim>& outer_;
  std::vector<bool> contiguous_with_next_;
  std::vector<UOp> todo_;
  std::unordered_set<ir::Node*> seen_;
};

/// Per slot of a Param: which of its dims are collapsed with the next, because collapsed ranges index them.
using CollapsedDims = std::map<int64_t, std::vector<bool>>;

CollapsedDims dims_of(const Kernel& kernel, const std::vector<bool>& contiguous_with_next) {
  FreeRanges ranges;
  std::vector<UOp> outer(contiguous_with_next.size());
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  for (UOp n : nodes)
    if (n->op == Op::Range && is_outer(n)) outer[range_id(n)] = n;
  CollapsedDims out;
  for (UOp n : nodes) {
    if (!is_access(n) || n->src[0]->shape.symbolic()) continue;
    const auto index = indices_of(n);
    std::vector<bool>& joined = out[slot_of(n)];
    joined.resize(index.size());
    for (size_t r = 0; r + 1 < outer.size(); ++r) {
      if (!contiguous_with_next[r] || !outer[r]) continue;
      const auto runs = [&](UOp i) { return ranges.depends(i, outer[r]) || ranges.depends(i, outer[r + 1]); };
      const auto first = std::ranges::find_if(index, runs);
      const auto last = std::find_if(index.rbegin(), index.rend(), runs);
      for (auto d = first - index.begin(); d + 1 < index.rend() - last; ++d) joined[d] = true;
    }
  }
  return out;
}

/// A Param with its collapsed dims.
UOp collapsed_param(ir::Graph& g, UOp param, const std::vector<bool>& joined) {
  Shape shape;
  int64_t size = 1;
  for (size_t d = 0; d < joined.size(); ++d) {
    size *= param->shape[d].value();
    if (joined[d]) continue;
    shape.push_back(size);
    size = 1;
  }
  return ir::param(g, param->integer(), param->dtype, shape, param->device);
}

/// A LOAD or STORE with these sources. The first is its Param with collapsed dims.
UOp collapsed_access(ir::Graph& g, UOp access, const std::vector<UOp>& src, const std::vector<bool>& joined) {
  std::vector<UOp> now{src[0]};
  ir::LinearExpr sum;
  for (size_t d = 0; d < joined.size(); ++d) {
    sum = ir::plus(ir::times(sum, access->src[0]->shape[d].value()), ir::linear_of(src[1 + d]));
    if (joined[d]) continue;
    now.push_back(ir::to_uop(g, ir::merge_divmod(sum)));
    sum = {};
  }
  now.insert(now.end(), src.begin() + 1 + static_cast<std::ptrdiff_t>(joined.size()), src.end());
  return g.make({access->op, access->dtype, access->shape, now, access->attr, access->device});
}

}  // namespace

void collapse_axes(Kernel& kernel) {
  if (kernel.epilogue_sink || kernel.outer.size() < 2) return;  // epilogue ranges are numbered after those of the sink
  const CollapsibleAxes axes(kernel);
  if (!axes.any()) return;
  const CollapsedDims dims = dims_of(kernel, axes.contiguous_with_next());

  ir::Graph& g = *kernel.graph;
  std::vector<Dim> outer;
  std::vector<UOp> places;  // replacements of the old ranges
  Dim size = 1;
  for (size_t i = 0; i < kernel.outer.size(); ++i) {
    size = size == 1 ? kernel.outer[i] : Dim(size.value() * kernel.outer[i].value());
    if (axes.contiguous_with_next()[i]) {
      places.push_back(ir::constant(g, DType::Index, 0));
      continue;
    }
    outer.push_back(size);
    places.push_back(ir::range(ir::extent_of(g, size), static_cast<int>(outer.size()) - 1, ir::AxisKind::Outer));
    size = 1;
  }
  const int left = static_cast<int>(kernel.outer.size() - outer.size());
  kernel.sink = ir::rebuild(g, kernel.sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op == Op::Range) {
      const int id = range_id(n);
      return is_outer(n) ? places[id] : ir::range(src[0], id - left, ir::AxisKind::Inner);
    }
    if (const auto it = n->op == Op::Param ? dims.find(n->integer()) : dims.end(); it != dims.end())
      return collapsed_param(g, n, it->second);
    if (const auto it = is_access(n) ? dims.find(slot_of(n)) : dims.end(); it != dims.end())
      return collapsed_access(g, n, src, it->second);
    if (n->dtype == DType::Index && (n->op == Op::Add || n->op == Op::Mul))  // fold the zeros
      return ir::to_uop(g, ir::linear_of(g.make({n->op, n->dtype, {}, src, n->attr, n->device})));
    return {};
  });
  kernel.outer = std::move(outer);
}

}  // namespace sinter::codegen
