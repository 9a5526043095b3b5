// Normalisation, attention and recurrent cells: gradients against differences, and layers as modules.
#include "unit/differences.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

std::vector<std::string> names(const nn::NamedTensors& list) {
  std::vector<std::string> out;
  for (const auto& [name, t] : list) out.push_back(name);
  return out;
}

double largest(const Tensor& t) { return numbers(abs(t).max())[0]; }

/// A cell whose tensors are these.
template <class Cell>
Cell with(Cell cell, const Tensors& x, size_t first) {
  cell.weight_ih = x[first];
  cell.weight_hh = x[first + 1];
  cell.bias_ih = x[first + 2];
  cell.bias_hh = x[first + 3];
  return cell;
}
std::vector<Shape> shapes_of_cell(int64_t gates, size_t states) {
  std::vector<Shape> shapes{{2, 2}};
  for (size_t i = 0; i < states; ++i) shapes.push_back({2, 3});
  for (const Shape& s : {Shape{gates * 3, 2}, Shape{gates * 3, 3}, Shape{gates * 3}, Shape{gates * 3}})
    shapes.push_back(s);
  return shapes;
}

}  // namespace

TEST_CASE("gradients of normalisation and attention agree with differences, to the second order", "[nn][gradient]") {
  const std::vector<Differences> cases{
      {"rms_norm", [](const Tensors& x) { return rms_norm(x[0], {3}, x[1], 1e-3); }, {{2, 3}, {3}}},
      {"group_norm", [](const Tensors& x) { return group_norm(x[0], 2, x[1], x[2]); }, {{1, 4, 3}, {4}, {4}}},
      {"batch_norm in training",
       [](const Tensors& x) { return batch_norm(x[0], {}, {}, x[1], x[2]); },
       {{2, 2, 2, 1}, {2}, {2}}},
      {"batch_norm",
       [](const Tensors& x) { return batch_norm(x[0], x[1], x[2] * x[2] + 0.5, x[3]); },
       {{2, 2, 2}, {2}, {2}, {2}}},
      {"attention",
       [](const Tensors& x) { return scaled_dot_product_attention(x[0], x[1], x[2]); },
       {{3, 2}, {4, 2}, {4, 2}}},
      {"causal attention with a mask",
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.attn_mask = x[3], .is_causal = true});
       },
       {{2, 3, 2}, {2, 3, 2}, {2, 3, 1}, {3, 3}}},
      {"rotary embedding", [](const Tensors& x) { return rotary_embedding(x[0] * x[0], {.offset = 2}); }, {{3, 4}}},
  };
  for (const Differences& c : cases) check_differences(c);
}

TEST_CASE("gradients of recurrent cells agree with differences", "[nn][gradient]") {
  const nn::RNNCell rnn(2, 3);
  const nn::LSTMCell lstm(2, 3);
  const nn::GRUCell gru(2, 3);
  auto check = [](const FunctionOf& f, const std::vector<Shape>& shapes) {
    std::vector<std::vector<double>> values;
    for (size_t k = 0; k < shapes.size(); ++k) values.push_back(spread(shapes[k].numel(), static_cast<int>(k)));
    compare_slopes([&](const Tensors& x) { return weighted_sum(f(x)); }, values, shapes, 1e-6);
  };
  check([&](const Tensors& x) { return with(rnn, x, 2)(x[0], x[1]); }, shapes_of_cell(1, 1));
  check([&](const Tensors& x) { return with(gru, x, 2)(x[0], x[1]); }, shapes_of_cell(3, 1));
  check(
      [&](const Tensors& x) {
        const auto [h, c] = with(lstm, x, 3)(x[0], {x[1], x[2]});
        return cat({h, c}, 1);
      },
      shapes_of_cell(4, 2));
}

TEST_CASE("attention: a causal query sees what came before it, a query without keys gives NaN", "[nn]") {
  const Tensor q = zeros({3, 2}), k = zeros({3, 2}), v = from({{1.0}, {2.0}, {6.0}});
  CHECK(close(numbers(scaled_dot_product_attention(q, k, v)), list({3, 3, 3})));
  CHECK(close(numbers(scaled_dot_product_attention(q, k, v, {.is_causal = true})), list({1, 1.5, 3})));
  const Tensor mask = from({{true, false, false}, {false, true, true}, {false, false, false}});
  const std::vector<double> y = numbers(scaled_dot_product_attention(q, k, v, {.attn_mask = mask}));
  CHECK(close({y[0], y[1]}, list({1, 4})));
  CHECK(std::isnan(y[2]));
  // Dropped weights leave the mean where it is.
  manual_seed(5);
  const Tensor dropped =
      scaled_dot_product_attention(zeros({200, 1}), zeros({200, 1}), ones({200, 1}), {.dropout_p = 0.5});
  CHECK(numbers(dropped.mean())[0] == Approx(1).margin(0.02));
  CHECK(numbers(dropped.var())[0] > 0);
}

