// Trains a small transformer to sort: it reads eight digits and writes them in order, one after the other. Products are
// computed in a 16-bit float (--dtype), weights and the optimizer stay float32. One line every 100 steps.
#include <sinter/sinter.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace sn = sinter;

constexpr int64_t kDigits = 8, kLength = 2 * kDigits, kSymbols = 11, kSeparator = 10;

struct Sorter {
  sn::nn::Embedding symbols{kSymbols, 64};
  sn::Tensor positions = (sn::randn({kLength, 64}) * 0.1).requires_grad();
  sn::nn::TransformerEncoderLayer first{64, 4, options()}, second{64, 4, options()};
  sn::nn::LayerNorm norm{64};
  sn::nn::Linear out{64, kSymbols};
  SINTER_MODULE(symbols, positions, first, second, norm, out)

  static sn::nn::TransformerOptions options() {
    return {.dim_feedforward = 128, .dropout = 0, .gelu = true, .norm_first = true};
  }
  /// Symbols [n, kLength] to scores of the next one [n, kLength, kSymbols].
  sn::Tensor operator()(const sn::Tensor& x) const {
    const sn::AttentionOptions past{.is_causal = true};
    return out(norm(second(first(symbols(x) + positions, past), past)));
  }
};

/// Sequences of digits, a separator, and the digits in order: what is read, and what follows each symbol of the answer.
struct Batch {
  sn::Tensor read, answer;  ///< int64 [n, kLength] and [n, kDigits]
};
Batch make_batch(int64_t n, std::mt19937& random) {
  std::vector<int64_t> read, answer;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> digits(kDigits);
    for (int64_t& d : digits) d = static_cast<int64_t>(random() % 10);
    read.insert(read.end(), digits.begin(), digits.end());
    std::sort(digits.begin(), digits.end());
    read.push_back(kSeparator);
    read.insert(read.end(), digits.begin(), digits.end() - 1);
    answer.insert(answer.end(), digits.begin(), digits.end());
  }
  return {sn::from(read, {n, kLength}), sn::from(answer, {n, kDigits})};
}

/// The scores of the answer's symbols: [n, kDigits, kSymbols].
sn::Tensor answers(const Sorter& model, const sn::Tensor& read) {
  return model(read).slice(1, {kLength - kDigits, kLength});
}

int main(int argc, char** argv) {
  std::string dtype = "bfloat16";
  int steps = 500;
  CLI::App app("Trains a small transformer to sort digits.");
  app.add_option("--dtype", dtype, "of products")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}))
      ->capture_default_str();
  app.add_option("--steps", steps, "of training")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  sn::manual_seed(1);
  std::mt19937 random(1);
  Sorter model;
  sn::optim::AdamW optimizer(sn::nn::parameters(model), {.lr = 2e-3});
  sn::optim::GradScaler scaler({.enabled = dtype == "float16"});
  const auto start = std::chrono::steady_clock::now();
  for (int step = 1; step <= steps; ++step) {
    const Batch batch = make_batch(64, random);
    sn::Tensor scores, loss;
    {
      const sn::autocast scope(sn::dtype_named(dtype));
      scores = answers(model, batch.read);
      loss = cross_entropy(scores.reshape({-1, kSymbols}), batch.answer.flatten());
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    if (step % 100 && step != steps) continue;
    sn::no_grad guard;
    const Batch test = make_batch(256, random);
    const double right = (answers(model, test.read).argmax(2) == test.answer).to(sn::float32).mean().item();
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("step %d  loss %.4f  right digits %.1f %%  %.1f s\n", step, loss.item(), 100 * right, s);
    std::fflush(stdout);
  }
}
