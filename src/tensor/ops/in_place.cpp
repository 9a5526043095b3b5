// Methods that write: each assigns what the function of its name gives, and errors bear its own name.
#include "sinter/in_place_methods.h"

#include "sinter/create.h"
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

Tensor& InPlaceMethods::self() { return static_cast<Tensor&>(*this); }

Tensor& InPlaceMethods::add_(Arg other) & {
  return write("add_", self(), other.where(), [&](const Arg& x) { return x + other; });
}
Tensor& InPlaceMethods::add_(Arg other, Arg alpha) & {
  return write("add_", self(), other.where(), [&](const Arg& x) { return sinter::add(x, other, alpha); });
}
Tensor& InPlaceMethods::sub_(Arg other) & {
  return write("sub_", self(), other.where(), [&](const Arg& x) { return x - other; });
}
Tensor& InPlaceMethods::sub_(Arg other, Arg alpha) & {
  return write("sub_", self(), other.where(), [&](const Arg& x) { return sinter::sub(x, other, alpha); });
}
Tensor& InPlaceMethods::mul_(Arg other) & {
  return write("mul_", self(), other.where(), [&](const Arg& x) { return x * other; });
}
Tensor& InPlaceMethods::div_(Arg other) & {
  return write("div_", self(), other.where(), [&](const Arg& x) { return x / other; });
}
Tensor& InPlaceMethods::div_(Arg other, Choice<RoundingMode> rounding_mode) & {
  return write("div_", self(), other.where(), [&](const Arg& x) { return sinter::div(x, other, rounding_mode); });
}
Tensor& InPlaceMethods::remainder_(Arg other) & {
  return write("remainder_", self(), other.where(), [&](const Arg& x) { return x % other; });
}
Tensor& InPlaceMethods::floor_divide_(Arg other) & {
  return write("floor_divide_", self(), other.where(), [&](const Arg& x) { return sinter::floor_divide(x, other); });
}
Tensor& InPlaceMethods::fmod_(Arg other) & {
  return write("fmod_", self(), other.where(), [&](const Arg& x) { return sinter::fmod(x, other); });
}
Tensor& InPlaceMethods::logical_and_(Arg other) & {
  return write("logical_and_", self(), other.where(), [&](const Arg& x) { return sinter::logical_and(x, other); });
}
Tensor& InPlaceMethods::logical_or_(Arg other) & {
  return write("logical_or_", self(), other.where(), [&](const Arg& x) { return sinter::logical_or(x, other); });
}
Tensor& InPlaceMethods::logical_xor_(Arg other) & {
  return write("logical_xor_", self(), other.where(), [&](const Arg& x) { return sinter::logical_xor(x, other); });
}
Tensor& InPlaceMethods::bitwise_and_(Arg other) & {
  return write("bitwise_and_", self(), other.where(), [&](const Arg& x) { return sinter::bitwise_and(x, other); });
}
Tensor& InPlaceMethods::bitwise_or_(Arg other) & {
  return write("bitwise_or_", self(), other.where(), [&](const Arg& x) { return sinter::bitwise_or(x, other); });
}
Tensor& InPlaceMethods::bitwise_xor_(Arg other) & {
  return write("bitwise_xor_", self(), other.where(), [&](const Arg& x) { return sinter::bitwise_xor(x, other); });
}
Tensor& InPlaceMethods::pow_(Arg other) & {
  return write("pow_", self(), other.where(), [&](const Arg& x) { return sinter::pow(x, other); });
}
Tensor& InPlaceMethods::clamp_(Arg lo, Arg hi) & {
  return write("clamp_", self(), lo.where(), [&](const Arg& x) { return sinter::clamp(x, lo, hi); });
}
Tensor& InPlaceMethods::clip_(Arg lo, Arg hi) & {
  return write("clip_", self(), lo.where(), [&](const Arg& x) { return sinter::clamp(x, lo, hi); });
}
Tensor& InPlaceMethods::clamp_(Arg lo) & {
  return write("clamp_", self(), lo.where(), [&](const Arg& x) { return sinter::clamp_min(x, lo); });
}
Tensor& InPlaceMethods::clamp_(std::nullopt_t, Arg hi) & {
  return write("clamp_", self(), hi.where(), [&](const Arg& x) { return sinter::clamp_max(x, hi); });
}
Tensor& InPlaceMethods::clip_(Arg lo) & {
  return write("clip_", self(), lo.where(), [&](const Arg& x) { return sinter::clamp_min(x, lo); });
}
Tensor& InPlaceMethods::clip_(std::nullopt_t, Arg hi) & {
  return write("clip_", self(), hi.where(), [&](const Arg& x) { return sinter::clamp_max(x, hi); });
}
Tensor& InPlaceMethods::clamp_min_(Arg lo) & {
  return write("clamp_min_", self(), lo.where(), [&](const Arg& x) { return sinter::clamp_min(x, lo); });
}
Tensor& InPlaceMethods::clamp_max_(Arg hi) & {
  return write("clamp_max_", self(), hi.where(), [&](const Arg& x) { return sinter::clamp_max(x, hi); });
}
Tensor& InPlaceMethods::lerp_(Arg end, Arg weight) & {
  return write("lerp_", self(), end.where(), [&](const Arg& x) { return sinter::lerp(x, end, weight); });
}
Tensor& InPlaceMethods::addcmul_(Arg a, Arg b, Arg value) & {
  return write("addcmul_", self(), a.where(), [&](const Arg& x) { return sinter::addcmul(x, a, b, value); });
}
Tensor& InPlaceMethods::addcdiv_(Arg a, Arg b, Arg value) & {
  return write("addcdiv_", self(), a.where(), [&](const Arg& x) { return sinter::addcdiv(x, a, b, value); });
}
Tensor& InPlaceMethods::addmm_(Arg a, Arg b, Arg beta, Arg alpha) & {
  return write("addmm_", self(), a.where(), [&](const Arg& x) { return sinter::addmm(x, a, b, beta, alpha); });
}
Tensor& InPlaceMethods::addmv_(Arg a, Arg x, Arg beta, Arg alpha) & {
  return write("addmv_", self(), a.where(), [&](const Arg& y) { return sinter::addmv(y, a, x, beta, alpha); });
}
Tensor& InPlaceMethods::baddbmm_(Arg a, Arg b, Arg beta, Arg alpha) & {
  return write("baddbmm_", self(), a.where(), [&](const Arg& x) { return sinter::baddbmm(x, a, b, beta, alpha); });
}
Tensor& InPlaceMethods::masked_fill_(Arg mask, Arg value) & {
  return write("masked_fill_", self(), mask.where(), [&](const Arg& x) { return sinter::masked_fill(x, mask, value); });
}
Tensor& InPlaceMethods::masked_scatter_(const Tensor& mask, Arg source, Loc where) & {
  return write("masked_scatter_", self(), where, [&](const Arg& x) { return sinter::masked_scatter(x, mask, source); });
}
Tensor& InPlaceMethods::copy_(Arg value) & {
  return write("copy_", self(), value.where(), [&](const Arg&) { return value; });
}
Tensor& InPlaceMethods::fill_(Arg value) & {
  return write("fill_", self(), value.where(), [&](const Arg&) { return value; });
}
Tensor& InPlaceMethods::zero_(Loc where) & {
  return write("zero_", self(), where, [&](const Arg&) { return Arg(0, where); });
}
Tensor& InPlaceMethods::exp_(Loc where) & { return write("exp_", self(), where, sinter::exp); }
Tensor& InPlaceMethods::sqrt_(Loc where) & { return write("sqrt_", self(), where, sinter::sqrt); }
Tensor& InPlaceMethods::relu_(Loc where) & { return write("relu_", self(), where, sinter::relu); }
Tensor& InPlaceMethods::neg_(Loc where) & { return write("neg_", self(), where, sinter::negative); }
Tensor& InPlaceMethods::abs_(Loc where) & { return write("abs_", self(), where, sinter::abs); }
Tensor& InPlaceMethods::log_(Loc where) & { return write("log_", self(), where, sinter::log); }
Tensor& InPlaceMethods::tanh_(Loc where) & { return write("tanh_", self(), where, sinter::tanh); }
Tensor& InPlaceMethods::sigmoid_(Loc where) & { return write("sigmoid_", self(), where, sinter::sigmoid); }
Tensor& InPlaceMethods::floor_(Loc where) & { return write("floor_", self(), where, sinter::floor); }
Tensor& InPlaceMethods::round_(Loc where) & { return write("round_", self(), where, sinter::round); }
Tensor& InPlaceMethods::ceil_(Loc where) & { return write("ceil_", self(), where, sinter::ceil); }
Tensor& InPlaceMethods::trunc_(Loc where) & { return write("trunc_", self(), where, sinter::trunc); }
Tensor& InPlaceMethods::square_(Loc where) & { return write("square_", self(), where, sinter::square); }
Tensor& InPlaceMethods::reciprocal_(Loc where) & { return write("reciprocal_", self(), where, sinter::reciprocal); }
Tensor& InPlaceMethods::rsqrt_(Loc where) & { return write("rsqrt_", self(), where, sinter::rsqrt); }
Tensor& InPlaceMethods::sin_(Loc where) & { return write("sin_", self(), where, sinter::sin); }
Tensor& InPlaceMethods::cos_(Loc where) & { return write("cos_", self(), where, sinter::cos); }
Tensor& InPlaceMethods::tan_(Loc where) & { return write("tan_", self(), where, sinter::tan); }
Tensor& InPlaceMethods::sinh_(Loc where) & { return write("sinh_", self(), where, sinter::sinh); }
Tensor& InPlaceMethods::cosh_(Loc where) & { return write("cosh_", self(), where, sinter::cosh); }
Tensor& InPlaceMethods::exp2_(Loc where) & { return write("exp2_", self(), where, sinter::exp2); }
Tensor& InPlaceMethods::expm1_(Loc where) & { return write("expm1_", self(), where, sinter::expm1); }
Tensor& InPlaceMethods::log1p_(Loc where) & { return write("log1p_", self(), where, sinter::log1p); }
Tensor& InPlaceMethods::log2_(Loc where) & { return write("log2_", self(), where, sinter::log2); }
Tensor& InPlaceMethods::log10_(Loc where) & { return write("log10_", self(), where, sinter::log10); }
Tensor& InPlaceMethods::erf_(Loc where) & { return write("erf_", self(), where, sinter::erf); }
Tensor& InPlaceMethods::frac_(Loc where) & { return write("frac_", self(), where, sinter::frac); }
Tensor& InPlaceMethods::sign_(Loc where) & { return write("sign_", self(), where, sinter::sign); }
Tensor& InPlaceMethods::logical_not_(Loc where) & { return write("logical_not_", self(), where, sinter::logical_not); }
Tensor& InPlaceMethods::bitwise_not_(Loc where) & { return write("bitwise_not_", self(), where, sinter::bitwise_not); }
Tensor& InPlaceMethods::nan_to_num_(double nan, std::optional<double> posinf, std::optional<double> neginf,
                                    Loc where) & {
  return write("nan_to_num_", self(), where, [&](const Arg& x) { return sinter::nan_to_num(x, nan, posinf, neginf); });
}
Tensor& InPlaceMethods::cumsum_(int64_t axis, Loc where) & {
  return write("cumsum_", self(), where, [&](const Arg& x) { return sinter::cumsum(x, axis); });
}
Tensor& InPlaceMethods::cumprod_(int64_t axis, Loc where) & {
  return write("cumprod_", self(), where, [&](const Arg& x) { return sinter::cumprod(x, axis); });
}
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
Tensor& InPlaceMethods::scatter_(int64_t axis, const Tensor& index, Arg value, Loc where) & {
  return write("scatter_", self(), where, [&](const Arg& x) { return sinter::scatter(x, axis, index, value); });
}
Tensor& InPlaceMethods::scatter_add_(int64_t axis, const Tensor& index, Arg value, Loc where) & {
  return write("scatter_add_", self(), where, [&](const Arg& x) { return sinter::scatter_add(x, axis, index, value); });
}
Tensor& InPlaceMethods::scatter_reduce_(int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce,
                                        bool include_self, Loc where) & {
  return write("scatter_reduce_", self(), where,
               [&](const Arg& x) { return sinter::scatter_reduce(x, axis, index, value, reduce, include_self); });
}
Tensor& InPlaceMethods::put_(const Tensor& index, Arg source, bool accumulate, Loc where) & {
  return write("put_", self(), where, [&](const Arg& x) { return sinter::put(x, index, source, accumulate); });
}
Tensor& InPlaceMethods::index_reduce_(int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce,
                                      bool include_self, Loc where) & {
  return write("index_reduce_", self(), where,
               [&](const Arg& x) { return sinter::index_reduce(x, axis, index, source, reduce, include_self); });
}
Tensor& InPlaceMethods::index_add_(int64_t axis, const Tensor& index, Arg source, Loc where) & {
  return write("index_add_", self(), where, [&](const Arg& x) { return sinter::index_add(x, axis, index, source); });
}
Tensor& InPlaceMethods::index_copy_(int64_t axis, const Tensor& index, Arg source, Loc where) & {
  return write("index_copy_", self(), where, [&](const Arg& x) { return sinter::index_copy(x, axis, index, source); });
}
Tensor& InPlaceMethods::index_fill_(int64_t axis, const Tensor& index, Arg value, Loc where) & {
  return write("index_fill_", self(), where, [&](const Arg& x) { return sinter::index_fill(x, axis, index, value); });
}
Tensor& InPlaceMethods::index_put_(const std::vector<Index>& items, Arg value, bool accumulate, Loc where) & {
  const OuterCall call("index_put_", where);
  if (!accumulate) {
    self().at(items, where).assign(value);
    return self();
  }
  const Shape shape = self().shape(where);
  const Tensor part = arange(shape.numel(), int64, self().device()).reshape(shape).index(items, where);
  if (value.is_tensor()) value = Arg(sinter::broadcast_to(Tensor(value.cell()), part.shape()).reshape({-1}), where);
  return self().assign(sinter::scatter_add(self().reshape({-1}), 0, part.reshape({-1}), value).reshape(shape), where);
}
Tensor& InPlaceMethods::put_at_tensors(const std::vector<Tensor>& indices, Arg value, bool accumulate, Loc where) {
  return index_put_(std::vector<Index>(indices.begin(), indices.end()), value, accumulate, where);
}

}  // namespace sinter::inline v0
