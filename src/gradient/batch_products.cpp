#include "gradient/batch_products.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include "ir/build.h"

namespace sinter::autodiff {
namespace {

using ir::Op;
using ir::UOp;

constexpr size_t kMinProducts = 4;  ///< fewer are not worth the copies of their factors
constexpr size_t kMaxGroups = 8;    ///< distinct groups among the gradients of one value
constexpr int64_t kMinUses = 4;     ///< per element of a factor that is stacked for products in slices

/// A sum over the product of two values that are broadcast against each other, and the movement ops above it.
struct SumOfProducts {
  UOp slice;  ///< the PAD that places the result in a slice of the gradient; null if it is all of the gradient
  std::vector<UOp> movement_ops;  ///< outermost first
  UOp sum;
  std::array<UOp, 2> factors;  ///< before they are broadcast
  std::array<UOp, 2> repeats;
};

/// Whether the node is computed from its sources. A node with storage is read instead, and may have dropped them.
bool is_recomputed(UOp n) { return !n->storage() && !n->src.empty(); }

std::optional<SumOfProducts> as_product(UOp n) {
  SumOfProducts p;
  if (is_recomputed(n) && n->op == Op::Pad && n->src.size() == 1) {
    p.slice = n;
    n = n->src[0];
  }
  for (; is_recomputed(n) && (n->op == Op::Permute || n->op == Op::Reshape || n->op == Op::Cast); n = n->src[0])
    p.movement_ops.push_back(n);
  if (!is_recomputed(n) || n->op != Op::Reduce || n->reduction().combine != ir::Combine::Add) return {};
  UOp product = n->src[0];
  if (!is_recomputed(product) || product->op != Op::Mul) return {};
  p.sum = n;
  int64_t copied = 0;
  for (size_t i = 0; i < 2; ++i) {
    UOp repeat = product->src[i];
    const bool detached = repeat->op == Op::Detach;
    if (detached && !is_recomputed(repeat)) return {};
    if (detached) repeat = repeat->src[0];
    if (!is_recomputed(repeat) || repeat->op != Op::Expand) return {};
    p.repeats[i] = repeat;
    p.factors[i] = detached ? ir::detach(repeat->src[0]) : repeat->src[0];
    copied += p.factors[i]->shape.bound();
  }
  if (p.repeats[0]->ints() == p.repeats[1]->ints()) return {};
  // A separate product stores its result; one that sums over the steps stores its factors instead.
  if (!p.slice && copied > n->shape.bound()) return {};
  return p;
}

/// Whether two nodes apply the same op to sources of the same shape.
bool same_op(UOp a, UOp b) {
  return a->op == b->op && a->dtype == b->dtype && a->shape == b->shape && a->attr == b->attr &&
         a->src[0]->shape == b->src[0]->shape;
}

/// The only axis along which two slices of a value differ in place; their sizes are equal, and they are fixed there.
std::optional<size_t> sliced_axis(UOp a, UOp b) {
  if (a->shape != b->shape || a->dtype != b->dtype || a->src[0]->shape != b->src[0]->shape) return {};
  std::optional<size_t> axis;
  for (size_t i = 0; i < a->rank(); ++i) {
    if (a->region()[i] == b->region()[i]) continue;
    const bool symbolic = a->region()[i].begin.symbolic() || b->region()[i].begin.symbolic();
    if (axis || symbolic || a->shape[i].symbolic() || a->src[0]->shape[i].symbolic()) return {};
    axis = i;
  }
  return axis;
}

/// Whether two nodes are equal views or casts of one node. Nodes with history are not interned, so a loop makes them
/// anew in each step.
bool same_value(UOp a, UOp b) {
  while (a != b) {
    const bool view = ir::is_movement(a->op) || a->op == Op::Cast || a->op == Op::Tf32 || a->op == Op::Detach;
    if (!view || !is_recomputed(a) || !is_recomputed(b) || a->src.size() != 1 || !same_op(a, b)) return false;
    a = a->src[0];
    b = b->src[0];
  }
  return true;
}

/// Whether two products are placed alike: both over all of the gradient, or in slices of their own, with one factor in
/// common. The factors are in one order.
bool same_place(const SumOfProducts& a, const SumOfProducts& b) {
  if (!a.slice || !b.slice) return !a.slice && !b.slice;
  return sliced_axis(a.slice, b.slice) &&
         (same_value(a.factors[0], b.factors[0]) || same_value(a.factors[1], b.factors[1]));
}

/// Whether two products differ only in their factors and slices. Puts the factors of `other` into the order of `first`.
bool match(const SumOfProducts& first, SumOfProducts& other) {
  if (!same_op(first.sum, other.sum) || !std::equal(first.movement_ops.begin(), first.movement_ops.end(),
                                                    other.movement_ops.begin(), other.movement_ops.end(), same_op))
    return false;
  const auto repeated = [&](size_t a, size_t b) {
    return same_op(first.repeats[0], other.repeats[a]) && same_op(first.repeats[1], other.repeats[b]);
  };
  if (!repeated(0, 1)) {
    if (!repeated(1, 0)) return false;
    std::swap(other.factors[0], other.factors[1]);
    std::swap(other.repeats[0], other.repeats[1]);
  }
  return same_place(first, other);
}

Shape add_step_axis(const Shape& shape, size_t count) {
  std::vector<Dim> dims{static_cast<int64_t>(count)};
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(dims);
}

ir::Ints shift_axes(ir::Ints axes) {
  for (int64_t& a : axes) ++a;
  return axes;
}

/// n, or each step of it along a first axis, below the movement ops of a product.
UOp apply_moves(UOp n, const SumOfProducts& product, std::optional<size_t> steps) {
  for (auto move = product.movement_ops.rbegin(); move != product.movement_ops.rend(); ++move) {
    UOp m = *move;
    if (m->op == Op::Cast) {
      n = ir::cast(n, m->dtype);
    } else if (m->op == Op::Reshape) {
      n = ir::reshape(n, steps ? add_step_axis(m->shape, *steps) : m->shape);
    } else {
      ir::Ints order = steps ? shift_axes(m->ints()) : m->ints();
      if (steps) order.insert(order.begin(), 0);
      n = ir::permute(n, order);
    }
  }
  return n;
}

/// `factor`, which has a step axis or is the same in all steps, broadcast as `repeat` in each of them.
UOp expand_steps(UOp factor, UOp repeat, size_t steps, bool has_step_axis) {
  ir::Ints axes = shift_axes(repeat->ints());
  if (!has_step_axis) axes.insert(axes.begin(), 0);
  return ir::expand(factor, add_step_axis(repeat->shape, steps), axes);
}

/// Factor i of all products, stored along a new first axis. Products of one value share the stack.
UOp stack_factor(std::span<const SumOfProducts> products, size_t i) {
  std::vector<UOp> steps = ir::mapped(products, [&](const SumOfProducts& p) {
    return ir::reshape(p.factors[i], add_step_axis(p.factors[i]->shape, 1));
  });
  const UOp stack = ir::contiguous(ir::cat(steps, 0));
  const bool tf32 =
      std::ranges::all_of(products, [&](const SumOfProducts& p) { return !!ir::tf32_source(p.factors[i]); });
  return expand_steps(tf32 ? ir::tf32(stack) : stack, products[0].repeats[i], products.size(), true);
}

/// One product that sums over the steps, too.
UOp batch_sum(std::span<const SumOfProducts> products) {
  ir::Ints axes{0};
  for (int64_t a : shift_axes(products[0].sum->reduction().axes)) axes.push_back(a);
  return apply_moves(ir::sum(stack_factor(products, 0) * stack_factor(products, 1), axes), products[0], {});
}

/// Disjoint slices along one axis, at equal distances.
struct SliceRow {
  size_t axis;
  int64_t first, size, distance;  ///< distance < 0: from last to first
};

std::optional<SliceRow> slice_row(std::span<const SumOfProducts> products) {
  const UOp first = products[0].slice;
  const std::optional<size_t> axis = sliced_axis(first, products[1].slice);
  if (!axis) return {};
  const auto begin = [&](const SumOfProducts& p) { return p.slice->region()[*axis].begin.value(); };
  const SliceRow row{*axis, begin(products[0]), first->src[0]->shape[*axis].value(),
                     begin(products[1]) - begin(products[0])};
  if (std::abs(row.distance) < row.size) return {};
  for (size_t i = 1; i < products.size(); ++i)
    if (sliced_axis(first, products[i].slice) != axis ||
        begin(products[i]) != row.first + static_cast<int64_t>(i) * row.distance)
      return {};
  return row;
}

/// The factor that all products have in common, if the other one is worth a stack.
std::optional<size_t> shared_factor(std::span<const SumOfProducts> products) {
  for (size_t i = 0; i < 2; ++i) {
    const int64_t copied = products[0].factors[1 - i]->shape.bound(), computed = products[0].repeats[i]->shape.bound();
    if (copied <= computed / kMinUses && std::ranges::all_of(products, [&](const SumOfProducts& p) {
          return same_value(p.factors[i], products[0].factors[i]);
        }))
      return i;
  }
  return {};
}

/// Places the steps of n, its first axis, in their slices of a value of the shape of `slice`.
UOp place_steps(UOp n, const SliceRow& row, UOp slice) {
  const int64_t axis = static_cast<int64_t>(row.axis), steps = n->shape[0].value(), distance = std::abs(row.distance);
  if (row.distance < 0) n = ir::flip(n, {0});
  ir::Ints order;
  for (int64_t i = 1; i < static_cast<int64_t>(n->rank()); ++i) order.push_back(i);
  order.insert(order.begin() + axis, 0);
  n = ir::permute(n, order);
  Shape gaps = n->shape, joined = slice->src[0]->shape;
  gaps[row.axis + 1] = distance;
  joined[row.axis] = steps * distance;
  n = ir::reshape(ir::pad(n, ir::full_region(n->shape), gaps), joined);
  ir::Region box = ir::full_region(n->shape), place = slice->region();
  const int64_t length = (steps - 1) * distance + row.size,
                begin = std::min(row.first, row.first + (steps - 1) * row.distance);
  box[row.axis] = {0, length};
  place[row.axis] = {begin, begin + length};
  return ir::pad(ir::shrink(n, box), place, slice->shape);
}

/// One product whose steps are placed in the slices. Null if the slices are no row, or no factor is shared.
UOp batch_slices(std::span<const SumOfProducts> products) {
  const std::optional<SliceRow> row = slice_row(products);
  const std::optional<size_t> shared = shared_factor(products);
  if (!row || !shared) return {};
  const SumOfProducts& first = products[0];
  const UOp factor = expand_steps(first.factors[*shared], first.repeats[*shared], products.size(), false);
  const UOp sum = ir::sum(stack_factor(products, 1 - *shared) * factor, shift_axes(first.sum->reduction().axes));
  return place_steps(apply_moves(sum, first, products.size()), *row, first.slice);
}

struct ProductGroup {
  std::vector<size_t> places;  ///< indices into the parts
  std::vector<SumOfProducts> products;
};

}  // namespace

std::vector<UOp> batch_products(std::span<const UOp> parts) {
  std::vector<UOp> sums(parts.begin(), parts.end());
  if (parts.size() < kMinProducts) return sums;
  std::vector<ProductGroup> kinds;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::optional<SumOfProducts> product = as_product(parts[i]);
    if (!product) continue;
    auto kind = kinds.begin();
    while (kind != kinds.end() && !match(kind->products[0], *product)) ++kind;
    if (kind == kinds.end() && kinds.size() == kMaxGroups) continue;
    if (kind == kinds.end()) kind = kinds.insert(kind, ProductGroup{});
    kind->places.push_back(i);
    kind->products.push_back(std::move(*product));
  }
  for (const ProductGroup& k : kinds) {
    const size_t count = k.places.size(), pieces = (count + ir::kMaxCatParts - 1) / ir::kMaxCatParts;
    for (size_t i = 0, begin = 0; i < pieces; ++i) {
      const size_t end = count * (i + 1) / pieces;
      const std::span<const SumOfProducts> piece = std::span(k.products).subspan(begin, end - begin);
      UOp batched;
      if (piece.size() >= kMinProducts) batched = piece[0].slice ? batch_slices(piece) : batch_sum(piece);
      for (size_t p = begin; batched && p < end; ++p) sums[k.places[p]] = p == begin ? batched : UOp();
      begin = end;
    }
  }
  std::erase(sums, UOp());
  return sums;
}

}  // namespace sinter::autodiff
