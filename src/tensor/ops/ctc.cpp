// The loss of connectionist temporal classification (Graves et al., ICML 2006), by its forward and its backward
// recursion on logarithms, each over one half of the time, unrolled and side by side: half as many kernels follow each
// other. The gradient is that of the recursions.
#include <algorithm>
#include <limits>
#include <numeric>

#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/core/refusals.h"
#include "tensor/ops/loss.h"
#include "tensor/ops/pick.h"
#include "tensor/ops/softmax.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// Stands for the logarithm of 0: its differences are finite, so no gradient is NaN.
constexpr double kLogOfZero = -1e30;

/// Sequences in one form: log_p [time, n, classes], labels [n, size], lengths [n], all but log_p int64.
struct CtcOperands {
  UOp log_p, labels, input_length, target_length;
};

/// log(e^a + e^b + e^c) of finite numbers.
UOp log_add(UOp a, UOp b, UOp c) {
  UOp top = detach(maximum(maximum(a, b), c));
  return log(exp(a - top) + exp(b - top) + exp(c - top)) + top;
}

/// The recursions over the labels with a blank before, between and after them, `count` = 2 size + 1 in all. Values of
/// both are [2, n, count]: [0] goes from the first label and step on, [1] from the last ones, in that order. They meet
/// in the middle of the time, of which there is an even number of steps, the last of them maybe behind all sequences.
class CtcRecursion {
 public:
  CtcRecursion(const CtcOperands& in, int64_t blank) {
    const int64_t size = fixed_size(in.labels, 1, "the labels of ctc_loss"), count = 2 * size + 1;
    const Dim n = in.labels->shape[0];
    // Labels behind the last one may be anything; those out of range are reported by GATHER.
    UOp place = tensor::position(in.labels->shape, 1, in.labels->device);
    UOp no_label = like(place, Scalar::of(DType::I64, blank));
    UOp labels = class_numbers(in.labels, in.log_p->shape[2]);
    labels = where(lt(place, per_label(in.target_length, place->shape)), labels, no_label);
    const UOp halves[] = {insert_axis(no_label, 2), insert_axis(labels, 2)};
    UOp pairs = reshape(cat(halves, 2), Shape{n, Dim(2 * size)});
    UOp position = tensor::position(Shape{n, Dim(count)}, 1, place->device);
    UOp blanks = like(position, Scalar::of(DType::I64, blank));
    const UOp parts[] = {pairs, tensor::shrink_axis(blanks, 1, 0, 1)};
    UOp extended = size ? cat(parts, 1) : parts[1];
    Shape over_time = in.log_p->shape;
    over_time[2] = Dim(count);
    // Stored, so that the kernels of all steps differ only in where they read.
    UOp emission = at_least(gather(in.log_p, expand(extended, over_time, {0}), 2), kLogOfZero);
    emission_ = contiguous(over_halves(emission, {0, 2}));
    const Shape steps{over_time[0], n};
    UOp time = tensor::position(steps, 0, place->device);
    live_ = contiguous(over_halves(lt(time, expand(in.input_length, steps, {0})), {0}));
    // A label may follow another without a blank between them if it differs.
    UOp jump = ne(extended, blanks) & ne(extended, shifted(extended, 2, static_cast<double>(blank)));
    jump_ = stacked(jump, shifted(flip(jump, {1}), 2, 0));
    // Before its first step a recursion is at the blank at its end.
    UOp end = per_label(in.target_length, position->shape) * like(position, 2.0);
    begin_ = stacked(eq(position, like(position, 0.0)), flip(eq(position, end), {1}));
  }

