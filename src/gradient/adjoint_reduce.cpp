// Derivatives of reductions.
#include <limits>

#include "gradient/adjoint.h"
#include "ir/one_axis.h"
#include "sinter/error.h"

namespace sinter::autodiff {
namespace {

using namespace sinter::ir;

/// For each element, the product of all others along the axis. Without division, so correct with zeros and
/// differentiable to every order. A tree: halves are multiplied until one element is left. On the way back, each half
/// gets its parent's product times its sibling. Work is linear in the axis, which is first padded with ones to a power
/// of two.
UOp product_of_others(UOp x, size_t axis) {
  const Shape shape = x->shape;
  const int64_t size = shape[axis].value();
  int64_t width = 1;
  while (width < size) width *= 2;
  Region box = full_region(shape);
  const Shape filled = replace_axis(shape, axis, {width});
  if (size != width) {
    UOp inside = pad(true_like(x), box, filled);
    x = pad(x, box, filled);
    x = where(inside, x, like(x, 1.0));
  }
  std::vector<UOp> levels{x};
  for (int64_t half = width / 2; half > 0; half /= 2) {
    UOp level = levels.back();
    levels.push_back(shrink_axis(level, axis, 0, half) * shrink_axis(level, axis, half, 2 * half));
  }
  UOp others = like(levels.back(), 1.0);
  for (int64_t half = 1; half < width; half *= 2) {
    levels.pop_back();
    const Shape pairs = replace_axis(shape, axis, {2, half});
    UOp siblings = flip(reshape(levels.back(), pairs), {static_cast<int64_t>(axis)});
    UOp parents = expand(others, pairs, {static_cast<int64_t>(axis)});
    others = reshape(parents * siblings, replace_axis(shape, axis, {2 * half}));
  }
  return size == width ? others : shrink(others, box);
}

/// The same along a symbolic axis, where no tree can be built: all pairs, with 1 in place of the element itself.
UOp product_of_others_symbolic(UOp x, size_t axis) {
  const Dim size = x->shape[axis];
  const Shape pairs = replace_axis(x->shape, axis, {size, size});
  auto number = [&](size_t at) { return axis_iota(*x->graph, pairs, static_cast<int64_t>(at), x->device); };
  UOp all = expand(x, pairs, {static_cast<int64_t>(axis)});
  UOp others = where(eq(number(axis), number(axis + 1)), like(all, 1.0), all);
  return reduce(Combine::Mul, others, {static_cast<int64_t>(axis) + 1});
}

/// One axis at a time, so that symbolic sizes are never multiplied. From the last to the first: the numbers of the axes
/// before it stay valid.
void product(Adjoint& a) {
  const Ints& axes = a.n->reduction().axes;
  std::vector<UOp> partial{a.src(0)};
  for (size_t i = axes.size(); i-- > 0;) partial.push_back(reduce(Combine::Mul, partial.back(), {axes[i]}));
  UOp g = a.g;
  for (int64_t at : axes) {
    partial.pop_back();
    UOp x = partial.back();
    const auto axis = static_cast<size_t>(at);
    UOp others = x->shape[axis].symbolic() ? product_of_others_symbolic(x, axis) : product_of_others(x, axis);
    g = expand(g, x->shape, {at}) * others;
  }
  a.give(0, g);
}

void reduction(Adjoint& a) {
  UOp x = a.src(0);
  const ReduceAttr& r = a.n->reduction();
  const auto repeated = [&](UOp y) { return expand(y, x->shape, r.axes); };
  switch (r.combine) {
    case Combine::Add: return a.give(0, repeated(a.g));
    case Combine::Mul: return product(a);
    case Combine::Max:
    case Combine::Min: {  // equal elements share (SEMANTICS G7)
      UOp taken = eq(x, repeated(a.n));
      UOp count = sum(cast(taken, x->dtype), r.axes);
      return a.give(0, where(taken, repeated(a.g / count), like(x, 0.0)));
    }
    case Combine::ArgMax: {  // of the maximum itself: its index takes all
      UOp place = reduce(r.combine, a.n->src, r.axes, 1);
      return a.give(0, where(eq(a.src(1), repeated(place)), repeated(a.g), like(x, 0.0)));
    }
    default: throw InternalError("gradient of a combine that plans choose after differentiation");
  }
}

/// x[i - 1] along the axis; at its begin the number.
UOp previous(UOp x, int64_t axis, double begin) {
  const auto at = static_cast<size_t>(axis);
  const UOp place = axis_iota(*x->graph, x->shape, axis, x->device);
  const UOp first = eq(place, like(place, 0.0));
  UOp before;
  if (const Dim& size = x->shape[at]; size.symbolic()) {
    before = gather(x, maximum(place - like(place, 1.0), like(place, 0.0)), axis);
  } else if (size.value() <= 1) {
    return like(x, begin);
  } else {
    Region box = full_region(x->shape);
    box[at].begin = 1;
    before = pad(shrink_axis(x, at, 0, size.value() - 1), box, x->shape);
  }
  return where(first, like(x, begin), before);
}

/// r[i] = g[i] + a[i + 1] * r[i + 1]: what reaches element i of the recurrence y[i] = a[i] * y[i - 1] + ... from all
/// later ones. Without division, and a scan itself, so differentiable to every order.
UOp reaching(UOp a, UOp g, int64_t axis) {
  const UOp maps[] = {previous(flip(a, {axis}), axis, 1.0), flip(g, {axis})};
  return flip(scan(Combine::Affine, maps, axis, 1), {axis});
}

/// Of a running maximum or minimum, the element that it last took gets all.
UOp to_taken(Combine combine, const Sources& src, UOp g, int64_t axis) {
  const UOp place = scan(combine, src, axis, 1);
  const UOp kept = cast(eq(place, previous(place, axis, 0.0)), g->dtype);
  return where(eq(place, src[1]), reaching(kept, g, axis), like(g, 0.0));
}

/// A running maximum with places that make the later one of equal elements the one that is taken.
Sources with_places(UOp x, int64_t axis) {
  UOp place = axis_iota(*x->graph, x->shape, axis, x->device);
  return {x, like(place, 0.0) - place};
}

/// d s[k] / d x[i] = v[i] * exp(x[i] - m[k]), where m, the running maximum, counts as a constant: whoever adds log(s)
/// to m need not differentiate it. exp(x[i] - m[k]) is the product of exp(x[i] - m[i]) and of the steps from m[i] to
/// m[k], all at most 1.
void exp_sums(Adjoint& a, int64_t axis) {
  const auto scale = [](UOp from, UOp to) {  // of an infinity from itself: 1
    const UOp infinite = eq(alu(Op::Abs, {to}), like(to, std::numeric_limits<double>::infinity()));
    return exp(where(eq(from, to) & infinite, like(to, 0.0), from - to));
  };
  const UOp x = a.src(0), v = a.src(1);
  const UOp top = detach(scan(Combine::ExpSum, a.n->src, axis, 0));
  const UOp share = scale(x, top) * reaching(scale(previous(top, axis, 0.0), top), a.g, axis);
  a.give(0, v * share);
  a.give(1, share);
}

void scan(Adjoint& a) {
  const ReduceAttr& r = a.n->reduction();
  const int64_t axis = r.axes[0];
  switch (r.combine) {
    case Combine::Add:  // an element contributes to every prefix sum from its own on
      return a.give(0, flip(scan(Combine::Add, flip(a.g, r.axes), axis), r.axes));
    case Combine::Affine:
      if (r.result == 1) {
        const UOp from = reaching(a.src(0), a.g, axis);
        a.give(0, from * previous(a.n, axis, 0.0));
        return a.give(1, from);
      }
      [[fallthrough]];
    case Combine::Mul: return a.give(0, reaching(a.src(0), a.g, axis) * previous(a.n, axis, 1.0));
    case Combine::ArgMax:
    case Combine::ArgMin: return a.give(0, to_taken(r.combine, a.n->src, a.g, axis));
    case Combine::Max: return a.give(0, to_taken(Combine::ArgMax, with_places(a.src(0), axis), a.g, axis));
    case Combine::Min: return a.give(0, to_taken(Combine::ArgMin, with_places(a.src(0), axis), a.g, axis));
    case Combine::ExpSum:
      if (r.result == 1) return exp_sums(a, axis);
      return a.give(0, to_taken(Combine::ArgMax, with_places(a.src(0), axis), a.g, axis));
    default: throw InternalError("gradient of a scan by a combine that has none");
  }
}

constexpr GradientRuleEntry kReduce[] = {{Op::Reduce, reduction}, {Op::Scan, scan}};

}  // namespace

std::span<const GradientRuleEntry> reduce_rules() { return kReduce; }

}  // namespace sinter::autodiff
