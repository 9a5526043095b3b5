// Functions of functions: gradients, products with Jacobians, and one program for all elements of a batch.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup transforms Transforms
/// They take pure functions of tensors, `Tensor f(const Tensor& x, ...)`, and give functions of the same arguments. The
/// names and meanings are those of torch.func. They compose: vmap(grad(f)), jacobian(grad(f)), and all of them inside
/// jit(). An argument is named by its number from 0, several by a list: grad(f, {0, 1}) gives a std::vector of two
/// gradients. What f uses beside that argument is constant, even a tensor that is the argument too. no_grad around a
/// transform does not reach into f. What results are made of, the argument and tensors that f captures, is their
/// history. What f writes to a captured tensor has none; in vmap() that is a UsageError.
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
/// The numbers of the arguments of x to differentiate by, from 0. UsageError for none, for one that does not exist or
/// is no float, and for one that is named twice.
using Argnums = std::vector<int64_t>;

/// The gradients of f at x by each of the arguments. 0 if f does not depend on one. UsageError unless f(x) is a scalar
/// and a float.
std::vector<Tensor> grad(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums = {0},
                         Loc where = Loc::current());
/// f(x) and grad().
ValueAndEach value_and_grad(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums = {0},
                            Loc where = Loc::current());
/// f(x), and the gradients of the sum of seed * f(x) by each of the arguments. `seed` has the shape and type of f(x).
ValueAndEach vjp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& seed,
                 const Argnums& argnums = {0}, Loc where = Loc::current());
/// f(x), and its derivative as the arguments move along the tangents, which have their shapes and types. Two gradients:
/// of vjp() with respect to its seed.
ValueAnd jvp(const TensorFunction& f, const std::vector<Tensor>& x, const std::vector<Tensor>& tangents,
             const Argnums& argnums = {0}, Loc where = Loc::current());
/// For each of the arguments, the derivatives of all elements of f(x) by all elements of the argument: the value's
/// shape, then the argument's. One program for all elements of the value. UsageError for a symbolic size.
std::vector<Tensor> jacrev(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums = {0},
                           Loc where = Loc::current());
/// What jacrev() gives, by one program for all elements of an argument.
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

/// The results of a function as a list: a tensor, a std::vector, a pair or tuple of tensors, or a value with gradients.
template <class Results>
std::vector<Tensor> as_list(Results results) {
  if constexpr (std::same_as<Results, Tensor>) {
    return {std::move(results)};
  } else if constexpr (std::same_as<Results, std::vector<Tensor>>) {
    return results;
  } else if constexpr (std::same_as<Results, ValueAnd>) {
    return {std::move(results.value), std::move(results.other)};
  } else if constexpr (std::same_as<Results, ValueAndEach>) {
    results.others.insert(results.others.begin(), std::move(results.value));
    return std::move(results.others);
  } else {
    return std::apply([](auto&... each) { return std::vector<Tensor>{std::move(each)...}; }, results);
  }
}
/// The inverse of as_list().
template <class Results>
Results from_list(std::vector<Tensor> list) {
  if constexpr (std::same_as<Results, Tensor>) {
    return std::move(list[0]);
  } else if constexpr (std::same_as<Results, std::vector<Tensor>>) {
    return list;
  } else if constexpr (std::same_as<Results, ValueAndEach>) {
    return {list[0], {list.begin() + 1, list.end()}};
  } else if constexpr (std::same_as<Results, ValueAnd>) {
    return {std::move(list[0]), std::move(list[1])};
  } else {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return Results(std::move(list[I])...);
    }(std::make_index_sequence<std::tuple_size_v<Results>>());
  }
}

/// How an argument is named, or several.
template <class Which>
concept Argnum = std::integral<Which> || std::same_as<Which, Argnums>;
/// The number of an argument as a list, or the list.
inline Argnums as_argnums(std::integral auto argnum) { return {static_cast<int64_t>(argnum)}; }
/// The same.
inline Argnums as_argnums(Argnums argnums) { return argnums; }
/// The numbers 0 to count - 1.
inline Argnums first_argnums(size_t count) {
  Argnums all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}
/// What a transform made for one argument, or the list for several.
inline Tensor one_or_all(std::vector<Tensor> made, std::integral auto) { return std::move(made[0]); }
/// The same.
inline std::vector<Tensor> one_or_all(std::vector<Tensor> made, const Argnums&) { return made; }
/// The same beside the value.
inline ValueAnd one_or_all(ValueAndEach made, std::integral auto) {
  return {std::move(made.value), std::move(made.others[0])};
}
/// The same.
inline ValueAndEach one_or_all(ValueAndEach made, const Argnums&) { return made; }

