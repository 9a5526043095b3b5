// Functions of functions: gradients, products with Jacobians, and one program for all elements of a batch.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup transforms Transforms
/// They take pure functions of tensors, `Tensor f(const Tensor& x, ...)`, and give functions of the same arguments.
/// They compose: vmap(grad(f)), jacobian(grad(f)), and all of them inside jit(). The names are those of torch.func. An
/// argument is given by its number from 0, several as a list: grad(f, {0, 1}) gives a std::vector of two gradients.
/// @snippet transforms.cpp transforms
/// @{

/// A function of a list of tensors, which the transforms make of one of several tensors.
using TensorFunction = std::function<Tensor(const std::vector<Tensor>&)>;

/// A value and what a transform adds to it: `auto [value, gradient] = value_and_grad(f)(x);`.
struct ValueAnd {
  Tensor value;  ///< of the function
  Tensor other;  ///< its gradient, or a product with its Jacobian
};
/// The same for several arguments.
struct ValueAndEach {
  Tensor value;                ///< of the function
  std::vector<Tensor> others;  ///< for each of the arguments
};

/// Along which axes vmap() takes elements, and where it puts their results.
struct VmapOptions {
  /// An axis for each argument; empty: the argument is the same for all elements. 0 for arguments beyond the list.
  std::vector<std::optional<int64_t>> in_dims = {};
  int64_t out_dims = 0;  ///< of all results
};

/// The transforms of functions of a list of tensors.
namespace transforms {

/// A function of a list of tensors to a list.
using ListFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
/// Which arguments.
using Argnums = std::vector<size_t>;

/// f(x) and its gradients with respect to those of x, of a function whose value is a scalar. Where they require grad,
/// all can be differentiated further. UsageError for a value that is no scalar or no float.
ValueAndEach value_and_grad(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums = {0},
                            Loc where = Loc::current());
/// f(x), and the gradients of the sum of seed * f(x) with respect to those of x. `seed` has the shape and type of f(x).
ValueAndEach vjp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& seed,
                 const Argnums& argnums = {0}, Loc where = Loc::current());
/// f(x), and its derivative as those of x move along the tangents, which have their shapes and types. Two gradients: of
/// vjp() with respect to its seed.
ValueAnd jvp(const TensorFunction& f, const std::vector<Tensor>& x, const std::vector<Tensor>& tangents,
             const Argnums& argnums = {0}, Loc where = Loc::current());
/// The derivatives of all elements of f(x) with respect to all of those of x: the value's shape, then the argument's.
/// One program for all elements of the value.
std::vector<Tensor> jacrev(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums = {0},
                           Loc where = Loc::current());
/// The same, one program for all elements of each argument.
std::vector<Tensor> jacfwd(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums = {0},
                           Loc where = Loc::current());
/// f of each element of a batch, in one program: what f gives for the elements, stacked. f is called once, with tensors
/// of the elements' shapes that have no values: reading one is a UsageError, and so is drawing random numbers, which
/// all elements would share. All batches have one size.
std::vector<Tensor> vmap(const ListFunction& f, const std::vector<Tensor>& x, const VmapOptions& options = {},
                         Loc where = Loc::current());
/// The same of a function of one result.
Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& x, const VmapOptions& options = {},
            Loc where = Loc::current());

/// f as a function of a list of `Count` tensors.
template <size_t Count, class F>
auto of_list(F f) {
  return [f = std::move(f)](const std::vector<Tensor>& x) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return f(x[I]...); }(std::make_index_sequence<Count>());
  };
}
/// What f gives for one argument, or the list of what it gives for several.
inline Tensor one_or_all(std::vector<Tensor> made, size_t) { return std::move(made[0]); }
/// The same.
inline std::vector<Tensor> one_or_all(std::vector<Tensor> made, const Argnums&) { return made; }
/// The same beside the value.
inline ValueAnd one_or_all(ValueAndEach made, size_t) { return {std::move(made.value), std::move(made.others[0])}; }
/// The same.
inline ValueAndEach one_or_all(ValueAndEach made, const Argnums&) { return made; }
/// A number or a list of them as a list.
inline Argnums as_argnums(size_t argnum) { return {argnum}; }
/// The same.
inline Argnums as_argnums(Argnums argnums) { return argnums; }
/// The numbers 0 to count - 1.
inline Argnums first_argnums(size_t count) {
  Argnums all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}
/// transform(f of a list, x, argnums) as a function of tensors.
template <class F, class Which, class Transform>
auto by_arguments(F f, Which which, Transform transform) {
  return [f = std::move(f), which = std::move(which), transform](const std::same_as<Tensor> auto&... x) {
    return one_or_all(transform(of_list<sizeof...(x)>(f), std::vector<Tensor>{x...}, as_argnums(which)), which);
  };
}

}  // namespace transforms

