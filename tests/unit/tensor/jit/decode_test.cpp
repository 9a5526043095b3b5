// A small GPT that decodes under jit with a cache of keys and values: no compile after the second token, and the tokens
// of the whole sequence computed anew.
#include "catch.h"
#include "unit/tensor_support.h"

#include <optional>

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr int64_t kSize = 16, kHeads = 2, kVocabulary = 23, kLongest = 2048;

struct DecoderBlock {
  nn::LayerNorm before{kSize}, after{kSize};
  nn::Linear qkv{kSize, 3 * kSize}, out{kSize, kSize}, up{kSize, 2 * kSize}, down{2 * kSize, kSize};
  SINTER_MODULE(before, after, qkv, out, up, down)
};

struct KeyValueCache {
  Tensor keys = zeros({1, kHeads, kLongest, kSize / kHeads}).contiguous().realize();
  Tensor values = zeros({1, kHeads, kLongest, kSize / kHeads}).contiguous().realize();
};

struct Decoder {
  nn::Embedding tokens{kVocabulary, kSize};
  std::vector<DecoderBlock> blocks = std::vector<DecoderBlock>(2);
  nn::LayerNorm norm{kSize};
  nn::Linear head{kSize, kVocabulary};
  SINTER_MODULE(tokens, blocks, norm, head)

  /// The next token after each of `ids` [1, t], which stand at `positions` [t]. With caches, whose first `seen`
  /// elements are those of all tokens so far.
  Tensor operator()(const Tensor& ids, const Tensor& positions, std::vector<KeyValueCache>* caches = nullptr,
                    const std::optional<Dim>& seen = {}) const {
    Tensor x = tokens(ids);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const DecoderBlock& b = blocks[i];
      const Tensor all = b.qkv(b.before(x)).unflatten(2, {3, kHeads, kSize / kHeads}).permute({2, 0, 3, 1, 4});
      Tensor k = rotary_embedding(all[1], positions), v = all[2];
      if (caches) {
        KeyValueCache& cache = (*caches)[i];
        cache.keys.at({Slice{}, Slice{}, positions}) = k;
        cache.values.at({Slice{}, Slice{}, positions}) = v;
        k = cache.keys.slice(2, {0, *seen});
        v = cache.values.slice(2, {0, *seen});
      }
      const Tensor a = scaled_dot_product_attention(rotary_embedding(all[0], positions), k, v,
                                                    {.is_causal = true, .lower_right = true});
      x = x + b.out(a.permute({0, 2, 1, 3}).flatten(2));
      x = x + b.down(gelu(b.up(b.after(x))));
    }
    return head(norm(x)).argmax(2);
  }
};

/// The sequence after `length` tokens, each the next of all before.
std::vector<int64_t> whole_sequence(const Decoder& model, std::vector<int64_t> ids, size_t length) {
  const Var count("count", 1, 64);
  while (ids.size() < length) {
    const auto n = static_cast<int64_t>(ids.size());
    const Tensor next = model(from(ids, {1, count(n)}), arange(count(n)));
    ids.push_back(next.to_vector<int64_t>().back());
  }
  return ids;
}

}  // namespace

TEST_CASE("a GPT decodes under jit with a cache, and compiles nothing after the second token", "[jit]") {
  ON_BOTH_EXECUTORS();
  const no_grad off;
  manual_seed(5);
  const Decoder model;
  realize_all(nn::parameters(model));
  const Var length("length", 1, kLongest);
  std::vector<KeyValueCache> caches(2);
  int runs = 0;
  auto step = jit([&](const Tensor& ids, const Dim& n) {
    ++runs;
    const int64_t t = ids.size(1);
    return model(ids, Tensor(n) - t + arange(t), &caches, n);
  });
  const size_t tokens = debug::executor() == debug::Executor::Interpreter ? 8 : 24;
  std::vector<int64_t> ids{7};
  Tensor last = from(ids, {1, 1});
  while (ids.size() < tokens) {
    const debug::Counters before = debug::counters();
    last = step(last, length(static_cast<int64_t>(ids.size())));
    if (ids.size() > 2) CHECK(debug::counters().compiles == before.compiles);
    ids.push_back(last.item<int64_t>());
  }
  CHECK(runs == 2);
  CHECK(ids == whole_sequence(model, {7}, tokens));

  // Anywhere in the cache; and several tokens at a time are another program, of all lengths again.
  const debug::Counters before = debug::counters();
  for (const int64_t n : {int64_t{100}, int64_t{777}, kLongest}) step(last, length(n));
  CHECK(debug::counters().compiles == before.compiles);
  CHECK(runs == 2);
  const auto shifted = [&](size_t first) {
    return from(
        std::vector<int64_t>(ids.begin() + static_cast<int64_t>(first), ids.begin() + static_cast<int64_t>(first) + 3),
        {1, 3});
  };
  for (size_t first = 0; first + 3 < tokens; first += 3) {
    const Tensor next = step(shifted(first), length(static_cast<int64_t>(first) + 3));
    CHECK(next.to_vector<int64_t>() == std::vector<int64_t>(ids.begin() + static_cast<int64_t>(first) + 1,
                                                            ids.begin() + static_cast<int64_t>(first) + 4));
  }
  CHECK(runs == 4);
}
