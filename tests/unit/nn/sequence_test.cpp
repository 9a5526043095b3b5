// Recurrent networks against what PyTorch recorded (tests/reference/record_training.py).
#include "sinter/nn/sequence.h"

#include "unit/recording.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

Tensor joined(const Tensor& output, const Tensor& state) { return cat({output.flatten(), state.flatten()}); }
Tensor joined(const Tensor& output, const nn::LSTM::State& state) {
  return cat({output.flatten(), state.first.flatten(), state.second.flatten()});
}

template <class Net>
Function whole(Net net) {
  return [=](const Named& in) {
    const Net here = loaded(net, in);
    if constexpr (std::is_same_v<Net, nn::LSTM>) {
      const auto [y, state] = here(in.at("x"), {optional(in, "h"), optional(in, "c")});
      return joined(y, state);
    } else {
      const auto [y, h] = here(in.at("x"), optional(in, "h"));
      return joined(y, h);
    }
  };
}

}  // namespace

TEST_CASE("recurrent networks give PyTorch's values and gradients", "[reference]") {
  const Recording recording("sequence.safetensors");
  const nn::LSTM packed(3, 4, {.num_layers = 2, .bidirectional = true});
  const nn::GRU packed_gru(3, 4);
  const Case cases[] = {
      {"RNN", whole(nn::RNN(3, 4, {.num_layers = 2}))},
      {"RNN relu",
       whole(nn::RNN(3, 4, {.nonlinearity = nn::RNNCell::Activation::ReLU, .bias = false, .batch_first = true}))},
      {"LSTM", whole(nn::LSTM(3, 4, {.num_layers = 2, .bidirectional = true}))},
      {"LSTM projected", whole(nn::LSTM(3, 4, {.num_layers = 2, .bidirectional = true, .proj_size = 2}))},
      {"LSTM unbatched", whole(nn::LSTM(3, 4))},
      {"GRU", whole(nn::GRU(3, 4, {.num_layers = 2, .batch_first = true, .bidirectional = true}))},
      {"LSTM packed",
       [&](const Named& in) {
         const auto [y, state] = loaded(packed, in)(
             nn::pack_padded_sequence(in.at("x"), {3, 5, 1}, {.enforce_sorted = false}), {in.at("h"), in.at("c")});
         return joined(nn::pad_packed_sequence(y, {.padding_value = 0.5}).first, state);
       }},
      {"GRU packed",
       [&](const Named& in) {
         const auto [y, h] = loaded(packed_gru, in)(nn::pack_padded_sequence(in.at("x"), {4, 4, 2}));
         return joined(nn::pad_packed_sequence(y, {.padding_value = 0.5, .length = 6}).first, h);
       }},
      {"pack",
       [](const Named& in) { return nn::pack_padded_sequence(in.at("x"), {2, 4, 1}, {.enforce_sorted = false}).data; }},
  };
  for (const Case& c : cases) recording.check(c);
}

TEST_CASE("recurrent networks of whole vectors fuse to the bit", "[nn]") {
  manual_seed(3);
  const nn::LSTM both(16, 32, {.bidirectional = true}), packed(16, 8, {.num_layers = 2});
  const Tensor x = randn({6, 4, 16}).realize(), lengths = randn({12, 4, 16}).realize();
  const auto values = [&] {
    std::vector<float> all;
    const auto [y, state] = both(x);
    const Tensor last = packed(nn::pack_padded_sequence(lengths, {12, 10, 7, 4})).second.first;
    nn::zero_grad(packed);
    last.sum().backward();
    for (const Tensor& t : {y, state.second, last, nn::parameters(packed)[0].grad(), nn::parameters(packed)[1].grad()})
      for (float v : t.to_vector<float>()) all.push_back(v);
    return all;
  };
  const std::vector<float> compiled = values();
  debug::set_executor(debug::Executor::Unfused);
  const bool same = values() == compiled;
  debug::set_executor(debug::Executor::Compiled);
  CHECK(same);
}

TEST_CASE("packed sequences keep lengths and order", "[nn]") {
  const Tensor x = arange(24).reshape({3, 4, 2});
  const auto packed = nn::pack_padded_sequence(x, {1, 4, 2}, {.batch_first = true, .enforce_sorted = false});
  CHECK(packed.batch_sizes == std::vector<int64_t>{3, 2, 1, 1});
  CHECK(packed.sorted_indices == std::vector<int64_t>{1, 2, 0});
  CHECK(packed.unsorted_indices == std::vector<int64_t>{2, 0, 1});
  const auto [y, lengths] = nn::pad_packed_sequence(packed, {.batch_first = true, .padding_value = -1});
  CHECK(lengths == std::vector<int64_t>{1, 4, 2});
  CHECK(numbers(y[1]) == numbers(x[1]));
  CHECK(numbers(y[0]) == std::vector<double>{0, 1, -1, -1, -1, -1, -1, -1});
  const auto again = nn::pack_padded_sequence(x, from({1, 4, 2}), {.batch_first = true, .enforce_sorted = false});
  CHECK(again.batch_sizes == packed.batch_sizes);
  CHECK(numbers(again.data) == numbers(packed.data));
  CHECK_THROWS_WITH(nn::pack_padded_sequence(x, from({1.0, 4.0})), Contains("float32 [2]") && Contains("integers"));
  CHECK_THROWS_WITH(nn::pack_padded_sequence(x, from({{1, 4}, {2, 2}})), Contains("int64 [2, 2]"));
  CHECK_THROWS_WITH(nn::pack_padded_sequence(x, {1, 2, 3, 3}), Contains("increase"));
  CHECK_THROWS_WITH(nn::pack_padded_sequence(x, {3, 2}), Contains("4 sequences have 2 lengths"));
  CHECK_THROWS_WITH(nn::pack_padded_sequence(x, {9, 2, 1, 0}), Contains("length 9"));
  CHECK_THROWS_WITH(nn::pad_packed_sequence(packed, {.length = 2}), Contains("length 2") && Contains("4"));
  CHECK_THROWS_WITH(nn::pad_packed_sequence({x, {1}, {}, {}}), Contains("add up to 1"));
}

