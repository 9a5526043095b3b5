// The algorithm of include/sinter/nn/lbfgs.h. Vectors stay on the device; the host has numbers: losses, slopes, and the
// products of the history's vectors, from which it finds how much of each is in the next direction.
#include "sinter/nn/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "nn/line_search.h"
#include "nn/optim_terms.h"
#include "sinter/create.h"
#include "sinter/gradient.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"
#include "tensor/core/unchosen_sizes.h"
#include "tensor/core/user_call.h"

namespace sinter::inline v0::optim {
namespace {

using namespace tensor;

/// Evaluations that the first search of a step has at least. With fewer, as for a small max_iter, a step might end
/// where it began, and so would all that follow.
constexpr int64_t kFirstSearch = 25;

/// [1, n].
Tensor as_row(const Tensor& x) { return x.reshape({1, x.numel()}); }

/// Matrices of products, of the pairs in the history.
using Products = std::vector<std::vector<double>>;

void drop_first(Products& products) {
  products.erase(products.begin());
  for (auto& row : products) row.erase(row.begin());
}

}  // namespace

/// Pairs of steps s and changes y of the gradient, the oldest first.
struct LBFGS::History {
  Tensor steps, changes;  ///< [rows, n]; the first rows may be zero: rows double, so that few programs are compiled
  int64_t rows = 0;
  Products sy, yy;             ///< s_i y_j and y_i y_j
  double scale = 1;            ///< the first approximation of the inverse Hessian
  Tensor direction, gradient;  ///< of the last iteration
  double length = 0;           ///< of the last step, as a factor of the direction
  int64_t iterations = 0;
  uint64_t revision = 0;  ///< of the parameters that the vectors are of

  Tensor next_direction(const Tensor& g, int64_t limit);

 private:
  void append(const Tensor& s, const Tensor& y, int64_t limit);
  Tensor weighted(const Tensor& g, const std::vector<double>& sg, const std::vector<double>& yg) const;
};

/// -H g, where H is the approximation of the inverse Hessian after the last step.
Tensor LBFGS::History::next_direction(const Tensor& g, int64_t limit) {
  if (iterations == 1) return -g;
  const Tensor y = g - gradient, s = direction * number(length, g.dtype(), g.device());
  std::vector<Tensor> vectors{as_row(s), as_row(y)};
  if (rows) vectors.insert(vectors.begin(), {steps, changes});
  const auto products = matmul(cat(vectors, 0), stack({s, y, g}, 1)).to(float64).to_vector<double>();
  const auto product = [&](int64_t row, size_t column) { return products[static_cast<size_t>(row) * 3 + column]; };
  const int64_t old = static_cast<int64_t>(sy.size()), first_s = rows - old, first_y = 2 * rows - old;
  std::vector<double> sg, yg;
  for (int64_t i = 0; i < old; ++i) sg.push_back(product(first_s + i, 2)), yg.push_back(product(first_y + i, 2));
  const double new_sy = product(2 * rows, 1), new_yy = product(2 * rows + 1, 1);
  if (new_sy > 1e-10) {
    std::vector<double> of_s, of_y;
    for (int64_t i = 0; i < old; ++i) {
      sy[i].push_back(product(first_s + i, 1));
      yy[i].push_back(product(first_y + i, 1));
      of_s.push_back(product(first_y + i, 0));
      of_y.push_back(product(first_y + i, 1));
    }
    of_s.push_back(new_sy), of_y.push_back(new_yy);
    sy.push_back(std::move(of_s)), yy.push_back(std::move(of_y));
    sg.push_back(product(2 * rows, 2)), yg.push_back(product(2 * rows + 1, 2));
    scale = new_sy / new_yy;
    while (static_cast<int64_t>(sy.size()) > limit) {
      drop_first(sy), drop_first(yy);
      sg.erase(sg.begin()), yg.erase(yg.begin());
    }
    append(s, y, limit);
  }
  return weighted(g, sg, yg);
}

void LBFGS::History::append(const Tensor& s, const Tensor& y, int64_t limit) {
  const int64_t count = static_cast<int64_t>(sy.size());
  const int64_t next = count > rows ? std::min(limit, std::max<int64_t>(1, 2 * rows)) : std::min(limit, rows);
  const int64_t kept = std::min(rows, next - 1);
  const auto with = [&](const Tensor& old, const Tensor& row) {
    std::vector<Tensor> parts;
    if (next - 1 > kept) parts.push_back(zeros({next - 1 - kept, row.numel()}, row.dtype(), row.device()));
    if (kept) parts.push_back(old.slice(0, {rows - kept, rows}));
    parts.push_back(as_row(row));
    return cat(parts, 0).contiguous();
  };
  steps = with(steps, s);
  changes = with(changes, y);
  realize(steps, changes);
  rows = next;
}

/// The two loops over the history, on numbers: sg and yg are the products of its vectors with g.
Tensor LBFGS::History::weighted(const Tensor& g, const std::vector<double>& sg, const std::vector<double>& yg) const {
  const size_t count = sy.size();
  std::vector<double> back(count), of_steps(static_cast<size_t>(rows)), of_changes(static_cast<size_t>(rows));
  for (size_t i = count; i-- > 0;) {
    double dot = -sg[i];
    for (size_t j = i + 1; j < count; ++j) dot -= back[j] * sy[i][j];
    back[i] = dot / sy[i][i];
  }
  const size_t first = static_cast<size_t>(rows) - count;
  for (size_t i = 0; i < count; ++i) {
    double dot = -yg[i];
    for (size_t j = 0; j < count; ++j) dot -= back[j] * yy[i][j];
    dot *= scale;
    for (size_t j = 0; j < i; ++j) dot += of_steps[first + j] * sy[j][i];
    of_steps[first + i] = back[i] - dot / sy[i][i];
    of_changes[first + i] = -scale * back[i];
  }
  Tensor d = g * number(-scale, g.dtype(), g.device());
  if (!rows) return d;
  const auto sum = [&](const std::vector<double>& weights, const Tensor& vectors) {
    return matmul(from(weights, {1, rows}, g.device()).to(g.dtype()), vectors).reshape(g.shape());
  };
  return d + sum(of_steps, steps) + sum(of_changes, changes);
}

/// The loss and its gradient along a direction, as the closure gives them.
class LBFGS::Evaluation {
 public:
  Evaluation(const LBFGS& optimizer, const std::function<Tensor()>& closure, bool maximize)
      : parameters_(optimizer.parameters()), closure_(closure), sign_(maximize ? -1.0 : 1.0) {
    for (const Tensor& p : parameters_) dtype_ = promote(dtype_, p.dtype());
  }

