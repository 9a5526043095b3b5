// The networks of include/sinter/nn/sequence.h, unrolled: one product for all inputs of a layer, then step by step.
#include "sinter/nn/sequence.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "nn/layer_checks.h"
#include "nn/recurrent_step.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/nn/layers.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;

/// A permutation of the batch's axis of a state [layers, n, hidden], or nothing to do.
Tensor permuted(const Tensor& state, const std::vector<int64_t>& order) {
  if (order.empty() || !state.defined()) return state;
  return index_select(state, 1, from(order, state.device()));
}

std::vector<int64_t> inverse_of(const std::vector<int64_t>& order) {
  std::vector<int64_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return inverse;
}

/// The lengths of the sorted sequences.
std::vector<int64_t> lengths_of(const PackedSequence& x) {
  std::vector<int64_t> lengths(x.batch_sizes.empty() ? 0 : static_cast<size_t>(x.batch_sizes[0]));
  for (const int64_t count : x.batch_sizes)
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) ++lengths[i];
  return lengths;
}

/// Whether each of the sorted sequences has an element at each time: [length, n, 1].
Tensor presence(const PackedSequence& x, Device device) {
  const int64_t length = static_cast<int64_t>(x.batch_sizes.size());
  const Tensor counts = from(x.batch_sizes, {length, 1, 1}, device);
  return arange(x.batch_sizes[0], int64, device).reshape({1, x.batch_sizes[0], 1}) < counts;
}

/// UsageError unless it is made as pack_padded_sequence() makes it.
void check_packed(const PackedSequence& x) {
  int64_t sum = 0;
  for (const int64_t count : x.batch_sizes) sum += count;
  if (!x.data.defined() || x.data.rank() < 1 || !(x.data.shape()[0] == Dim(sum)) || x.batch_sizes.empty())
    usage_error("the packed sequence has data {} and batch sizes that add up to {}; make it by pack_padded_sequence()",
                x.data.defined() ? to_string(x.data.shape()) : "that is an empty handle", sum);
}

/// [length, n, ...] of a packed sequence, in the sorted order. Behind the end of a sequence is its batch's first
/// element, which callers mask by presence().
Tensor padded(const PackedSequence& x, int64_t length) {
  const int64_t n = x.batch_sizes[0];
  std::vector<int64_t> rows;
  int64_t at = 0;
  for (int64_t t = 0; t < length; ++t) {
    const int64_t count = t < static_cast<int64_t>(x.batch_sizes.size()) ? x.batch_sizes[static_cast<size_t>(t)] : 0;
    for (int64_t i = 0; i < n; ++i) rows.push_back(i < count ? at + i : 0);
    at += count;
  }
  std::vector<Dim> dims = x.data.shape().dims();
  dims[0] = n;
  dims.insert(dims.begin(), Dim(length));
  return index_select(x.data, 0, from(rows, x.data.device())).reshape(Shape(dims));
}

}  // namespace

std::vector<int64_t> read_lengths(const Tensor& lengths, Loc where) {
  const OuterCall call("pack_padded_sequence", where);
  if (lengths.rank() != 1 || is_float(lengths.dtype()) || is_bool(lengths.dtype()))
    usage_error("the lengths are {} {}; give integers along one axis", name_of(lengths.dtype()),
                to_string(lengths.shape()));
  return lengths.to(int64).to_vector<int64_t>();
}

PackedSequence pack_padded_sequence(const Tensor& given, const std::vector<int64_t>& lengths, PackOptions options,
                                    Loc where) {
  const OuterCall call("pack_padded_sequence", where);
  if (given.rank() < 2) usage_error("x has shape {}; give [length, n, ...]", to_string(given.shape()));
  const Tensor x = options.batch_first ? given.transpose(0, 1) : given;
  const int64_t length = x.shape()[0].value(), n = x.shape()[1].value();
  if (static_cast<int64_t>(lengths.size()) != n)
    usage_error("{} sequences have {} lengths; give one for each", n, lengths.size());
  PackedSequence made;
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(lengths.rbegin(), lengths.rend())) {
    if (options.enforce_sorted)
      usage_error(
          "the lengths increase somewhere; sort the batch, the longest first, or give {.enforce_sorted = false}");
    std::ranges::sort(order, [&](int64_t a, int64_t b) {
      const int64_t left = lengths[static_cast<size_t>(a)], right = lengths[static_cast<size_t>(b)];
      return left != right ? left > right : a < b;
    });
  }
  for (const int64_t count : lengths)
    if (count < 1 || count > length)
      usage_error("a sequence has length {}, the padded ones {}; give one from 1 to that", count, length);
  if (!options.enforce_sorted) made.sorted_indices = order, made.unsorted_indices = inverse_of(order);
  std::vector<int64_t> rows;
  for (int64_t t = 0; n && t < lengths[static_cast<size_t>(order[0])]; ++t) {
    const size_t before = rows.size();
    for (const int64_t i : order)
      if (lengths[static_cast<size_t>(i)] > t) rows.push_back(t * n + i);
    made.batch_sizes.push_back(static_cast<int64_t>(rows.size() - before));
  }
  made.data = index_select(x.flatten(0, 1), 0, from(rows, x.device()));
  return made;
}