/// The gradient of a scalar f with respect to one argument: grad(f)(x).
template <class F>
auto grad(F f, size_t argnum = 0) {
  return transforms::by_arguments(std::move(f), argnum, [](const TensorFunction& g, const auto& x, const auto& which) {
    return transforms::value_and_grad(g, x, which).others;
  });
}
/// With respect to several: a std::vector of gradients.
template <class F>
auto grad(F f, transforms::Argnums argnums) {
  return transforms::by_arguments(std::move(f), std::move(argnums),
                                  [](const TensorFunction& g, const auto& x, const auto& which) {
                                    return transforms::value_and_grad(g, x, which).others;
                                  });
}
/// The value and the gradient: `auto [value, gradient] = value_and_grad(f)(x);`.
template <class F>
auto value_and_grad(F f, size_t argnum = 0) {
  return transforms::by_arguments(std::move(f), argnum, [](const TensorFunction& g, const auto& x, const auto& which) {
    return transforms::value_and_grad(g, x, which);
  });
}
/// With respect to several: the value, and a std::vector of gradients.
template <class F>
auto value_and_grad(F f, transforms::Argnums argnums) {
  return transforms::by_arguments(std::move(f), std::move(argnums),
                                  [](const TensorFunction& g, const auto& x, const auto& which) {
                                    return transforms::value_and_grad(g, x, which);
                                  });
}
/// f(x), and seed times its Jacobian.
template <class F>
ValueAnd vjp(F f, const Tensor& x, const Tensor& seed, Loc where = Loc::current()) {
  return transforms::one_or_all(transforms::vjp(transforms::of_list<1>(std::move(f)), {x}, seed, {0}, where), 0);
}
/// The same of several arguments, with a product for each: vjp(f, {x, y}, seed).
template <class F, size_t Count>
  requires(Count > 1)
ValueAndEach vjp(F f, const Tensor (&x)[Count], const Tensor& seed, Loc where = Loc::current()) {
  return transforms::vjp(transforms::of_list<Count>(std::move(f)), {x, x + Count}, seed,
                         transforms::first_argnums(Count), where);
}
/// f(x), and its Jacobian times `tangent`.
template <class F>
ValueAnd jvp(F f, const Tensor& x, const Tensor& tangent, Loc where = Loc::current()) {
  return transforms::jvp(transforms::of_list<1>(std::move(f)), {x}, {tangent}, {0}, where);
}
/// The same of several arguments, which all move: jvp(f, {x, y}, {tangent of x, tangent of y}).
template <class F, size_t Count>
  requires(Count > 1)
ValueAnd jvp(F f, const Tensor (&x)[Count], const Tensor (&tangents)[Count], Loc where = Loc::current()) {
  return transforms::jvp(transforms::of_list<Count>(std::move(f)), {x, x + Count}, {tangents, tangents + Count},
                         transforms::first_argnums(Count), where);
}
/// All derivatives of f with respect to an argument: the value's shape, then the argument's. From the value back, which
/// is quick where it has fewer elements than the argument.
template <class F>
auto jacrev(F f, size_t argnum = 0) {
  return transforms::by_arguments(std::move(f), argnum, [](const TensorFunction& g, const auto& x, const auto& which) {
    return transforms::jacrev(g, x, which);
  });
}
/// With respect to several: a std::vector of Jacobians.
template <class F>
auto jacrev(F f, transforms::Argnums argnums) {
  return transforms::by_arguments(
      std::move(f), std::move(argnums),
      [](const TensorFunction& g, const auto& x, const auto& which) { return transforms::jacrev(g, x, which); });
}
/// The same from the argument forward, which is quick where it has fewer elements than the value.
template <class F>
auto jacfwd(F f, size_t argnum = 0) {
  return transforms::by_arguments(std::move(f), argnum, [](const TensorFunction& g, const auto& x, const auto& which) {
    return transforms::jacfwd(g, x, which);
  });
}
/// With respect to several: a std::vector of Jacobians.
template <class F>
auto jacfwd(F f, transforms::Argnums argnums) {
  return transforms::by_arguments(
      std::move(f), std::move(argnums),
      [](const TensorFunction& g, const auto& x, const auto& which) { return transforms::jacfwd(g, x, which); });
}
/// jacrev(), by the name of torch.autograd.functional.
template <class F>
auto jacobian(F f, size_t argnum = 0) {
  return jacrev(std::move(f), argnum);
}
/// jacrev(f)(x).
template <class F, std::same_as<Tensor> X>
Tensor jacobian(F f, const X& x) {
  return jacrev(std::move(f))(x);
}
/// All second derivatives of a scalar f with respect to one argument: its shape twice.
template <class F>
auto hessian(F f, size_t argnum = 0) {
  return jacrev(grad(std::move(f), argnum), argnum);
}
/// hessian(f)(x).
template <class F, std::same_as<Tensor> X>
Tensor hessian(F f, const X& x) {
  return hessian(std::move(f))(x);
}
/// f for each element along an axis: vmap(f)(x) is stack({f(x[0]), f(x[1]), ...}). Of a function that gives a
/// std::vector of tensors, it gives one.
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return [f, options](const std::same_as<Tensor> auto&... x) {
    return transforms::vmap(transforms::of_list<sizeof...(x)>(f), {x...}, options);
  };
}
/// @}

}  // namespace sinter::inline v0
