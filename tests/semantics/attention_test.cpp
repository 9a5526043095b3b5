// Attention and its gradients on tensor cores: F8 of docs/semantics.md.
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "semantics/support.h"
#include "semantics/tensor_cores.h"
#include "sinter/attention.h"
#include "sinter/floats.h"
#include "sinter/random.h"
#include "skip.h"

using namespace semantics;

namespace {

/// softmax(q k^T / sqrt(d)) v of one head in double, without the keys that are not `seen`.
std::vector<double> attention_in_double(const Tensor& q, const Tensor& k, const Tensor& v,
                                        const std::function<bool(int64_t, int64_t)>& seen) {
  const std::vector<float> x = q.to(float32).to_vector<float>(), y = k.to(float32).to_vector<float>(),
                           z = v.to(float32).to_vector<float>();
  const int64_t rows = q.shape()[2].value(), keys = k.shape()[2].value(), depth = q.shape()[3].value(),
                features = v.shape()[3].value();
  std::vector<double> out;
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<double> weights(static_cast<size_t>(keys), 0);
    double all = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < depth; ++d)
        score += double{x[static_cast<size_t>(i * depth + d)]} * y[static_cast<size_t>(j * depth + d)];
      if (seen(i, j)) weights[static_cast<size_t>(j)] = std::exp(score / std::sqrt(static_cast<double>(depth)));
      all += weights[static_cast<size_t>(j)];
    }
    for (int64_t f = 0; f < features; ++f) {
      double sum = 0;
      for (int64_t j = 0; j < keys; ++j)
        sum += weights[static_cast<size_t>(j)] / all * z[static_cast<size_t>(j * features + f)];
      out.push_back(sum);
    }
  }
  return out;
}

/// The gradients by q, k and v of attention, [1, 1, rows, features], with `seed` as that of the result, where `seen`.
std::vector<std::vector<double>> gradients_in_double(const Tensor& q, const Tensor& k, const Tensor& v,
                                                     const Tensor& seed,
                                                     const std::function<bool(int64_t, int64_t)>& seen) {
  const auto numbers = [](const Tensor& t) { return t.to(float32).to_vector<float>(); };
  const std::vector<float> x = numbers(q), y = numbers(k), z = numbers(v), g = numbers(seed);
  const int64_t rows = q.shape()[2].value(), keys = k.shape()[2].value(), depth = q.shape()[3].value(),
                features = v.shape()[3].value();
  const double scale = 1 / std::sqrt(static_cast<double>(depth));
  const auto dot = [](const std::vector<float>& a, int64_t i, const std::vector<float>& b, int64_t j, int64_t size) {
    double sum = 0;
    for (int64_t d = 0; d < size; ++d)
      sum += double{a[static_cast<size_t>(i * size + d)]} * b[static_cast<size_t>(j * size + d)];
    return sum;
  };
  std::vector<std::vector<double>> out{std::vector<double>(x.size()), std::vector<double>(y.size()),
                                       std::vector<double>(z.size())};
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<double> w(static_cast<size_t>(keys)), of_w = w;
    double all = 0, mean = 0;
    for (int64_t j = 0; j < keys; ++j)
      all += w[static_cast<size_t>(j)] = seen(i, j) ? std::exp(dot(x, i, y, j, depth) * scale) : 0;
    for (int64_t j = 0; j < keys; ++j) {
      w[static_cast<size_t>(j)] /= all;
      of_w[static_cast<size_t>(j)] = dot(g, i, z, j, features);
      mean += w[static_cast<size_t>(j)] * of_w[static_cast<size_t>(j)];
    }
    for (int64_t j = 0; j < keys; ++j) {
      const double weight = w[static_cast<size_t>(j)],
                   of_score = weight * (of_w[static_cast<size_t>(j)] - mean) * scale;
      for (int64_t d = 0; d < depth; ++d) {
        out[0][static_cast<size_t>(i * depth + d)] += of_score * y[static_cast<size_t>(j * depth + d)];
        out[1][static_cast<size_t>(j * depth + d)] += of_score * x[static_cast<size_t>(i * depth + d)];
      }
      for (int64_t f = 0; f < features; ++f)
        out[2][static_cast<size_t>(j * features + f)] += weight * g[static_cast<size_t>(i * features + f)];
    }
  }
  return out;
}