std::pair<Tensor, std::vector<int64_t>> pad_packed_sequence(const PackedSequence& sequence, PadOptions options,
                                                            Loc where) {
  const OuterCall call("pad_packed_sequence", where);
  check_packed(sequence);
  const int64_t longest = static_cast<int64_t>(sequence.batch_sizes.size()), length = options.length.value_or(longest);
  if (length < longest) usage_error("the length {} is less than the longest sequence's {}", length, longest);
  PackedSequence to_length = sequence;
  to_length.batch_sizes.resize(static_cast<size_t>(length));
  Shape::Dims mask_dims(sequence.data.rank() + 1, Dim(1));
  mask_dims[0] = length, mask_dims[1] = sequence.batch_sizes[0];
  Tensor y = sinter::where(presence(to_length, sequence.data.device()).reshape(Shape(mask_dims)),
                           padded(sequence, length), options.padding_value);
  std::vector<int64_t> lengths = lengths_of(sequence);
  if (!sequence.unsorted_indices.empty()) {
    y = permuted(y, sequence.unsorted_indices);
    std::vector<int64_t> sorted = lengths;
    for (size_t i = 0; i < lengths.size(); ++i) lengths[static_cast<size_t>(sequence.sorted_indices[i])] = sorted[i];
  }
  return {options.batch_first ? y.transpose(0, 1) : y, lengths};
}

Tensor pad_sequence(const std::vector<Tensor>& sequences, PadSequenceOptions options, Loc where) {
  const OuterCall call("pad_sequence", where);
  if (sequences.empty()) usage_error("there are 0 sequences; give one or more");
  int64_t longest = 0;
  for (const Tensor& x : sequences) {
    if (x.rank() == 0) usage_error("a sequence has shape []; give shapes [length, ...]");
    longest = std::max(longest, static_cast<int64_t>(x.shape()[0]));
  }
  std::vector<Tensor> parts;
  for (const Tensor& x : sequences) {
    std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(x.rank()));
    widths[0].second = longest - static_cast<int64_t>(x.shape()[0]);
    parts.push_back(widths[0].second ? x.pad(widths, options.padding_value) : x);
  }
  return stack(parts, options.batch_first ? 0 : 1);
}

/// How a step makes states of them. `input` and `state` are the products with the gates' rows.
struct RecurrentLayers::Cell {
  size_t states;  ///< 1: h; 2: h and c
  std::function<std::vector<Tensor>(const Tensor& input, const Tensor& state, const std::vector<Tensor>& last)> next;
};

RecurrentLayers::RecurrentLayers(std::string_view name, int64_t gates, int64_t in, int64_t hidden, LSTMOptions o,
                                 Loc where)
    : options(o) {
  const OuterCall call(name, where);
  for (const auto& [what, value] : {std::pair{"in", in}, {"hidden", hidden}, {"num_layers", o.num_layers}})
    require_size(fmt::format("{}: {}", name, what), value, where);
  if (!(o.dropout >= 0 && o.dropout <= 1)) usage_error("dropout is {}; a probability in [0, 1] is needed", o.dropout);
  if (o.proj_size < 0 || o.proj_size >= hidden)
    usage_error("proj_size is {}; give 0, or a size below hidden, {}", o.proj_size, hidden);
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden));
  const auto make = [&](const Shape& shape) { return init::uniform(shape, -bound, bound).requires_grad(); };
  const int64_t directions = o.bidirectional ? 2 : 1, out = o.proj_size ? o.proj_size : hidden;
  for (int64_t i = 0; i < o.num_layers * directions; ++i) {
    RecurrentWeights w;
    w.weight_ih = make({gates * hidden, i < directions ? in : out * directions});
    w.weight_hh = make({gates * hidden, out});
    if (o.bias) w.bias_ih = make({gates * hidden}), w.bias_hh = make({gates * hidden});
    if (o.proj_size) w.weight_hr = make({o.proj_size, hidden});
    weights.push_back(std::move(w));
  }
}

