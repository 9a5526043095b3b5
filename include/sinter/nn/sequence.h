// Recurrent networks over sequences. Names, initial values, options and results are PyTorch's: the weights of layer k
// are weight_ih_lk, weight_hh_lk, bias_ih_lk, bias_hh_lk and, with a projection, weight_hr_lk; those of the reverse
// direction end in _reverse. Every tensor is uniform in +-1/sqrt(hidden).
//
// x: [length, n, in], [n, length, in] with batch_first, or [length, in]. Output: the same with the last layer's states,
// of both directions side by side. States: [layers * directions, n, hidden], without n for [length, in]; not given:
// zeros. A step is two launches: the product with the last state, and the gates.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/nn/recurrent.h"

namespace sinter::inline v0::nn {

/// Sequences of several lengths, without padding: the elements of all sequences at time 0, then at time 1, ... The
/// sequences are sorted by length, the longest first.
struct PackedSequence {
  Tensor data;                       ///< [sum of lengths, ...]
  std::vector<int64_t> batch_sizes;  ///< how many sequences have an element at each time
  /// The places of the sorted sequences in the batch, and the inverse; empty: the batch was sorted.
  std::vector<int64_t> sorted_indices, unsorted_indices;
};
/// Options of pack_padded_sequence().
struct PackOptions {
  bool batch_first = false;    ///< x is [n, length, ...]
  bool enforce_sorted = true;  ///< refuses lengths that increase; otherwise sequences are sorted
};
/// A tensor of integers with one axis, read to the host. UsageError for another.
std::vector<int64_t> read_lengths(const Tensor& lengths, Loc where);
/// The sequences of x [length, n, ...], of these lengths. UsageError unless there are n lengths, from 1 to the length
/// of x.
PackedSequence pack_padded_sequence(const Tensor& x, const std::vector<int64_t>& lengths, PackOptions options = {},
                                    Loc where = Loc::current());
/// The same with the lengths as a tensor of integers with one axis, which is read.
template <std::same_as<Tensor> Lengths>
PackedSequence pack_padded_sequence(const Tensor& x, const Lengths& lengths, PackOptions options = {},
                                    Loc where = Loc::current()) {
  return pack_padded_sequence(x, read_lengths(lengths, where), options, where);
}
/// Options of pad_packed_sequence().
struct PadOptions {
  bool batch_first = false;            ///< the result is [n, length, ...]
  double padding_value = 0;            ///< of what no sequence has
  std::optional<int64_t> length = {};  ///< of the result; not given: that of the longest sequence
};
/// The inverse: [length, n, ...], padded, in the order of the batch, and the lengths.
std::pair<Tensor, std::vector<int64_t>> pad_packed_sequence(const PackedSequence& sequence, PadOptions options = {},
                                                            Loc where = Loc::current());

/// Options of pad_sequence().
struct PadSequenceOptions {
  bool batch_first = false;  ///< the result is [n, length, ...]
  double padding_value = 0;  ///< of what a sequence does not have
};
/// Sequences [length, ...] beside each other, padded at their ends to the longest: [length, n, ...]. UsageError unless
/// there is one and they differ in the first axis alone.
Tensor pad_sequence(const std::vector<Tensor>& sequences, PadSequenceOptions options = {}, Loc where = Loc::current());

/// Options of GRU.
struct GRUOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;  ///< of the outputs of each layer but the last, in training
  bool bidirectional = false;
};
/// Options of RNN: as GRUOptions.
struct RNNOptions {
  int64_t num_layers = 1;
  RNNCell::Activation nonlinearity = RNNCell::Activation::Tanh;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;  ///< of the outputs of each layer but the last, in training
  bool bidirectional = false;
};
/// Options of LSTM: as GRUOptions.
struct LSTMOptions {
  int64_t num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;  ///< of the outputs of each layer but the last, in training
  bool bidirectional = false;
  int64_t proj_size = 0;  ///< the size of h, by a product with weight_hr; 0: hidden, without a product
};

/// The weights of one layer in one direction. Biases and weight_hr may be empty handles.
struct RecurrentWeights {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;
};

