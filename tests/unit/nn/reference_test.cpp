// Values and gradients of network functions and layers against what PyTorch recorded (tests/reference/record.py), as
// generated kernels and by the interpreter. Parameters go into the layers by PyTorch's names.
#include "unit/recording.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

Function conv(Tensor (*f)(Arg, const Tensor&, const Tensor&, const ConvOptions&), ConvOptions options) {
  return [=](const Named& in) { return f(in.at("x"), in.at("weight"), optional(in, "bias"), options); };
}
Function max_pool(PerAxis kernel, MaxPoolOptions options) {
  return [=](const Named& in) { return max_pool2d(in.at("x"), kernel, options); };
}
Function avg_pool(PerAxis kernel, AvgPoolOptions options) {
  return [=](const Named& in) { return avg_pool2d(in.at("x"), kernel, options); };
}
Function attention(AttentionOptions options) {
  return [=](const Named& in) {
    AttentionOptions o = options;
    o.attn_mask = optional(in, "mask");
    return scaled_dot_product_attention(in.at("q"), in.at("k"), in.at("v"), o);
  };
}
template <class M>
Function self_attention(M module, AttentionOptions options = {}) {
  return [=](const Named& in) { return loaded(module, in)(in.at("x"), options); };
}
template <class Cell>
Function cell(Cell module) {
  return [=](const Named& in) { return loaded(module, in)(in.at("x"), in.at("h")); };
}
Function lstm(nn::LSTMCell module) {
  return [=](const Named& in) {
    const auto [h, c] = loaded(module, in)(in.at("x"), {in.at("h"), in.at("c")});
    return cat({h, c}, 1);
  };
}

}  // namespace

TEST_CASE("convolution and pooling give PyTorch's values and gradients", "[reference]") {
  const Recording recording("conv.safetensors");
  const Case cases[] = {
      {"conv1d", conv(conv1d, {})},
      {"conv1d strided", conv(conv1d, {.stride = 2, .padding = 1})},
      {"conv1d dilated", conv(conv1d, {.stride = 2, .padding = 3, .dilation = 3})},
      {"conv2d", conv(conv2d, {})},
      {"conv2d strided", conv(conv2d, {.stride = 2, .padding = 1})},
      {"conv2d uneven", conv(conv2d, {.stride = {1, 3}, .padding = {2, 0}, .dilation = {3, 1}})},
      {"conv2d grouped", conv(conv2d, {.padding = 1, .groups = 2})},
      {"conv2d depthwise", conv(conv2d, {.padding = 1, .groups = 3})},
      {"conv2d one by one", conv(conv2d, {.stride = 2})},
      {"max_pool2d", max_pool(2, {})},
      {"max_pool2d overlapping", max_pool(3, {.stride = 2, .padding = 1})},
      {"max_pool2d dilated", max_pool({2, 3}, {.stride = 1, .dilation = {2, 1}})},
      {"max_pool2d ties", max_pool(3, {.stride = 1, .padding = 1})},
      {"avg_pool2d", avg_pool(2, {})},
      {"avg_pool2d padded", avg_pool(3, {.stride = 2, .padding = 1})},
      {"avg_pool2d uncounted", avg_pool(3, {.stride = 2, .padding = 1, .count_include_pad = false})},
  };
  for (const Case& c : cases) recording.check(c);
}

TEST_CASE("normalisation gives PyTorch's values and gradients", "[reference]") {
  const Recording recording("norm.safetensors");
  const Case cases[] = {
      {"layer_norm", [](const Named& in) { return layer_norm(in.at("x"), {6}, in.at("weight"), in.at("bias")); }},
      {"group_norm", [](const Named& in) { return group_norm(in.at("x"), 3, in.at("weight"), in.at("bias")); }},
      {"group_norm of one", [](const Named& in) { return group_norm(in.at("x"), 4, {}, {}, 1e-3); }},
      {"batch_norm in training",
       [](const Named& in) { return batch_norm(in.at("x"), {}, {}, in.at("weight"), in.at("bias")); }},
      {"batch_norm",
       [](const Named& in) {
         return batch_norm(in.at("x"), in.at("mean"), in.at("variance"), in.at("weight"), in.at("bias"));
       }},
      {"rms_norm", [](const Named& in) { return rms_norm(in.at("x"), {6}, in.at("weight")); }},
      {"rms_norm of two axes", [](const Named& in) { return rms_norm(in.at("x"), {2, 6}, {}, 1e-2); }},
  };
  for (const Case& c : cases) recording.check(c);
}