  /// Lays out the parameters, as they are now, as the place where the direction begins.
  void start_along(const Tensor& direction) {
    direction_ = direction;
    begin_.clear();
    for (const Tensor& p : parameters_) begin_.push_back(p.detach().clone());
    realize_all(begin_);
  }
  void move(double t) {
    const no_grad guard;
    int64_t at = 0;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      Tensor p = parameters_[i];
      const Tensor part = direction_.slice(0, {at, at + p.numel()}).reshape(p.shape()).to(p.device());
      p.assign((begin_[i] + part * number(t, dtype_, p.device())).to(p.dtype()));
      at += p.numel();
    }
  }
  /// With the parameters as they are.
  TrialStep here(double t) {
    ++count_;
    const Tensor loss = call_program_in_scope(closure_);
    if (!loss.defined() || loss.numel() != 1)
      usage_error("the closure of LBFGS gave {}; return the loss, a tensor of one element",
                  loss.defined() ? to_string(loss.shape()) : "an empty handle");
    const no_grad guard;
    const Device device = parameters_[0].device();
    std::vector<Tensor> parts = ir::mapped(parameters_, [&](const Tensor& p) {
      return p.has_grad() ? p.grad().flatten().to(dtype_).to(device) : zeros({p.numel()}, dtype_, device);
    });
    const Tensor whole = cat(parts, 0) * sign_;
    const Tensor slope = direction_.defined() ? (whole * direction_).sum() : zeros({}, dtype_, device);
    const Tensor numbers = stack(
        {loss.detach().flatten().to(dtype_).to(device).sum() * sign_, slope, abs(whole).max(), abs(whole).sum()}, 0);
    realize(whole, numbers, loss);
    const std::vector<double> read = numbers.to(float64).to_vector<double>();
    largest_ = read[2], sum_ = read[3], loss_ = loss;
    return {t, read[0], read[1], whole};
  }
  TrialStep at(double t) {
    move(t);
    return here(t);
  }

