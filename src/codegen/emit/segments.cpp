// Interval analysis under the bounds of the segments.
#include "codegen/emit/segments.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "ir/build.h"
#include "ir/walk.h"

namespace sinter::codegen {

void Segments::enter(UOp range, int64_t from, int64_t to) {
  open_.push_back({range, from, to});
  analyze();
}

void Segments::leave() {
  open_.pop_back();
  analyze();
}

void Segments::analyze() {
  ir::Facts facts;
  for (const auto& [range, from, to] : open_) {
    facts.assume(ir::le(ir::constant(*range->graph, DType::Index, from), range));
    facts.assume(ir::lt(range, ir::constant(*range->graph, DType::Index, to)));
  }
  simplified_.clear();
  intervals_ = open_.empty() ? std::nullopt : std::optional(ir::IntervalAnalysis(std::move(facts)));
}

bool Segments::raises(UOp n) {
  const auto unknown = [this](UOp u) { return !raises_.contains(u.get()); };
  for (UOp u : ir::topological(std::span<const UOp>(&n, 1), unknown))
    if (unknown(u))
      raises_[u.get()] = u->op == Op::Check || std::ranges::any_of(u->src, [&](UOp s) { return raises_.at(s.get()); });
  return raises_.at(n.get());
}

int Segments::outcome(UOp condition) {
  if (!intervals_ || raises(condition) ||
      std::ranges::none_of(open_, [&](const Segment& s) { return ranges_.depends(condition, s.range); }))
    return -1;
  const ir::Interval known = intervals_->of(condition);
  return known.single() ? static_cast<int>(known.lo) : -1;
}

bool Segments::is_zero(UOp n) const { return codegen::is_zero(simplified_.at(n.get())); }

UOp Segments::without_zero(UOp n) const {
  if (n->op != Op::Add || !is_float(n->dtype)) return {};
  for (const size_t zero : {0, 1})
    if (is_zero(n->src[zero])) return n->src[1 - zero];
  return {};
}

UOp Segments::simplified(UOp n) {
  if (!intervals_) return n;
  const auto unknown = [this](UOp u) { return !simplified_.contains(u.get()); };
  for (UOp u : ir::topological(std::span<const UOp>(&n, 1), unknown))
    if (unknown(u)) simplified_[u.get()] = simplify(u);
  return simplified_.at(n.get());
}

UOp Segments::simplify(UOp n) {
  // As the rule float-add-zero-twice: x + 0 is not x where that is -0, but x + 0 + 0 is x + 0.
  if (const UOp value = without_zero(n)) {
    const UOp simpler = simplified_.at(value.get());
    return codegen::is_zero(simpler) || without_zero(simpler) ? simpler : n;
  }
  if (n->op == Op::Where) {
    const int yes = outcome(n->src[0]);
    return yes < 0 || raises(n->src[yes ? 2 : 1]) ? n : n->src[yes ? 1 : 2];
  }
  if (n->op == Op::Load && predicate_of(n)) {
    const int open = outcome(predicate_of(n));
    if (open == 1) return ir::load(n->src[0], indices_of(n));
    return open < 0 || std::ranges::any_of(indices_of(n), [&](UOp i) { return raises(i); }) ? n : other_of(n);
  }
  if (n->dtype != DType::Bool || !ir::is_alu(n->op)) return n;
  const int holds = outcome(n);
  return holds < 0 ? n : ir::constant(*n->graph, DType::Bool, holds);
}

}  // namespace sinter::codegen
