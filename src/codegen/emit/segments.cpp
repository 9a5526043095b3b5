// Interval analysis under the bounds of the segments.
#include "codegen/emit/segments.h"

#include <algorithm>
#include <cmath>

#include "codegen/kernel/access.h"
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
  reduced_.clear();
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

bool Segments::is_zero(UOp n) {
  const UOp simpler = reduced(n);
  return simpler->op == Op::Const && is_float(n->dtype) && simpler->scalar().as_double() == 0 &&
         !std::signbit(simpler->scalar().as_double());
}

UOp Segments::without_zero(UOp n) {
  if (n->op != Op::Add || !is_float(n->dtype)) return {};
  for (const size_t zero : {0, 1})
    if (is_zero(n->src[zero])) return n->src[1 - zero];
  return {};
}

UOp Segments::reduced(UOp n) {
  if (!intervals_) return n;
  if (const auto known = reduced_.find(n.get()); known != reduced_.end()) return known->second;
  const UOp simpler = reduce(n);
  reduced_[n.get()] = simpler;
  return simpler;
}

UOp Segments::reduce(UOp n) {
  // x + 0 is not x where that is -0, but x + 0 + 0 is x + 0.
  if (const UOp sum = without_zero(n)) {
    const UOp simpler = reduced(sum);
    return without_zero(simpler) ? simpler : n;
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
