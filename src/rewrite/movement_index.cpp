// One case per movement op. Only Reshape divides, and only within groups of dims that it really regroups.
#include "rewrite/movement_index.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "ir/build.h"
#include "rewrite/index_math.h"
#include "sinter/error.h"

namespace sinter::ir {
namespace {

/// A product of sizes. Two are equal only if they are equal for all values of the variables.
struct ExtentProduct {
  int64_t number = 1;
  std::vector<std::string> vars;
  int64_t value = 1;  ///< at the current sizes; decides which side of a reshape grows next

  void take(const Dim& d) {
    value *= d.value();
    if (!d.symbolic()) {
      number *= d.value();
      return;
    }
    vars.push_back(fmt::format("{} {} {}", d.var().name(), d.var().min(), d.var().max()));
    std::ranges::sort(vars);
  }
  bool same(const ExtentProduct& o) const { return number == o.number && vars == o.vars; }
};

/// Dims [from, from_end) of the source and [to, to_end) of the result have the same elements in the same order.
struct DimGroup {
  size_t from, from_end, to, to_end;
};

std::vector<DimGroup> groups_of(const std::vector<Dim>& from, const std::vector<Dim>& to) {
  std::vector<DimGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    DimGroup group{i, i, j, j};
    ExtentProduct a, b;
    auto take_from = [&] { a.take(from[group.from_end++]); };
    auto take_to = [&] { b.take(to[group.to_end++]); };
    if (i < from.size()) take_from();
    if (j < to.size()) take_to();
    while (!a.same(b)) {
      const bool more_from = group.from_end < from.size(), more_to = group.to_end < to.size();
      if (!more_from && !more_to) break;
      if (more_to && (b.value <= a.value || !more_from))
        take_to();
      else
        take_from();
    }
    groups.push_back(group);
    i = group.from_end, j = group.to_end;
  }
  return groups;
}

bool is_one(const Dim& d) { return d == 1; }

}  // namespace

UOp extent_of(Graph& g, const Dim& dim) {
  return dim.symbolic() ? variable(g, dim.var(), DType::Index) : constant(g, DType::Index, dim.value());
}

std::vector<UOp> reshape_index(Graph& g, const Shape& from, const Shape& to, const std::vector<UOp>& at, UOp valid) {
  IndexMath free(g), m = valid ? IndexMath(free, valid) : free;
  std::vector<UOp> index(from.rank(), m.constant(0));
  std::vector<size_t> source, result;  // axes longer than 1; the others have index 0
  std::vector<Dim> source_dims, result_dims;
  for (size_t i = 0; i < from.rank(); ++i)
    if (!is_one(from[i])) source.push_back(i), source_dims.push_back(from[i]);
  for (size_t i = 0; i < to.rank(); ++i)
    if (!is_one(to[i])) result.push_back(i), result_dims.push_back(to[i]);
  for (const DimGroup& group : groups_of(source_dims, result_dims)) {
    if (group.from == group.from_end) continue;
    if (group.from + 1 == group.from_end && group.to + 1 == group.to_end) {
      index[source[group.from]] = at[result[group.to]];
      continue;
    }
    UOp flat = m.constant(0);
    for (size_t j = group.to; j < group.to_end; ++j)
      flat = m.add(m.mul(flat, extent_of(g, result_dims[j])), at[result[j]]);
    // Innermost dim first. After each dim, the quotient is the flat index into the dims before it.
    for (size_t i = group.from_end; i-- > group.from;) {
      UOp size = extent_of(g, source_dims[i]);
      if (i == group.from) {
        index[source[i]] = flat;
        break;
      }
      index[source[i]] = m.mod(flat, size);
      flat = m.div(flat, size);
    }
  }
  return index;
}

ElementIndex source_index(Graph& g, UOp movement, const ElementIndex& at) {
  const Shape& to = movement->shape;
  const Shape& from = movement->src[0]->shape;
  IndexMath free(g), m = at.valid ? IndexMath(free, at.valid) : free;
  ElementIndex result{std::vector<UOp>(from.rank()), at.valid};
  auto begin_of = [&](size_t axis) {
    UOp begin = extent_of(g, movement->region()[axis].begin);
    if (movement->src.size() > axis + 1) begin = m.add(begin, m.to_index(cast(movement->src[axis + 1], DType::Index)));
    return begin;
  };
  // Restricts validity to `there`. The indices may become simpler under it.
  auto add_predicate = [&](UOp there) { result.valid = free.conjoin(result.valid, there); };
  auto simplify_indices = [&] {
    if (result.valid && result.valid->op == Op::Const) {
      if (result.valid->scalar().as_int())
        result.valid = {};
      else
        std::ranges::fill(result.index, m.constant(0));
    }
    if (result.valid && !(result.valid == at.valid)) {
      IndexMath predicated(free, result.valid);
      for (UOp& i : result.index) i = predicated.simplify(i);
    }
  };
  auto within = [&](size_t axis) {
    UOp i = result.index[axis];
    return m.conjoin(m.le(m.constant(0), i), m.lt(i, extent_of(g, from[axis])));
  };
  switch (movement->op) {
    case Op::Reshape: result.index = reshape_index(g, from, to, at.index, at.valid); break;
    case Op::Permute:
      for (size_t i = 0; i < to.rank(); ++i) result.index[movement->ints()[i]] = at.index[i];
      break;
    case Op::Expand: result.index = without(at.index, movement->ints()); break;
    case Op::Shrink:
      for (size_t i = 0; i < from.rank(); ++i) result.index[i] = m.add(at.index[i], begin_of(i));
      break;
    case Op::Flip:
      result.index = at.index;
      for (int64_t axis : movement->ints()) {
        const size_t i = static_cast<size_t>(axis);
        result.index[i] = m.sub(m.sub(extent_of(g, to[i]), m.constant(1)), at.index[i]);
      }
      break;
    case Op::Pad:
      for (size_t i = 0; i < from.rank(); ++i) {
        result.index[i] = m.sub(at.index[i], begin_of(i));
        const Extent& e = movement->region()[i];
        if (movement->src.size() == 1 && e.begin == 0 && e.end == to[i]) continue;
        add_predicate(within(i));
      }
      simplify_indices();
      break;
    case Op::Window: {
      const auto axis = static_cast<size_t>(movement->get<WindowAttr>().axis);
      const int64_t step = movement->get<WindowAttr>().step;
      result.index = at.index;
      result.index[axis] = m.add(at.index[axis], m.mul(at.index[axis + 1], m.constant(step)));
      add_predicate(within(axis));
      simplify_indices();
      break;
    }
    default: throw InternalError(fmt::format("an index through {}: no movement op", info(movement->op).name));
  }
  return result;
}

}  // namespace sinter::ir