TEST_CASE("BatchNorm2d trains and evaluates as PyTorch's", "[reference]") {
  const Recording recording("norm.safetensors");
  auto at = [&](const char* name) { return recording.at(std::string("BatchNorm2d/") + name); };
  nn::BatchNorm2d layer(3, {.momentum = 0.2});
  for (const char* i : {"1", "2"}) {
    const Tensor y = layer(at((std::string("x") + i).c_str()));
    CHECK(close(numbers(y), numbers(at((std::string("y") + i).c_str())), 1e-5));
    y.realize();  // and the running statistics with it
  }
  CHECK(close(numbers(layer.running_mean), numbers(at("running_mean")), 1e-6));
  CHECK(close(numbers(layer.running_var), numbers(at("running_var")), 1e-6));
  nn::eval(layer);
  CHECK(close(numbers(layer(at("x3"))), numbers(at("y3")), 1e-5));
  CHECK(close(numbers(layer.running_mean), numbers(at("running_mean")), 1e-6));
}

TEST_CASE("attention gives PyTorch's values and gradients", "[reference]") {
  const Recording recording("attention.safetensors");
  const nn::MultiheadAttention heads(8, 2);
  const Case cases[] = {
      {"attention", attention({})},
      {"attention causal", attention({.is_causal = true, .scale = 0.3})},
      {"attention masked", attention({})},
      {"attention biased", attention({})},
      {"rotary", [](const Named& in) { return rotary_embedding(in.at("x")); }},
      {"rotary interleaved",
       [](const Named& in) { return nn::RotaryEmbedding({.base = 100.0, .interleaved = true})(in.at("x"), 3); }},
      {"MultiheadAttention", self_attention(heads)},
      {"MultiheadAttention causal", self_attention(heads, {.is_causal = true})},
      {"MultiheadAttention across",
       [](const Named& in) {
         return loaded(nn::MultiheadAttention(8, 2, {.bias = false}), in)(in.at("q"), in.at("k"), in.at("v"));
       }},
      {"TransformerEncoderLayer",
       self_attention(nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 12, .dropout = 0}), {.is_causal = true})},
      {"TransformerEncoderLayer norm first",
       self_attention(
           nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 12, .dropout = 0, .gelu = true, .norm_first = true}))},
  };
  for (const Case& c : cases) recording.check(c);
}

TEST_CASE("reductions of one sweep give PyTorch's values and gradients", "[reference]") {
  const Recording recording("reduction.safetensors");
  const Case cases[] = {
      {"logsumexp", [](const Named& in) { return logsumexp(in.at("x"), 1); }},
      {"var", [](const Named& in) { return in.at("x").var({0, 2}); }},
      {"std", [](const Named& in) { return in.at("x").std(1, 0); }},
      {"cumsum", [](const Named& in) { return cumsum(in.at("x"), 1); }},
      {"extremes",
       [](const Named& in) {
         const Tensor x = in.at("x"), largest = x.argmax(1).reshape({4, 1}), smallest = x.argmin(1).reshape({4, 1});
         return stack({x.max(1), x.min(1), gather(x, 1, largest).reshape({4}), gather(x, 1, smallest).reshape({4})}, 0);
       }},
      {"long rows",
       [](const Named& in) {
         const Tensor x = in.at("x");
         return stack({x.mean(1), x.var(1), logsumexp(x, 1), cumsum(x, 1).slice(1, {4499, 4500}).reshape({1})}, 0);
       }},
  };
  for (const Case& c : cases) recording.check(c);
  const Tensor x = recording.at("argmax/x");  // the first of equals
  CHECK(numbers(x.argmax(1)) == numbers(recording.at("argmax/y")));
  CHECK(numbers(x.argmin(1)) == numbers(recording.at("argmin/y")));
}

TEST_CASE("recurrent cells give PyTorch's values and gradients", "[reference]") {
  const Recording recording("recurrent.safetensors");
  const Case cases[] = {
      {"RNNCell", cell(nn::RNNCell(4, 5))},
      {"RNNCell relu", cell(nn::RNNCell(4, 5, true, nn::RNNCell::Activation::ReLU))},
      {"LSTMCell", lstm(nn::LSTMCell(4, 5))},
      {"LSTMCell without bias", lstm(nn::LSTMCell(4, 5, false))},
      {"GRUCell", cell(nn::GRUCell(4, 5))},
  };
  for (const Case& c : cases) recording.check(c);
}
