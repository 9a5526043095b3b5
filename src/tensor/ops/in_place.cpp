// Methods that write: each assigns what the function of its name gives, and errors bear its own name.
#include "sinter/in_place_methods.h"

#include "sinter/create.h"
#include "sinter/for_each.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// Assigns what `value` makes of the tensor.
template <class F>
Tensor& write(const char* name, Tensor& to, Loc where, F value) {
  const OuterCall call(name, where);
  return to.assign(value(Arg(to, where)), where);
}

/// Draws take the type and the device of the tensor that they are written to.
RandomOptions drawn_for(const Tensor& to, Generator* generator, Loc where) {
  return {.dtype = to.dtype(where), .generator = generator, .device = to.device(where)};
}

}  // namespace

/// The method `name` with `parameters` assigns f(x, arguments).
#define SINTER_WRITE(name, f, place, parameters, ...)                                                        \
  Tensor& InPlaceMethods::name parameters& {                                                                 \
    return write(#name, self(), place, [&](const Arg& written) { return sinter::f(written, __VA_ARGS__); }); \
  }
/// The method f_() assigns f(x).
#define SINTER_WRITE_ELEMENTS(f) \
  Tensor& InPlaceMethods::f##_(Loc where)& { return write(#f "_", self(), where, sinter::f); }

Tensor& InPlaceMethods::self() { return static_cast<Tensor&>(*this); }

Tensor& InPlaceMethods::add_(Arg other) & {
  return write("add_", self(), other.where(), [&](const Arg& x) { return x + other; });
}
SINTER_WRITE(add_, add, other.where(), (Arg other, Arg alpha), other, alpha)
Tensor& InPlaceMethods::sub_(Arg other) & {
  return write("sub_", self(), other.where(), [&](const Arg& x) { return x - other; });
}
SINTER_WRITE(sub_, sub, other.where(), (Arg other, Arg alpha), other, alpha)
Tensor& InPlaceMethods::mul_(Arg other) & {
  return write("mul_", self(), other.where(), [&](const Arg& x) { return x * other; });
}
Tensor& InPlaceMethods::div_(Arg other) & {
  return write("div_", self(), other.where(), [&](const Arg& x) { return x / other; });
}
SINTER_WRITE(div_, div, other.where(), (Arg other, Choice<RoundingMode> rounding_mode), other, rounding_mode)
Tensor& InPlaceMethods::remainder_(Arg other) & {
  return write("remainder_", self(), other.where(), [&](const Arg& x) { return x % other; });
}
SINTER_WRITE(floor_divide_, floor_divide, other.where(), (Arg other), other)
SINTER_WRITE(fmod_, fmod, other.where(), (Arg other), other)
SINTER_WRITE(logical_and_, logical_and, other.where(), (Arg other), other)
SINTER_WRITE(logical_or_, logical_or, other.where(), (Arg other), other)
SINTER_WRITE(logical_xor_, logical_xor, other.where(), (Arg other), other)
SINTER_WRITE(bitwise_and_, bitwise_and, other.where(), (Arg other), other)
SINTER_WRITE(bitwise_or_, bitwise_or, other.where(), (Arg other), other)
SINTER_WRITE(bitwise_xor_, bitwise_xor, other.where(), (Arg other), other)
SINTER_WRITE(pow_, pow, other.where(), (Arg other), other)
SINTER_WRITE(clamp_, clamp, lo.where(), (Arg lo, Arg hi), lo, hi)
SINTER_WRITE(clip_, clamp, lo.where(), (Arg lo, Arg hi), lo, hi)
SINTER_WRITE(clamp_, clamp_min, lo.where(), (Arg lo), lo)
SINTER_WRITE(clamp_, clamp_max, hi.where(), (std::nullopt_t, Arg hi), hi)
SINTER_WRITE(clip_, clamp_min, lo.where(), (Arg lo), lo)
SINTER_WRITE(clip_, clamp_max, hi.where(), (std::nullopt_t, Arg hi), hi)
SINTER_WRITE(clamp_min_, clamp_min, lo.where(), (Arg lo), lo)
SINTER_WRITE(clamp_max_, clamp_max, hi.where(), (Arg hi), hi)
SINTER_WRITE(lerp_, lerp, end.where(), (Arg end, Arg weight), end, weight)
SINTER_WRITE(addcmul_, addcmul, a.where(), (Arg a, Arg b, Arg value), a, b, value)
SINTER_WRITE(addcdiv_, addcdiv, a.where(), (Arg a, Arg b, Arg value), a, b, value)
SINTER_WRITE(addmm_, addmm, a.where(), (Arg a, Arg b, Arg beta, Arg alpha), a, b, beta, alpha)
SINTER_WRITE(addmv_, addmv, a.where(), (Arg a, Arg x, Arg beta, Arg alpha), a, x, beta, alpha)
SINTER_WRITE(baddbmm_, baddbmm, a.where(), (Arg a, Arg b, Arg beta, Arg alpha), a, b, beta, alpha)
SINTER_WRITE(masked_fill_, masked_fill, mask.where(), (Arg mask, Arg value), mask, value)
SINTER_WRITE(masked_scatter_, masked_scatter, where, (const Tensor& mask, Arg source, Loc where), mask, source)
Tensor& InPlaceMethods::copy_(Arg value) & {
  return write("copy_", self(), value.where(), [&](const Arg&) { return value; });
}
Tensor& InPlaceMethods::fill_(Arg value) & {
  return write("fill_", self(), value.where(), [&](const Arg&) { return value; });
}
Tensor& InPlaceMethods::zero_(Loc where) & {
  return write("zero_", self(), where, [&](const Arg&) { return Arg(0, where); });
}
SINTER_FOR_EACH(SINTER_WRITE_ELEMENTS, exp, sqrt, relu, abs, log, tanh, sigmoid, floor, round, ceil, trunc, square,
                reciprocal, rsqrt, sin, cos, tan, sinh, cosh, exp2, expm1, log1p, log2, log10, erf, frac, sign,
                logical_not, bitwise_not)
#undef SINTER_WRITE_ELEMENTS
Tensor& InPlaceMethods::neg_(Loc where) & { return write("neg_", self(), where, sinter::negative); }
SINTER_WRITE(nan_to_num_, nan_to_num, where,
             (double nan, std::optional<double> posinf, std::optional<double> neginf, Loc where), nan, posinf, neginf)
SINTER_WRITE(cumsum_, cumsum, where, (int64_t axis, Loc where), axis)
SINTER_WRITE(cumprod_, cumprod, where, (int64_t axis, Loc where), axis)
Tensor& InPlaceMethods::triu_(int64_t offset, Loc where) & {
  return write("triu_", self(), where, [&](const Arg&) { return sinter::triu(self(), offset, where); });
}
Tensor& InPlaceMethods::tril_(int64_t offset, Loc where) & {
  return write("tril_", self(), where, [&](const Arg&) { return sinter::tril(self(), offset, where); });
}
Tensor& InPlaceMethods::uniform_(double low, double high, Generator* generator, Loc where) & {
  return write("uniform_", self(), where, [&](const Arg&) {
    return sinter::uniform(Arg(low, where), high, self().shape(), drawn_for(self(), generator, where));
  });
}
Tensor& InPlaceMethods::normal_(double mean, double deviation, Generator* generator, Loc where) & {
  return write("normal_", self(), where, [&](const Arg&) {
    return sinter::normal(Arg(mean, where), deviation, self().shape(), drawn_for(self(), generator, where));
  });
}
Tensor& InPlaceMethods::exponential_(double rate, Generator* generator, Loc where) & {
  return write("exponential_", self(), where, [&](const Arg&) {
    return sinter::exponential(Arg(rate, where), self().shape(), drawn_for(self(), generator, where));
  });
}
Tensor& InPlaceMethods::log_normal_(double mean, double deviation, Generator* generator, Loc where) & {
  return write("log_normal_", self(), where, [&](const Arg&) {
    return sinter::log_normal(Arg(mean, where), deviation, self().shape(), drawn_for(self(), generator, where));
  });
}
Tensor& InPlaceMethods::cauchy_(double location, double scale, Generator* generator, Loc where) & {
  return write("cauchy_", self(), where, [&](const Arg&) {
    return sinter::cauchy(Arg(location, where), scale, self().shape(), drawn_for(self(), generator, where));
  });
}
Tensor& InPlaceMethods::geometric_(double p, Generator* generator, Loc where) & {
  return write("geometric_", self(), where, [&](const Arg&) {
    return sinter::geometric(Arg(p, where), self().shape(), drawn_for(self(), generator, where));
  });
}
Tensor& InPlaceMethods::bernoulli_(double p, Generator* generator, Loc where) & {
  return write("bernoulli_", self(), where, [&](const Arg&) {
    return sinter::bernoulli(p, self().shape(), {.generator = generator, .device = self().device(where)}, where);
  });
}
Tensor& InPlaceMethods::bernoulli_(const Tensor& p, Generator* generator, Loc where) & {
  return write("bernoulli_", self(), where, [&](const Arg&) {
    return sinter::bernoulli(sinter::broadcast_to(p, self().shape(), where), {.generator = generator}, where);
  });
}
Tensor& InPlaceMethods::random_(int64_t low, int64_t high, Generator* generator, Loc where) & {
  return write("random_", self(), where, [&](const Arg&) {
    RandomOptions options = drawn_for(self(), generator, where);
    const DType type = options.dtype;
    if (!is_integer(type)) options.dtype = int64;
    return sinter::randint(low, high, self().shape(), options, where).to(type, where);
  });
}
Tensor& InPlaceMethods::random_(int64_t high, Loc where) & { return random_(0, high, nullptr, where); }
Tensor& InPlaceMethods::detach_(Loc where) & {
  const OuterCall call("detach_", where);
  const bool is_leaf = [&] {
    const ir::GraphScope scope;
    return self().cell() && self().cell()->leaf_id != 0;
  }();
  return is_leaf ? self().requires_grad(false, where) : self().assign(self().detach(where), where);
}
Tensor& InPlaceMethods::fill_diagonal_(Arg value) & {
  return write("fill_diagonal_", self(), value.where(), [&](const Arg& x) {
    const Shape shape = self().shape(value.where());
    if (shape.rank() != 2) usage_error("shape {} has no diagonal; give a matrix", to_string(shape));
    const Tensor row = arange(shape[0], int64, self().device()).unsqueeze(1);
    return sinter::where(row == arange(shape[1], int64, self().device()), value, x);
  });
}
SINTER_WRITE(scatter_, scatter, where, (int64_t axis, const Tensor& index, Arg value, Loc where), axis, index, value)
SINTER_WRITE(scatter_add_, scatter_add, where, (int64_t axis, const Tensor& index, Arg value, Loc where), axis, index,
             value)
SINTER_WRITE(scatter_reduce_, scatter_reduce, where,
             (int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce, bool include_self, Loc where),
             axis, index, value, reduce, include_self)
SINTER_WRITE(put_, put, where, (const Tensor& index, Arg source, bool accumulate, Loc where), index, source, accumulate)
SINTER_WRITE(index_reduce_, index_reduce, where,
             (int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce, bool include_self,
              Loc where),
             axis, index, source, reduce, include_self)
SINTER_WRITE(index_add_, index_add, where, (int64_t axis, const Tensor& index, Arg source, Loc where), axis, index,
             source)
SINTER_WRITE(index_add_, index_add, source.where(), (int64_t axis, const Tensor& index, Arg source, Arg alpha), axis,
             index, source, alpha)
SINTER_WRITE(index_copy_, index_copy, where, (int64_t axis, const Tensor& index, Arg source, Loc where), axis, index,
             source)
SINTER_WRITE(index_fill_, index_fill, where, (int64_t axis, const Tensor& index, Arg value, Loc where), axis, index,
             value)
Tensor& InPlaceMethods::index_put_(const std::vector<Index>& items, Arg value, bool accumulate, Loc where) & {
  const OuterCall call("index_put_", where);
  Place part = self().at(items, where);
  accumulate ? part.accumulate(value) : part.assign(value);
  return self();
}
Tensor& InPlaceMethods::put_at_tensors(const std::vector<Tensor>& indices, Arg value, bool accumulate, Loc where) {
  return index_put_(std::vector<Index>(indices.begin(), indices.end()), value, accumulate, where);
}

#undef SINTER_WRITE

}  // namespace sinter::inline v0
