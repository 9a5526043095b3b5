// A language model of 64 steps, written in two ways: over the layer, and as a loop over its cell.
#pragma once

#include <sinter/sinter.h>

#include <vector>

namespace bench {

struct LstmSizes {
  static constexpr int64_t kTokens = 256, kPositions = 64, kSize = 256;
};

struct LstmLayerModel : LstmSizes {
  /// [n, positions] to [n, positions, tokens].
  sinter::Tensor operator()(const sinter::Tensor& tokens) const { return out(lstm(token(tokens)).first); }
  sinter::nn::Embedding token{kTokens, kSize};
  sinter::nn::LSTM lstm{kSize, kSize, {.batch_first = true}};
  sinter::nn::Linear out{kSize, kTokens};
  SINTER_MODULE(token, lstm, out)
};

struct LstmModel : LstmSizes {
  /// [n, positions] to [n, positions, tokens].
  sinter::Tensor operator()(const sinter::Tensor& tokens) const {
    const sinter::Tensor x = token(tokens), zero = sinter::zeros({tokens.size(0), kSize});
    sinter::nn::LSTMCell::State state{zero, zero};
    std::vector<sinter::Tensor> hidden;
    for (int64_t t = 0; t < tokens.size(1); ++t) {
      state = cell(x.index({sinter::Slice{}, t}), state);
      hidden.push_back(state.first);
    }
    return out(sinter::stack(hidden, 1));
  }
  sinter::nn::Embedding token{kTokens, kSize};
  sinter::nn::LSTMCell cell{kSize, kSize};
  sinter::nn::Linear out{kSize, kTokens};
  SINTER_MODULE(token, cell, out)
};

}  // namespace bench
