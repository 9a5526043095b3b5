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

/// The method `name` with `parameters` assigns f(x, arguments).
#define SINTER_WRITE(name, f, place, parameters, ...)                                            \
  Tensor& TensorMethods::name parameters& {                                                      \
    return write(#name, self(), place, [&](const Arg& x) { return sinter::f(x, __VA_ARGS__); }); \
  }

Tensor& TensorMethods::self() { return static_cast<Tensor&>(*this); }

Tensor& TensorMethods::add_(Arg other) & {
  return write("add_", self(), other.where(), [&](const Arg& x) { return x + other; });
}
SINTER_WRITE(add_, add, other.where(), (Arg other, Arg alpha), other, alpha)
Tensor& TensorMethods::sub_(Arg other) & {
  return write("sub_", self(), other.where(), [&](const Arg& x) { return x - other; });
}
Tensor& TensorMethods::mul_(Arg other) & {
  return write("mul_", self(), other.where(), [&](const Arg& x) { return x * other; });
}
Tensor& TensorMethods::div_(Arg other) & {
  return write("div_", self(), other.where(), [&](const Arg& x) { return x / other; });
}
SINTER_WRITE(pow_, pow, other.where(), (Arg other), other)
SINTER_WRITE(clamp_, clamp, lo.where(), (Arg lo, Arg hi), lo, hi)
SINTER_WRITE(clamp_min_, clamp_min, lo.where(), (Arg lo), lo)
SINTER_WRITE(clamp_max_, clamp_max, hi.where(), (Arg hi), hi)
SINTER_WRITE(lerp_, lerp, end.where(), (Arg end, Arg weight), end, weight)
SINTER_WRITE(addcmul_, addcmul, a.where(), (Arg a, Arg b, Arg value), a, b, value)
SINTER_WRITE(addcdiv_, addcdiv, a.where(), (Arg a, Arg b, Arg value), a, b, value)
SINTER_WRITE(masked_fill_, masked_fill, mask.where(), (Arg mask, Arg value), mask, value)
SINTER_WRITE(masked_scatter_, masked_scatter, where, (const Tensor& mask, Arg source, Loc where), mask, source)
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
SINTER_WRITE(scatter_, scatter, where, (int64_t axis, const Tensor& index, Arg value, Loc where), axis, index, value)
SINTER_WRITE(scatter_add_, scatter_add, where, (int64_t axis, const Tensor& index, Arg value, Loc where), axis, index,
             value)
SINTER_WRITE(index_add_, index_add, where, (int64_t axis, const Tensor& index, Arg source, Loc where), axis, index,
             source)
SINTER_WRITE(index_copy_, index_copy, where, (int64_t axis, const Tensor& index, Arg source, Loc where), axis, index,
             source)
SINTER_WRITE(index_fill_, index_fill, where, (int64_t axis, const Tensor& index, Arg value, Loc where), axis, index,
             value)
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

#undef SINTER_WRITE

}  // namespace sinter::inline v0
