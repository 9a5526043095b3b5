// Ranges, indices and predicates of one kernel.
#include "schedule/lower/index_map.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/interpreter.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "schedule/lower/predicate.h"
#include "sinter/error.h"

namespace sinter::schedule {

using ir::ElementIndex;
using ir::IndexMath;

size_t IndexMap::ElementIndexHash::operator()(const ElementIndex& at) const {
  size_t h = std::hash<UOp>{}(at.valid);
  for (UOp i : at.index) h = ir::mix(h, std::hash<UOp>{}(i));
  return h;
}

IndexMap::IndexMap(const Partition& partition, const FusionGroup& kernel)
    : p_(partition), kernel_(kernel), graph_(std::make_shared<ir::Arena>()), math_(*graph_) {
  open_ranges();
}

/// Ids ascend from outer to inner loops: outer ranges, the range inside a block, then the kernel's inner loops.
void IndexMap::open_ranges() {
  ir::Graph& g = *graph_;
  for (int a : kernel_.outer) {
    const Dim size = tasks_along(p_.space, kernel_, a);
    index_[a] = outer_ranges_[a] = ir::range(ir::extent_of(g, size), ranges_++, ir::AxisKind::Outer);
    outer_.push_back(size);
  }
  if (const int a = kernel_.blocks.axis; a >= 0) {
    const Dim& size = p_.space.size(a);
    const int64_t block = kernel_.blocks.size;
    UOp begin = math_.mul(outer_ranges_[a], math_.constant(block)), bound = math_.constant(block);
    if (size.symbolic() || size.value() % block) bound = ir::minimum(math_.sub(ir::extent_of(g, size), begin), bound);
    if (size.symbolic()) bound = ir::maximum(bound, math_.constant(0));
    inner_[a] = ir::range(bound, ranges_++, ir::AxisKind::Inner);
    index_[a] = math_.add(begin, inner_[a]);
  }
  for (int a : kernel_.inner) index_[a] = inner_[a] = range(p_.space.size(a));
}

void IndexMap::begin_epilogue() {
  index_.clear();
  inner_.clear();
  std::vector<int> across;
  for (const auto& [sum, ranges] : split_reductions_of(kernel_))
    across.insert(across.end(), ranges.begin(), ranges.end());
  std::vector<int> axes = kernel_.outer;
  std::erase_if(axes, [&](int a) { return ir::contains(across, a); });
  axes.insert(axes.end(), kernel_.inner.begin(), kernel_.inner.end());
  for (int a : axes) index_[a] = inner_[a] = range(p_.space.size(a));
}

UOp IndexMap::param(int buffer, DType dtype, const Shape& shape) {
  auto [it, fresh] = param_of_.try_emplace(buffer, static_cast<int>(buffers_.size()));
  if (fresh) buffers_.push_back(buffer);
  return ir::param(*graph_, it->second, dtype, shape);
}

UOp IndexMap::argument(UOp n) {
  const int plan = static_cast<int>(n->integer());
  auto [it, fresh] = arg_of_.try_emplace(plan, static_cast<int>(args_.size()));
  if (fresh) {
    args_.push_back(plan);
    arg_types_.push_back(n->dtype);
  }
  return ir::argument(*graph_, it->second, n->dtype);
}

UOp IndexMap::leaf(UOp n, const ElementIndex& at) {
  switch (n->op) {
    case Op::Const: return ir::constant(*graph_, n->scalar(), n->dtype);
    case Op::Arange: return ir::cast(at.index[0], n->dtype);
    case Op::Var: return ir::cast(ir::variable(*graph_, n->get<Var>(), DType::Index), n->dtype);
    case Op::Arg: return argument(n);
    default: throw InternalError(fmt::format("rangeify: {} is no number", ir::info(n->op).name));
  }
}

UOp IndexMap::with_local_arguments(UOp n) {
  if (n->src.size() < 2) return n;
  std::vector<UOp> src{ir::param(*graph_, -1, n->src[0]->dtype, n->src[0]->shape)};
  for (size_t i = 1; i < n->src.size(); ++i) src.push_back(leaf(n->src[i], {}));
  return graph_->make({n->op, n->dtype, n->shape, src, n->attr});
}

std::vector<int> IndexMap::axes_of(const DimIndex& dim) { return ir::mapped(dim.digits, &Digit::axis); }

UOp IndexMap::expression(const std::vector<int>& axes, const AxisIndex& index) {
  if (axes.size() == 1) return index.at(axes[0]);  // also if it is empty: arithmetic would fold it to a constant
  UOp i = math_.constant(0);
  for (int a : axes) i = math_.add(math_.mul(i, ir::extent_of(*graph_, p_.space.size(a))), index.at(a));
  return i;
}

bool IndexMap::empty(const std::vector<int>& axes) const {
  return std::ranges::any_of(axes, [&](int a) { return p_.space.bound(a) == 0; });
}

IndexMap::RangeBinding IndexMap::bind(const std::vector<int>& axes, const ElementIndex& at) {
  codegen::RangeSet open;
  for (UOp i : at.index) open |= free_.free(i);
  if (at.valid) open |= free_.free(at.valid);
  RangeBinding out{index_, {}};
  std::vector<int> own;  // without outer ranges, which are fixed in a task
  for (int a : p_.space.expand(axes))
    if (inner_.contains(a)) own.push_back(a);
  // A sum across outer ranges is outside the loops over its results.
  const bool across = ir::contains(own, kernel_.blocks.axis);
  const bool inside =
      across || std::ranges::all_of(own, [&](int a) {
        return std::ranges::all_of(inner_, [&](const auto& other) {
          return !open[free_.number(other.second)] || codegen::range_id(other.second) < codegen::range_id(inner_.at(a));
        });
      });
  const bool known = inside && !(open & fresh_).any();
  for (int a : own) {
    if (!known) {
      out.index[a] = range(p_.space.size(a));
      fresh_.set(free_.number(out.index[a]));
    }
    out.ranges.push_back(known ? inner_.at(a) : out.index[a]);
  }
  if (out.ranges.empty()) out.ranges.push_back(range(1));
  return out;
}

int IndexMap::intern(ElementIndex at) {
  auto [it, fresh] = ids_.try_emplace(std::move(at), static_cast<int>(indices_.size()));
  if (fresh) indices_.push_back(&it->first);
  return it->second;
}

IndexMap::ViewSource IndexMap::down(UOp n, int at) {
  if (!ir::is_movement(n->op)) return {n, at, {}};
  ElementIndex now = (*this)[at];
  for (; ir::is_movement(n->op); n = n->src[0]) {
    now = ir::source_index(*graph_, with_local_arguments(n), now);
    for (size_t i = 0; i < now.index.size(); ++i)
      if (n->src[0]->shape[i] == 1) now.index[i] = math_.constant(0);  // 0 wherever there is an element
  }
  const UOp predicate = now.valid == (*this)[at].valid ? UOp() : now.valid;
  now.valid = needed_predicate(now, free_);
  return {n, intern(std::move(now)), predicate};
}

UOp IndexMap::checked_index(UOp index, const Dim& size, const Shape& indices, UOp& valid) {
  UOp extent = ir::extent_of(*graph_, size);
  IndexMath free(*graph_), m = valid ? IndexMath(free, valid) : free;
  UOp i = m.to_index(index->dtype == DType::Index ? index : ir::cast(index, DType::Index));
  UOp negative = m.lt(i, m.constant(0));
  if (negative->op != Op::Const)
    i = ir::where(negative, m.add(i, extent), i);
  else if (negative->scalar().as_int())
    i = m.add(i, extent);
  UOp ok = size == 0 ? ir::constant(*graph_, DType::Bool, 0) : m.conjoin(m.le(m.constant(0), i), m.lt(i, extent));
  if (!ok || (ok->op == Op::Const && ok->scalar().as_int())) return i;
  // The condition under which the check passes without raising. An index that is never in range is not loaded, so only
  // `raise` says whether there is one at all. Another check is hoisted out of loops that do not change it. If such a
  // loop is over a symbolic size, it may have no iteration; a loop known to be empty is not written.
  const bool shut = ok->op == Op::Const;
  UOp raise = ok;
  for (const Dim& d : indices)
    if (shut || d.symbolic()) raise = ir::alu(Op::Or, {raise, ir::eq(ir::extent_of(*graph_, d), m.constant(0))});
  if (valid) raise = ir::alu(Op::Or, {raise, ir::alu(Op::Not, {valid})});
  // The check is part of the predicate, not of the index: a table that is constant along the axis needs no index. The
  // bare condition is also a conjunct, because it bounds the index.
  UOp check = graph_->make({Op::Check, DType::Bool, {}, {ok, raise}, runtime::kIndexErrorBit});
  valid = free.conjoin(free.conjoin(valid, ok), check);
  return i;
}

}  // namespace sinter::schedule
