// Merges a sum over windows of a sum of products into one sum of products: the inner axes move to the front of the
// factors, where the views do not touch them. A slice of a sum of products becomes a sum of sliced factors.
#include "schedule/simplify/simplify.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/splat.h"
#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

ir::Ints shifted(ir::Ints axes, size_t by) {
  for (int64_t& a : axes) a += static_cast<int64_t>(by);
  return axes;
}

/// The sizes of `lead`, then those of `shape`.
Shape joined(const std::vector<Dim>& lead, const Shape& shape) {
  std::vector<Dim> dims = lead;
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(dims);
}

ir::Region joined(const std::vector<Dim>& lead, const ir::Region& box) {
  ir::Region out = ir::full_region(Shape(lead));
  out.insert(out.end(), box.begin(), box.end());
  return out;
}

/// Applies `movement` to x, which has the axes `lead` in front; null if it cannot be applied.
UOp moved(UOp x, UOp movement, const std::vector<Dim>& lead) {
  switch (movement->op) {
    case Op::Reshape: return ir::reshape(x, joined(lead, movement->shape));
    case Op::Permute: {
      ir::Ints order = ir::all_axes(lead.size());
      for (int64_t a : shifted(movement->ints(), lead.size())) order.push_back(a);
      return ir::permute(x, order);
    }
    case Op::Shrink: return ir::shrink(x, joined(lead, movement->region()));
    case Op::Pad: return ir::pad(x, joined(lead, movement->region()), joined(lead, movement->shape));
    case Op::Flip: return ir::flip(x, shifted(movement->ints(), lead.size()));
    case Op::Window: {
      const ir::WindowAttr& w = movement->get<ir::WindowAttr>();
      return ir::slide(x, w.axis + static_cast<int64_t>(lead.size()), w.step, movement->shape[w.axis].value());
    }
    default: return {};
  }
}

/// A movement op that does not broadcast and has no dynamic offset.
bool movable(UOp n) { return ir::is_movement(n->op) && n->op != Op::Expand && n->src.size() == 1; }

/// Merges `outer`, a sum of `source`, with the inner sum or product that `source` is a view of; null if it cannot.
UOp join(UOp outer, UOp source, const std::unordered_set<UOp>& shared) {
  std::vector<UOp> views;
  bool slides = false;
  UOp inner = source;
  for (; movable(inner) && !shared.contains(inner); inner = inner->src[0]) {
    slides |= inner->op == Op::Window;
    views.push_back(inner);
  }
  const bool sums = is_reduce(inner, ir::Combine::Add);
  if (!slides || shared.contains(inner) || source->shape.bound() > 2 * inner->shape.bound()) return {};
  const UOp product = sums ? inner->src[0] : inner;
  if (product->op != Op::Mul || ir::splat_const(product->src[0]) || ir::splat_const(product->src[1])) return {};
  const ir::Ints summed = sums ? inner->reduction().axes : ir::Ints{};
  std::vector<Dim> lead = ir::mapped(summed, [&](int64_t a) { return product->shape[a]; });
  ir::Ints order = summed;
  for (int64_t a = 0; a < static_cast<int64_t>(product->rank()); ++a)
    if (!std::ranges::binary_search(summed, a)) order.push_back(a);
  std::vector<UOp> factors;
  for (UOp x : product->src) {
    x = ir::permute(x, order);
    for (size_t i = views.size(); i-- > 0;) x = moved(x, views[i], lead);
    factors.push_back(x);
  }
  ir::Ints axes = ir::all_axes(lead.size());
  for (int64_t a : shifted(outer->reduction().axes, lead.size())) axes.push_back(a);
  return ir::sum(factors[0] * factors[1], std::move(axes));
}

/// A slice of a sum of products as the sum of sliced factors: what lies outside is not computed where the sum is
/// stored. Null if it is no such slice.
UOp narrowed(UOp slice, UOp sum, const std::unordered_set<UOp>& shared) {
  if (slice->op != Op::Shrink || slice->src.size() > 1 || !is_reduce(sum, ir::Combine::Add) || shared.contains(sum))
    return {};
  const UOp product = sum->src[0];
  if (product->op != Op::Mul) return {};
  const ir::Ints& axes = sum->reduction().axes;
  ir::Region box;
  for (size_t a = 0, kept = 0; a < product->rank(); ++a)
    box.push_back(std::ranges::binary_search(axes, static_cast<int64_t>(a))
                      ? ir::full_region(Shape({product->shape[a]}))[0]
                      : slice->region()[kept++]);
  return ir::sum(ir::shrink(product->src[0], box) * ir::shrink(product->src[1], box), axes);
}

}  // namespace

void merge_nested_sums(PlanGraph& plan) {
  const std::vector<UOp> roots = values_of(plan);
  const std::vector<UOp> order = ir::topological(roots);
  if (std::ranges::none_of(order, [](UOp n) { return n->op == Op::Window; })) return;
  std::unordered_map<UOp, int> uses;
  for (UOp r : roots) ++uses[r];
  for (UOp n : order)
    for (UOp s : n->src) ++uses[s];
  std::unordered_set<UOp> shared;  // new nodes with several users
  rebuild(plan, [&](UOp n, const std::vector<UOp>& src) {
    UOp made;
    if (is_reduce(n, ir::Combine::Add)) made = join(n, src[0], shared);
    if (n->op == Op::Shrink) made = narrowed(n, src[0], shared);
    if (!made) made = src == n->src ? n : ir::with_sources(*plan.graph, n, src);
    if (uses[n] > 1) shared.insert(made);
    return made;
  });
}

}  // namespace sinter::schedule
