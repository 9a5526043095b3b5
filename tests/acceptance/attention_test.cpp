// Attention: one sweep over the keys per query, no array of scores, and the bits of the unfused form.
#include "catch.h"
#include "cost.h"
#include "explain.h"
#include "fixed_target.h"
#include "runtime/exec/arena.h"
#include "runtime/program/host_target.h"

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

/// Bytes of all that the plan stores between its kernels.
uint64_t between_kernels(const std::vector<Tensor>& asked) {
  return static_cast<uint64_t>(
      runtime::memory_of(testing::explain(asked, runtime::host_target()).scheduled.plan).scratch);
}

}  // namespace

TEST_CASE("attention forward is one launch and stores no scores", "[launches]") {
  const FixedTarget fixed;
  manual_seed(0);
  for (const int64_t length : {512, 4096})
    for (const bool causal : {false, true}) {
      INFO("length " << length << (causal ? ", causal" : ""));
      const Heads h(length > 1000 ? 1 : 8, length, length);
      const Cost c = cost(scaled_dot_product_attention(h.q, h.k, h.v, {.is_causal = causal}));
      CHECK(c.launches == 1);
      CHECK(c.bytes <= 4 * size_of(h.q));
      CHECK(between_kernels({scaled_dot_product_attention(h.q, h.k, h.v, {.is_causal = causal})}) == 0);
    }
}

TEST_CASE("attention is one kernel on machines of every width", "[launches]") {
  manual_seed(0);
  const auto of = [] { return stored(randn({4, 8, 512, kSize})); };
  const Tensor q = of(), k = of(), v = of();
  for (const int vector_bytes : {16, 32, 64})
    for (const int threads : {1, 2, 16}) {
      INFO(vector_bytes << " bytes, " << threads << " threads");
      runtime::Target target = runtime::reference_target();
      target.vector_bytes = vector_bytes;  // dearer exponents, before they are computed twice
      target.threads = threads;
      target.parallel_units = 4 * threads;
      const std::vector<Tensor> asked{scaled_dot_product_attention(q, k, v)};
      CHECK(testing::explain(asked, target).scheduled.kernels.size() == 1);
    }
}

TEST_CASE("attention backward is three launches and stores no scores", "[launches]") {
  const FixedTarget fixed;
  manual_seed(0);
  for (const int64_t length : {512, 1024, 4096}) {
    INFO("length " << length);
    const int64_t heads = length > 1024 ? 1 : 4;
    const Heads h(heads, length, length);
    const uint64_t scores = static_cast<uint64_t>(length * length) * 4;  // of one head
    const auto attention = [&] { return scaled_dot_product_attention(h.q, h.k, h.v); };
    // A handle on the output would keep what it is made of.
    const auto gradients = [&] { return gradient(attention(), {h.q, h.k, h.v}, h.seed); };
    CHECK(between_kernels(gradients()) < scores / 4);
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

TEST_CASE("attention: a fused and an unfused run agree to the bit, and with the interpreter", "[launches]") {
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{7, 37}, {64, 64}, {3, 130}, {1, 200}, {513, 100}})
    for (const bool causal : {false, true}) {
      const auto make = [&] {
        manual_seed(3);
        const Heads h(2, queries, keys);
        const Tensor out = scaled_dot_product_attention(h.q, h.k, h.v, {.is_causal = causal && queries <= keys});
        std::vector<Tensor> made = gradient(out, {h.q, h.k, h.v}, h.seed);
        made.push_back(out);
        return made;
      };
      CHECK(same_when_unfused(make));
      if (queries <= 64) CHECK(same_as_interpreted(make));
    }
}
