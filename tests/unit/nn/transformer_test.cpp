// Transformers and the options of attention against what PyTorch recorded (tests/reference/record_training.py).
#include "sinter/nn/transformer.h"

#include "unit/recording.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

TEST_CASE("transformers give PyTorch's values and gradients", "[reference]") {
  const Recording recording("transformer.safetensors");
  const nn::TransformerOptions small{.dim_feedforward = 6, .dropout = 0};
  const nn::TransformerDecoderLayer decoder_layer(4, 2, small);
  const nn::TransformerDecoderLayer first(4, 2, {.dim_feedforward = 6, .dropout = 0, .gelu = true, .norm_first = true});
  const nn::TransformerEncoder encoder(nn::TransformerEncoderLayer(4, 2, small), 2, nn::LayerNorm(4));
  const nn::TransformerDecoder decoder(decoder_layer, 2);
  const nn::Transformer whole(4, 2, 1, 1, small);
  const auto attend = [](AttentionOptions options) {
    return [=](const Named& in) { return scaled_dot_product_attention(in.at("q"), in.at("k"), in.at("v"), options); };
  };
  const Case cases[] = {
      {"attention grouped", attend({.enable_gqa = true})},
      {"attention lower right", attend({.is_causal = true, .lower_right = true})},
      {"rotary at positions", [](const Named& in) { return rotary_embedding(in.at("x"), in.at("positions")); }},
      {"MultiheadAttention weights",
       [](const Named& in) {
         const auto [y, w] =
             loaded(nn::MultiheadAttention(8, 2), in)
                 .with_weights(in.at("q"), in.at("k"), in.at("k"), {.key_padding_mask = in.at("padding")});
         return cat({y.flatten(), w.flatten()});
       }},
      {"TransformerDecoderLayer",
       [&](const Named& in) { return loaded(decoder_layer, in)(in.at("x"), in.at("memory"), {.is_causal = true}); }},
      {"TransformerDecoderLayer norm first",
       [&](const Named& in) { return loaded(first, in)(in.at("x"), in.at("memory")); }},
      {"TransformerEncoder",
       [&](const Named& in) { return loaded(encoder, in)(in.at("x"), {.key_padding_mask = in.at("padding")}); }},
      {"TransformerDecoder", [&](const Named& in) { return loaded(decoder, in)(in.at("x"), in.at("memory")); }},
      {"Transformer",
       [&](const Named& in) {
         const AttentionOptions padding{.key_padding_mask = in.at("padding")};
         return loaded(whole, in)(in.at("x"), in.at("y"),
                                  {.source = padding, .target = {.is_causal = true}, .memory = padding});
       }},
  };
  for (const Case& c : cases) recording.check(c);
}

TEST_CASE("the last queries of a longer attention", "[nn]") {
  const Tensor q = randn({2, 6, 4}), k = randn({2, 6, 4}), v = randn({2, 6, 4});
  const Tensor all = scaled_dot_product_attention(q, k, v, {.is_causal = true});
  const Tensor last = scaled_dot_product_attention(q.slice(1, {4, 6}), k, v, {.is_causal = true, .lower_right = true});
  CHECK(close(numbers(last), numbers(all.slice(1, {4, 6})), 1e-6));
  const Tensor positions = arange(4, 6);
  const nn::RotaryEmbedding rotate({.offset = 3});
  CHECK(close(numbers(rotate(q.slice(1, {4, 6}), positions)), numbers(rotate(q).slice(1, {4, 6})), 1e-6));
  CHECK(close(numbers(attention_weights(q, k).sum(-1)), std::vector<double>(12, 1.0), 1e-6));
}

TEST_CASE("a mask of floats hides what follows", "[nn]") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor mask = nn::Transformer::generate_square_subsequent_mask(3);
  CHECK(same(numbers(mask), {0, -inf, -inf, 0, 0, -inf, 0, 0, 0}));
  CHECK(mask.dtype() == float32);
  const Tensor q = randn({2, 3, 4});
  CHECK(close(numbers(scaled_dot_product_attention(q, q, q, {.attn_mask = mask})),
              numbers(scaled_dot_product_attention(q, q, q, {.is_causal = true})), 1e-6));
  CHECK_THROWS_WITH(nn::Transformer::generate_square_subsequent_mask(0), Contains("size is 0"));
}

