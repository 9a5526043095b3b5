// The table of expansions and the pass that applies it. Expanded functions fuse and vectorize like everything else, and
// give the same bits on every machine with an FMA.
#include "codegen/normalize/normalize.h"

#include <fmt/core.h>

#include "codegen/normalize/math_ops.h"
#include "ir/build.h"
#include "ir/rebuild.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

struct Expansion {
  Op op;
  UOp (*expand)(const std::vector<UOp>& src);
  double single, wide;  ///< largest error in ulp for float32 and float64
};

template <UOp (*kExpand)(UOp)>
UOp of_one(const std::vector<UOp>& src) {
  return kExpand(src[0]);
}
template <UOp (*kExpand)(UOp, UOp)>
UOp of_two(const std::vector<UOp>& src) {
  return kExpand(src[0], src[1]);
}

constexpr Expansion kExpansions[] = {
    {Op::Exp, of_one<expand_exp>, 1, 1},          {Op::Exp2, of_one<expand_exp2>, 1, 1},
    {Op::Log, of_one<expand_log>, 1, 1},          {Op::Log2, of_one<expand_log2>, 1.5, 0.75},
    {Op::Log1p, of_one<expand_log1p>, 1.5, 1.5},  {Op::Expm1, of_one<expand_expm1>, 1.5, 1.9},
    {Op::Sin, of_one<expand_sin>, 1.6, 0.8},      {Op::Cos, of_one<expand_cos>, 1.6, 0.8},
    {Op::Tan, of_one<expand_tan>, 0.51, 1},       {Op::Tanh, of_one<expand_tanh>, 2.5, 2.5},
    {Op::Erf, of_one<expand_erf>, 1.2, 1.5},      {Op::FMod, of_two<expand_fmod>, 0, 0},
    {Op::Pow, of_two<expand_pow>, 0.51, 1},       {Op::Log10, of_one<expand_log10>, 0.51, 0.51},
    {Op::Sinh, of_one<expand_sinh>, 1.6, 1.6},    {Op::Cosh, of_one<expand_cosh>, 1.4, 1.4},
    {Op::Asinh, of_one<expand_asinh>, 0.51, 1.6}, {Op::Acosh, of_one<expand_acosh>, 0.51, 1.9},
    {Op::Atanh, of_one<expand_atanh>, 0.51, 1.3}, {Op::Atan2, of_two<expand_atan2>, 1.6, 1.6},
    {Op::Erfc, of_one<expand_erfc>, 2.2, 2.2},    {Op::Erfinv, of_one<expand_erfinv>, 2, 2.4},
};

/// The row of an op and type; every kDecomposed op has one.
const Expansion& expansion_of(Op op, DType dtype) {
  for (const Expansion& row : kExpansions)
    if (row.op == op && (dtype == DType::F32 || dtype == DType::F64)) return row;
  throw InternalError(fmt::format("expanding math: no expansion of {} for {}", info(op).name, name_of(dtype)));
}

}  // namespace

UOp expand_math(ir::Graph& g, UOp root) {
  return ir::rebuild(g, root, [](UOp n, const std::vector<UOp>& src) {
    return has(n->op, ir::kDecomposed) ? expansion_of(n->op, n->dtype).expand(src) : UOp();
  });
}

double max_ulp(Op op, DType dtype) {
  const Expansion& row = expansion_of(op, dtype);
  return dtype == DType::F32 ? row.single : row.wide;
}

}  // namespace sinter::codegen