/// What RNN, LSTM and GRU share.
struct RecurrentLayers {
  std::vector<RecurrentWeights> weights;  ///< of layer 0 forward, layer 0 reverse, layer 1 forward, ...
  LSTMOptions options;
  bool training = true;
  template <class F>
  void visit(F&& f) {
    visit_all(*this, f);
  }
  template <class F>
  void visit(F&& f) const {
    visit_all(*this, f);
  }

 protected:
  RecurrentLayers(std::string_view name, int64_t gates, int64_t in, int64_t hidden, LSTMOptions options, Loc where);
  /// One layer in one direction, a function of the time step's product [n, gates] with the input and of the state.
  struct Cell;
  /// What a network makes of a sequence.
  struct Result {
    Tensor output;               ///< as the input is laid out
    std::vector<Tensor> states;  ///< h and, for LSTM, c: [layers * directions, n, hidden]
  };
  /// All layers over x, from the states given or zeros.
  Result run(std::string_view name, const Cell& cell, const Tensor& x, std::vector<Tensor> states) const;
  /// The same over sequences of several lengths.
  std::pair<PackedSequence, std::vector<Tensor>> run(std::string_view name, const Cell& cell, const PackedSequence& x,
                                                     std::vector<Tensor> states) const;

 private:
  Result run_layers(const Cell& cell, Tensor x, const std::vector<Tensor>& states, const Tensor& present) const;
  std::vector<Tensor> initial(std::string_view name, const Cell& cell, std::vector<Tensor> states, const Tensor& x,
                              bool batched) const;
  template <class Self, class F>
  static void visit_all(Self& self, F& f) {
    const size_t directions = self.options.bidirectional ? 2 : 1;
    for (size_t i = 0; i < self.weights.size(); ++i) {
      auto& w = self.weights[i];
      const std::string end = "_l" + std::to_string(i / directions) + (i % directions ? "_reverse" : "");
      f(("weight_ih" + end).c_str(), w.weight_ih), f(("weight_hh" + end).c_str(), w.weight_hh);
      f(("bias_ih" + end).c_str(), w.bias_ih), f(("bias_hh" + end).c_str(), w.bias_hh);
      f(("weight_hr" + end).c_str(), w.weight_hr);
    }
  }
};

/// RNNCell over a sequence.
struct RNN : RecurrentLayers {
  /// UsageError unless sizes and num_layers are at least 1 and dropout is in [0, 1].
  RNN(int64_t in, int64_t hidden, RNNOptions options = {}, Loc where = Loc::current());
  /// Output and last state.
  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h = {}, Loc where = Loc::current()) const;
  /// The same of sequences of several lengths; states are in the order of the batch.
  std::pair<PackedSequence, Tensor> operator()(const PackedSequence& x, const Tensor& h = {},
                                               Loc where = Loc::current()) const;
  RNNCell::Activation nonlinearity;
};

/// GRUCell over a sequence.
struct GRU : RecurrentLayers {
  /// UsageError unless sizes and num_layers are at least 1 and dropout is in [0, 1].
  GRU(int64_t in, int64_t hidden, GRUOptions options = {}, Loc where = Loc::current());
  /// Output and last state.
  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h = {}, Loc where = Loc::current()) const;
  /// The same of sequences of several lengths; states are in the order of the batch.
  std::pair<PackedSequence, Tensor> operator()(const PackedSequence& x, const Tensor& h = {},
                                               Loc where = Loc::current()) const;
};

/// LSTMCell over a sequence.
/// @snippet training.cpp sequence
struct LSTM : RecurrentLayers {
  using State = LSTMCell::State;  ///< h, c
  /// UsageError unless sizes and num_layers are at least 1, dropout is in [0, 1] and proj_size is from 0 to hidden - 1.
  LSTM(int64_t in, int64_t hidden, LSTMOptions options = {}, Loc where = Loc::current());
  /// Output and last states.
  std::pair<Tensor, State> operator()(const Tensor& x, const State& state = {}, Loc where = Loc::current()) const;
  /// The same of sequences of several lengths; states are in the order of the batch.
  std::pair<PackedSequence, State> operator()(const PackedSequence& x, const State& state = {},
                                              Loc where = Loc::current()) const;
};

}  // namespace sinter::inline v0::nn
