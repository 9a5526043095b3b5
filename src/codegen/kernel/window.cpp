// A sum is recognized by the factors of both ranges in every index expression of the value.
#include "codegen/kernel/window.h"

#include <algorithm>
#include <numeric>

#include "ir/build.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "rewrite/linear.h"

namespace sinter::codegen {
namespace {

bool is_known_size(UOp range) { return range->src[0]->op == Op::Const && range->src[0]->scalar().as_int() > 1; }

/// Whether only the difference of both sources counts.
bool is_comparison(UOp n) { return n->op == Op::Lt || n->op == Op::Le || n->op == Op::Eq || n->op == Op::Ne; }

/// Whether an expression is a sum, whose terms are its parent's.
bool is_sum(UOp n) {
  if (n->dtype != DType::Index || !ir::is_alu(n->op)) return false;
  const ir::LinearExpr sum = ir::linear_of(n);
  return !(sum.terms.size() == 1 && sum.terms[0].atom == n);
}

}  // namespace

std::optional<Window> window_of(UOp value, UOp along, UOp taps, FreeRanges& ranges) {
  if (along == taps || !is_known_size(along) || !is_known_size(taps)) return std::nullopt;
  if (!ranges.depends(value, along) || !ranges.depends(value, taps)) return std::nullopt;
  std::optional<Window> found;
  for (UOp n : ir::topological(value)) {
    if (has_accumulators(n)) return std::nullopt;  // it may bind the ranges
    if (n->op == Op::Range || is_sum(n)) continue;
    std::vector<ir::LinearExpr> sums;
    for (UOp s : n->src)
      if (s->dtype == DType::Index && (ranges.depends(s, along) || ranges.depends(s, taps)))
        sums.push_back(ir::linear_of(s));
    if (is_comparison(n) && sums.size() == 2) sums = {ir::plus(sums[0], sums[1], -1)};
    for (const ir::LinearExpr& sum : sums) {
      const int64_t a = sum.factor(along), t = sum.factor(taps), unit = std::gcd(a, t);
      const bool other = std::ranges::any_of(sum.terms, [&](const ir::LinearTerm& x) {
        return x.atom->op == Op::Range && !(x.atom == along) && !(x.atom == taps) &&
               (ranges.depends(x.atom, along) || ranges.depends(x.atom, taps));
      });
      if (other) return std::nullopt;
      if (a == 0 && t == 0) continue;  // inside of an atom, whose sources are looked at too
      if (a == 0 || t == 0) return std::nullopt;
      const Window here{along, taps, std::abs(a) / unit, (a < 0 ? -t : t) / unit};
      if ((here.step != 1 && std::abs(here.dilation) != 1) || (found && !(*found == here))) return std::nullopt;
      found = here;
    }
  }
  return found;
}

UOp at_position(ir::Graph& g, UOp value, const Window& window, UOp position) {
  const UOp zero = ir::constant(g, DType::Index, 0);
  const UOp carrier = window.step == 1 ? window.along : window.taps;
  const ir::LinearExpr sum = ir::plus(ir::linear_of(position), ir::linear_of(-window.first()));
  const UOp carried = ir::to_uop(g, carrier == window.taps && window.dilation < 0 ? ir::times(sum, -1) : sum);
  return ir::rebuild(g, value, [&](UOp n, const std::vector<UOp>&) {
    return n == carrier ? carried : n == window.along || n == window.taps ? zero : UOp();
  });
}

UOp position_of(ir::Graph& g, const Window& window) {
  const ir::LinearExpr sum = ir::times(ir::linear_of(window.along), window.step);
  return ir::to_uop(
      g, ir::plus(ir::plus(sum, ir::linear_of(window.taps), window.dilation), ir::linear_of(window.first())));
}

}  // namespace sinter::codegen