/// Random queries, keys, values and a gradient of the result, [1, 1, rows, features].
struct Heads {
  Heads(int64_t queries, int64_t keys, int64_t depth, int64_t features)
      : q(made(queries, depth)), k(made(keys, depth)), v(made(keys, features)), seed(made(queries, features)) {}
  static Tensor made(int64_t rows, int64_t features) { return randn({1, 1, rows, features}).to(bfloat16).realize(); }

  Tensor q, k, v, seed;
};

/// The gradients, computed together with the result.
std::vector<Tensor> gradients_of(const Heads& heads, const AttentionOptions& options) {
  std::vector<Tensor> from;
  for (const Tensor& t : {heads.q, heads.k, heads.v}) from.push_back(t.detach().requires_grad());
  const Tensor out = scaled_dot_product_attention(from[0], from[1], from[2], options);
  std::vector<Tensor> made = gradient(out, from, heads.seed);
  made.push_back(out);
  realize_all(made);
  made.pop_back();
  return made;
}

/// Requires gradients that are right and, if `unfused`, equal fused and unfused. Unfused under a mask they take
/// minutes.
void check_gradients(const Heads& heads, bool unfused, const std::function<AttentionOptions()>& options,
                     const std::function<bool(int64_t, int64_t)>& seen) {
  if (unfused)
    on_both([&] {
      std::vector<Tensor> flat;
      for (const Tensor& t : gradients_of(heads, options())) flat.push_back(t.to(float32).reshape({t.numel()}));
      return cat(flat, 0);
    });
  const std::vector<Tensor> made = gradients_of(heads, options());
  const auto want = gradients_in_double(heads.q, heads.k, heads.v, heads.seed, seen);
  for (size_t n = 0; n < made.size(); ++n) {
    const std::vector<float> got = made[n].to(float32).to_vector<float>();
    REQUIRE(got.size() == want[n].size());
    INFO("gradient " << n);
    for (size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[n][i]) < 0.02 * (1 + std::abs(want[n][i])));
  }
}

}  // namespace

TEST_CASE("F8 attention in blocks of keys is right, fused and unfused", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  const DType dtype = GENERATE(bfloat16, float16);
  const auto numbers = [&](const Shape& shape) { return (randn(shape) * 2.0).to(dtype).realize(); };
  const Tensor q = numbers({1, 1, 64, 32}), k = numbers({1, 1, 128, 32}), v = numbers({1, 1, 128, 16});
  const auto check = [&](const AttentionOptions& options, const std::function<bool(int64_t, int64_t)>& seen) {
    on_both([&] { return scaled_dot_product_attention(q, k, v, options); });
    const std::vector<float> got = scaled_dot_product_attention(q, k, v, options).to(float32).to_vector<float>();
    const std::vector<double> want = attention_in_double(q, k, v, seen);
    for (size_t i = 0; i < got.size(); ++i) {
      INFO(i);
      if (std::isnan(want[i]))
        CHECK(std::isnan(got[i]));
      else
        CHECK(std::abs(got[i] - want[i]) < 0.02);  // values are below 8: half a unit of a bfloat16 is 0.016
    }
  };
  check({}, [](int64_t, int64_t) { return true; });
  check({.is_causal = true}, [](int64_t i, int64_t j) { return j <= i; });
  // Rows that see nothing of one block of keys, and one row that sees no key.
  const auto some = [](int64_t i, int64_t j) { return i != 5 && (j < 64) == (i % 2 == 0); };
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < 64; ++i)
    for (int64_t j = 0; j < 128; ++j) mask.push_back(some(i, j));
  check({.attn_mask = from(mask, {64, 128}).to(boolean)}, some);
}

