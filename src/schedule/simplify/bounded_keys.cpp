// A comparison of positions becomes a bound: key + offset <= row, or row + offset <= key. Of a block the key that meets
// it most easily is the first, or the last.
#include "schedule/simplify/bounded_keys.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <vector>

#include "ir/axis_lists.h"
#include "ir/build.h"
#include "ir/ceil_div.h"
#include "ir/splat.h"

namespace sinter::schedule {
namespace {

bool is_wide_integer(DType d) { return d == DType::I32 || d == DType::I64; }

/// For each axis of a movement's source the axis that it is in the result; -1: it has one element. Null: an axis is
/// none of the result's.
std::optional<ir::Ints> axes_in_result(UOp n) {
  if (n->op == Op::Expand) return ir::others(n->rank(), n->ints());
  if (n->op != Op::Reshape) return {};
  ir::Ints out;
  size_t next = 0;
  const auto skip_ones = [&] {
    while (next < n->rank() && n->shape[next] == 1) ++next;
  };
  for (const Dim& size : n->src[0]->shape) {
    if (size == 1) {
      out.push_back(-1);
      continue;
    }
    skip_ones();
    if (next == n->rank() || !(n->shape[next] == size)) return {};
    out.push_back(static_cast<int64_t>(next++));
  }
  return out;
}

/// A sum of positions: a factor for each axis of its shape, and a constant.
struct PositionSum {
  std::vector<int64_t> factors;
  int64_t constant = 0;

