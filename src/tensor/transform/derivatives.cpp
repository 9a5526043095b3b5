// Gradients, products with Jacobians and Jacobians, of the gradient of a graph.
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/gradient.h"
#include "sinter/transforms.h"
#include "tensor/core/operands.h"
#include "tensor/core/user_call.h"

namespace sinter::inline v0::transforms {
namespace {

using namespace tensor;

/// f at x, and the argument that it can be differentiated by: x[argument] itself if that requires grad, so that what is
/// made of it can be differentiated further.
struct Evaluated {
  Tensor value, argument;
  bool connected = false;  ///< whether the value depends on the argument
};
Evaluated evaluate(const TensorFunction& f, std::vector<Tensor> x, size_t argument) {
  if (argument >= x.size()) usage_error("argument {} of {} does not exist; the first is 0", argument, x.size());
  Tensor& by = x[argument];
  if (!is_float(by.dtype()))
    usage_error("argument {} is {}, and only floats can be differentiated by; convert it with to(float32)", argument,
                name_of(by.dtype()));
  if (!by.needs_grad()) by = by.detach().clone().requires_grad();
  const Tensor value = call_program_in_scope([&] { return f(x); });
  if (!is_float(value.dtype()))
    usage_error("the function's value is {}, and only floats can be differentiated", name_of(value.dtype()));
  return {value, by, value.needs_grad()};
}

/// The gradient, which is 0 if the value does not depend on the argument.
Tensor pulled_back(const Evaluated& e, const Tensor& seed, Loc where) {
  return e.connected ? gradient(e.value, {e.argument}, seed, where)[0] : zeros_like(Arg(e.argument, where));
}

}  // namespace

ValueAnd value_and_grad(const TensorFunction& f, const std::vector<Tensor>& x, size_t argument, Loc where) {
  const OuterCall call("value_and_grad", where);
  const Evaluated e = evaluate(f, x, argument);
  if (e.value.rank() != 0)
    usage_error("the function's value has shape {}, and a gradient is of a scalar; sum it, or take jacobian() or vjp()",
                to_string(e.value.shape()));
  return {e.value, pulled_back(e, {}, where)};
}

ValueAnd vjp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& seed, size_t argument, Loc where) {
  const OuterCall call("vjp", where);
  const Evaluated e = evaluate(f, x, argument);
  return {e.value, pulled_back(e, seed, where)};
}

ValueAnd jvp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& tangent, size_t argument, Loc where) {
  const OuterCall call("jvp", where);
  const Evaluated e = evaluate(f, x, argument);
  if (tangent.shape() != e.argument.shape() || tangent.dtype() != e.argument.dtype())
    usage_error("the tangent is {} {} and the argument {} {}; they must agree", name_of(tangent.dtype()),
                to_string(tangent.shape()), name_of(e.argument.dtype()), to_string(e.argument.shape()));
  if (!e.connected) return {e.value, zeros_like(Arg(e.value, where))};
  // seed -> seed J is linear, and the gradient of that along the tangent is J tangent.
  const Tensor seed = zeros_like(Arg(e.value, where)).requires_grad();
  const Tensor product = gradient(e.value, {e.argument}, seed, where)[0];
  return {e.value,
          product.needs_grad() ? gradient(product, {seed}, tangent, where)[0] : zeros_like(Arg(e.value, where))};
}

Tensor jacobian(const TensorFunction& f, const std::vector<Tensor>& x, size_t argument, Loc where) {
  const OuterCall call("jacobian", where);
  const Evaluated e = evaluate(f, x, argument);
  Shape shape = e.value.shape();
  const int64_t count = shape.numel();
  Shape seeds{count};
  for (const Dim& d : shape) seeds.push_back(d);
  for (const Dim& d : e.argument.shape()) shape.push_back(d);
  if (!e.connected) return zeros(shape, e.argument.dtype(), e.argument.device(), where);
  const Tensor ones = eye(count, -1, e.value.dtype(), e.value.device(), where).reshape(seeds);
  return vmap([&](const std::vector<Tensor>& seed) { return pulled_back(e, seed[0], where); }, {ones}, {}, where)
      .reshape(shape);
}

}  // namespace sinter::inline v0::transforms
