// Gradients, products with Jacobians and Jacobians, of the gradient of a graph.
#include <algorithm>

#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/gradient.h"
#include "sinter/transforms.h"
#include "tensor/core/operands.h"
#include "tensor/core/user_call.h"

namespace sinter::inline v0::transforms {
namespace {

using namespace tensor;

/// f at x, and the arguments that it can be differentiated by: those of x themselves if they require grad, so that what
/// is made of them can be differentiated further.
struct Evaluated {
  Tensor value;
  std::vector<Tensor> arguments;
  bool connected = false;  ///< whether the value depends on one of the arguments
};
Evaluated evaluate(const TensorFunction& f, std::vector<Tensor> x, const Argnums& argnums) {
  if (argnums.empty()) usage_error("there are 0 arguments to differentiate by; name one or more");
  Evaluated e;
  for (size_t i = 0; i < argnums.size(); ++i) {
    const size_t argument = argnums[i];
    if (argument >= x.size()) usage_error("argument {} of {} does not exist; the first is 0", argument, x.size());
    if (std::find(argnums.begin(), argnums.begin() + static_cast<std::ptrdiff_t>(i), argument) !=
        argnums.begin() + static_cast<std::ptrdiff_t>(i))
      usage_error("argument {} is named twice; name each once", argument);
    Tensor& by = x[argument];
    if (!is_float(by.dtype()))
      usage_error("argument {} is {}, and only floats can be differentiated by; convert it with to(float32)", argument,
                  name_of(by.dtype()));
    if (!by.needs_grad()) by = by.detach().clone().requires_grad();
    e.arguments.push_back(by);
  }
  e.value = call_program_in_scope([&] { return f(x); });
  if (!is_float(e.value.dtype()))
    usage_error("the function's value is {}, and only floats can be differentiated", name_of(e.value.dtype()));
  e.connected = e.value.needs_grad();
  return e;
}

/// The gradients, which are 0 if the value does not depend on an argument.
std::vector<Tensor> pulled_back(const Evaluated& e, const Tensor& seed, Loc where) {
  if (e.connected) return gradient(e.value, e.arguments, seed, where);
  std::vector<Tensor> zero;
  for (const Tensor& x : e.arguments) zero.push_back(zeros_like(Arg(x, where)));
  return zero;
}

/// seed -> seed J is linear, and its gradient along a tangent is J tangent: the seed and, of each argument, seed J.
struct Transposed {
  Tensor seed;
  std::vector<Tensor> products;
  Transposed(const Evaluated& e, Loc where) : seed(zeros_like(Arg(e.value, where)).requires_grad()) {
    products = pulled_back(e, seed, where);
  }
  /// J of argument i times the tangent.
  Tensor pushed_forward(size_t i, const Tensor& tangent, Loc where) const {
    return products[i].needs_grad() ? gradient(products[i], {seed}, tangent, where)[0] : zeros_like(Arg(seed, where));
  }
};

/// The value's shape, then the argument's.
Shape jacobian_shape(const Tensor& value, const Tensor& argument) {
  Shape shape = value.shape();
  for (const Dim& d : argument.shape()) shape.push_back(d);
  return shape;
}

/// As many tensors like x as it has elements, each 1 at one of them.
Tensor unit_vectors(const Tensor& x, Loc where) {
  const int64_t count = x.numel();
  Shape shape{count};
  for (const Dim& d : x.shape()) shape.push_back(d);
  return eye(count, -1, x.dtype(), x.device(), where).reshape(shape);
}

}  // namespace

ValueAndEach value_and_grad(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums, Loc where) {
  const OuterCall call("value_and_grad", where);
  const Evaluated e = evaluate(f, x, argnums);
  if (e.value.rank() != 0)
    usage_error("the function's value has shape {}, and a gradient is of a scalar; sum it, or take jacrev() or vjp()",
                to_string(e.value.shape()));
  return {e.value, pulled_back(e, {}, where)};
}

ValueAndEach vjp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& seed, const Argnums& argnums,
                 Loc where) {
  const OuterCall call("vjp", where);
  const Evaluated e = evaluate(f, x, argnums);
  return {e.value, pulled_back(e, seed, where)};
}

ValueAnd jvp(const TensorFunction& f, const std::vector<Tensor>& x, const std::vector<Tensor>& tangents,
             const Argnums& argnums, Loc where) {
  const OuterCall call("jvp", where);
  const Evaluated e = evaluate(f, x, argnums);
  if (tangents.size() != e.arguments.size())
    usage_error("{} tangents are given for {} arguments; give one for each", tangents.size(), e.arguments.size());
  for (size_t i = 0; i < tangents.size(); ++i) {
    const Tensor &tangent = tangents[i], &argument = e.arguments[i];
    if (tangent.shape() != argument.shape() || tangent.dtype() != argument.dtype())
      usage_error("the tangent is {} {} and the argument {} {}; they must agree", name_of(tangent.dtype()),
                  to_string(tangent.shape()), name_of(argument.dtype()), to_string(argument.shape()));
  }
  const Transposed transposed(e, where);
  Tensor moved = transposed.pushed_forward(0, tangents[0], where);
  for (size_t i = 1; i < tangents.size(); ++i) moved = moved + transposed.pushed_forward(i, tangents[i], where);
  return {e.value, moved};
}

std::vector<Tensor> jacrev(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums, Loc where) {
  const OuterCall call("jacrev", where);
  const Evaluated e = evaluate(f, x, argnums);
  std::vector<Tensor> made;
  if (e.connected) {
    const ListFunction rows = [&](const std::vector<Tensor>& seed) { return pulled_back(e, seed[0], where); };
    made = vmap(rows, {unit_vectors(e.value, where)}, {}, where);
  }
  for (size_t i = 0; i < e.arguments.size(); ++i) {
    const Tensor& argument = e.arguments[i];
    const Shape shape = jacobian_shape(e.value, argument);
    if (e.connected)
      made[i] = made[i].reshape(shape);
    else
      made.push_back(zeros(shape, argument.dtype(), argument.device(), where));
  }
  return made;
}

std::vector<Tensor> jacfwd(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums, Loc where) {
  const OuterCall call("jacfwd", where);
  const Evaluated e = evaluate(f, x, argnums);
  const Transposed transposed(e, where);
  std::vector<Tensor> made;
  for (size_t i = 0; i < e.arguments.size(); ++i) {
    const Tensor& argument = e.arguments[i];
    const TensorFunction column = [&](const std::vector<Tensor>& tangent) {
      return transposed.pushed_forward(i, tangent[0], where);
    };
    made.push_back(vmap(column, {unit_vectors(argument, where)}, {.out_dims = -1}, where)
                       .reshape(jacobian_shape(e.value, argument)));
  }
  return made;
}

}  // namespace sinter::inline v0::transforms
