// Attention: one sweep over the keys per query, no array of scores, and the bits of the unfused form.
#include "catch.h"
#include "cost.h"
#include "fixed_target.h"

using namespace sinter;

namespace {

constexpr int64_t kSize = 64;

struct Heads {
  Tensor q, k, v, seed;
  Heads(int64_t heads, int64_t queries, int64_t keys)
      : q(leaf({1, heads, queries, kSize})),
        k(leaf({1, heads, keys, kSize})),
        v(leaf({1, heads, keys, kSize})),
        seed(stored(randn({1, heads, queries, kSize}))) {}
  static Tensor leaf(const Shape& shape) { return stored(randn(shape)).requires_grad(); }
};

/// Bytes of one of the arrays.
uint64_t size_of(const Tensor& t) { return static_cast<uint64_t>(t.numel()) * 4; }

}  // namespace

TEST_CASE("attention forward is one launch and stores no scores", "[launches]") {
  const FixedTarget fixed;
  manual_seed(0);
  for (const int64_t length : {512, 4096})
    for (const bool causal : {false, true}) {
      INFO("length " << length << (causal ? ", causal" : ""));
      const Heads h(length > 1000 ? 1 : 8, length, length);
      const Cost c = cost(scaled_dot_product_attention(h.q, h.k, h.v, {.causal = causal}));
      CHECK(c.launches == 1);
      CHECK(c.bytes <= 4 * size_of(h.q));
    }
}

TEST_CASE("attention backward is three launches and stores no scores", "[launches]") {
  const FixedTarget fixed;
  manual_seed(0);
  for (const int64_t length : {512, 1024}) {
    INFO("length " << length);
    const Heads h(4, length, length);
    const auto attention = [&] { return scaled_dot_product_attention(h.q, h.k, h.v); };
    // A handle on the output would keep what it is made of.
    const auto gradients = [&] { return gradient(attention(), {h.q, h.k, h.v}, h.seed); };
    const Cost alone = cost_of([&] { realize_all(gradients()); });
    CHECK(alone.launches <= 3);
    CHECK(alone.bytes <= 20 * size_of(h.q));
    const Cost both = cost_of([&] {
      const Tensor out = attention();
      std::vector<Tensor> made = gradient(out, {h.q, h.k, h.v}, h.seed);
      made.push_back(out);
      realize_all(made);
    });
    CHECK(both.launches <= 4);
    CHECK(both.bytes <= 24 * size_of(h.q));
  }
}

TEST_CASE("attention: a fused and an unfused run agree to the bit", "[launches]") {
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{7, 37}, {64, 64}, {3, 130}, {1, 200}, {513, 100}})
    for (const bool causal : {false, true})
      CHECK(same_when_unfused([&] {
        manual_seed(3);
        const Heads h(2, queries, keys);
        const Tensor out = scaled_dot_product_attention(h.q, h.k, h.v, {.causal = causal && queries <= keys});
        std::vector<Tensor> made = gradient(out, {h.q, h.k, h.v}, h.seed);
        made.push_back(out);
        return made;
      }));
}
