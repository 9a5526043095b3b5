// Functions whose gradient the program defines, hooks on gradients, and values that are computed again for the
// gradient.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/transforms.h"

namespace sinter::inline v0 {

/// @defgroup custom_gradients Gradients of one's own
/// The names of torch.autograd.Function, torch.Tensor.register_hook and torch.utils.checkpoint.
/// @snippet custom_gradients.cpp custom
/// @{

namespace transforms {

/// What a backward function is given.
struct BackwardCall {
  std::vector<Tensor> gradients;  ///< of the values; zeros for one that the result does not depend on
  std::vector<Tensor> values;     ///< what the forward function gave
  std::vector<Tensor> arguments;  ///< what it was given
};
/// Gives the gradient of each argument, in its shape and dtype; an empty handle for 0.
using BackwardFunction = std::function<std::vector<Tensor>(const BackwardCall&)>;

/// The values of `forward`, with the gradient that `backward` gives: see sinter::custom_gradient().
std::vector<Tensor> custom_gradient(const ListFunction& forward, BackwardFunction backward,
                                    const std::vector<Tensor>& x, Loc where = Loc::current());
/// f of a list, computed again for the gradient: see sinter::checkpoint().
Tensor checkpoint(const TensorFunction& f, const std::vector<Tensor>& x, Loc where = Loc::current());

/// A result as a list.
inline std::vector<Tensor> as_list(Tensor value) { return {std::move(value)}; }
/// The same.
inline std::vector<Tensor> as_list(std::vector<Tensor> values) { return values; }

}  // namespace transforms

/// The function `forward` with the gradient that `backward` defines: a function of the same tensors. `forward` runs
/// without history and gives a tensor, or a std::vector of several. `backward` is called when a gradient is built, as
/// `backward(gradient, x...)`, or as `backward(gradient, value, x...)` if it takes one argument more; gradient and
/// value are vectors if `forward` gives one. It gives a tensor, or a vector with one for each x: the gradients, in
/// shape and dtype of the x; an empty Tensor is 0. What it makes can be differentiated again. In vmap() it is called
/// for one element. A jitted function's gradient is built once. UsageError if tensors lie on several devices, or, when
/// the gradient is built, for gradients that do not fit.
template <class Forward, class Backward>
auto custom_gradient(Forward forward, Backward backward, Loc where = Loc::current()) {
  return [forward = std::move(forward), backward = std::move(backward), where](const std::same_as<Tensor> auto&... x) {
    constexpr bool kOne = std::same_as<std::invoke_result_t<const Forward&, decltype(x)...>, Tensor>;
    const auto indices = std::index_sequence_for<decltype(x)...>();
    auto run = [forward]<size_t... I>(std::index_sequence<I...>) {
      return [forward](const std::vector<Tensor>& list) { return transforms::as_list(forward(list[I]...)); };
    }(indices);
    auto back = [backward]<size_t... I>(std::index_sequence<I...>) {
      return [backward](const transforms::BackwardCall& call) {
        const auto of = [&](const auto& gradient, const auto& value) {
          const std::vector<Tensor>& list = call.arguments;
          if constexpr (std::invocable<const Backward&, decltype(gradient), decltype(list[I])...>)
            return transforms::as_list(backward(gradient, list[I]...));
          else
            return transforms::as_list(backward(gradient, value, list[I]...));
        };
        if constexpr (kOne)
          return of(call.gradients[0], call.values[0]);
        else
          return of(call.gradients, call.values);
      };
    }(indices);
    std::vector<Tensor> values = transforms::custom_gradient(run, std::move(back), {x...}, where);
    if constexpr (kOne)
      return values[0];
    else
      return values;
  };
}

/// f(x...), of which no intermediate value is kept for the gradient: what the gradient needs is computed again from the
/// x, and from tensors that f uses besides, when it is needed. `f` itself is called once; random numbers that it draws
/// are the same again. Gradients pass to the x and to what f uses, such as the parameters of a layer. The same bits as
/// f(x...), in less memory and more time.
template <class F>
Tensor checkpoint(F f, const std::same_as<Tensor> auto&... x)
  requires(sizeof...(x) > 0)
{
  return transforms::checkpoint(transforms::of_list<sizeof...(x)>(std::move(f)), {x...});
}
/// @}

}  // namespace sinter::inline v0