  int64_t count() const { return count_; }
  double sum() const { return sum_; }          ///< of the gradient's absolute values
  double largest() const { return largest_; }  ///< of them
  const Tensor& loss() const { return loss_; }

 private:
  const std::vector<Tensor>& parameters_;
  const std::function<Tensor()>& closure_;
  double sign_;
  DType dtype_ = float32;
  Tensor direction_, loss_;
  std::vector<Tensor> begin_;
  int64_t count_ = 0;
  double sum_ = 0, largest_ = 0;
};

LBFGS::LBFGS(std::vector<Tensor> parameters, Options options, Loc where)
    : GroupedOptimizer({{std::move(parameters), options}}, where, "LBFGS"), history_(std::make_unique<History>()) {
  check_options(where);
}

LBFGS::~LBFGS() = default;

void LBFGS::check_options(Loc where) const {
  each_options([&](const Options& o) {
    check_settings(
        "LBFGS", {{"lr", o.lr}, {"tolerance_grad", o.tolerance_grad}, {"tolerance_change", o.tolerance_change}}, where);
    for (const auto& [name, value] :
         {std::pair{"max_iter", o.max_iter}, {"history_size", o.history_size}, {"max_eval", o.max_eval.value_or(1)}})
      if (value < 1) usage_error_at(where, "LBFGS: {} is {}; give at least 1", name, value);
  });
}

Tensor LBFGS::updated(Update&) {
  throw UsageError("step: LBFGS evaluates the loss itself; call step(closure) of the LBFGS");
}

Tensor LBFGS::step(const std::function<Tensor()>& closure, Loc where) {
  check_options(where);
  const OuterCall call("step", where);
  const Options o = options();
  const int64_t most = o.max_eval.value_or(o.max_iter * 5 / 4);
  if (history_->revision != revision()) {  // its vectors are of other parameters
    *history_ = History();
    history_->revision = revision();
  }
  History& history = *history_;
  Evaluation evaluation(*this, closure, o.maximize);
  TrialStep now = evaluation.here(0);
  const Tensor first_loss = evaluation.loss();
  if (evaluation.largest() <= o.tolerance_grad) return first_loss;
  for (int64_t i = 1; i <= o.max_iter; ++i) {
    ++history.iterations;
    const TrialStep before = now;
    double slope = 0, longest = 0;
    {
      const no_grad guard;
      const OwnSizes rows;  // of the history, which grows
      history.direction = history.next_direction(now.gradient, o.history_size);
      const Tensor numbers = stack({(now.gradient * history.direction).sum(), abs(history.direction).max()}, 0);
      realize(history.direction, numbers);
      const std::vector<double> read = numbers.to(float64).to_vector<double>();
      slope = read[0], longest = read[1];
    }
    history.gradient = now.gradient;
    history.length = history.iterations == 1 ? std::min(1.0, 1.0 / evaluation.sum()) * o.lr : o.lr;
    if (slope > -o.tolerance_change) break;
    evaluation.start_along(history.direction);
    double steepest = evaluation.largest();
    if (o.line_search == Options::LineSearch::StrongWolfe) {
      const int64_t left = most - evaluation.count();
      now = strong_wolfe([&](double t) { return evaluation.at(t); }, {0, now.loss, slope, now.gradient}, history.length,
                         longest, i == 1 ? std::max(left, kFirstSearch) : left, o.tolerance_change);
      history.length = now.t;
      evaluation.move(now.t);
      const no_grad guard;
      steepest = abs(now.gradient).max().item();
    } else if (i < o.max_iter) {  // where the last step leads is evaluated by the next call
      now = evaluation.at(history.length);
      steepest = evaluation.largest();
    } else {
      evaluation.move(history.length);
    }
    if (evaluation.count() >= most || steepest <= o.tolerance_grad) break;
    if (longest * std::abs(history.length) <= o.tolerance_change) break;
    if (std::abs(now.loss - before.loss) < o.tolerance_change) break;
  }
  return first_loss;
}

}  // namespace sinter::inline v0::optim
