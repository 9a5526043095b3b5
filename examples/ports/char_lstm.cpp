// A language model of single characters: an LSTM reads a text and says what comes next, then writes one of its own
// (Karpathy's "char-rnn"; PyTorch's example "word_language_model"). The state goes from one window of the text to the
// next, its history does not.
#include <algorithm>
#include <cstdint>
#include <string>

#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kBatch = 4, kWindow = 8, kHidden = 48;

const std::string kText =
    "This is the house that Jack built. This is the malt that lay in the house that Jack built. "
    "This is the rat that ate the malt that lay in the house that Jack built. "
    "This is the cat that killed the rat that ate the malt that lay in the house that Jack built. "
    "This is the dog that worried the cat that killed the rat that ate the malt that lay in the house that Jack built. "
    "This is the cow with the crumpled horn that tossed the dog that worried the cat that killed the rat that ate the "
    "malt that lay in the house that Jack built. ";

struct LanguageModel {
  explicit LanguageModel(int64_t symbols) : embedding(symbols, 16), decoder(kHidden, symbols) {}
  nn::Embedding embedding;
  nn::LSTM lstm{16, kHidden, {.batch_first = true}};
  nn::Linear decoder;
  SINTER_MODULE(embedding, lstm, decoder)

  /// Symbols [n, length] and the state to the scores of the next ones [n, length, symbols], and the new state.
  std::pair<sn::Tensor, nn::LSTM::State> operator()(const sn::Tensor& x, const nn::LSTM::State& state) const {
    auto [y, next] = lstm(embedding(x), state);
    return {decoder(y), next};
  }
};

/// The text as numbers, and back.
struct Text {
  explicit Text(const std::string& text) : symbols(text) {
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    for (const char c : text) codes.push_back(static_cast<int64_t>(symbols.find(c)));
  }
  std::string symbols;  ///< each character once, in order
  std::vector<int64_t> codes;
};

std::string write(const LanguageModel& model, const Text& text, int length, double temperature) {
  sn::no_grad guard;
  nn::LSTM::State state;
  std::string written = "T";
  for (int i = 0; i < length; ++i) {
    const int64_t last = static_cast<int64_t>(text.symbols.find(written.back()));
    auto [scores, next] = model(sn::full({1, 1}, last), state);
    state = next;
    written += text.symbols[sn::categorical(scores.flatten() / temperature).item<int64_t>()];
  }
  return written;
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  const Text text(kText);
  const auto length = static_cast<int64_t>(text.codes.size()) / kBatch;  // each row of a batch reads its own part
  const sn::Tensor codes = sn::from(text.codes).slice(0, {0, kBatch * length}).reshape({kBatch, length});

  LanguageModel model(static_cast<int64_t>(text.symbols.size()));
  sn::optim::Adam optimizer(nn::parameters(model), {.lr = 1e-2});
  nn::LSTM::State state;
  int64_t at = 0;
  for (int step = 1; step <= run.steps(8, 400); ++step, at += kWindow) {
    if (at + kWindow >= length) at = 0, state = {};
    const sn::Tensor x = codes.slice(1, {at, at + kWindow}), y = codes.slice(1, {at + 1, at + kWindow + 1});
    const auto [scores, next] = model(x, state);
    state = {next.first.detach(), next.second.detach()};
    const sn::Tensor loss = cross_entropy(scores.flatten(0, 1), y.flatten());
    optimizer.zero_grad();
    loss.backward();
    nn::clip_grad_norm_(nn::parameters(model), 1.0);
    optimizer.step();
    run.log(step, 50, {{"loss", loss}});
  }
  if (!run.checking()) std::printf("%s\n", write(model, text, 200, 0.5).c_str());
  return run.finish();
}