  /// log of the probability of each sequence: [n]. Far below 0, kLogOfZero or less, if its labels do not fit.
  UOp log_likelihood() const {
    const int64_t steps = emission_->shape[0].value();
    UOp one = like(part(emission_, 0), 0.0), state = where(begin_, one, like(one, kLogOfZero));
    for (int64_t t = 0; t < steps; ++t) {
      UOp next = moved(state, jump_) + part(emission_, t);
      state = contiguous(where(per_label(part(live_, t), next->shape), next, state));
    }
    UOp first = moved(part(state, 0), part(jump_, 0)), last = flip(part(state, 1), {1});
    return tensor::logsumexp(first + last, {1});
  }

 private:
  /// x, which lacks the axis of labels, for each of them.
  static UOp per_label(UOp x, const Shape& shape) { return expand(x, shape, {static_cast<int64_t>(shape.rank()) - 1}); }
  /// x[i]: a time step, or one of the two directions.
  static UOp part(UOp x, int64_t i) { return drop_axes(tensor::shrink_axis(x, 0, i, i + 1), {0}); }
  static UOp stacked(UOp forward, UOp backward, int64_t axis = 0) {
    const UOp both[] = {insert_axis(forward, axis), insert_axis(backward, axis)};
    return cat(both, axis);
  }
  /// x[time, n, ..] as [half of the time, 2, n, ..], the second half from its end along the axes `back`.
  static UOp over_halves(UOp x, const Ints& back) {
    const int64_t time = x->shape[0].value(), half = (time + 1) / 2;
    if (time < 2 * half) x = pad_axis(x, 0, 0, 2 * half);
    return stacked(tensor::shrink_axis(x, 0, 0, half), flip(tensor::shrink_axis(x, 0, half, 2 * half), back), 1);
  }
  /// x[.., i - by], `fill` where there is none.
  static UOp shifted(UOp x, int64_t by, double fill) {
    const auto axis = static_cast<int64_t>(x->rank()) - 1;
    const int64_t count = x->shape[axis].value();
    if (by >= count) return like(x, fill);
    UOp moved = pad_axis(tensor::shrink_axis(x, axis, 0, count - by), axis, by, count);
    UOp place = tensor::position(x->shape, axis, x->device);
    return where(lt(place, like(place, static_cast<double>(by))), like(x, fill), moved);
  }
  /// What a step makes of the probabilities, without the label that it emits.
  static UOp moved(UOp state, UOp jump) {
    return log_add(state, shifted(state, 1, kLogOfZero),
                   where(jump, shifted(state, 2, kLogOfZero), like(state, kLogOfZero)));
  }

  UOp emission_, live_, jump_, begin_;
};

UOp length_operand(const Tensor& t, const char* role, UOp log_p) {
  UOp n = cast(index_operand(node_of(t)), DType::I64);
  if (n->rank() == 0) n = insert_axis(n, 0);
  if (!(n->shape == Shape{log_p->shape[1]}))
    usage_error("the {} are {}, one for each of {} sequences is needed; give [n]", role, describe(node_of(t)),
                to_string(log_p->shape[1]));
  return on_device(n, log_p->device, log_p->shape);
}

/// Log-probabilities as [time, n, classes] in the compute type; `one` is whether there was no axis of sequences.
UOp time_steps(UOp given, bool& one, const CtcOptions& options) {
  one = given->rank() == 2;
  if (!one && given->rank() != 3)
    usage_error("the log-probabilities are {}, of {} axes; give [time, n, classes] or [time, classes]", describe(given),
                given->rank());
  UOp x = to_compute_type(given);
  if (one) x = insert_axis(x, 1);
  if (fixed_size(x, 0, "the time of ctc_loss") < 1)
    usage_error("the log-probabilities are {}, of {} time steps; give at least one", describe(given), 0);
  const int64_t classes = fixed_size(x, 2, "the classes of ctc_loss");
  if (options.blank < 0 || options.blank >= classes)
    usage_error("blank is {}, and there are {} classes; give one of them", options.blank, classes);
  return x;
}