TEST_CASE("dropout 1 leaves nothing of attention, as in PyTorch", "[nn]") {
  nn::MultiheadAttention attend(4, 2, {.dropout = 1});
  attend.out_proj.bias = from({1.0, 2.0, 3.0, 4.0}).to(float32);
  const Tensor x = randn({1, 3, 4});
  const std::vector<double> bias = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4};
  CHECK(numbers(attend(x)) == bias);
  CHECK(numbers(attend(x, x, x)) == bias);
  const auto [y, weights] = attend.with_weights(x, x, x);
  CHECK(numbers(y) == bias);
  CHECK(numbers(weights) == std::vector<double>(9, 0));
  nn::eval(attend);
  CHECK(numbers(attend(x)) != bias);
  const nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 6, .dropout = 1, .norm_first = true});
  CHECK(numbers(layer(x)) == numbers(x));
  const nn::Transformer net(4, 2, 1, 1, {.dim_feedforward = 6, .dropout = 1});
  CHECK(net(x, x).shape() == Shape{1, 3, 4});
  CHECK_THROWS_WITH(nn::Transformer(4, 2, 1, 1, {.dropout = 1.5}), Contains("dropout is 1.5") && Contains("[0, 1]"));
}

TEST_CASE("a bool mask says who takes part, one of padding who does not", "[nn]") {
  nn::MultiheadAttention attend(4, 2);
  const Tensor x = randn({1, 3, 4}), two = x.slice(1, {0, 2});
  const Tensor part = from({1, 1, 0}).to(boolean);
  const std::vector<double> want = numbers(attend(x, two, two));
  CHECK(close(numbers(attend(x, {.attn_mask = part})), want, 1e-6));
  CHECK(close(numbers(attend(x, {.key_padding_mask = ~part})), want, 1e-6));
}

TEST_CASE("transformers have PyTorch's names, and refuse what does not fit", "[nn]") {
  const nn::Transformer net(4, 2, 1, 2, {.dim_feedforward = 6});
  std::vector<std::string> names;
  for (const auto& [name, t] : nn::named_parameters(net)) names.push_back(name);
  CHECK(std::count(names.begin(), names.end(), "encoder.layers.0.self_attn.in_proj_weight") == 1);
  CHECK(std::count(names.begin(), names.end(), "decoder.layers.1.multihead_attn.out_proj.bias") == 1);
  CHECK(std::count(names.begin(), names.end(), "decoder.norm.weight") == 1);
  CHECK(names.size() == 12 + 2 + 2 * 18 + 2);
  CHECK_THROWS_WITH(nn::Transformer(5, 2), Contains("Transformer: the size 5") && Contains("2 heads"));
  CHECK_THROWS_WITH(nn::TransformerDecoderLayer(4, 2, {.dim_feedforward = 0}), Contains("dim_feedforward is 0"));
  CHECK_THROWS_WITH(nn::TransformerEncoder(nn::TransformerEncoderLayer(4, 2), 0), Contains("layers is 0"));
  const Tensor q = ones({1, 4, 3, 2}), k = ones({1, 3, 5, 2});
  CHECK_THROWS_WITH(scaled_dot_product_attention(q, k, k, {.enable_gqa = true}),
                    Contains("4 heads") && Contains("3 heads"));
  CHECK_THROWS_WITH(scaled_dot_product_attention(q[0][0], k[0][0], k[0][0], {.enable_gqa = true}),
                    Contains("enable_gqa"));
  CHECK_THROWS_WITH(scaled_dot_product_attention(q, q, q, {.key_padding_mask = zeros({2, 2, 3})}),
                    Contains("key_padding_mask") && Contains("[2, 2, 3]"));
  CHECK_THROWS_WITH(rotary_embedding(q, ones({3})), Contains("whole numbers"));
  CHECK_THROWS_WITH(rotary_embedding(q, arange(4)), Contains("[4, 1]"));
}
