// One step of a recurrent network. Names, initial values and the order of the gates are PyTorch's: every tensor is
// uniform in +-1/sqrt(hidden). The rows of the gates follow each other in weight_ih [gates * hidden, in], weight_hh
// [gates * hidden, hidden], bias_ih and bias_hh [gates * hidden]; without biases, these are empty handles. x: [n, in]
// or [in]; states: [n, hidden] or [hidden]; not given: zeros.
#pragma once

#include <utility>

#include "sinter/nn/module.h"

namespace sinter::inline v0::nn {

/// h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it.
struct RNNCell {
  /// The activation of the sum.
  enum class Activation : uint8_t { Tanh, ReLU };
  RNNCell(int64_t in, int64_t hidden, bool bias = true, Activation activation = Activation::Tanh,
          Loc where = Loc::current());
  Tensor operator()(const Tensor& x, const Tensor& h = {}, Loc where = Loc::current()) const;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  Activation activation;
  SINTER_MODULE(weight_ih, weight_hh, bias_ih, bias_hh)
};

/// Gates i, f, g, o: c' = sigmoid(f) c + sigmoid(i) tanh(g), h' = sigmoid(o) tanh(c').
struct LSTMCell {
  using State = std::pair<Tensor, Tensor>;  ///< h, c
  LSTMCell(int64_t in, int64_t hidden, bool bias = true, Loc where = Loc::current());
  State operator()(const Tensor& x, const State& state = {}, Loc where = Loc::current()) const;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  SINTER_MODULE(weight_ih, weight_hh, bias_ih, bias_hh)
};

/// Gates r, z, n: n = tanh(W_in x + b_in + sigmoid(r) (W_hn h + b_hn)), h' = (1 - sigmoid(z)) n + sigmoid(z) h.
struct GRUCell {
  GRUCell(int64_t in, int64_t hidden, bool bias = true, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, const Tensor& h = {}, Loc where = Loc::current()) const;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  SINTER_MODULE(weight_ih, weight_hh, bias_ih, bias_hh)
};

}  // namespace sinter::inline v0::nn