Tensor ctc(UOp given, bool one, const CtcOperands& in, const CtcOptions& options) {
  UOp log_likelihood = CtcRecursion(in, options.blank).log_likelihood();
  UOp impossible = lt(log_likelihood, like(log_likelihood, 0.5 * kLogOfZero));
  const double instead = options.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
  UOp loss = where(impossible, like(log_likelihood, instead), -log_likelihood);
  if (options.reduction == Reduction::Mean)
    loss = loss / cast(maximum(in.target_length, like(in.target_length, 1.0)), loss->dtype);
  if (one) loss = drop_axes(loss, {0});
  return finished_loss(loss, options.reduction, given->dtype);
}

/// Lengths in [0, most], as many as there are sequences.
void require_lengths(const std::vector<int64_t>& lengths, const char* role, UOp x, int64_t most) {
  if (!(x->shape[1] == static_cast<int64_t>(lengths.size())))
    usage_error("there are {} {}, and {} sequences; give one for each", lengths.size(), role, to_string(x->shape[1]));
  for (const int64_t n : lengths)
    if (n < 0 || n > most) usage_error("one of the {} is {}; they are from 0 to {}", role, n, most);
}

/// Labels that follow each other as [n, size].
UOp separate_labels(UOp labels, const std::vector<int64_t>& lengths) {
  const int64_t total = labels->shape[0].value(), n = static_cast<int64_t>(lengths.size());
  const int64_t size = n ? *std::ranges::max_element(lengths) : 0;
  std::vector<int64_t> place;
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    for (int64_t i = 0; i < size; ++i) place.push_back(i < length ? begin + i : 0);
    begin += length;
  }
  if (begin != total)
    usage_error("there are {} labels in all, and the lengths of the targets add up to {}; give as many", total, begin);
  if (place.empty()) return reshape(tensor::shrink_axis(labels, 0, 0, 0), {n, size});
  return reshape(gather(labels, node_of(from(place, labels->device)), 0), {n, size});
}

}  // namespace

Tensor ctc_loss(Arg log_probabilities, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                CtcOptions options) {
  Call call("ctc_loss", log_probabilities.where());
  UOp given = float_operand(log_probabilities);
  bool one = false;
  UOp x = time_steps(given, one, options);
  UOp labels = cast(index_operand(node_of(targets)), DType::I64);
  if (one && labels->rank() == 1) labels = insert_axis(labels, 0);
  if (labels->rank() != 2 || !(labels->shape[0] == x->shape[1]))
    usage_error("the targets are {}, and there are {} sequences; give [n, size]", describe(node_of(targets)),
                to_string(x->shape[1]));
  labels = on_device(labels, x->device, x->shape);
  return ctc(given, one,
             {x, labels, length_operand(input_lengths, "input_lengths", x),
              length_operand(target_lengths, "target_lengths", x)},
             options);
}

Tensor ctc_loss(Arg log_probabilities, const Tensor& targets, const std::vector<int64_t>& input_lengths,
                const std::vector<int64_t>& target_lengths, CtcOptions options) {
  Call call("ctc_loss", log_probabilities.where());
  bool one = false;
  UOp x = time_steps(float_operand(log_probabilities), one, options), labels = node_of(targets);
  const bool joined = labels->rank() == 1 && !one;
  const int64_t most = joined           ? std::accumulate(target_lengths.begin(), target_lengths.end(), int64_t{0})
                       : labels->rank() ? fixed_size(labels, static_cast<int64_t>(labels->rank()) - 1, "labels")
                                        : 0;
  require_lengths(input_lengths, "input_lengths", x, x->shape[0].value());
  require_lengths(target_lengths, "target_lengths", x, most);
  if (joined) {
    fixed_size(labels, 0, "labels that follow each other");
    labels = separate_labels(index_operand(labels), target_lengths);
  }
  return ctc_loss(log_probabilities, joined ? wrap(labels) : targets, from(input_lengths, x->device),
                  from(target_lengths, x->device), options);
}

}  // namespace sinter::inline v0
