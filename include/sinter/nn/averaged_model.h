// Averages of a model's weights over its training.
#pragma once

#include <optional>

#include "sinter/create.h"
#include "sinter/nn/module.h"

namespace sinter::inline v0::nn {

/// UsageError unless ema_decay is in [0, 1].
struct AveragingOptions {
  /// The mean is mean * ema_decay + weight * (1 - ema_decay): an exponential moving average. Not given: the mean of all
  /// updates, as in stochastic weight averaging (Izmailov et al., UAI 2018).
  std::optional<double> ema_decay = {};
  /// Whether tensors that are no parameters are averaged as well. Otherwise they are copied.
  bool use_buffers = false;
};

/// Means of the tensors of a model, as torch.optim.swa_utils.AveragedModel: `module` is a model of its own. The first
/// update() copies.
/// @snippet training.cpp ema
template <Module M>
struct AveragedModel {
  explicit AveragedModel(const M& model, AveragingOptions options = {}, Loc where = Loc::current());
  /// Takes the model's tensors into the means, in one plan; another number of updates compiles nothing. UsageError if
  /// the model has not the tensors of the one that this was made of.
  void update(const M& model, Loc where = Loc::current());
  /// module(x...).
  template <class... X>
  auto operator()(const X&... x) const {
    return module(x...);
  }
  M module;
  Tensor n_averaged;  ///< number of updates, int64
  AveragingOptions options;
  SINTER_MODULE(n_averaged, module)
};

/// What AveragedModel does with the tensors.
namespace averaging {
/// UsageError as AveragingOptions says.
void check(const AveragingOptions& options, Loc where);
/// One update of `means`, whose number is `count`.
void update(const NamedTensors& means, const NamedTensors& values, Tensor count, const AveragingOptions& options,
            Loc where);
}  // namespace averaging

template <Module M>
AveragedModel<M>::AveragedModel(const M& model, AveragingOptions o, Loc where)
    : module((averaging::check(o, where), clone(model))),
      n_averaged(from(std::vector<int64_t>{0}, Shape{})),
      options(o) {}

template <Module M>
void AveragedModel<M>::update(const M& model, Loc where) {
  averaging::update(state_dict(module), state_dict(model), n_averaged, options, where);
}

}  // namespace sinter::inline v0::nn
