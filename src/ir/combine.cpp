// One function per combine, which merges two accumulator states. A step is a merge with a single element, except for
// Dot.
#include "ir/combine.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "ir/build.h"
#include "ir/splat.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::ir {
namespace {

using AccumulatorNodes = std::vector<UOp>;

/// Index of the extreme value. Equal values compare by index, so that chains may merge in any order. On floats no
/// comparison is used twice: compilers then keep them all in mask registers.
AccumulatorNodes arg_extreme(bool largest, const AccumulatorNodes& a, const AccumulatorNodes& b) {
  UOp beyond = largest ? lt(a[0], b[0]) : lt(b[0], a[0]), same = eq(a[0], b[0]);
  if (is_float(a[0]->dtype)) {
    beyond = ~(largest ? le(b[0], a[0]) : le(a[0], b[0])) & eq(a[0], a[0]);
    same = same | (ne(a[0], a[0]) & ne(b[0], b[0]));
  }
  UOp take = beyond | (same & lt(b[1], a[1]));
  return {where(take, b[0], a[0]), where(take, b[1], a[1])};
}

/// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979). An
/// empty part changes nothing, even if a mean is infinite, or if both parts are empty, where the share is 0 / 0.
AccumulatorNodes merge_moments(const AccumulatorNodes& a, const AccumulatorNodes& b) {
  UOp count = a[0] + b[0], off = b[1] - a[1];
  UOp share = b[0] / count;
  UOp mean = a[1] + off * share;
  UOp squares = (a[2] + b[2]) + off * (off * (a[0] * share));
  UOp none = eq(b[0], like(b[0], 0.0));
  return {count, where(none, a[1], mean), where(none, a[2], squares)};
}

/// Scales the sum of the smaller exponent to the larger one. Equal exponents need no scale, even if both are infinite.
AccumulatorNodes merge_exp_sums(const AccumulatorNodes& a, const AccumulatorNodes& b) {
  UOp scale = exp(-alu(Op::Abs, {a[0] - b[0]}));
  scale = where(eq(a[0], b[0]), like(scale, 1.0), scale);
  UOp sum = where(le(b[0], a[0]), fma(b[1], scale, a[1]), fma(a[1], scale, b[1]));
  return {maximum(a[0], b[0]), sum};
}

/// b after a: b0*(a0*s + a1) + b1.
AccumulatorNodes merge_affine(const AccumulatorNodes& a, const AccumulatorNodes& b) {
  return {a[0] * b[0], fma(a[1], b[0], b[1])};
}

AccumulatorNodes merge_accumulators(Combine combine, const AccumulatorNodes& a, const AccumulatorNodes& b) {
  const bool truth = is_bool(a[0]->dtype);  // on bool, a sum is an or and a product an and
  switch (combine) {
    case Combine::Add:
    case Combine::Dot: return {truth ? a[0] | b[0] : a[0] + b[0]};
    case Combine::Mul: return {truth ? a[0] & b[0] : a[0] * b[0]};
    case Combine::Max: return {truth ? a[0] | b[0] : maximum(a[0], b[0])};
    case Combine::Min: return {truth ? a[0] & b[0] : minimum(a[0], b[0])};
    case Combine::ArgMax: return arg_extreme(true, a, b);
    case Combine::ArgMin: return arg_extreme(false, a, b);
    case Combine::Moments: return merge_moments(a, b);
    case Combine::ExpSum: return merge_exp_sums(a, b);
    case Combine::Affine: return merge_affine(a, b);
  }
  throw InternalError("no such combine");
}

/// Arguments numbered from `first`, one per type.
AccumulatorNodes registers(Graph& g, size_t first, std::span<const DType> types) {
  AccumulatorNodes out;
  for (size_t i = 0; i < types.size(); ++i) out.push_back(argument(g, static_cast<int64_t>(first + i), types[i]));
  return out;
}

}  // namespace

CombineGraph combine_merge(Combine combine, std::span<const DType> types) {
  auto graph = std::make_shared<Arena>();
  return {graph, merge_accumulators(combine, registers(*graph, 0, types), registers(*graph, types.size(), types))};
}