TEST_CASE("layers name their tensors as PyTorch does", "[nn]") {
  using Names = std::vector<std::string>;
  CHECK(names(nn::state_dict(nn::Conv2d(3, 4, 5))) == Names{"weight", "bias"});
  CHECK(names(nn::state_dict(nn::Conv1d(3, 4, 5, {.bias = false}))) == Names{"weight"});
  CHECK(nn::Conv2d(4, 6, {3, 5}, {.groups = 2}).weight.shape() == Shape{6, 2, 3, 5});
  CHECK(names(nn::state_dict(nn::GRUCell(2, 3))) == Names{"weight_ih", "weight_hh", "bias_ih", "bias_hh"});
  CHECK(nn::LSTMCell(2, 3).weight_ih.shape() == Shape{12, 2});
  const nn::BatchNorm2d norm(3);
  CHECK(names(nn::state_dict(norm)) == Names{"weight", "bias", "running_mean", "running_var"});
  CHECK(names(nn::named_parameters(norm)) == Names{"weight", "bias"});
  CHECK(names(nn::state_dict(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 16}))) ==
        Names{"self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight",
              "self_attn.out_proj.bias", "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
              "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"});
}

TEST_CASE("layers begin within PyTorch's bounds, and anew from a seed", "[nn]") {
  manual_seed(1);
  const nn::Conv2d conv(4, 32, 3, {.groups = 2});
  const double bound = 1 / std::sqrt(2.0 * 9.0);
  CHECK(largest(conv.weight) <= bound);
  CHECK(largest(conv.weight) > 0.9 * bound);
  CHECK(largest(conv.bias) <= bound);
  const nn::LSTMCell cell(3, 16);
  for (const Tensor& t : nn::parameters(cell)) CHECK(largest(t) <= 0.25);
  CHECK(largest(cell.weight_hh) > 0.24);
  const nn::MultiheadAttention heads(16, 4);
  CHECK(largest(heads.in_proj_weight) <= std::sqrt(6.0 / 64.0));
  CHECK(largest(heads.in_proj_bias) == 0);
  CHECK(largest(heads.out_proj.bias) == 0);
  const nn::MultiheadAttention across(8, 2, {.kdim = 5});
  std::vector<std::pair<std::string, Shape>> tensors;
  for (const auto& [name, t] : nn::state_dict(across)) tensors.emplace_back(name, t.shape());
  CHECK(tensors == std::vector<std::pair<std::string, Shape>>{{"q_proj_weight", {8, 8}},
                                                              {"k_proj_weight", {8, 5}},
                                                              {"v_proj_weight", {8, 8}},
                                                              {"in_proj_bias", {24}},
                                                              {"out_proj.weight", {8, 8}},
                                                              {"out_proj.bias", {8}}});
  CHECK(largest(across.k_proj_weight) <= std::sqrt(6.0 / 13.0));
  manual_seed(1);
  CHECK(numbers(nn::Conv2d(4, 32, 3, {.groups = 2}).weight) == numbers(conv.weight));
}

TEST_CASE("BatchNorm2d: statistics move in training only, and a clone has its own", "[nn]") {
  nn::BatchNorm2d norm(1, {.momentum = 0.5});
  const Tensor x = from({{{{1.0, 3.0}}}});  // mean 2, variance 1, without bias 2
  nn::BatchNorm2d other = nn::clone(norm);
  CHECK(close(numbers(norm(x)), list({-1, 1}), 1e-4));
  CHECK(norm.running_mean.to_vector<float>() == std::vector<float>{1});
  CHECK(norm.running_var.to_vector<float>() == std::vector<float>{1.5});
  CHECK(other.running_mean.to_vector<float>() == std::vector<float>{0});
  nn::eval(norm);
  CHECK(close(numbers(norm(x)), list({0, 2 / std::sqrt(1.5)}), 1e-4));
  CHECK(norm.running_mean.to_vector<float>() == std::vector<float>{1});
  nn::train(norm);
  CHECK_THROWS_AS(norm(ones({1, 1, 1, 1})), UsageError);
}

