// One step of a recurrent layer, from its products with input and state. Formulas and the order of gates are PyTorch's.
#pragma once

#include "sinter/nn/recurrent.h"

namespace sinter::inline v0::nn {

Tensor rnn_step(RNNCell::Activation activation, const Tensor& input, const Tensor& state);
/// Gates: reset, update, new.
Tensor gru_step(const Tensor& input, const Tensor& state, const Tensor& h);
/// Gates: input, forget, cell, output. The next h and c.
LSTMCell::State lstm_step(const Tensor& input, const Tensor& state, const Tensor& c);

}  // namespace sinter::inline v0::nn
