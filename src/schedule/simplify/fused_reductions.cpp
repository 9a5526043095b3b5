// First finds the sums that qualify and their maxima. Then rebuilds the graph without them.
#include "schedule/simplify/fused_reductions.h"

#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/splat.h"
#include "schedule/graph/rebuild_plan.h"

namespace sinter::schedule {
namespace {

using ir::Combine;

/// Shorter rows stay in the L1 cache until they are read again.
constexpr int64_t kRowBytes = 16 << 10;
/// Up to this many elements, a float32 counts exactly.
constexpr int64_t kMaxCounted = int64_t{1} << 24;

/// Elements per result; none if symbolic or zero.
std::optional<int64_t> length_of(UOp reduce) {
  int64_t length = 1;
  for (int64_t a : reduce->reduction().axes) {
    const Dim& d = reduce->src[0]->shape[a];
    if (d.symbolic() || d == 0) return {};
    length *= d.value();
  }
  return length;
}
bool too_long(UOp reduce) {
  const std::optional<int64_t> length = length_of(reduce);
  return length && *length <= kMaxCounted && *length * static_cast<int64_t>(size_of(reduce->dtype)) > kRowBytes;
}

/// The constant that n broadcasts; none if n is no constant.
std::optional<double> number_of(UOp n) {
  UOp number = ir::splat_const(n);
  if (!number) return {};
  return number->scalar().as_double();
}

/// Matches x - expand(y) along the axes of `reduce`. Returns x and sets `from` to y; null if n has another form.
UOp distance(UOp n, UOp reduce, UOp& from) {
  if (n->op != Op::Sub || n->src[1]->op != Op::Expand || n->src[1]->ints() != reduce->reduction().axes) return {};
  from = n->src[1]->src[0];
  return n->src[0];
}

bool same_rows(UOp reduce, UOp other, UOp x) {
  return other->src[0] == x && other->reduction().axes == reduce->reduction().axes;
}

/// The mean below a sum of squared distances; null if n has another form.
UOp mean_below(UOp n) {
  if (!is_reduce(n, Combine::Add) || n->src[0]->op != Op::Mul || n->src[0]->src[0] != n->src[0]->src[1]) return {};
  UOp mean;
  UOp x = distance(n->src[0]->src[0], n, mean);
  if (!x || mean->op != Op::Div || !is_reduce(mean->src[0], Combine::Add) || !same_rows(n, mean->src[0], x)) return {};
  const std::optional<double> count = number_of(mean->src[1]);
  const std::optional<int64_t> length = length_of(n);
  return count && length && *count == static_cast<double>(*length) ? mean : UOp();
}

}  // namespace

ExpSumMatch match_exp_sum(UOp n) {
  if (!is_reduce(n, Combine::Add) || n->src[0]->op != Op::Exp) return {};
  ExpSumMatch out;
  UOp x = distance(n->src[0]->src[0], n, out.maximum);
  if (!x) return {};
  if (out.maximum->op == Op::Where) {
    UOp finite = out.maximum->src[0], top = out.maximum->src[1];
    const bool guard = finite->op == Op::Lt && finite->src[0]->op == Op::Abs && finite->src[0]->src[0] == top &&
                       number_of(finite->src[1]) == std::numeric_limits<double>::infinity() &&
                       number_of(out.maximum->src[2]) == 0.0;
    if (!guard) return {};
    out = {top, true};
  }
  if (!is_reduce(out.maximum, Combine::Max) || !same_rows(n, out.maximum, x)) return {};
  return out;
}

bool is_softmax_weight(UOp n) {
  if (n->op != Op::Div || n->src[1]->op != Op::Expand) return false;
  UOp sum = n->src[1]->src[0];
  return match_exp_sum(sum).maximum && sum->src[0] == n->src[0] && sum->reduction().axes == n->src[1]->ints();
}

namespace {

class ReductionFusion {
 public:
  explicit ReductionFusion(PlanGraph& plan) : plan_(plan) {}

  void run() {
    find();
    if (squares_.empty() && sums_.empty()) return;
    rebuild(plan_, [&](UOp n, const std::vector<UOp>& src) {
      UOp made;
      if (squares_.contains(n))
        made = squares(n);
      else if (maxima_.contains(n))
        made = exponents(n, n->src[0], 0);
      else if (auto sum = sums_.find(n); sum != sums_.end())
        made = total(n, sum->second);
      else
        made = src == n->src ? n : ir::with_sources(*plan_.graph, n, src);
      return made_[n] = made;
    });
  }

 private:
  void find() {
    for (UOp n : ir::topological(values_of(plan_))) {
      if (mean_below(n) && too_long(n)) squares_.insert(n);
      if (const ExpSumMatch s = match_exp_sum(n); s.maximum && too_long(n)) {
        sums_[n] = s.guarded;
        maxima_.insert(s.maximum);
      }
    }
  }

  /// The mean stays a sum for its other readers. Otherwise its value would depend on whether the squares are computed
  /// too.
  UOp squares(UOp sum) const {
    UOp x = made_.at(sum->src[0]->src[0]->src[0]);
    const UOp values[] = {ir::like(x, 1.0), x, ir::like(x, 0.0)};
    return ir::reduce(Combine::Moments, values, sum->reduction().axes, 2);
  }
  /// `x` is a node of the old graph; the axes are those of `reduce`.
  UOp exponents(UOp reduce, UOp x, int result) const {
    x = made_.at(x);
    const UOp values[] = {x, ir::like(x, 1.0)};
    return ir::reduce(Combine::ExpSum, values, reduce->reduction().axes, result);
  }
  /// The sum of exp(x - maximum), and its value where the maximum is not finite.
  UOp total(UOp sum, bool guarded) const {
    UOp x = sum->src[0]->src[0]->src[0];
    UOp largest = exponents(sum, x, 0);
    UOp other = guarded ? ir::maximum(largest, ir::like(largest, 0.0))
                        : ir::like(largest, std::numeric_limits<double>::quiet_NaN());
    UOp finite = ir::lt(ir::alu(Op::Abs, {largest}), ir::like(largest, std::numeric_limits<double>::infinity()));
    return ir::where(finite, exponents(sum, x, 1), other);
  }

  PlanGraph& plan_;
  std::unordered_map<UOp, UOp> made_;
  std::unordered_set<UOp> squares_, maxima_;
  std::unordered_map<UOp, bool> sums_;  ///< value: whether the maximum is guarded
};

}  // namespace

void fuse_reductions(PlanGraph& plan) { ReductionFusion(plan).run(); }

}  // namespace sinter::schedule
