// An element that is skipped would have added +0. That changes only an accumulator that underflow left at -0: it
// becomes +0. So one +0 stands for all. If each iteration of a loop of the sum skips the same elements, the last one
// adds it; until then at most the sign of a zero is wrong. (No range of a sum bounds another, so the last iteration
// skips as much as the others. Loops over other ranges begin new accumulators.)
#include "codegen/emit/reduction_elements.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "ir/build.h"
#include "ir/contains.h"

namespace sinter::codegen {
namespace {

/// The common predicate of the elements of a sum with a single chain.
UOp predicate_of_chain(UOp n) {
  return n->op == Op::Reduce && n->reduction().tree.lanes == 1 && !n->reduction().tree.mma ? common_predicate(n)
                                                                                           : UOp();
}

UOp all_of(const std::vector<UOp>& conditions) {
  return std::accumulate(conditions.begin() + 1, conditions.end(), conditions[0], std::bit_and<>());
}

}  // namespace

void ReductionElements::add(int statement) {
  const UOp sum = at(statement).node;
  if (closed_ == Closed::Multiplied)
    return unrolled_copies_.for_each(sum, true, [&] { accumulators_.update(statement); });
  if (add_unswitched(statement)) return;
  const std::optional<OpenPredicate> predicate = open_predicate(statement);
  if (!predicate) return add_masked(statement);
  if (predicate->masked) {
    add_masked(statement);
    values_.end_assumption();
    return emit_.close();
  }
  const auto closed = [&] {
    return std::ranges::any_of(predicate->known, [&](UOp c) { return emit_.never(values_.value(c)); });
  };
  if (!predicate->before.empty()) add_zeros(statement, last_iteration(sum, predicate->known), &predicate->before);
  unrolled_copies_.for_each_step(sum, [&] {
    const bool guarded = open_step(statement, predicate->steps);
    unrolled_copies_.for_each(sum, true, [&] {
      if (!closed()) accumulators_.update(statement);
    });
    if (guarded) emit_.close();
  });
  if (!predicate->behind.empty()) add_zeros(statement, last_iteration(sum, predicate->known), &predicate->behind);
  values_.end_assumption();
  emit_.close();
}

/// Opens a block for elements whose predicate holds. All lanes must agree on the predicate. Conditions that differ
/// between copies of results must have a known outcome in each. Otherwise only what the loops' bounds guarantee is
/// assumed, and skipped elements are added as zeros. Empty if there is nothing to assume.
std::optional<ReductionElements::OpenPredicate> ReductionElements::open_predicate(int statement) {
  const UOp predicate = predicate_of_chain(at(statement).node);
  if (!predicate) return {};
  Conditions guaranteed, same, different;
  for (UOp c : ir::operands_of(predicate, Op::And))
    (ir::contains(enforced_, c) ? guaranteed : differs(c) ? different : same).push_back(c);
  std::optional<OpenPredicate> open = outcomes_in_copies(at(statement).node, different);
  if (!open && guaranteed.empty()) return {};
  if (open && !same.empty()) {
    const Id all = values_.value(all_of(same));
    add_skipped_zeros(statement, emit_.alu(Op::Not, {DType::Bool, 1}, {all}));
    emit_.open_if(all);
    guaranteed.insert(guaranteed.end(), same.begin(), same.end());
  } else {
    emit_.open_memo_scope();
  }
  guaranteed.empty() ? values_.begin_assumption() : values_.assume(all_of(guaranteed));
  return open ? std::move(*open) : OpenPredicate{.masked = true};
}

/// Empty if a copy's outcome is unknown, or if a copy skips elements between those that it adds.
std::optional<ReductionElements::OpenPredicate> ReductionElements::outcomes_in_copies(UOp sum,
                                                                                      const Conditions& conditions) {
  if (std::ranges::any_of(conditions, [&](UOp c) { return values_.varies(c); })) return {};
  OpenPredicate out;
  for (UOp c : conditions) {
    bool known = true;
    unrolled_copies_.for_each(sum, true, [&] {
      const Id value = values_.value(c);
      known &= emit_.always(value) || emit_.never(value);
    });
    if (!known && unrolled_copies_.differ(c, ranges_of(sum))) return {};
    (known ? out.known : out.steps).push_back(c);
  }
  std::set<uint64_t> added;
  bool together = true;
  unrolled_copies_.for_each(sum, true, [&] {
    const bool open = std::ranges::none_of(out.known, [&](UOp c) { return emit_.never(values_.value(c)); });
    const uint64_t copy = values_.copy_key(sum);
    if (open) {
      together &= !out.behind.contains(copy);
      added.insert(copy);
    } else {
      (added.contains(copy) ? out.behind : out.before).insert(copy);
    }
  });
  if (!together) return {};
  for (uint64_t copy : out.behind) out.before.erase(copy);  // the +0 added after the elements is enough
  return out;
}

/// Opens a block for a step of the sum in which all conditions hold, and adds +0 where they do not. False: they always
/// hold, and nothing is opened.
bool ReductionElements::open_step(int statement, const Conditions& conditions) {
  Id open = kNone;
  for (UOp c : conditions) unrolled_copies_.for_each(c, false, [&] { open = emit_.both(open, values_.value(c)); });
  if (open == kNone) return false;
  const UOp sum = at(statement).node;
  add_zeros(statement, emit_.both(emit_.alu(Op::Not, {DType::Bool, 1}, {open}), last_iteration(sum, conditions)),
            nullptr);
  emit_.open_if(open);
  for (UOp c : conditions) unrolled_copies_.for_each(c, false, [&] { values_.assume_here(c); });
  return true;
}

/// Whether steps that a border closes add 0 times finite numbers, to a sum of float32 in one chain whose loop has not
/// begun; kNone: unknown, or there are no such steps.
Id ReductionElements::has_finite_border(int statement) {
  const Statement& s = at(statement);
  if (!unswitch_ || !s.is_reduce() || s.carried() || s.node->dtype != DType::F32 ||
      s.node->reduction().tree.lanes > 1 || predicate_of_chain(s.node) || !values_.varies(s.node))
    return kNone;
  const Conditions loads = predicated_loads(s.node);
  const UOp other = loads.size() == 1 ? factor_beside(s.node, loads[0]) : UOp();
  if (!other || !unrolled_copies_.differ(loads[0]) || values_.varies(loads[0])) return kNone;
  const auto is_common = [&](UOp c) {
    return !differs(c) && std::ranges::none_of(s.loops, [&](const LoopLevel& l) {
      return l.unroll > 1 && ir::contains(ranges_of(s.node), l.range) && ranges_.depends(c, l.range);
    });
  };
  return std::ranges::any_of(ir::operands_of(predicate_of(loads[0]), Op::And), is_common)
             ? finite_factors_.finite(other)
             : kNone;
}

/// Whether the factor beside a border is finite, and what then becomes of closed elements.
ReductionElements::FiniteForm ReductionElements::finite_form(int statement) {
  if (const Id finite = has_finite_border(statement); finite != kNone) return {finite, Closed::Skipped};
  const UOp other = unswitch_ ? factor_beside_zeros(at(statement), statements_, ranges_) : UOp();
  return other ? FiniteForm{finite_factors_.finite(other), Closed::Multiplied} : FiniteForm{};
}

bool ReductionElements::add_beside_finite(int statement, const std::function<void()>& loop) {
  const auto [finite, closed] = finite_form(statement);
  if (finite == kNone) return false;
  const UOp sum = at(statement).node;
  const Type boolean{DType::Bool, 1};
  const Id again = emit_.insert_here({InstCode::Accumulator, boolean, {emit_.truth(true)}, 1});
  emit_.open_if(finite);
  closed_ = closed;
  const UOp before = values_.suppose(closed == Closed::Multiplied ? predicate_of_chain(sum) : UOp());
  loop();
  values_.suppose(before);
  closed_ = Closed::AsWritten;
  Id negative = kNone;
  unrolled_copies_.for_each(sum, false, [&] {
    const Id here = accumulators_.has_negative_zero(statement);
    negative = negative == kNone ? here : emit_.alu(Op::Or, emit_.type(here), {negative, here});
  });
  negative = emit_.join_lanes(Op::Or, negative);
  emit_.insert_here({InstCode::AccumulatorWrite, {}, {again, negative}});
  emit_.open_if(negative);
  unrolled_copies_.for_each(sum, false, [&] { accumulators_.reset(statement); });
  emit_.close();
  emit_.close();
  emit_.open_if(emit_.insert_here({InstCode::AccumulatorRead, boolean, {again}}));
  loop();
  emit_.close();
  return true;
}

/// Two versions of a step: where a condition holds, and where it does not. Of the second one there may be nothing.
void ReductionElements::add_versions(Id open, const std::function<void()>& if_open,
                                     const std::function<void()>& if_closed) {
  const auto version = [&](Id condition, const std::function<void()>& body) {
    emit_.open_if(condition);
    values_.begin_assumption();
    body();
    values_.end_assumption();
    emit_.close();
  };
  version(open, if_open);
  if (if_closed) version(emit_.alu(Op::Not, {DType::Bool, 1}, {open}), if_closed);
}

/// Unswitches one element of a sum of vectors on the common part of the predicates of scalar loads that differ between
/// copies: one version where it holds, one where it does not. A test in each copy would take the place of
/// multiplications. Sums that skip elements by their predicate need no unswitching.
bool ReductionElements::add_unswitched(int statement) {
  const UOp n = at(statement).node;
  if (!unswitch_ || n->op != Op::Reduce || predicate_of_chain(n) || !values_.varies(n)) return false;
  Conditions common;
  std::vector<UOp> loads;
  for (UOp load : predicated_loads(n)) {
    if (!unrolled_copies_.differ(load) || values_.varies(load)) continue;
    Conditions conditions = ir::operands_of(predicate_of(load), Op::And);
    std::erase_if(conditions, [&](UOp c) { return differs(c); });
    if (loads.empty()) common = conditions;
    if (!conditions.empty() && conditions == common) loads.push_back(load);
  }
  if (loads.empty()) return false;
  const UOp all = all_of(common);
  const Id open = values_.value(all);
  if (emit_.always(open) || emit_.never(open)) return false;
  const auto update = [&] { accumulators_.update(statement); };
  const std::function<void()> closed = [&] {
    unrolled_copies_.for_each(n, true, [&] {
      for (UOp load : loads) values_.assume_false(load);
      update();
    });
  };
  add_versions(
      open,
      [&] {
        values_.assume(all);
        unrolled_copies_.for_each(n, true, update);
      },
      closed_ == Closed::Skipped ? nullptr : closed);
  return true;
}

/// Adds one element, as zero where a predicate is false. Two versions where predicates of vectors have conditions that
/// all lanes share: one where these hold in all copies, so that most vectors need no mask, and one with all masks.
void ReductionElements::add_masked(int statement) {
  const UOp n = at(statement).node;
  const auto update = [&] { accumulators_.update(statement); };
  Conditions predicates, shared;
  if (UOp predicate = predicate_of_chain(n); predicate && values_.varies(predicate)) predicates.push_back(predicate);
  for (UOp load : n->op == Op::Reduce ? predicated_loads(n) : Conditions())
    if (values_.varies(load)) predicates.push_back(predicate_of(load));
  for (UOp predicate : predicates)
    for (UOp c : ir::operands_of(predicate, Op::And))
      if (!values_.varies(c) && !ir::contains(shared, c)) shared.push_back(c);
  Id open = kNone;
  if (unswitch_)
    for (UOp c : shared) unrolled_copies_.for_each(c, false, [&] { open = emit_.both(open, values_.value(c)); });
  if (open == kNone || emit_.never(open)) return unrolled_copies_.for_each(n, true, update);
  add_versions(
      open,
      [&] {
        unrolled_copies_.for_each(n, true, [&] {
          for (UOp c : shared) values_.assume_here(c);
          update();
        });
      },
      [&] { unrolled_copies_.for_each(n, true, update); });
}

LoopBounds ReductionElements::bounds_of(const LoopItem& loop, int sum) {
  const UOp predicate = sum < 0 || closed_ == Closed::Multiplied ? UOp() : predicate_of_chain(at(sum).node);
  if (!predicate) return {};
  const std::vector<UOp> inside = ranges_of(loop);
  return solve_bounds(predicate, loop.level.range, [&](UOp n) {
    return !differs(n) && std::ranges::none_of(inside, [&](UOp r) { return ranges_.depends(n, r); });
  });
}

void ReductionElements::emit_within_bounds(int sum, const LoopBounds& bounds, Id begin, Id end,
                                           const std::function<void(Id from, Id to)>& loop) {
  Id from = begin, to = end;
  for (UOp x : bounds.from) from = emit_.index(Op::Max, from, values_.value(x));
  for (UOp x : bounds.to) to = emit_.index(Op::Min, to, values_.value(x));
  const auto below = [this](Id a, Id b) { return emit_.alu(Op::Lt, {DType::Bool, 1}, {a, b}); };
  if (from != begin) add_skipped_zeros(sum, below(begin, from));
  const size_t outside = enforced_.size();
  enforced_.insert(enforced_.end(), bounds.conditions.begin(), bounds.conditions.end());
  const bool guarded = bounds.empty && (from != begin || to != end);
  if (guarded) emit_.open_if(below(from, to));  // no hoisted loads if the loop has no iterations
  loop(from, to);
  if (guarded) emit_.close();
  enforced_.resize(outside);
  if (to != end) add_skipped_zeros(sum, below(to, end));
}

/// Whether the loops of the sum that the predicate does not depend on are in their last iteration; kNone: there are
/// none.
Id ReductionElements::last_iteration(UOp sum, const Conditions& predicate) {
  const std::vector<UOp> own = ranges_of(sum);
  Id last = kNone;
  for (const OpenLoop& t : open_loops_)
    if (ir::contains(own, t.range) &&
        std::ranges::none_of(predicate, [&](UOp c) { return ranges_.depends(c, t.range); }))
      last =
          emit_.both(last, emit_.alu(Op::Eq, {DType::Bool, 1}, {emit_.index(Op::Add, t.at, emit_.number(1)), t.end}));
  return last;
}

/// `copies`: the unrolled copies to add to; null: all.
void ReductionElements::add_zeros(int statement, Id condition, const std::set<uint64_t>* copies) {
  const UOp sum = at(statement).node;
  condition == kNone ? emit_.open_memo_scope() : emit_.open_if(condition);
  unrolled_copies_.for_each(sum, false, [&] {
    if (!copies || copies->contains(values_.copy_key(sum))) accumulators_.add_zero(statement);
  });
  emit_.close();
}

void ReductionElements::add_skipped_zeros(int statement, Id condition) {
  const UOp sum = at(statement).node;
  add_zeros(statement, emit_.both(condition, last_iteration(sum, {predicate_of_chain(sum)})), nullptr);
}

}  // namespace sinter::codegen
