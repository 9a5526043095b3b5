#include "gradient/batch_products.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ir/build.h"

namespace sinter::autodiff {
namespace {

using ir::Op;
using ir::UOp;

constexpr size_t kMinProducts = 4;  ///< fewer are not worth the copies of their factors
constexpr size_t kMaxGroups = 8;    ///< distinct groups among the gradients of one value

/// A sum over the product of two values that are broadcast against each other, and the movement ops above it.
struct SumOfProducts {
  std::vector<UOp> movement_ops;  ///< outermost first
  UOp sum;
  std::array<UOp, 2> factors;  ///< before they are broadcast
  std::array<UOp, 2> repeats;
};

/// Whether the node is computed from its sources. A node with storage is read instead, and may have dropped them.
bool is_recomputed(UOp n) { return !n->storage() && !n->src.empty(); }

std::optional<SumOfProducts> as_product(UOp n) {
  SumOfProducts p;
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
  // A separate product stores its result; a batched one stores its factors instead.
  if (p.repeats[0]->ints() == p.repeats[1]->ints() || copied > n->shape.bound()) return {};
  return p;
}

/// Whether two nodes apply the same op to sources of the same shape.
bool same_op(UOp a, UOp b) {
  return a->op == b->op && a->dtype == b->dtype && a->shape == b->shape && a->attr == b->attr &&
         a->src[0]->shape == b->src[0]->shape;
}

/// Whether two products differ only in their factors. Puts the factors of `other` into the order of `first`.
bool match(const SumOfProducts& first, SumOfProducts& other) {
  if (!same_op(first.sum, other.sum) || !std::equal(first.movement_ops.begin(), first.movement_ops.end(),
                                                    other.movement_ops.begin(), other.movement_ops.end(), same_op))
    return false;
  const auto repeated = [&](size_t a, size_t b) {
    return same_op(first.repeats[0], other.repeats[a]) && same_op(first.repeats[1], other.repeats[b]);
  };
  if (repeated(0, 1)) return true;
  if (!repeated(1, 0)) return false;
  std::swap(other.factors[0], other.factors[1]);
  std::swap(other.repeats[0], other.repeats[1]);
  return true;
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

UOp apply_move(UOp n, UOp move) {
  if (move->op == Op::Permute) return ir::permute(n, move->ints());
  return move->op == Op::Reshape ? ir::reshape(n, move->shape) : ir::cast(n, move->dtype);
}

UOp batch_group(std::span<const SumOfProducts> products) {
  std::array<UOp, 2> stacks;
  for (size_t i = 0; i < 2; ++i) {
    std::vector<UOp> steps;
    for (const SumOfProducts& p : products)
      steps.push_back(ir::reshape(p.factors[i], add_step_axis(p.factors[i]->shape, 1)));
    UOp repeat = products[0].repeats[i], stack = ir::contiguous(ir::cat(steps, 0));
    if (std::ranges::all_of(products, [&](const SumOfProducts& p) { return !!ir::tf32_source(p.factors[i]); }))
      stack = ir::tf32(stack);
    stacks[i] = ir::expand(stack, add_step_axis(repeat->shape, products.size()), shift_axes(repeat->ints()));
  }
  ir::Ints axes{0};
  for (int64_t a : shift_axes(products[0].sum->reduction().axes)) axes.push_back(a);
  UOp sum = ir::sum(stacks[0] * stacks[1], axes);
  const std::vector<UOp>& movement_ops = products[0].movement_ops;
  for (auto move = movement_ops.rbegin(); move != movement_ops.rend(); ++move) sum = apply_move(sum, *move);
  return sum;
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
      if (end - begin >= kMinProducts) {
        for (size_t p = begin; p < end; ++p) sums[k.places[p]] = {};
        sums[k.places[begin]] = batch_group(std::span(k.products).subspan(begin, end - begin));
      }
      begin = end;
    }
  }
  std::erase(sums, UOp());
  return sums;
}

}  // namespace sinter::autodiff