TEST_CASE("without momentum, running statistics are the means of all batches", "[nn]") {
  const auto batch = [](int i) { return from(spread(12, i), {3, 2, 2}).to(float32).contiguous().realize(); };
  const auto check_means = [&](auto& norm, auto& one, int batches) {
    std::vector<double> mean(2, 0.0), variance(2, 0.0);
    for (int i = 0; i < batches; ++i) {
      one(batch(i));  // its momentum is 1: the statistics are those of the batch
      for (size_t c = 0; c < 2; ++c) {
        mean[c] += numbers(one.running_mean)[c] / batches;
        variance[c] += numbers(one.running_var)[c] / batches;
      }
    }
    CHECK(close(numbers(norm.running_mean), mean, 1e-5));
    CHECK(close(numbers(norm.running_var), variance, 1e-5));
    CHECK(norm.num_batches_tracked.template item<int64_t>() == batches);
  };
  nn::BatchNorm1d norm(2, {.momentum = std::nullopt}), one(2, {.momentum = 1.0});
  nn::InstanceNorm1d each(2, {.momentum = std::nullopt, .track_running_stats = true}),
      one_each(2, {.momentum = 1.0, .track_running_stats = true});
  for (int i = 0; i < 3; ++i) norm(batch(i)), each(batch(i));
  check_means(norm, one, 3);
  check_means(each, one_each, 3);
  nn::eval(norm);
  norm(batch(3));
  CHECK(norm.num_batches_tracked.item<int64_t>() == 3);
  CHECK(nn::state_dict(norm).back().first == "num_batches_tracked");
  CHECK_FALSE(nn::BatchNorm1d(2).num_batches_tracked.defined());
  CHECK_FALSE(
      nn::BatchNorm1d(2, {.momentum = std::nullopt, .track_running_stats = false}).num_batches_tracked.defined());

  SECTION("in a jitted step, which is one program") {
    nn::BatchNorm1d jitted(2, {.momentum = std::nullopt});
    int runs = 0;
    auto f = jit([&](const Tensor& x) { return ++runs, jitted(x).detach(); });
    const no_grad guard;
    for (int i = 0; i < 6; ++i) f(batch(i));
    CHECK(runs == 2);
    check_means(jitted, one, 6);
  }
}

TEST_CASE("InstanceNorm does not train on one element of a channel, which has no variance", "[nn]") {
  nn::InstanceNorm1d norm(2, {.track_running_stats = true});
  CHECK_THROWS_WITH(norm(ones({3, 2, 1})), Contains("InstanceNorm1d") && Contains("of shape [3, 2, 1]: 1;") &&
                                               Contains("of a sample") && Contains("nn::eval"));
  CHECK_THROWS_WITH(norm(ones({2, 0})), Contains("of shape [1, 2, 0]: 0;"));
  CHECK_THROWS_WITH(nn::InstanceNorm2d(2)(ones({3, 2, 1, 1})), Contains("of shape [3, 2, 1, 1]: 1;"));
  norm(ones({0, 2, 4}));  // a batch of no samples leaves the statistics alone
  CHECK(numbers(norm.running_mean) == std::vector<double>{0, 0});
  CHECK(numbers(norm.running_var) == std::vector<double>{1, 1});
  norm(from({{{1.0, 3.0}, {2.0, 6.0}}}).to(float32));
  CHECK(close(numbers(norm.running_var), {0.9 + 0.1 * 2, 0.9 + 0.1 * 8}, 1e-6));
  nn::eval(norm);
  CHECK(norm(ones({3, 2, 1})).shape() == Shape{3, 2, 1});
}

TEST_CASE("BatchNorm2d: running statistics of 16-bit inputs are those of float32", "[nn]") {
  nn::BatchNorm2d bn(1), wide(1);
  const Tensor x = (arange(64).to(float32).reshape({64, 1, 1, 1}) * 32.0)
                       .to(float16);  // of a variance above float16's largest number
  bn(x);
  wide(x.to(float32));
  CHECK(bn.running_var.item() > 30000);
  CHECK(bn.running_var.item() == wide.running_var.item());
  CHECK(bn.running_mean.item() == wide.running_mean.item());
}

TEST_CASE("a training step moves running statistics in its own plan", "[nn]") {
  nn::BatchNorm2d norm(2);
  optim::SGD opt(nn::parameters(norm), {.lr = 0.1});
  const Tensor x = from(spread(16, 0), {2, 2, 2, 2}).to(float32);
  auto step = [&] {
    const Tensor loss = (norm(x) * x).sum();
    loss.backward();
    opt.step();
    return loss.item<float>();
  };
  step();  // stores the parameters first
  const float first = step();
  const std::vector<float> mean = norm.running_mean.to_vector<float>();
  const uint64_t before = debug::counters().partition_runs;
  CHECK(step() < first);
  CHECK(norm.running_mean.to_vector<float>() != mean);
  CHECK(debug::counters().partition_runs == before);
}
