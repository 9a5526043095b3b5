#include "gradient/joined.h"

#include <algorithm>
#include <array>
#include <optional>

#include "uop/build.h"

namespace sinter::autodiff {
namespace {

using ir::Op;
using ir::UOp;

constexpr size_t kFewest = 4;  ///< products from which one that reads copies of their factors is faster
constexpr size_t kMost = 30;   ///< that are joined: with the copy as many values as one kernel takes
constexpr size_t kKinds = 8;   ///< of products that are told apart among the gradients of one value

/// A sum of products of two values that are repeated along axes of each other, and what moves it into place.
struct Product {
  std::vector<UOp> moves;  ///< outermost first
  UOp sum;
  std::array<UOp, 2> factors;  ///< as they are before they are repeated
  std::array<UOp, 2> repeats;
};

std::optional<Product> as_product(UOp n) {
  Product p;
  for (; n->op == Op::Permute || n->op == Op::Reshape; n = n->src[0]) p.moves.push_back(n);
  if (n->op != Op::Reduce || n->reduction().combine != ir::Combine::Add || n->src[0]->op != Op::Mul) return {};
  p.sum = n;
  for (size_t i = 0; i < 2; ++i) {
    UOp factor = n->src[0]->src[i];
    const bool detached = factor->op == Op::Detach;
    if (detached) factor = factor->src[0];
    if (factor->op != Op::Expand) return {};
    p.repeats[i] = factor;
    p.factors[i] = detached ? ir::detach(factor->src[0]) : factor->src[0];
  }
  if (p.repeats[0]->ints() == p.repeats[1]->ints()) return {};
  return p;
}

/// Whether two nodes do the same to sources of one shape.
bool alike(UOp a, UOp b) {
  return a->op == b->op && a->shape == b->shape && a->attr == b->attr && a->src[0]->shape == b->src[0]->shape;
}

/// Whether products differ in their factors only; then those of `other` stand in the order of the first one's.
bool match(const Product& first, Product& other) {
  if (!alike(first.sum, other.sum) || first.sum->dtype != other.sum->dtype ||
      !std::equal(first.moves.begin(), first.moves.end(), other.moves.begin(), other.moves.end(), alike))
    return false;
  const auto in_order = [&] {
    return alike(first.repeats[0], other.repeats[0]) && alike(first.repeats[1], other.repeats[1]);
  };
  if (in_order()) return true;
  std::swap(other.factors[0], other.factors[1]);
  std::swap(other.repeats[0], other.repeats[1]);
  return in_order();
}

Shape with_steps(const Shape& shape, size_t count) {
  std::vector<Dim> dims{static_cast<int64_t>(count)};
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(std::move(dims));
}

ir::Ints behind_steps(ir::Ints axes) {
  for (int64_t& a : axes) ++a;
  return axes;
}

UOp join(std::span<const Product> products) {
  std::array<UOp, 2> stacks;
  for (size_t i = 0; i < 2; ++i) {
    std::vector<UOp> steps;
    for (const Product& p : products) steps.push_back(ir::reshape(p.factors[i], with_steps(p.factors[i]->shape, 1)));
    UOp repeat = products[0].repeats[i];
    stacks[i] = ir::expand(ir::contiguous(ir::cat(steps, 0)), with_steps(repeat->shape, products.size()),
                           behind_steps(repeat->ints()));
  }
  ir::Ints axes{0};
  for (int64_t a : behind_steps(products[0].sum->reduction().axes)) axes.push_back(a);
  UOp sum = ir::sum(stacks[0] * stacks[1], axes);
  const std::vector<UOp>& moves = products[0].moves;
  for (auto move = moves.rbegin(); move != moves.rend(); ++move)
    sum = (*move)->op == Op::Permute ? ir::permute(sum, (*move)->ints()) : ir::reshape(sum, (*move)->shape);
  return sum;
}

struct Kind {
  std::vector<UOp> parts;
  std::vector<Product> products;
};

}  // namespace

std::vector<UOp> joined(std::span<const UOp> parts) {
  std::vector<UOp> sums;
  if (parts.size() < kFewest) return {parts.begin(), parts.end()};
  std::vector<Kind> kinds;
  for (UOp part : parts) {
    std::optional<Product> product = as_product(part);
    auto kind = kinds.end();
    if (product)
      kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return match(k.products[0], *product); });
    if (product && kind == kinds.end() && kinds.size() < kKinds) kind = kinds.insert(kind, Kind{});
    if (kind == kinds.end()) {
      sums.push_back(part);
      continue;
    }
    kind->parts.push_back(part);
    kind->products.push_back(std::move(*product));
  }
  for (const Kind& k : kinds) {
    const size_t count = k.parts.size(), pieces = (count + kMost - 1) / kMost;
    for (size_t i = 0, begin = 0; i < pieces; ++i) {
      const size_t end = count * (i + 1) / pieces;
      if (end - begin < kFewest)
        sums.insert(sums.end(), k.parts.begin() + static_cast<std::ptrdiff_t>(begin),
                    k.parts.begin() + static_cast<std::ptrdiff_t>(end));
      else
        sums.push_back(join(std::span(k.products).subspan(begin, end - begin)));
      begin = end;
    }
  }
  return sums;
}

}  // namespace sinter::autodiff