CombineGraph combine_step(Combine combine, std::span<const DType> types) {
  if (combine != Combine::Dot) return combine_merge(combine, types);
  auto graph = std::make_shared<Arena>();
  const DType both[] = {types[0], types[0]};
  AccumulatorNodes sum = registers(*graph, 0, types), x = registers(*graph, 1, both);
  if (is_float(types[0])) return {graph, {fma(x[0], x[1], sum[0])}};
  return {graph, merge_accumulators(Combine::Add, sum, merge_accumulators(Combine::Mul, {x[0]}, {x[1]}))};
}

Scalar reduction_identity(Combine combine, DType dtype, int result) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (combine) {
    case Combine::Add:
    case Combine::Dot:
    case Combine::Moments: return Scalar::of(dtype, 0);
    case Combine::Mul: return Scalar::of(dtype, 1);
    case Combine::Max:
      if (is_float(dtype)) return Scalar::of(dtype, -kInfinity);
      if (is_unsigned(dtype)) return Scalar::of(dtype, 0);
      return Scalar::of(dtype, std::numeric_limits<int64_t>::min() >> (64 - 8 * size_of(dtype)));
    case Combine::Min:
      if (is_float(dtype)) return Scalar::of(dtype, kInfinity);
      if (dtype == DType::Bool) return Scalar::of(dtype, 1);
      if (is_unsigned(dtype)) return Scalar::of(dtype, int64_t{-1});
      return Scalar::of(dtype, std::numeric_limits<int64_t>::max() >> (64 - 8 * size_of(dtype)));
    case Combine::ArgMax: return reduction_identity(result ? Combine::Min : Combine::Max, dtype);
    case Combine::ArgMin: return reduction_identity(Combine::Min, dtype);
    case Combine::ExpSum: return reduction_identity(result ? Combine::Add : Combine::Max, dtype);
    case Combine::Affine: return reduction_identity(result ? Combine::Add : Combine::Mul, dtype);
  }
  throw InternalError("no such combine");
}

std::vector<DType> accumulator_types(UOp reduce) {
  if (reduce->reduction().tree.mma) return {mma_sum(reduce->src[0]->dtype)};
  std::vector<DType> out;
  for (int i = 0; i < accumulator_count(reduce->reduction().combine); ++i) out.push_back(reduce->src[i]->dtype);
  return out;
}

bool follows_source_alone(const CombineGraph& step, size_t accumulator) {
  return std::ranges::none_of(topological(step.next[accumulator]), [&](UOp n) {
    return n->op == Op::Arg && static_cast<size_t>(n->integer()) % step.next.size() != accumulator;
  });
}

StepOps combine_step_ops(UOp reduce) {
  const Combine combine = reduce->reduction().combine;
  if (accumulator_count(combine) == 1) {  // single op, no graph needed
    if (combine == Combine::Dot) return {{Op::Fma}, {}};
    return {{combine == Combine::Mul   ? Op::Mul
             : combine == Combine::Max ? Op::Max
             : combine == Combine::Min ? Op::Min
                                       : Op::Add},
            {}};
  }
  const std::vector<DType> types = accumulator_types(reduce);
  const CombineGraph step = combine_step(combine, types);
  enum class Kind : uint8_t { Known, Shared, PerChain };
  const auto kind_of_arg = [&](size_t arg) {
    const size_t k = arg % types.size();
    if (!splat_const(reduce->src[k])) return Kind::PerChain;
    if (arg >= types.size()) return Kind::Known;
    return follows_source_alone(step, k) ? Kind::Shared : Kind::PerChain;
  };
  std::unordered_map<UOp, Kind> kinds;
  StepOps out;
  for (UOp n : topological(step.next)) {
    Kind kind = n->op == Op::Arg ? kind_of_arg(static_cast<size_t>(n->integer())) : Kind::Known;
    for (UOp s : n->src) kind = std::max(kind, kinds.at(s));
    kinds[n] = kind;
    const bool decided = n->op == Op::Where && kinds.at(n->src[0]) == Kind::Known;
    if (is_alu(n->op) && kind != Kind::Known && !decided)
      (kind == Kind::PerChain ? out.per_chain : out.shared).push_back(n->op);
  }
  return out;
}

}  // namespace sinter::ir