TEST_CASE("sequences are padded beside each other", "[nn]") {
  const std::vector<Tensor> parts = {from({1.0, 2.0}), from({3.0, 4.0, 5.0}), from({6.0})};
  const Tensor rows = nn::pad_sequence(parts, {.batch_first = true, .padding_value = -1});
  CHECK(rows.shape() == Shape{3, 3});
  CHECK(numbers(rows) == std::vector<double>{1, 2, -1, 3, 4, 5, 6, -1, -1});
  CHECK(numbers(nn::pad_sequence(parts)) == std::vector<double>{1, 3, 6, 2, 4, 0, 0, 5, 0});
  CHECK(nn::pad_sequence({ones({2, 5}), ones({4, 5})}).shape() == Shape{4, 2, 5});
  CHECK_THROWS_WITH(nn::pad_sequence({}), Contains("0 sequences"));
  CHECK_THROWS_WITH(nn::pad_sequence({ones({})}), Contains("[length, ...]"));
  CHECK_THROWS_WITH(nn::pad_sequence({ones({2, 5}), ones({4, 3})}), Contains("pad_sequence") && Contains("[4, 3]"));
}

TEST_CASE("cells begin with a state of zeros", "[nn]") {
  const Tensor x = randn({2, 3});
  const nn::RNNCell rnn(3, 4);
  CHECK(numbers(rnn(x)) == numbers(rnn(x, zeros({2, 4}))));
  const nn::GRUCell gru(3, 4);
  CHECK(numbers(gru(x[0])) == numbers(gru(x[0], zeros({4}))));
  const nn::LSTMCell lstm(3, 4);
  const auto [h, c] = lstm(x);
  const auto [h0, c0] = lstm(x, {zeros({2, 4}), zeros({2, 4})});
  CHECK(numbers(h) == numbers(h0));
  CHECK(numbers(c) == numbers(c0));
  CHECK_THROWS_WITH(lstm(x, {zeros({2, 4}), Tensor()}), Contains("one is an empty handle"));
}

TEST_CASE("recurrent networks have PyTorch's names, and refuse other shapes", "[nn]") {
  const nn::LSTM lstm(3, 4, {.num_layers = 2, .bidirectional = true, .proj_size = 2});
  std::vector<std::string> names;
  for (const auto& [name, t] : nn::named_parameters(lstm)) names.push_back(name);
  CHECK(names.size() == 20);
  CHECK(names[0] == "weight_ih_l0");
  CHECK(names[4] == "weight_hr_l0");
  CHECK(names[5] == "weight_ih_l0_reverse");
  CHECK(names[19] == "weight_hr_l1_reverse");
  CHECK(lstm.weights[2].weight_ih.shape() == Shape{16, 4});
  const nn::GRU gru(3, 4), copy = nn::clone(gru);
  CHECK(copy.weights[0].weight_ih.cell() != gru.weights[0].weight_ih.cell());
  CHECK_THROWS_WITH(gru(ones({5, 2, 4})), Contains("GRU") && Contains("[5, 2, 4]"));
  CHECK_THROWS_WITH(gru(ones({5, 2, 3}), ones({1, 3, 4})), Contains("[1, 3, 4]") && Contains("[1, 2, 4]"));
  CHECK_THROWS_WITH(gru(ones({0, 2, 3})), Contains("length 0"));
  CHECK_THROWS_WITH(nn::LSTM(3, 4, {.proj_size = 4}), Contains("proj_size is 4"));
  CHECK_THROWS_WITH(nn::RNN(3, 4, {.dropout = 2}), Contains("dropout is 2"));
  CHECK_THROWS_WITH(nn::RNN(3, 0), Contains("hidden is 0"));

  nn::GRU deep(3, 4, {.num_layers = 2, .dropout = 1});
  nn::eval(deep);
  const Tensor x = randn({2, 1, 3});
  const Tensor kept = deep(x).first;
  nn::train(deep);
  CHECK_FALSE(numbers(deep(x).first) == numbers(kept));
}
