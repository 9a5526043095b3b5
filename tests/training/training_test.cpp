// Whole trainings of small networks, from a seed to a stated loss: a recurrent net, a transformer, a convolutional net.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "catch.h"
#include "repository.h"
#include "sinter/data.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

float step(optim::Optimizer& opt, const Tensor& loss) {
  opt.zero_grad();
  loss.backward();
  opt.step();
  return loss.item<float>();
}

/// A mean that forgets: of about the last twenty losses.
struct Running {
  double mean = 0, weight = 0;
  void add(double x) { mean += 0.05 * (x - mean), weight += 0.05 * (1 - weight); }
  double value() const { return mean / weight; }
};

// -- the adding problem (Hochreiter and Schmidhuber, 1997): the sum of the two numbers in a sequence that are marked
struct Adder {
  nn::LSTMCell cell{2, 24};
  nn::Linear out{24, 1};
  SINTER_MODULE(cell, out)
  Tensor operator()(const Tensor& x) const {  // [length, n, 2] to [n, 1]
    const Dim n = x.shape()[1];
    nn::LSTMCell::State state{zeros({n, 24}), zeros({n, 24})};
    for (int64_t t = 0; t < x.shape()[0].value(); ++t) state = cell(x[t], state);
    return out(state.first);
  }
};

struct Sums {
  std::mt19937 random{1};
  std::pair<Tensor, Tensor> batch(int64_t n, int64_t length) {
    std::vector<float> x(static_cast<size_t>(n * length * 2), 0.0f), y;
    for (int64_t i = 0; i < n; ++i) {
      const auto half = static_cast<unsigned>(length / 2);
      const int64_t marks[] = {static_cast<int64_t>(random() % half), static_cast<int64_t>(half + random() % half)};
      float sum = 0;
      for (int64_t t = 0; t < length; ++t) {
        const auto at = static_cast<size_t>((t * n + i) * 2);
        x[at] = static_cast<float>(random() % 1000) / 1000;
        if (t != marks[0] && t != marks[1]) continue;
        x[at + 1] = 1;
        sum += x[at];
      }
      y.push_back(sum);
    }
    return {from(x, {length, n, 2}), from(y, {n, 1})};
  }
};

// -- characters of a text, each from those before it
struct Writer {
  explicit Writer(int64_t letters) : embed(letters, 32), out(32, letters) {}
  nn::Embedding embed;
  nn::RotaryEmbedding rotary;
  std::vector<nn::TransformerEncoderLayer> blocks{block(), block()};
  nn::LayerNorm norm{32};
  nn::Linear out;
  SINTER_MODULE(embed, blocks, norm, out)
  static nn::TransformerEncoderLayer block() {
    return {32, 4, {.dim_feedforward = 64, .dropout = 0, .gelu = true, .norm_first = true}};
  }
  Tensor operator()(const Tensor& letters) const {  // [n, length] to [n, length, letters]
    Tensor x = rotary(embed(letters));
    for (const auto& b : blocks) x = b(x, {.is_causal = true});
    return out(norm(x));
  }
};

struct Text {
  std::string text, letters;
  explicit Text(const std::string& file) {
    std::ifstream in(repository_path(file));
    std::stringstream all;
    all << in.rdbuf();
    text = all.str();
    const std::set<char> set(text.begin(), text.end());
    letters.assign(set.begin(), set.end());
  }
  /// [n, length + 1]
  Tensor batch(int64_t n, int64_t length, std::mt19937& random) const {
    std::vector<int32_t> out;
    for (int64_t i = 0; i < n; ++i) {
      const size_t begin = random() % (text.size() - static_cast<size_t>(length));
      for (size_t t = begin; t <= begin + static_cast<size_t>(length); ++t)
        out.push_back(static_cast<int32_t>(letters.find(text[t])));
    }
    return from(out, {n, length + 1});
  }
};

// -- digits
struct Digits {
  nn::Conv2d c1{1, 8, 5}, c2{8, 8, 5}, c3{8, 16, 3}, c4{16, 16, 3};
  nn::BatchNorm2d norm{16};
  nn::Linear out{144, 10};
  SINTER_MODULE(c1, c2, c3, c4, norm, out)
  Tensor operator()(const Tensor& x) const {
    Tensor h = x.reshape({-1, 1, 28, 28});
    h = max_pool2d(relu(c2(relu(c1(h)))), 2);
    h = max_pool2d(relu(norm(c4(relu(c3(h))))), 2);
    return out(h.flatten(1));
  }
};

}  // namespace

TEST_CASE("an LSTM learns to add two marked numbers of a sequence", "[training]") {
  manual_seed(1);
  Adder model;
  optim::Adam opt(nn::parameters(model), {.lr = 1e-2});
  Sums sums;
  Running loss;
  for (int i = 0; i < 400; ++i) {
    const auto [x, y] = sums.batch(32, 10);
    loss.add(step(opt, mse_loss(model(x), y)));
    if (std::getenv("SHOW_TRAINING") && i % 20 == 0) std::printf("adding: step %d loss %.4f\n", i, loss.value());
  }
  // Always the mean: 1/6.
  CHECK(loss.value() < 0.01);
}

TEST_CASE("a transformer of two blocks learns a text by letters", "[training]") {
  manual_seed(2);
  const Text text("tests/training/alice.txt");
  const auto letters = static_cast<int64_t>(text.letters.size());
  Writer model(letters);
  optim::AdamW opt(nn::parameters(model), {.lr = 3e-3});
  std::mt19937 random(3);
  Running loss;
  for (int i = 0; i < 400; ++i) {
    const Tensor batch = text.batch(8, 32, random);
    const Tensor logits = model(batch.slice(1, {0, 32}));
    loss.add(step(opt, cross_entropy(logits.reshape({8 * 32, letters}), batch.slice(1, {1, 33}).reshape({8 * 32}))));
    if (std::getenv("SHOW_TRAINING") && i % 20 == 0) std::printf("letters: step %d loss %.4f\n", i, loss.value());
  }
  // By the letters' frequencies alone: 3.
  CHECK(loss.value() < 1.8);
}

TEST_CASE("a convolutional net learns digits", "[training]") {
  manual_seed(3);
  Digits model;
  optim::Adam opt(nn::parameters(model), {.lr = 3e-3});
  data::Mnist mnist = data::mnist(repository_path("src/nn/data/mnist"));
  mnist.train.seed(3);
  Running loss;
  int steps = 0;
  for (auto [x, y] : mnist.train.batches(32, shuffle)) {
    loss.add(step(opt, cross_entropy(model(x), y)));
    if (std::getenv("SHOW_TRAINING") && steps % 10 == 0)
      std::printf("digits: step %d loss %.4f\n", steps, loss.value());
    if (++steps == 100) break;
  }
  CHECK(loss.value() < 0.4);
  nn::eval(model);
  no_grad guard;
  for (auto [x, y] : mnist.test.batches(500)) {
    CHECK((model(x).argmax(1) == y).sum().item<int64_t>() > 450);
    break;
  }
}