TEST_CASE("F8 attention of any length is right, fused and unfused", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  struct Sizes {
    int64_t queries, keys, features;
  };
  // Queries and keys that end inside a block, or both; the last has its factors in shared memory.
  const auto [queries, keys, features] =
      GENERATE(Sizes{50, 128, 32}, Sizes{64, 100, 32}, Sizes{17, 33, 16}, Sizes{19, 250, 64});
  const auto numbers = [](const Shape& shape) { return randn(shape).to(bfloat16).realize(); };
  const Tensor q = numbers({1, 1, queries, features}), k = numbers({1, 1, keys, features}),
               v = numbers({1, 1, keys, features});
  for (const bool causal : {false, true}) {
    INFO("causal " << causal << ", " << queries << " queries, " << keys << " keys");
    const AttentionOptions options{.is_causal = causal};
    on_both([&] { return scaled_dot_product_attention(q, k, v, options); });
    const std::vector<float> got = scaled_dot_product_attention(q, k, v, options).to(float32).to_vector<float>();
    const std::vector<double> want =
        attention_in_double(q, k, v, [&](int64_t i, int64_t j) { return !causal || j <= i; });
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) < 0.02);
  }
}

TEST_CASE("F8 blocks of keys that a mask hides from a row add nothing to it", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  struct Sizes {
    int64_t queries, keys;
  };
  // Lengths that are no multiple of a block; queries that see no key, with the last one aligned to the last key.
  const auto [queries, keys] = GENERATE(Sizes{150, 150}, Sizes{40, 300}, Sizes{150, 70});
  const auto numbers = [](const Shape& shape) { return randn(shape).to(bfloat16).realize(); };
  const Tensor q = numbers({1, 1, queries, 32}), k = numbers({1, 1, keys, 32}), v = numbers({1, 1, keys, 32});
  const auto check = [&, rows = queries, size = keys](const std::function<AttentionOptions()>& options,
                                                      const std::function<bool(int64_t, int64_t)>& seen) {
    INFO(rows << " queries, " << size << " keys");
    on_both([&] { return scaled_dot_product_attention(q, k, v, options()); });
    const std::vector<float> got = scaled_dot_product_attention(q, k, v, options()).to(float32).to_vector<float>();
    const std::vector<double> want = attention_in_double(q, k, v, seen);
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i)
      CHECK((std::isnan(want[i]) ? std::isnan(got[i]) : std::abs(got[i] - want[i]) < 0.02));
  };
  const int64_t behind = keys - queries;
  const auto row = [rows = queries] { return arange(rows).unsqueeze(1); };
  const auto column = [size = keys] { return arange(size); };
  check([] { return AttentionOptions{.is_causal = true}; }, [](int64_t i, int64_t j) { return j <= i; });
  check([] { return AttentionOptions{.is_causal = true, .lower_right = true}; },
        [=](int64_t i, int64_t j) { return j <= i + behind; });
  if (queries == keys) {
    check([&] { return AttentionOptions{.attn_mask = (column() < row() * 2).unsqueeze(0), .is_causal = true}; },
          [](int64_t i, int64_t j) { return j < 2 * i && j <= i; });
    check([&] { return AttentionOptions{.attn_mask = column() >= 60}; }, [](int64_t, int64_t j) { return j >= 60; });
  } else if (queries < keys) {
    check(
        [&] { return AttentionOptions{.attn_mask = (column() <= row() + 20) & ~(column() + 30 < row())}; },  // a window
        [](int64_t i, int64_t j) { return j <= i + 20 && j + 30 >= i; });
  } else {
    check([&] { return AttentionOptions{.attn_mask = column() + row() < 90}; },
          [](int64_t i, int64_t j) { return i + j < 90; });
  }
}