  PositionSum& add(const PositionSum& other, int64_t times) {
    for (size_t a = 0; a < factors.size(); ++a) factors[a] += times * other.factors[a];
    constant += times * other.constant;
    return *this;
  }
};

/// Recursion depth: that of the mask.
std::optional<PositionSum> sum_of(UOp n) {
  if (!is_wide_integer(n->dtype)) return {};
  PositionSum out{std::vector<int64_t>(n->rank(), 0)};
  if (n->op == Op::Arange) return PositionSum{{1}};
  if (n->op == Op::Const) {
    out.constant = n->scalar().as_int();
    const int64_t limit = std::numeric_limits<int32_t>::max();
    return -limit < out.constant && out.constant < limit ? std::optional(out) : std::nullopt;
  }
  if (ir::is_movement(n->op)) {
    const std::optional<ir::Ints> axes = axes_in_result(n);
    const std::optional<PositionSum> source = axes ? sum_of(n->src[0]) : std::nullopt;
    if (!source) return {};
    out.constant = source->constant;
    for (size_t a = 0; a < axes->size(); ++a)
      if ((*axes)[a] >= 0) out.factors[(*axes)[a]] = source->factors[a];
    return out;
  }
  if (n->op != Op::Cast && n->op != Op::Neg && n->op != Op::Add && n->op != Op::Sub) return {};
  for (size_t i = 0; i < n->src.size(); ++i) {
    const std::optional<PositionSum> source = sum_of(n->src[i]);
    if (!source) return {};
    out.add(*source, n->op == Op::Neg || (n->op == Op::Sub && i == 1) ? -1 : 1);
  }
  return out;
}

/// key + offset <= row, or if `lower` row + offset <= key. Without a row's axis, the row is 0.
struct KeyBound {
  bool lower = false;
  int64_t row = -1;  ///< axis
  int64_t offset = 0;
};

/// The bound that a comparison is; nullopt if it is none. `inverse`: that its opposite is.
std::optional<KeyBound> bound_of(UOp c, bool inverse) {
  if (c->op == Op::Not) return bound_of(c->src[0], !inverse);
  if (c->op != Op::Lt && c->op != Op::Le) return {};
  const std::optional<PositionSum> a = sum_of(c->src[0]), b = sum_of(c->src[1]);
  if (!a || !b) return {};
  PositionSum over{std::vector<int64_t>(c->rank(), 0)};  // the condition is over <= 0
  over.add(inverse ? *b : *a, 1).add(inverse ? *a : *b, -1);
  over.constant += (c->op == Op::Lt) != inverse;
  const size_t keys = c->rank() - 1;
  const int64_t factor = over.factors[keys];
  if ((factor != 1 && factor != -1) || c->shape[keys].symbolic()) return {};
  KeyBound bound{factor < 0, -1, over.constant};
  int64_t longest = c->shape[keys].value();
  for (size_t axis = 0; axis < keys; ++axis) {
    if (over.factors[axis] == 0) continue;
    if (bound.row >= 0 || over.factors[axis] != -factor || c->shape[axis].symbolic()) return {};
    bound.row = static_cast<int64_t>(axis);
    longest = std::max(longest, c->shape[axis].value());
  }
  return std::abs(bound.offset) <= longest ? std::optional(bound) : std::nullopt;
}

/// What a mask is a conjunction of.
struct MaskParts {
  std::vector<KeyBound> bounds;
  std::vector<UOp> others;
};

/// Recursion depth: the number of movements on one another.
void split_mask(UOp mask, MaskParts& out) {
  std::vector<UOp> todo{mask};
  while (!todo.empty()) {
    const UOp c = todo.back();
    todo.pop_back();
    if (c->op == Op::And) {
      todo.insert(todo.end(), {c->src[1], c->src[0]});
      continue;
    }
    const auto keys = static_cast<int64_t>(c->rank()) - 1;
    const std::optional<ir::Ints> axes = ir::is_movement(c->op) ? axes_in_result(c) : std::nullopt;
    if (!axes || axes->empty() || axes->back() != keys) {
      if (const std::optional<KeyBound> bound = bound_of(c, false))
        out.bounds.push_back(*bound);
      else
        out.others.push_back(c);
      continue;
    }
    MaskParts below;
    split_mask(c->src[0], below);
    for (KeyBound& b : below.bounds) {
      if (b.row >= 0) b.row = (*axes)[b.row];
      out.bounds.push_back(b);
    }
    for (UOp other : below.others) out.others.push_back(ir::with_sources(*c->graph, c, {other}));
  }
}

/// `count` positions from `first` on, `step` apart.
UOp positions(UOp x, int64_t first, int64_t count, int64_t step) {
  const UOp all = ir::arange(*x->graph, first + count * step, x->device);
  const UOp from = ir::shrink(all, {{first, first + count * step}});
  return step == 1 ? from : ir::reshape(ir::shrink(ir::reshape(from, {count, step}), {{0, count}, {0, 1}}), {count});
}

/// `count` positions from `first` on, `step` apart.
struct Positions {
  int64_t first = 0, count = 0, step = 1;
};

/// The bound as a condition on these keys, and these positions along the bound's other axis.
UOp condition_of(const KeyBound& bound, UOp x, const Positions& keys, const Positions& rows) {
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  Shape shape = x->shape;
  shape[last] = keys.count;
  if (bound.row >= 0) shape[bound.row] = rows.count;
  const auto along = [&](const Positions& p, int64_t offset, int64_t axis) {
    return ir::expand(positions(x, p.first + offset, p.count, p.step), shape, ir::others(shape.rank(), {axis}));
  };
  if (bound.row < 0) {
    const UOp key = along(keys, 0, last);
    const UOp edge = ir::like(key, static_cast<double>(bound.lower ? bound.offset : -bound.offset));
    return bound.lower ? ir::le(edge, key) : ir::le(key, edge);
  }
  // The side to which the offset is added, so that it is none below 0.
  const bool at_key = (bound.offset >= 0) != bound.lower;
  const int64_t offset = std::abs(bound.offset);
  const UOp key = along(keys, at_key ? offset : 0, last), row = along(rows, at_key ? 0 : offset, bound.row);
  return bound.lower ? ir::le(row, key) : ir::le(key, row);
}

Positions all_along(UOp x, int64_t axis) { return {0, axis < 0 ? 0 : x->shape[axis].value(), 1}; }

/// The last or the first of each block.
Positions of_blocks(int64_t size, int64_t blocks, bool last) { return {last ? size - 1 : 0, blocks, size}; }

bool is_minus_infinity(UOp n) {
  const UOp value = ir::splat_const(n);
  return value && is_float(value->dtype) && value->scalar().as_double() == -std::numeric_limits<double>::infinity();
}

UOp all_of(UOp a, UOp b) { return a ? a & b : b; }

}  // namespace

/// Recursion depth: the number of masks.
BoundedKeys bound_keys(UOp x, int64_t size, int64_t blocks) {
  if (x->op != Op::Where || !is_minus_infinity(x->src[2]) || x->shape[x->rank() - 1] == 1) return {x, {}};
  BoundedKeys out = bound_keys(x->src[1], size, blocks);
  MaskParts mask;
  split_mask(x->src[0], mask);
  UOp condition;
  for (UOp other : mask.others) condition = all_of(condition, other);
  for (const KeyBound& bound : mask.bounds) {
    const Positions rows = all_along(x, bound.row);
    condition = all_of(condition, condition_of(bound, x, all_along(x, static_cast<int64_t>(x->rank()) - 1), rows));
    out.seen = all_of(out.seen, condition_of(bound, x, of_blocks(size, blocks, bound.lower), rows));
  }
  out.scores = ir::where(mask.bounds.empty() ? x->src[0] : condition, out.scores, x->src[2]);
  return out;
}

UOp seen_tiles(UOp x, int64_t queries, int64_t keys) {
  const auto last = static_cast<int64_t>(x->rank()) - 1;
  UOp seen;
  for (; x->op == Op::Where && is_minus_infinity(x->src[2]); x = x->src[1]) {
    MaskParts mask;
    split_mask(x->src[0], mask);
    const auto blocks = [&](int64_t axis, int64_t size) { return ceil_div(x->shape[axis].value(), size); };
    for (const KeyBound& bound : mask.bounds) {
      if (bound.row != last - 1) continue;
      seen = all_of(seen, condition_of(bound, x, of_blocks(keys, blocks(last, keys), bound.lower),
                                       of_blocks(queries, blocks(last - 1, queries), !bound.lower)));
    }
  }
  return seen;
}

}  // namespace sinter::schedule
