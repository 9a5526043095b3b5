// Functions and methods under PyTorch's other names: lists of pairs, a list for each signature.
#include "sinter/aliases.h"

#include "sinter/ops.h"

namespace sinter::inline v0 {
namespace {
using Tensors = std::vector<Tensor>;
using IntList = std::vector<int64_t>;
}  // namespace

// The function and the method of one tensor; of two.
#define SINTER_ALIAS_OF_ONE(alias, name) \
  Tensor alias(Arg x) {                  \
    const CallScope scope(#alias, x);    \
    return name(x);                      \
  }                                      \
  Tensor TensorMethods::alias(Loc where) const { return sinter::alias(Arg(self(), where)); }
#define SINTER_ALIAS_OF_TWO(alias, name) \
  Tensor alias(Arg a, Arg b) {           \
    const CallScope scope(#alias, a);    \
    return name(a, b);                   \
  }                                      \
  Tensor TensorMethods::alias(Arg other, Loc where) const { return sinter::alias(Arg(self(), where), other); }
// The function with those parameters; `args` are what it hands on, `at` has the place.
#define SINTER_ALIAS(type, alias, parameters, at, name, args) \
  type alias parameters {                                     \
    const CallScope scope(#alias, at);                        \
    return name args;                                         \
  }
// The method that calls the function of its name.
#define SINTER_ALIAS_METHOD(type, alias, parameters, args) \
  type TensorMethods::alias parameters const { return sinter::alias args; }
SINTER_ALIAS_OF_ONE(absolute, abs)
SINTER_ALIAS_OF_ONE(arccos, acos)
SINTER_ALIAS_OF_ONE(arccosh, acosh)
SINTER_ALIAS_OF_ONE(arcsin, asin)
SINTER_ALIAS_OF_ONE(arcsinh, asinh)
SINTER_ALIAS_OF_ONE(arctan, atan)
SINTER_ALIAS_OF_ONE(arctanh, atanh)
SINTER_ALIAS_OF_ONE(fix, trunc)
SINTER_ALIAS_OF_ONE(neg, negative)
SINTER_ALIAS_OF_TWO(arctan2, atan2)
SINTER_ALIAS_OF_TWO(multiply, mul)
SINTER_ALIAS_OF_TWO(less, lt)
SINTER_ALIAS_OF_TWO(less_equal, le)
SINTER_ALIAS_OF_TWO(greater, gt)
SINTER_ALIAS_OF_TWO(greater_equal, ge)
SINTER_ALIAS_OF_TWO(not_equal, ne)

SINTER_ALIAS(Tensor, subtract, (Arg a, Arg b, Arg alpha), a, sub, (a, b, alpha))
SINTER_ALIAS(Tensor, divide, (Arg a, Arg b, Choice<RoundingMode> mode), a, div, (a, b, mode))
SINTER_ALIAS(Tensor, clip, (Arg x, Arg lo, Arg hi), x, clamp, (x, lo, hi))
SINTER_ALIAS(Tensor, clip, (Arg x, Arg lo), x, clamp_min, (x, lo))
SINTER_ALIAS(Tensor, clip, (Arg x, Arg lo, std::nullopt_t), x, clamp_min, (x, lo))
SINTER_ALIAS(Tensor, clip, (Arg x, std::nullopt_t, Arg hi), x, clamp_max, (x, hi))
SINTER_ALIAS(Tensor, moveaxis, (const Tensor& x, int64_t from, int64_t to, Loc where), where, x.movedim,
             (from, to, where))
SINTER_ALIAS(Tensor, moveaxis, (const Tensor& x, const IntList& from, const IntList& to, Loc where), where, x.movedim,
             (from, to, where))
SINTER_ALIAS(Tensor, swapdims, (const Tensor& x, int64_t a, int64_t b, Loc where), where, x.transpose, (a, b, where))
SINTER_ALIAS(Tensors, split_with_sizes, (const Tensor& x, const IntList& sizes, int64_t axis, Loc where), where,
             x.split, (sizes, axis, where))
SINTER_ALIAS(Tensor, concatenate, (const Tensors& parts, int64_t axis, Loc where), where, cat, (parts, axis, where))
SINTER_ALIAS(Tensor, row_stack, (const Tensors& parts, Loc where), where, vstack, (parts, where))
SINTER_ALIAS(Tensors, broadcast_tensors, (const Tensors& operands, Loc where), where, broadcast, (operands, where))
SINTER_ALIAS(Tensor, trapz, (Arg y, double dx, int64_t axis), y, trapezoid, (y, dx, axis))
SINTER_ALIAS(Tensor, trapz, (Arg y, Arg x, int64_t axis), y, trapezoid, (y, x, axis))

SINTER_ALIAS_METHOD(Tensor, subtract, (Arg other, Loc where), (Arg(self(), where), other))
SINTER_ALIAS_METHOD(Tensor, subtract, (Arg other, Arg alpha, Loc where), (Arg(self(), where), other, alpha))
SINTER_ALIAS_METHOD(Tensor, divide, (Arg other, Loc where), (Arg(self(), where), other))
SINTER_ALIAS_METHOD(Tensor, divide, (Arg other, Choice<RoundingMode> mode, Loc where),
                    (Arg(self(), where), other, mode))
SINTER_ALIAS_METHOD(Tensor, clip, (Arg lo, Arg hi, Loc where), (Arg(self(), where), lo, hi))
SINTER_ALIAS_METHOD(Tensor, clip, (Arg lo, Loc where), (Arg(self(), where), lo))
SINTER_ALIAS_METHOD(Tensor, clip, (Arg lo, std::nullopt_t, Loc where), (Arg(self(), where), lo))
SINTER_ALIAS_METHOD(Tensor, clip, (std::nullopt_t none, Arg hi, Loc where), (Arg(self(), where), none, hi))
SINTER_ALIAS_METHOD(Tensor, moveaxis, (int64_t from, int64_t to, Loc where), (self(), from, to, where))
SINTER_ALIAS_METHOD(Tensor, moveaxis, (const IntList& from, const IntList& to, Loc where), (self(), from, to, where))
SINTER_ALIAS_METHOD(Tensor, swapdims, (int64_t a, int64_t b, Loc where), (self(), a, b, where))
SINTER_ALIAS_METHOD(Tensors, split_with_sizes, (const IntList& sizes, int64_t axis, Loc where),
                    (self(), sizes, axis, where))
int64_t TensorMethods::ndimension(Loc where) const {
  const CallScope call("ndimension", where);
  return self().rank(where);
}
int64_t TensorMethods::nelement(Loc where) const {
  const CallScope call("nelement", where);
  return self().numel(where);
}
Tensor TensorMethods::T(Loc where) const {
  const CallScope call("T", where);
  return t(where);
}

#undef SINTER_ALIAS_OF_ONE
#undef SINTER_ALIAS_OF_TWO
#undef SINTER_ALIAS
#undef SINTER_ALIAS_METHOD

}  // namespace sinter::inline v0
