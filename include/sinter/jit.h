// A function of tensors whose plan is kept: from its third call on, only its kernels run.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// The implementation of a jitted function; only for jit().
class JitPlans {
 public:
  /// The function. Its arguments alias the tensors of the call; results are in order.
  using Function = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  JitPlans();
  ~JitPlans();
  JitPlans(JitPlans&&) noexcept;             ///< keeps the plans
  JitPlans& operator=(JitPlans&&) noexcept;  ///< the same
  /// The function's results, computed.
  std::vector<Tensor> call(const Function& function, std::span<const Tensor> inputs, std::span<const Dim> sizes,
                           Loc where);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

/// A function made by jit(). Several threads may call it, but not while it is moved, assigned or destroyed.
template <class F>
class Jitted {
 public:
  /// Reports errors at `where`.
  explicit Jitted(F function, Loc where) : function_(std::move(function)), where_(where) {}

  /// The function's results for these tensors and sizes (a Tensor, a std::vector of them, or nothing), already
  /// computed.
  template <class... Inputs>
    requires((std::same_as<Inputs, Tensor> || std::same_as<Inputs, Dim>) && ...)
  auto operator()(const Inputs&... inputs) {
    using Result = std::invoke_result_t<F&, const Inputs&...>;
    static_assert(
        std::is_void_v<Result> || std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::vector<Tensor>>,
        "a jitted function returns a Tensor, a std::vector<Tensor> or nothing");
    std::vector<Tensor> tensors;
    std::vector<Dim> sizes;
    [[maybe_unused]] const auto sort = [&](const auto& input) {
      if constexpr (std::same_as<decltype(input), const Tensor&>)
        tensors.push_back(input);
      else
        sizes.push_back(input);
    };
    (sort(inputs), ...);
    const auto run = [&](std::span<const Tensor> given) -> std::vector<Tensor> {
      [[maybe_unused]] size_t next = 0;
      [[maybe_unused]] const auto chosen = [&](const auto& input) -> const auto& {
        if constexpr (std::same_as<decltype(input), const Tensor&>)
          return given[next++];
        else
          return input;
      };
      const std::tuple<const Inputs&...> all{chosen(inputs)...};  // in order
      if constexpr (std::is_void_v<Result>)
        return std::apply(function_, all), std::vector<Tensor>();
      else if constexpr (std::is_same_v<Result, Tensor>)
        return {std::apply(function_, all)};
      else
        return std::apply(function_, all);
    };
    std::vector<Tensor> results = plans_.call(run, tensors, sizes, where_);
    if constexpr (std::is_same_v<Result, Tensor>)
      return std::move(results[0]);
    else if constexpr (!std::is_void_v<Result>)
      return results;
  }

 private:
  F function_;
  Loc where_;
  JitPlans plans_;
};

/// The same function of tensors, which need not even be walked: `auto fast = jit([&](const Tensor& x) { return
/// model(x); })`.
///
/// Its first two calls for given shapes, dtypes and devices run the function, which must build the same program both
/// times. Later calls launch that program's kernels on the new inputs, on the present values of the other tensors that
/// the function uses, and with new random numbers. Results are computed when the call returns, and are the same to the
/// bit as without jit. What the function assigns is assigned: updates in place are part of the program.
///
/// A size that is bound to a Var is no shape of its own: a program serves all values of the Var, once two of them have
/// built it. Besides tensors the function may take sizes, as `const Dim&`: `step(token, length(n))` for
/// `jit([&](const Tensor& token, const Dim& n) { .. })`. In it `keys.slice(1, {0, n})` are the n first keys, and
/// Tensor(n) is the number as a tensor; n.value() is a number of the C++ program.
/// @snippet jit.cpp decode
///
/// Some kernels read only tensors that the function uses besides its inputs and does not assign: weights in another
/// order or dtype, masks, tables (not where an index can be out of range on a GPU). These kernels run again only after
/// somebody has assigned one of those tensors. Their values stay in memory as long as the function, for each of the
/// shapes that it was called with; concurrent calls have a copy each. The values are dropped if none is used for some
/// calls, or if a computation needs the room (data from host memory does not ask for it). While the kernels run, other
/// threads can use the library and jitted functions; who needs what this function assigns waits until it is stored.
///
/// The function no longer runs, so its program must hold all that it does with tensors. Numbers of the C++ program, and
/// which tensors the function uses, are those of the first calls. What can be seen to break this is a UsageError:
/// reading or realizing a tensor inside; data made from host memory, number(), or a Generator that is made or set
/// inside; numbers that changed between the first two calls; handles to what it makes, or to its inputs, that outlive
/// the call, except to constants (return the value instead); changes to requires_grad() of tensors that it has not
/// made, and gradients that backward() leaves in them; results that require grad (call it under no_grad, or return them
/// detached); assigning an input; several devices. Reading means the numbers, stored already or not: item(),
/// to_vector(), to_bytes(), to_string(), `<<`, save(). Shapes, dtypes, devices, needs_grad() and has_grad() may be
/// asked for. Tensors that it uses besides its inputs and parameters must be computed before, each in memory of its
/// own: realize() them, and what shares memory as t.clone().realize(). It does not matter who else holds or builds
/// equal expressions.
///
/// A training step may be a jitted function: backward(), and the step() of an optimizer that takes the gradients.
/// Replays use its learning rates and counts of then, so schedules are stepped outside, between calls; its other
/// options are those of the first calls. What the rule gives Optimizer::Update::number() must be a function of the
/// step.
/// @snippet training.cpp jit
///
/// From several threads: results are those of the calls in some order. One thread at a time runs the function, so its
/// own C++ state needs no lock; calls of others wait meanwhile. Other threads may read a tensor that it uses at any
/// time. They may assign one only while no thread calls the function.
///
/// With SINTER_CHECK the function always runs.
/// @snippet jit.cpp jit
/// @snippet jit.cpp kept
template <class F>
Jitted<F> jit(F function, Loc where = Loc::current()) {
  return Jitted<F>(std::move(function), where);
}

}  // namespace sinter::inline v0