/// The states given, or zeros, as [layers * directions, n, size].
std::vector<Tensor> RecurrentLayers::initial(std::string_view name, const Cell& cell, std::vector<Tensor> states,
                                             const Tensor& x, bool batched) const {
  const int64_t count = static_cast<int64_t>(weights.size());
  const Dim n = x.shape()[1];
  for (size_t i = 0; i < cell.states; ++i) {
    const int64_t size = i ? weights[0].weight_hh.shape()[0].value() / 4 : weights[0].weight_hh.shape()[1].value();
    const Shape wanted = batched ? Shape{count, n, size} : Shape{count, size};
    if (!states[i].defined())
      states[i] = zeros({count, n, size}, x.dtype(), x.device());
    else if (!(states[i].shape() == wanted))
      usage_error("state {} of {} has shape {}; for this input it is {}", i ? "c" : "h", name,
                  to_string(states[i].shape()), to_string(wanted));
    else if (!batched)
      states[i] = states[i].unsqueeze(1);
  }
  return states;
}

/// x: [length, n, in]. `present`, if given, says which sequences go on at each time: others keep their state, and their
/// output is zero.
RecurrentLayers::Result RecurrentLayers::run_layers(const Cell& cell, Tensor x, const std::vector<Tensor>& states,
                                                    const Tensor& present) const {
  const int64_t length = x.shape()[0].value(), directions = options.bidirectional ? 2 : 1;
  std::vector<std::vector<Tensor>> last_states(cell.states);
  Dropout drop(options.dropout);
  drop.training = training;
  for (size_t i = 0; i < weights.size(); i += static_cast<size_t>(directions)) {
    if (i && options.dropout > 0) x = drop(x);
    std::vector<Tensor> outputs;
    for (size_t k = i; k < i + static_cast<size_t>(directions); ++k) {
      const RecurrentWeights& w = weights[k];
      const Tensor inputs = linear(x, w.weight_ih, w.bias_ih);
      std::vector<Tensor> state;
      for (const Tensor& s : states) state.push_back(s[static_cast<int64_t>(k)]);
      std::vector<Tensor> made(static_cast<size_t>(length));
      for (int64_t step = 0; step < length; ++step) {
        const int64_t t = k == i ? step : length - 1 - step;
        std::vector<Tensor> next = cell.next(inputs[t], linear(state[0], w.weight_hh, w.bias_hh), state);
        if (w.weight_hr.defined()) next[0] = linear(next[0], w.weight_hr, {});
        Tensor& output = made[static_cast<size_t>(t)] = next[0];
        if (present.defined()) {
          const Tensor here = present[t];
          for (size_t j = 0; j < next.size(); ++j) next[j] = where(here, next[j], state[j]);
          output = where(here, output, 0.0);
        }
        state = std::move(next);
      }
      outputs.push_back(stack(made, 0));
      for (size_t j = 0; j < cell.states; ++j) last_states[j].push_back(state[j]);
    }
    x = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
  }
  Result result{x, {}};
  for (const auto& each : last_states) result.states.push_back(stack(each, 0));
  return result;
}

RecurrentLayers::Result RecurrentLayers::run(std::string_view name, const Cell& cell, const Tensor& x,
                                             std::vector<Tensor> states) const {
  require_last(x, {weights[0].weight_ih.shape()[1]}, name);
  if (x.rank() != 2 && x.rank() != 3)
    usage_error("the input of {} has shape {}; give two axes, or three with a batch", name, to_string(x.shape()));
  const bool batched = x.rank() == 3, turned = batched && options.batch_first;
  const Tensor timed = !batched ? x.unsqueeze(1) : turned ? x.transpose(0, 1) : x;
  if (timed.shape()[0] == Dim(0)) usage_error("the input of {} has length 0; give at least one step", name);
  Result result = run_layers(cell, timed, initial(name, cell, std::move(states), timed, batched), {});
  if (turned) result.output = result.output.transpose(0, 1);
  if (batched) return result;
  result.output = result.output.squeeze(1);
  for (Tensor& state : result.states) state = state.squeeze(1);
  return result;
}

