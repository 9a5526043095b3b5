// The cells of include/sinter/nn/recurrent.h: one product per operand; its slices are the gates.
#include "sinter/nn/recurrent.h"

#include <fmt/core.h>

#include <cmath>

#include "nn/layer_checks.h"
#include "nn/recurrent_step.h"
#include "sinter/create.h"
#include "sinter/nn/init.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;

template <class Cell>
void make_weights(Cell& cell, std::string_view name, int64_t gates, int64_t in, int64_t hidden, bool bias, Loc where) {
  require_size(fmt::format("{}: in", name), in, where);
  require_size(fmt::format("{}: hidden", name), hidden, where);
  const double bound = 1.0 / std::sqrt(static_cast<double>(hidden));
  auto make = [&](const Shape& shape) { return init::uniform(shape, -bound, bound).requires_grad(); };
  cell.weight_ih = make({gates * hidden, in});
  cell.weight_hh = make({gates * hidden, hidden});
  if (!bias) return;
  cell.bias_ih = make({gates * hidden});
  cell.bias_hh = make({gates * hidden});
}

template <class Cell>
Tensor of_input(const Cell& cell, const Tensor& x, std::string_view name) {
  require_last(x, {cell.weight_ih.shape()[1]}, name);
  return linear(x, cell.weight_ih, cell.bias_ih);
}
/// The state `h`, or zeros beside x if it is an empty handle.
template <class Cell>
Tensor state_or_zeros(const Cell& cell, const Tensor& x, const Tensor& h) {
  if (h.defined()) return h;
  Shape shape = x.shape();
  shape[-1] = cell.weight_hh.shape()[1];
  return zeros(shape, cell.weight_hh.dtype(), x.device());
}
template <class Cell>
Tensor of_state(const Cell& cell, const Tensor& h, std::string_view name) {
  require_last(h, {cell.weight_hh.shape()[1]}, name, "state h");
  return linear(h, cell.weight_hh, cell.bias_hh);
}

}  // namespace

Tensor rnn_step(RNNCell::Activation activation, const Tensor& input, const Tensor& state) {
  return activation == RNNCell::Activation::Tanh ? tanh(input + state) : relu(input + state);
}
Tensor gru_step(const Tensor& input, const Tensor& state, const Tensor& h) {
  const std::vector<Tensor> i = input.chunk(3, -1), s = state.chunk(3, -1);
  const Tensor reset = sigmoid(i[0] + s[0]), keep = sigmoid(i[1] + s[1]);
  return (1.0 - keep) * tanh(i[2] + reset * s[2]) + keep * h;
}
LSTMCell::State lstm_step(const Tensor& input, const Tensor& state, const Tensor& c) {
  const std::vector<Tensor> gates = (input + state).chunk(4, -1);
  const Tensor next = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
  return {sigmoid(gates[3]) * tanh(next), next};
}

RNNCell::RNNCell(int64_t in, int64_t hidden, bool bias, Activation activation, Loc where) : activation(activation) {
  const OuterCall call("RNNCell", where);
  make_weights(*this, "RNNCell", 1, in, hidden, bias, where);
}

Tensor RNNCell::operator()(const Tensor& x, const Tensor& h, Loc where) const {
  const OuterCall call("RNNCell", where);
  const Tensor input = of_input(*this, x, "RNNCell");
  return rnn_step(activation, input, of_state(*this, state_or_zeros(*this, x, h), "RNNCell"));
}

LSTMCell::LSTMCell(int64_t in, int64_t hidden, bool bias, Loc where) {
  const OuterCall call("LSTMCell", where);
  make_weights(*this, "LSTMCell", 4, in, hidden, bias, where);
}

LSTMCell::State LSTMCell::operator()(const Tensor& x, const State& state, Loc where) const {
  const OuterCall call("LSTMCell", where);
  if (state.first.defined() != state.second.defined())
    usage_error("of the states h and c one is an empty handle; give both, or none for zeros");
  const Tensor input = of_input(*this, x, "LSTMCell"), h = state_or_zeros(*this, x, state.first),
               c = state_or_zeros(*this, x, state.second);
  require_last(c, {weight_hh.shape()[1]}, "LSTMCell", "state c");
  return lstm_step(input, of_state(*this, h, "LSTMCell"), c);
}

GRUCell::GRUCell(int64_t in, int64_t hidden, bool bias, Loc where) {
  const OuterCall call("GRUCell", where);
  make_weights(*this, "GRUCell", 3, in, hidden, bias, where);
}

Tensor GRUCell::operator()(const Tensor& x, const Tensor& h, Loc where) const {
  const OuterCall call("GRUCell", where);
  const Tensor input = of_input(*this, x, "GRUCell"), state = state_or_zeros(*this, x, h);
  return gru_step(input, of_state(*this, state, "GRUCell"), state);
}

}  // namespace sinter::inline v0::nn
