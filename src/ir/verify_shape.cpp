// One case per op whose shape may differ from its source's.
#include "ir/verify_shape.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/axis_lists.h"
#include "ir/lapack_call.h"

namespace sinter::ir {
namespace {

bool is_axis(int64_t a, size_t rank) { return a >= 0 && a < static_cast<int64_t>(rank); }

std::string region_error(UOp n, const Shape& outer, const Shape& inner, size_t offsets) {
  const Region& box = n->region();
  if (box.size() != outer.rank() || inner.rank() != outer.rank()) return "has a box of another rank";
  if (offsets != 0 && offsets != box.size()) return fmt::format("has {} offsets for {} axes", offsets, box.size());
  for (size_t i = 0; i < box.size(); ++i) {
    const int64_t begin = box[i].begin.value(), end = box[i].end.value();
    if (begin < 0 || end < begin || end > outer[i].value()) return fmt::format("its box leaves axis {}", i);
    const bool part = box[i].end.symbolic() && !(box[i].end == outer[i]);
    if (part && (begin != 0 || outer[i].symbolic() || box[i].end.bound() > outer[i].value()))
      return fmt::format("its box has an end on axis {} that may leave it", i);
    if (end - begin != inner[i].value()) return fmt::format("its box has another size on axis {}", i);
  }
  return {};
}

std::string reduce_error(UOp n) {
  const ReduceAttr& r = n->reduction();
  if (r.axes.empty()) return "reduces no axis";
  if (static_cast<int>(n->src.size()) != value_count(r.combine)) return "has ranges, or too few values";
  if (std::ranges::adjacent_find(r.axes, std::greater_equal<>()) != r.axes.end())
    return "names its axes out of order, or twice";
  for (UOp s : n->src)
    if (!(s->shape == n->src[0]->shape)) return "reduces values of different shapes";
  const Shape& from = n->src[0]->shape;
  for (int64_t a : r.axes)
    if (!is_axis(a, from.rank())) return fmt::format("reduces axis {}, which its source lacks", a);
  return n->shape == without(from, r.axes) ? "" : "reduced axes are gone, others keep their size";
}

std::string scan_error(UOp n) {
  const ReduceAttr& r = n->reduction();
  if (r.axes.size() != 1 || !is_axis(r.axes[0], n->rank())) return "scans along no axis of its source";
  ReductionTree chain;
  if (r.tree.block) chain.block = n->shape[r.axes[0]].bound();
  if (static_cast<int>(n->src.size()) != value_count(r.combine) || !(r.tree == chain))
    return "has ranges, too few values, or a tree";
  for (UOp s : n->src)
    if (!(s->shape == n->shape)) return "scans values of another shape";
  return {};
}

/// The index agrees with x on all axes except the picked one.
std::string pick_error(UOp n, const Shape& x, const Shape& index) {
  const int64_t axis = n->pick_axis();
  if (!is_axis(axis, x.rank()) || index.rank() != x.rank()) return "its axis or the index's rank does not fit";
  for (size_t i = 0; i < x.rank(); ++i)
    if (static_cast<int64_t>(i) != axis && !(x[i] == index[i])) return fmt::format("its index differs on axis {}", i);
  return {};
}

}  // namespace

std::string shape_error(UOp n) {
  if (n->src.empty()) {
    const bool scalar = n->op == Op::Const || n->op == Op::Var || n->op == Op::Arg || n->op == Op::Num;
    if (scalar && !n->shape.empty()) return "is a scalar with a shape";
    return n->op == Op::Arange && n->shape.rank() != 1 ? "counts along other than one axis" : "";
  }
  const Shape& from = n->src[0]->shape;
  const Shape& to = n->shape;
  switch (n->op) {
    case Op::Reshape: return from.numel() == to.numel() ? "" : "has another number of elements";
    case Op::Permute: {
      if (n->ints().size() != from.rank() || to.rank() != from.rank()) return "orders another number of axes";
      std::vector<bool> seen(from.rank());
      for (size_t i = 0; i < from.rank(); ++i) {
        const int64_t a = n->ints()[i];
        if (!is_axis(a, from.rank()) || seen[a]) return "orders no permutation";
        seen[a] = true;
        if (!(to[i] == from[a])) return fmt::format("axis {} has another size", i);
      }
      return {};
    }
    case Op::Expand:
      for (size_t i = 0; i < n->ints().size(); ++i) {
        const int64_t a = n->ints()[i];
        if (!is_axis(a, to.rank())) return fmt::format("repeats along axis {}, which it lacks", a);
        if (i && n->ints()[i - 1] >= a) return "names its axes out of order";
      }
      return from == without(to, n->ints()) ? "" : "its other axes differ from its source's";
    case Op::Shrink: return region_error(n, from, to, n->src.size() - 1);
    case Op::Pad: return region_error(n, to, from, n->src.size() - 1);
    case Op::Flip:
      for (int64_t a : n->ints())
        if (!is_axis(a, from.rank())) return fmt::format("flips axis {}, which its source lacks", a);
      return from == to ? "" : "changes the shape";
    case Op::Window: {
      const int64_t axis = n->get<WindowAttr>().axis;
      if (!is_axis(axis, from.rank()) || !is_axis(axis + 1, from.rank())) return "slides along an axis without taps";
      if (from[axis].symbolic() || to.rank() != from.rank()) return "slides along a symbolic axis";
      for (size_t i = 0; i < to.rank(); ++i)
        if (static_cast<int64_t>(i) != axis && !(to[i] == from[i])) return fmt::format("axis {} has another size", i);
      return {};
    }
    case Op::Reduce: return reduce_error(n);
    case Op::Scan: return scan_error(n);
    case Op::Gather:
      if (!(to == n->src[1]->shape)) return "has another shape than its index";
      return pick_error(n, from, to);
    case Op::Scatter:
      if (!(to == from) || !(n->src[1]->shape == n->src[2]->shape))
        return "base and result, or index and value, differ in shape";
      return pick_error(n, from, n->src[1]->shape);
    case Op::Sort:
      if (to.rank() == 0 || to.rank() != from.rank() || n->ints().size() != 3) return "sorts along no axis";
      for (size_t i = 0; i + 1 < to.rank(); ++i)
        if (!(to[i] == from[i])) return fmt::format("axis {} has another size", i);
      if (to[to.rank() - 1].symbolic() || from[from.rank() - 1].symbolic()) return "sorts along a symbolic axis";
      return n->ints()[0] < 0 || n->ints()[0] + to[to.rank() - 1].value() > from[from.rank() - 1].value()
                 ? "gives ranks that there are not"
                 : "";
    case Op::Lapack: return lapack_error(n, to, n->src);
    case Op::After:
      if (!std::holds_alternative<Region>(n->attr))
        return n->shape == n->src.back()->shape ? "" : "differs in shape from its value";
      if (!(to == from)) return "differs in shape from what it replaces";
      return n->src.size() < 2 ? "stores no value" : region_error(n, to, n->src[1]->shape, n->src.size() - 2);
    case Op::Custom:
      if (n->integer() < 0 || n->integer() >= static_cast<int64_t>(n->src.size())) return "is none of its values";
      return to == n->src[n->integer()]->shape ? "" : "differs in shape from its value";
    default:
      for (UOp s : n->src)
        if (!(s->shape == to))
          return fmt::format("differs in shape from a source: {} and {}", to_string(to), to_string(s->shape));
      return {};
  }
}

}  // namespace sinter::ir
