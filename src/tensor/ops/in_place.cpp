// Methods that write: each assigns what the function of its name gives, and errors bear its own name.
#include "sinter/create.h"
#include "sinter/ops.h"
#include "sinter/tensor_methods.h"
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

}  // namespace

Tensor& TensorMethods::self() { return static_cast<Tensor&>(*this); }

Tensor& TensorMethods::add_(Arg other) & {
  return write("add_", self(), other.where(), [&](const Arg& x) { return x + other; });
}
Tensor& TensorMethods::add_(Arg other, Arg alpha) & {
  return write("add_", self(), other.where(), [&](const Arg& x) { return sinter::add(x, other, alpha); });
}
Tensor& TensorMethods::sub_(Arg other) & {
  return write("sub_", self(), other.where(), [&](const Arg& x) { return x - other; });
}
Tensor& TensorMethods::mul_(Arg other) & {
  return write("mul_", self(), other.where(), [&](const Arg& x) { return x * other; });
}
Tensor& TensorMethods::div_(Arg other) & {
  return write("div_", self(), other.where(), [&](const Arg& x) { return x / other; });
}
Tensor& TensorMethods::pow_(Arg other) & {
  return write("pow_", self(), other.where(), [&](const Arg& x) { return sinter::pow(x, other); });
}
Tensor& TensorMethods::clamp_(Arg lo, Arg hi) & {
  return write("clamp_", self(), lo.where(), [&](const Arg& x) { return sinter::clamp(x, lo, hi); });
}
Tensor& TensorMethods::clamp_min_(Arg lo) & {
  return write("clamp_min_", self(), lo.where(), [&](const Arg& x) { return sinter::clamp_min(x, lo); });
}
Tensor& TensorMethods::clamp_max_(Arg hi) & {
  return write("clamp_max_", self(), hi.where(), [&](const Arg& x) { return sinter::clamp_max(x, hi); });
}
Tensor& TensorMethods::lerp_(Arg end, Arg weight) & {
  return write("lerp_", self(), end.where(), [&](const Arg& x) { return sinter::lerp(x, end, weight); });
}
Tensor& TensorMethods::addcmul_(Arg a, Arg b, Arg value) & {
  return write("addcmul_", self(), a.where(), [&](const Arg& x) { return sinter::addcmul(x, a, b, value); });
}
Tensor& TensorMethods::addcdiv_(Arg a, Arg b, Arg value) & {
  return write("addcdiv_", self(), a.where(), [&](const Arg& x) { return sinter::addcdiv(x, a, b, value); });
}
Tensor& TensorMethods::masked_fill_(Arg mask, Arg value) & {
  return write("masked_fill_", self(), mask.where(), [&](const Arg& x) { return sinter::masked_fill(x, mask, value); });
}
Tensor& TensorMethods::masked_scatter_(const Tensor& mask, Arg source, Loc where) & {
  return write("masked_scatter_", self(), where, [&](const Arg& x) { return sinter::masked_scatter(x, mask, source); });
}
Tensor& TensorMethods::copy_(Arg value) & {
  return write("copy_", self(), value.where(), [&](const Arg&) { return value; });
}
Tensor& TensorMethods::fill_(Arg value) & {
  return write("fill_", self(), value.where(), [&](const Arg&) { return value; });
}
Tensor& TensorMethods::zero_(Loc where) & {
  return write("zero_", self(), where, [&](const Arg&) { return Arg(0, where); });
}
Tensor& TensorMethods::exp_(Loc where) & { return write("exp_", self(), where, sinter::exp); }
Tensor& TensorMethods::sqrt_(Loc where) & { return write("sqrt_", self(), where, sinter::sqrt); }
Tensor& TensorMethods::relu_(Loc where) & { return write("relu_", self(), where, sinter::relu); }
Tensor& TensorMethods::neg_(Loc where) & { return write("neg_", self(), where, sinter::negative); }
Tensor& TensorMethods::abs_(Loc where) & { return write("abs_", self(), where, sinter::abs); }
Tensor& TensorMethods::log_(Loc where) & { return write("log_", self(), where, sinter::log); }
Tensor& TensorMethods::tanh_(Loc where) & { return write("tanh_", self(), where, sinter::tanh); }
Tensor& TensorMethods::sigmoid_(Loc where) & { return write("sigmoid_", self(), where, sinter::sigmoid); }
Tensor& TensorMethods::floor_(Loc where) & { return write("floor_", self(), where, sinter::floor); }
Tensor& TensorMethods::round_(Loc where) & { return write("round_", self(), where, sinter::round); }
Tensor& TensorMethods::triu_(int64_t offset, Loc where) & {
  return write("triu_", self(), where, [&](const Arg&) { return sinter::triu(self(), offset, where); });
}
Tensor& TensorMethods::tril_(int64_t offset, Loc where) & {
  return write("tril_", self(), where, [&](const Arg&) { return sinter::tril(self(), offset, where); });
}
Tensor& TensorMethods::uniform_(double low, double high, Generator* generator, Loc where) & {
  return write("uniform_", self(), where, [&](const Arg&) {
    const RandomOptions options{.dtype = self().dtype(where), .generator = generator, .device = self().device(where)};
    return sinter::uniform(Arg(low, where), high, self().shape(), options);
  });
}
Tensor& TensorMethods::normal_(double mean, double deviation, Generator* generator, Loc where) & {
  return write("normal_", self(), where, [&](const Arg&) {
    const RandomOptions options{.dtype = self().dtype(where), .generator = generator, .device = self().device(where)};
    return sinter::normal(Arg(mean, where), deviation, self().shape(), options);
  });
}
Tensor& TensorMethods::fill_diagonal_(Arg value) & {
  return write("fill_diagonal_", self(), value.where(), [&](const Arg& x) {
    const Shape shape = self().shape(value.where());
    if (shape.rank() != 2) usage_error("shape {} has no diagonal; give a matrix", to_string(shape));
    const Tensor row = arange(shape[0], int64, self().device()).unsqueeze(1);
    return sinter::where(row == arange(shape[1], int64, self().device()), value, x);
  });
}
Tensor& TensorMethods::scatter_(int64_t axis, const Tensor& index, Arg value, Loc where) & {
  return write("scatter_", self(), where, [&](const Arg& x) { return sinter::scatter(x, axis, index, value); });
}
Tensor& TensorMethods::scatter_add_(int64_t axis, const Tensor& index, Arg value, Loc where) & {
  return write("scatter_add_", self(), where, [&](const Arg& x) { return sinter::scatter_add(x, axis, index, value); });
}
Tensor& TensorMethods::index_add_(int64_t axis, const Tensor& index, Arg source, Loc where) & {
  return write("index_add_", self(), where, [&](const Arg& x) { return sinter::index_add(x, axis, index, source); });
}
Tensor& TensorMethods::index_copy_(int64_t axis, const Tensor& index, Arg source, Loc where) & {
  return write("index_copy_", self(), where, [&](const Arg& x) { return sinter::index_copy(x, axis, index, source); });
}
Tensor& TensorMethods::index_fill_(int64_t axis, const Tensor& index, Arg value, Loc where) & {
  return write("index_fill_", self(), where, [&](const Arg& x) { return sinter::index_fill(x, axis, index, value); });
}
Tensor& TensorMethods::index_put_(const std::vector<Index>& items, Arg value, bool accumulate, Loc where) & {
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
Tensor& TensorMethods::put_at_tensors(const std::vector<Tensor>& indices, Arg value, bool accumulate, Loc where) {
  return index_put_(std::vector<Index>(indices.begin(), indices.end()), value, accumulate, where);
}

}  // namespace sinter::inline v0