std::pair<PackedSequence, std::vector<Tensor>> RecurrentLayers::run(std::string_view name, const Cell& cell,
                                                                    const PackedSequence& x,
                                                                    std::vector<Tensor> states) const {
  check_packed(x);
  require_last(x.data, {weights[0].weight_ih.shape()[1]}, name);
  const int64_t length = static_cast<int64_t>(x.batch_sizes.size()), n = x.batch_sizes[0];
  const Tensor timed = padded(x, length);
  states = initial(name, cell, std::move(states), timed, true);
  for (Tensor& state : states) state = permuted(state, x.sorted_indices);
  Result result = run_layers(cell, timed, states, presence(x, timed.device()));
  for (Tensor& state : result.states) state = permuted(state, x.unsorted_indices);
  std::vector<int64_t> rows;
  for (int64_t t = 0; t < length; ++t)
    for (int64_t i = 0; i < x.batch_sizes[static_cast<size_t>(t)]; ++i) rows.push_back(t * n + i);
  PackedSequence y = x;
  y.data = index_select(result.output.flatten(0, 1), 0, from(rows, timed.device()));
  return {y, result.states};
}

RNN::RNN(int64_t in, int64_t hidden, RNNOptions o, Loc where)
    : RecurrentLayers("RNN", 1, in, hidden, {o.num_layers, o.bias, o.batch_first, o.dropout, o.bidirectional}, where),
      nonlinearity(o.nonlinearity) {}

GRU::GRU(int64_t in, int64_t hidden, GRUOptions o, Loc where)
    : RecurrentLayers("GRU", 3, in, hidden, {o.num_layers, o.bias, o.batch_first, o.dropout, o.bidirectional}, where) {}

LSTM::LSTM(int64_t in, int64_t hidden, LSTMOptions o, Loc where) : RecurrentLayers("LSTM", 4, in, hidden, o, where) {}

namespace {

using States = std::vector<Tensor>;

States next_of_gru(const Tensor& input, const Tensor& state, const States& last) {
  return {gru_step(input, state, last[0])};
}
States next_of_lstm(const Tensor& input, const Tensor& state, const States& last) {
  const auto [h, c] = lstm_step(input, state, last[1]);
  return {h, c};
}
auto next_of_rnn(RNNCell::Activation activation) {
  return [=](const Tensor& input, const Tensor& state, const States&) -> States {
    return {rnn_step(activation, input, state)};
  };
}

}  // namespace

std::pair<Tensor, Tensor> RNN::operator()(const Tensor& x, const Tensor& h, Loc where) const {
  const OuterCall call("RNN", where);
  const Result made = run("RNN", {1, next_of_rnn(nonlinearity)}, x, {h});
  return {made.output, made.states[0]};
}
std::pair<PackedSequence, Tensor> RNN::operator()(const PackedSequence& x, const Tensor& h, Loc where) const {
  const OuterCall call("RNN", where);
  const auto [output, states] = run("RNN", {1, next_of_rnn(nonlinearity)}, x, {h});
  return {output, states[0]};
}

std::pair<Tensor, Tensor> GRU::operator()(const Tensor& x, const Tensor& h, Loc where) const {
  const OuterCall call("GRU", where);
  const Result made = run("GRU", {1, next_of_gru}, x, {h});
  return {made.output, made.states[0]};
}
std::pair<PackedSequence, Tensor> GRU::operator()(const PackedSequence& x, const Tensor& h, Loc where) const {
  const OuterCall call("GRU", where);
  const auto [output, states] = run("GRU", {1, next_of_gru}, x, {h});
  return {output, states[0]};
}

std::pair<Tensor, LSTM::State> LSTM::operator()(const Tensor& x, const State& state, Loc where) const {
  const OuterCall call("LSTM", where);
  const Result made = run("LSTM", {2, next_of_lstm}, x, {state.first, state.second});
  return {made.output, {made.states[0], made.states[1]}};
}
std::pair<PackedSequence, LSTM::State> LSTM::operator()(const PackedSequence& x, const State& state, Loc where) const {
  const OuterCall call("LSTM", where);
  const auto [output, states] = run("LSTM", {2, next_of_lstm}, x, {state.first, state.second});
  return {output, {states[0], states[1]}};
}

}  // namespace sinter::inline v0::nn
