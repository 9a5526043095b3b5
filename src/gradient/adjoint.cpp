// The table of all rules, and the families with short rules: movement and state.
#include "gradient/adjoint.h"

#include <array>

#include "ir/build.h"
#include "sinter/error.h"

namespace sinter::autodiff {
namespace {

using namespace sinter::ir;

/// Gradients are taken on the tensor graph, where the begins of boxes are never arguments.
const Region& fixed_box(UOp n, size_t sources) {
  if (n->src.size() != sources) throw InternalError("gradient of a box whose place is an argument");
  return n->region();
}

constexpr GradientRuleEntry kMovement[] = {
    {Op::Reshape, [](Adjoint& a) { a.give(0, reshape(a.g, a.src(0)->shape)); }},
    {Op::Permute,
     [](Adjoint& a) {
       Ints inverse(a.n->rank());
       for (size_t i = 0; i < inverse.size(); ++i) inverse[a.n->ints()[i]] = static_cast<int64_t>(i);
       a.give(0, permute(a.g, inverse));
     }},
    {Op::Expand, [](Adjoint& a) { a.give(0, sum(a.g, a.n->ints())); }},
    {Op::Shrink, [](Adjoint& a) { a.give(0, pad(a.g, fixed_box(a.n, 1), a.src(0)->shape)); }},
    {Op::Pad, [](Adjoint& a) { a.give(0, shrink(a.g, fixed_box(a.n, 1))); }},
    {Op::Flip, [](Adjoint& a) { a.give(0, flip(a.g, a.n->ints())); }},
    {Op::Window,
     [](Adjoint& a) {
       const WindowAttr& w = a.n->get<WindowAttr>();
       a.give(0, slide(a.g, w.axis, -w.step, a.src(0)->shape[w.axis].value()));
     }},
};

/// A version passes its gradient to the written value and, outside the box, to the old value (SEMANTICS V1).
void after(Adjoint& a) {
  if (!std::holds_alternative<Region>(a.n->attr)) return a.give(0, a.g);
  const Region& box = fixed_box(a.n, 2);
  if (a.wants(0)) a.give(0, where(pad(true_like(a.src(1)), box, a.n->shape), like(a.g, 0.0), a.g));
  if (a.wants(1)) a.give(1, shrink(a.g, box));
}

constexpr GradientRule kIdentityRule = [](Adjoint& a) { a.give(0, a.g); };
constexpr GradientRuleEntry kState[] = {
    {Op::Leaf, kIdentityRule},  // only for a leaf that does not require grad: state
    {Op::After, after},
    {Op::Contiguous, kIdentityRule},
    {Op::Barrier, kIdentityRule},
    {Op::Tf32, kIdentityRule},
    {Op::Copy, [](Adjoint& a) { a.give(0, copy(a.g, a.src(0)->device)); }},
};

}  // namespace

std::span<const GradientRuleEntry> movement_rules() { return kMovement; }
std::span<const GradientRuleEntry> state_rules() { return kState; }

GradientRule rule_of(Op op) {
  static const auto table = [] {
    std::array<GradientRule, 256> rules{};
    for (auto family :
         {elementwise_rules(), movement_rules(), reduce_rules(), pick_rules(), lapack_rules(), state_rules()})
      for (const GradientRuleEntry& row : family) rules[static_cast<size_t>(row.op)] = row.rule;
    return rules;
  }();
  return table[static_cast<size_t>(op)];
}

}  // namespace sinter::autodiff
