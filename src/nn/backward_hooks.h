// What a module's backward hooks see of one call.
#pragma once

#include <memory>
#include <vector>

#include "sinter/nn/any_module.h"

namespace sinter::inline v0::nn {

/// The backward hooks of one call of a module: inputs and output pass through functions that change nothing and whose
/// gradients call the hooks.
class BackwardHooks {
 public:
  BackwardHooks(std::vector<FullBackwardPreHook> before, std::vector<FullBackwardHook> after, Loc where);
  /// Takes the place of the inputs that require grad.
  void watch_inputs(std::vector<Tensor>& x);
  /// The output, watched. After watch_inputs().
  Tensor watched_output(const Tensor& y);

 private:
  /// What the gradients of the inputs and of the output share.
  struct Call {
    std::vector<FullBackwardPreHook> before;
    std::vector<FullBackwardHook> after;
    std::vector<size_t> watched = {};  ///< which inputs require grad
    size_t inputs = 0;
    Tensor grad_output = {};  ///< from the output's gradient to the inputs'
    /// The gradients of the inputs that are watched, after the hooks.
    std::vector<Tensor> run(std::vector<Tensor> grad_inputs, const Tensor& grad_output) const;
  };
  std::shared_ptr<Call> call_;
  Loc where_;
};

}  // namespace sinter::inline v0::nn