/// transform(f of a list, x, argnums, where) as a function of tensors.
template <class F, Argnum Which, class Transform>
auto by_arguments(F f, Which which, Transform transform, Loc where) {
  return [f = std::move(f), which = std::move(which), transform, where](const std::same_as<Tensor> auto&... x) {
    return one_or_all(transform(of_list<sizeof...(x)>(f), std::vector<Tensor>{x...}, as_argnums(which), where), which);
  };
}

}  // namespace transforms

/// The gradient of a scalar f by an argument: grad(f, 1)(x, y). By several, a std::vector: grad(f, {0, 1})(x, y).
template <class F, transforms::Argnum Which = transforms::Argnums>
auto grad(F f, Which which, Loc where = Loc::current()) {
  return transforms::by_arguments(std::move(f), std::move(which), transforms::grad, where);
}
/// By argument 0.
template <class F>
auto grad(F f, Loc where = Loc::current()) {
  return grad(std::move(f), 0, where);
}
/// The value and the gradient, or the gradients: `auto [value, gradient] = value_and_grad(f)(x);`.
template <class F, transforms::Argnum Which = transforms::Argnums>
auto value_and_grad(F f, Which which, Loc where = Loc::current()) {
  return transforms::by_arguments(std::move(f), std::move(which), transforms::value_and_grad, where);
}
/// By argument 0.
template <class F>
auto value_and_grad(F f, Loc where = Loc::current()) {
  return value_and_grad(std::move(f), 0, where);
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
/// All derivatives of f by an argument: the value's shape, then the argument's. By several, a std::vector. From the
/// value back, which is quick where it has fewer elements than the argument.
template <class F, transforms::Argnum Which = transforms::Argnums>
auto jacrev(F f, Which which, Loc where = Loc::current()) {
  return transforms::by_arguments(std::move(f), std::move(which), transforms::jacrev, where);
}
/// By argument 0.
template <class F>
auto jacrev(F f, Loc where = Loc::current()) {
  return jacrev(std::move(f), 0, where);
}
/// The derivatives of jacrev(), from the argument forward, which is quick where it has fewer elements than the value.
template <class F, transforms::Argnum Which = transforms::Argnums>
auto jacfwd(F f, Which which, Loc where = Loc::current()) {
  return transforms::by_arguments(std::move(f), std::move(which), transforms::jacfwd, where);
}
/// By argument 0.
template <class F>
auto jacfwd(F f, Loc where = Loc::current()) {
  return jacfwd(std::move(f), 0, where);
}
/// jacrev(), by the name of torch.autograd.functional.
template <class F, transforms::Argnum Which = transforms::Argnums>
auto jacobian(F f, Which which, Loc where = Loc::current()) {
  return jacrev(std::move(f), std::move(which), where);
}
/// By argument 0.
template <class F>
auto jacobian(F f, Loc where = Loc::current()) {
  return jacrev(std::move(f), 0, where);
}
/// Jacrev(f)(x).
template <class F, std::same_as<Tensor> X>
Tensor jacobian(F f, const X& x, Loc where = Loc::current()) {
  return jacrev(std::move(f), where)(x);
}
/// All second derivatives of a scalar f by one argument: its shape twice.
template <class F>
auto hessian(F f, std::integral auto which, Loc where = Loc::current()) {
  return jacrev(grad(std::move(f), which, where), which, where);
}
/// By argument 0.
template <class F>
auto hessian(F f, Loc where = Loc::current()) {
  return hessian(std::move(f), 0, where);
}
/// Hessian(f)(x).
template <class F, std::same_as<Tensor> X>
Tensor hessian(F f, const X& x, Loc where = Loc::current()) {
  return hessian(std::move(f), where)(x);
}
/// f for each element along an axis: vmap(f)(x) is stack({f(x[0]), f(x[1]), ...}). f may give several tensors, as a
/// std::vector, a pair or a tuple, or a value and its gradients; vmap gives the same.
template <class F>
auto vmap(F f, VmapOptions options = {}, Loc where = Loc::current()) {
  return [f = std::move(f), options = std::move(options), where](const std::same_as<Tensor> auto&... x) {
    const auto made = [f = transforms::of_list<sizeof...(x)>(f)](const std::vector<Tensor>& each) {
      return transforms::as_list(f(each));
    };
    return transforms::from_list<std::decay_t<std::invoke_result_t<const F&, decltype(x)...>>>(
        transforms::vmap(transforms::ListFunction(made), {x...}, options, where));
  };
}
/// @}

}  // namespace sinter::inline v0
