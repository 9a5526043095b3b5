// Functions of functions: gradients, products with Jacobians, and one program for all elements of a batch.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup transforms Transforms
/// They take pure functions of tensors, `Tensor f(const Tensor& x, ...)`, and give functions of the same arguments.
/// They compose: vmap(grad(f)), jacobian(grad(f)), and all of them inside jit(). The names are those of torch.func.
/// @snippet transforms.cpp transforms
/// @{

/// A function of a list of tensors, which the transforms make of one of several tensors.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// A value and what a transform adds to it: `auto [value, gradient] = value_and_grad(f)(x);`.
struct ValueAnd {
  Tensor value;  ///< of the function
  Tensor other;  ///< its gradient, or a product with its Jacobian
};

/// Along which axes vmap() takes elements, and where it puts their results.
struct VmapOptions {
  /// An axis for each argument; empty: the argument is the same for all elements. 0 for arguments beyond the list.
  std::vector<std::optional<int64_t>> in_axes = {};
  int64_t out_axis = 0;  ///< of the results
};

/// The transforms of functions of a list of tensors.
namespace transforms {

/// f(x) and its gradient with respect to x[argument], of a function whose value is a scalar. Where that x requires
/// grad, both can be differentiated further. UsageError for a value that is no scalar or no float.
ValueAnd value_and_grad(const TensorFunction& f, const std::vector<Tensor>& x, size_t argument = 0,
                        Loc where = Loc::current());
/// f(x), and the gradient of the sum of seed * f(x) with respect to x[argument]. `seed` has the shape and type of f(x).
ValueAnd vjp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& seed, size_t argument = 0,
             Loc where = Loc::current());
/// f(x), and its derivative as x[argument] moves along `tangent`, which has the shape and type of that x. Two
/// gradients: of vjp() with respect to its seed.
ValueAnd jvp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& tangent, size_t argument = 0,
             Loc where = Loc::current());
/// The derivatives of all elements of f(x) with respect to all of x[argument]: the value's shape, then that x's. One
/// program for all elements of the value.
Tensor jacobian(const TensorFunction& f, const std::vector<Tensor>& x, size_t argument = 0, Loc where = Loc::current());
/// f of each element of a batch, in one program: what f gives for the elements, stacked. f is called once, with tensors
/// of the elements' shapes that have no values: reading one is a UsageError, and so is drawing random numbers, which
/// all elements would share. All batches have one size.
Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& x, const VmapOptions& options = {},
            Loc where = Loc::current());

/// f as a function of a list.
template <size_t... I, class F>
TensorFunction of_list(F f, std::index_sequence<I...>) {
  return [f = std::move(f)](const std::vector<Tensor>& x) -> Tensor { return f(x[I]...); };
}
/// f as a function of a list of `Count` tensors.
template <size_t Count, class F>
TensorFunction of_list(F f) {
  return of_list(std::move(f), std::make_index_sequence<Count>());
}

}  // namespace transforms

/// The gradient of a scalar f with respect to one argument: grad(f)(x).
template <class F>
auto grad(F f, size_t argument = 0) {
  return [f, argument](const std::same_as<Tensor> auto&... x) {
    return transforms::value_and_grad(transforms::of_list<sizeof...(x)>(f), {x...}, argument).other;
  };
}
/// The value and the gradient: `auto [value, gradient] = value_and_grad(f)(x);`.
template <class F>
auto value_and_grad(F f, size_t argument = 0) {
  return [f, argument](const std::same_as<Tensor> auto&... x) {
    return transforms::value_and_grad(transforms::of_list<sizeof...(x)>(f), {x...}, argument);
  };
}
/// f(x), and seed times its Jacobian; f has one argument.
template <class F>
ValueAnd vjp(F f, const Tensor& x, const Tensor& seed, Loc where = Loc::current()) {
  return transforms::vjp(transforms::of_list<1>(std::move(f)), {x}, seed, 0, where);
}
/// f(x), and its Jacobian times `tangent`; f has one argument.
template <class F>
ValueAnd jvp(F f, const Tensor& x, const Tensor& tangent, Loc where = Loc::current()) {
  return transforms::jvp(transforms::of_list<1>(std::move(f)), {x}, tangent, 0, where);
}
/// All derivatives of f with respect to one argument: the value's shape, then the argument's.
template <class F>
auto jacobian(F f, size_t argument = 0) {
  return [f, argument](const std::same_as<Tensor> auto&... x) {
    return transforms::jacobian(transforms::of_list<sizeof...(x)>(f), {x...}, argument);
  };
}
/// All second derivatives of a scalar f with respect to one argument: its shape twice.
template <class F>
auto hessian(F f, size_t argument = 0) {
  return jacobian(grad(std::move(f), argument), argument);
}
/// f for each element along an axis: vmap(f)(x) is stack({f(x[0]), f(x[1]), ...}).
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return [f, options](const std::same_as<Tensor> auto&... x) {
    return transforms::vmap(transforms::of_list<sizeof...(x)>(f), {x...}, options);
  };
}
/// @}

}  // namespace sinter::inline v0
