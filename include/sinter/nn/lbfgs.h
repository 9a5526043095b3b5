// L-BFGS: steps along directions that are made of the last changes of the gradient.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/nn/optim.h"

namespace sinter::inline v0::optim {

/// UsageError unless max_iter and history_size are at least 1 and the others are finite and at least 0.
struct LBFGSOptions {
  /// How long a step is: lr, or what satisfies the strong Wolfe conditions.
  enum class LineSearch : uint8_t { None, StrongWolfe };
  double lr = 1;
  int64_t max_iter = 20;  ///< iterations of a step
  /// Evaluations of a step; not given: max_iter * 5 / 4. The first line search of a step may take 25 in any case. In
  /// PyTorch it may find nothing within a small max_eval, and all further steps begin and end there.
  std::optional<int64_t> max_eval = {};
  double tolerance_grad = 1e-7, tolerance_change = 1e-9;
  int64_t history_size = 100;
  LineSearch line_search = LineSearch::None;
  bool maximize = false;
};

/// The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno, as torch.optim.LBFGS: all parameters are one
/// vector, in the widest of their types and at least float32, on the device of the first. Nocedal and Wright, Numerical
/// Optimization, algorithms 7.4, 3.5 and 3.6. The products of the history are kept on the host (Chen et al., 2014), so
/// an iteration without search is three plans. state_dict() has no history: a training that is resumed collects it
/// anew.
/// @snippet training.cpp lbfgs
class LBFGS final : public GroupedOptimizer<LBFGSOptions> {
 public:
  using Options = LBFGSOptions;  ///< as LBFGS::Options{.history_size = 10}
  explicit LBFGS(std::vector<Tensor> parameters, Options options = {}, Loc where = Loc::current());
  /// The same with a learning rate and else what options are by default.
  template <Number N>
  explicit LBFGS(std::vector<Tensor> parameters, N lr, Loc where = Loc::current())
      : LBFGS(std::move(parameters), Options{.lr = static_cast<double>(lr)}, where) {}
  ~LBFGS() override;
  /// Iterates until the tolerances or limits are reached. `closure` computes the loss, a scalar, from the parameters as
  /// they are, calls zero_grad() and backward(), and returns it; it is called several times. Returns the first loss.
  Tensor step(const std::function<Tensor()>& closure, Loc where = Loc::current());

 private:
  struct History;
  class Evaluation;
  Tensor updated(Update& update) override;
  void check_options(Loc where) const override;
  std::unique_ptr<History> history_;
};

}  // namespace sinter::inline v0::optim