TEST_CASE("F8 no value of a block that a mask hides from a row reaches it", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  constexpr int64_t kLength = 256, kBlock = 128;
  const auto numbers = [](const Shape& shape) { return randn(shape).to(bfloat16).realize(); };
  const Shape heads{1, 1, kLength, 32};
  const Tensor q = numbers(heads), k = numbers(heads), v = numbers(heads);
  const auto attend = [&](const Tensor& keys, const Tensor& values) {
    return scaled_dot_product_attention(q, keys, values, {.is_causal = true});
  };
  const std::vector<float> before = attend(k, v).to(float32).to_vector<float>();
  const double bad = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  const auto with_bad = [&](const Tensor& x) {
    return where((arange(kLength) < kLength - 1).unsqueeze(1), x, bad).to(bfloat16).realize();
  };
  if (std::isnan(bad)) on_both([&] { return attend(with_bad(k), with_bad(v)); });
  const std::vector<float> got = attend(with_bad(k), with_bad(v)).to(float32).to_vector<float>();
  for (size_t i = 0; i < got.size(); ++i)
    if (i < 32 * kBlock)
      CHECK(got[i] == before[i]);
    else
      CHECK(!std::isfinite(got[i]));  // a row that sees any key of the block: 0 times what is not finite
}

TEST_CASE("F8 the gradients of attention in blocks are right", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  const auto numbers = [&](const Shape& shape) { return randn(shape).to(bfloat16).realize(); };
  const auto gradients = [&](Tensor q, Tensor k, Tensor v, const Tensor& seed) {
    for (Tensor* t : {&q, &k, &v}) *t = t->detach().requires_grad();
    const Tensor out = scaled_dot_product_attention(q, k, v);
    std::vector<Tensor> made = gradient(out, {q, k, v}, seed);
    made.push_back(out);
    realize_all(made);  // together: the scores have readers beside the attention
    std::vector<float> all;
    for (const Tensor& t : made)
      for (const float x : t.to(float32).to_vector<float>()) all.push_back(x);
    return all;
  };
  const Tensor q = numbers({1, 2, 64, 16}), k = numbers({1, 2, 128, 16}), v = numbers({1, 2, 128, 16}),
               seed = numbers({1, 2, 64, 16});
  const std::vector<float> got = gradients(q, k, v, seed);
  const std::vector<float> want =
      gradients(q.to(float32).realize(), k.to(float32).realize(), v.to(float32).realize(), seed.to(float32).realize());
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) < 0.05);
}

TEST_CASE("F8 the gradients of attention of any length are right, fused and unfused", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  struct Sizes {
    int64_t queries, keys, features;
  };
  // Queries and keys that end inside a block or a tile; sums of one block, which stay as they are.
  const auto [queries, keys, features] = GENERATE(Sizes{64, 128, 32}, Sizes{50, 150, 16}, Sizes{24, 33, 16});
  const Heads heads(queries, keys, features, features == 32 ? 16 : features);
  for (const bool causal : {false, true}) {
    INFO("causal " << causal << ", " << queries << " queries, " << keys << " keys");
    check_gradients(
        heads, !causal || keys < 64, [&] { return AttentionOptions{.is_causal = causal}; },
        [&](int64_t i, int64_t j) { return !causal || j <= i; });
  }
}

TEST_CASE("F8 tiles that a mask hides add nothing to gradients", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  constexpr int64_t kLength = 256, kTile = 128, kFeatures = 16;
  const Heads heads(kLength, kLength, kFeatures, kFeatures);
  const std::vector<Tensor> before = gradients_of(heads, {.is_causal = true});
  const double bad = GENERATE(std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity());
  const auto with_bad = [&](const Tensor& x, int64_t row) {
    return where((arange(kLength) != row).unsqueeze(1), x, bad).to(bfloat16).realize();
  };
  const auto finite = [&](const Tensor& made, const Tensor& was, int64_t from, int64_t to) {
    const std::vector<float> got = made.to(float32).to_vector<float>(), want = was.to(float32).to_vector<float>();
    for (int64_t i = 0; i < kLength; ++i) {
      bool same = true;
      for (int64_t f = i * kFeatures; f < (i + 1) * kFeatures; ++f)
        same &= got[static_cast<size_t>(f)] == want[static_cast<size_t>(f)];
      CHECK(same == (from <= i && i < to));
    }
  };
  Heads keys = heads, queries = heads;
  keys.k = with_bad(heads.k, kLength - 1), keys.v = with_bad(heads.v, kLength - 1);
  queries.q = with_bad(heads.q, 0), queries.seed = with_bad(heads.seed, 0);
  finite(gradients_of(keys, {.is_causal = true})[0], before[0], 0, kTile);
  const std::vector<Tensor> made = gradients_of(queries, {.is_causal = true});
  for (const size_t n : {1, 2}) finite(made[n], before[n], kTile, kLength);
  if (std::isnan(bad)) on_both([&] { return cat(gradients_of(keys, {.is_causal = true}), 0); });
}

TEST_CASE("F8 gradients under masks that bound keys are right, fused and unfused", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  constexpr int64_t kQueries = 130, kKeys = 150;
  const Heads heads(kQueries, kKeys, 16, 16);
  const auto row = [] { return arange(kQueries).unsqueeze(1); };
  const auto column = [] { return arange(kKeys); };
  check_gradients(
      heads, true, [] { return AttentionOptions{.is_causal = true, .lower_right = true}; },
      [](int64_t i, int64_t j) { return j <= i + kKeys - kQueries; });
  check_gradients(
      heads, false, [&] { return AttentionOptions{.attn_mask = (column() <= row() + 20) & ~(column() + 30 < row())}; },
      [](int64_t i, int64_t j) { return j <= i + 20 && j + 30 >= i; });
  check_gradients(
      heads, false, [&] { return AttentionOptions{.attn_mask = column() >= 60}; },
      [](int64_t, int64_t j) { return j >= 60; });
}

TEST_CASE("F8 what is made of weights counts where it is not 0 with them", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  // The transposed product of w + 1: tiles above the diagonal, whose weights are hidden, add values.
  const Heads heads(256, 256, 16, 16);
  const auto wide = [](const Tensor& t) { return t.to(float32); };
  const auto narrow = [](const Tensor& t) { return t.to(bfloat16).to(float32); };
  const Tensor seen = ones({256, 256}).tril() > 0.5, hidden = full({}, -std::numeric_limits<float>::infinity());
  const auto sum = [&](const std::function<Tensor(const Tensor&)>& rounded) {
    const Tensor x = matmul(wide(heads.q), wide(heads.k).transpose(-1, -2)) * 0.25;
    const Tensor w = softmax(where(seen, x, hidden), -1);
    return matmul(rounded(w + 1.0).transpose(-1, -2), rounded(wide(heads.v))).to_vector<float>();
  };
  const std::vector<float> got = sum(narrow), want = sum([](const Tensor& t) { return t; });
  for (size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - want[i]) < 0.5);
}

TEST_CASE("F8 gradients of scores that are divided are finite behind the last key", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  const Heads heads(100, 100, 16, 16);
  const auto gradients = [&](bool narrow) {
    std::vector<Tensor> from;
    for (const Tensor& t : {heads.q, heads.k, heads.v})
      from.push_back((narrow ? t : t.to(float32)).detach().realize().requires_grad());
    const auto wide = [](const Tensor& t) { return t.to(float32); };
    const auto length = [&](const Tensor& t) { return (wide(t) * wide(t)).sum(-1, true).sqrt().realize(); };
    const Tensor x =
        matmul(wide(from[0]), wide(from[1]).transpose(-1, -2)) / (length(heads.q) * length(heads.k).transpose(-1, -2));
    const Tensor w = softmax(x, -1), rounded = narrow ? wide(w.to(bfloat16)) : w;
    std::vector<std::vector<float>> out;
    for (const Tensor& t : gradient(matmul(rounded, wide(from[2])), from, wide(heads.seed)))
      out.push_back(wide(t).to_vector<float>());
    return out;
  };
  const auto got = gradients(true), want = gradients(false);
  for (size_t n = 0; n < 3; ++n) {
    INFO("gradient " << n);
    for (size_t i = 0; i < got[n].size(); ++i)
      CHECK(std::abs(got[n][i] - want[n][i]) < 0.02 * (1 + std::abs(want[n][i])));
  }
}
