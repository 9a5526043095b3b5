// A small GPT: a transformer that learns what comes next in a text, then writes, one token after the other, with the
// keys and values of earlier tokens kept (Radford et al., 2019; Karpathy's "nanoGPT", whose names the parameters have).
#include <algorithm>
#include <cstdint>
#include <string>

#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kContext = 32, kWidth = 32, kHeads = 4, kLayers = 2, kBatch = 8;

const std::string kText =
    "The Owl and the Pussy-cat went to sea in a beautiful pea-green boat: they took some honey, and plenty of money "
    "wrapped up in a five-pound note. The Owl looked up to the stars above, and sang to a small guitar, "
    "\'O lovely Pussy, O Pussy, my love, what a beautiful Pussy you are, you are, you are! What a beautiful Pussy you "
    "are!\' ";

/// Keys and values of the tokens so far, [1, kHeads, kContext, size of a head].
struct Cache {
  sn::Tensor k = sn::zeros({1, kHeads, kContext, kWidth / kHeads}).clone().realize();
  sn::Tensor v = sn::zeros({1, kHeads, kContext, kWidth / kHeads}).clone().realize();
};

struct SelfAttention {
  nn::Linear c_attn{kWidth, 3 * kWidth}, c_proj{kWidth, kWidth};
  SINTER_MODULE(c_attn, c_proj)

  /// Queries, keys and values, each [n, kHeads, length, size of a head].
  std::vector<sn::Tensor> heads(const sn::Tensor& x) const {
    return c_attn(x).unflatten(-1, {3, kHeads, kWidth / kHeads}).permute({2, 0, 3, 1, 4}).unbind(0);
  }
  sn::Tensor joined(const sn::Tensor& y) const { return c_proj(y.transpose(1, 2).flatten(-2)); }

  /// All tokens of x [n, length, kWidth] at once.
  sn::Tensor operator()(const sn::Tensor& x) const {
    const auto qkv = heads(x);
    return joined(scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], {.is_causal = true}));
  }
  /// The last of n tokens, x [1, 1, kWidth], after those in the cache. One program for all n.
  sn::Tensor operator()(const sn::Tensor& x, Cache& cache, const sn::Dim& n) const {
    const auto qkv = heads(x);
    const sn::Narrow here{sn::Tensor(n) - 1};
    cache.k.at({sn::ellipsis, here, sn::Slice{}}) = qkv[1];
    cache.v.at({sn::ellipsis, here, sn::Slice{}}) = qkv[2];
    return joined(scaled_dot_product_attention(qkv[0], cache.k.slice(2, {0, n}), cache.v.slice(2, {0, n})));
  }
};

struct Mlp {
  nn::Linear c_fc{kWidth, 4 * kWidth}, c_proj{4 * kWidth, kWidth};
  SINTER_MODULE(c_fc, c_proj)
  sn::Tensor operator()(const sn::Tensor& x) const { return c_proj(gelu(c_fc(x), sn::Gelu::Tanh)); }
};

struct Block {
  nn::LayerNorm ln_1{kWidth};
  SelfAttention attn;
  nn::LayerNorm ln_2{kWidth};
  Mlp mlp;
  SINTER_MODULE(ln_1, attn, ln_2, mlp)
  /// `more`: nothing, or the cache and the number of tokens.
  template <class... More>
  sn::Tensor operator()(const sn::Tensor& x, More&&... more) const {
    const sn::Tensor y = x + attn(ln_1(x), more...);
    return y + mlp(ln_2(y));
  }
};

struct Gpt {
  explicit Gpt(int64_t symbols) : wte(symbols, kWidth), wpe(kContext, kWidth), h(kLayers) {
    wte.weight = nn::init::normal({symbols, kWidth}, 0.0, 0.1).requires_grad();
    wpe.weight = nn::init::normal({kContext, kWidth}, 0.0, 0.1).requires_grad();
  }
  nn::Embedding wte, wpe;
  std::vector<Block> h;
  nn::LayerNorm ln_f{kWidth};
  SINTER_MODULE(wte, wpe, h, ln_f)

  /// Scores of the next symbols; the table of symbols is used at both ends.
  sn::Tensor scores(const sn::Tensor& x) const { return matmul(ln_f(x), wte.weight.t()); }

  /// Symbols [n, length] to scores [n, length, symbols].
  sn::Tensor operator()(const sn::Tensor& symbols) const {
    sn::Tensor x = wte(symbols) + wpe(sn::arange(symbols.size(1)));
    for (const Block& block : h) x = block(x);
    return scores(x);
  }
  /// The last of n symbols, [1, 1], to the scores of the next one, [1, 1, symbols].
  sn::Tensor operator()(const sn::Tensor& symbol, std::vector<Cache>& caches, const sn::Dim& n) const {
    sn::Tensor x = wte(symbol) + wpe(sn::Tensor(n) - 1);
    for (size_t i = 0; i < h.size(); ++i) x = h[i](x, caches[i], n);
    return scores(x);
  }
};

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  std::string symbols = kText;
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  std::vector<int64_t> codes;
  for (const char c : kText) codes.push_back(static_cast<int64_t>(symbols.find(c)));
  const sn::Tensor text = sn::from(codes);

  Gpt model(static_cast<int64_t>(symbols.size()));
  sn::optim::AdamW optimizer(nn::parameters(model), {.lr = 3e-3, .beta2 = 0.95});
  for (int step = 1; step <= run.steps(5, 300); ++step) {
    const sn::Tensor begin = sn::randint(0, static_cast<int64_t>(codes.size()) - kContext, {kBatch, 1});
    const sn::Tensor places = begin + sn::arange(kContext);
    const sn::Tensor x = text[places], y = text[places + 1];
    const sn::Tensor loss = cross_entropy(model(x).flatten(0, 1), y.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    run.log(step, 50, {{"loss", loss}});
  }

  sn::no_grad guard;
  std::vector<Cache> caches(kLayers);
  const sn::Var length("length", 1, kContext);
  auto next = sn::jit([&](const sn::Tensor& symbol, const sn::Dim& n) { return model(symbol, caches, n).flatten(); });
  uint64_t compiled_late = 0;  // after the second token there is nothing left to compile
  const auto decode = [&](int64_t symbol, int64_t position) {
    const uint64_t before = sn::debug::counters().compiles;
    const sn::Tensor scores = next(sn::from({symbol}).reshape({1, 1}), length(position + 1));
    if (position >= 2) compiled_late += sn::debug::counters().compiles - before;
    return scores;
  };
  if (run.checking()) {  // token by token, the loss is that of all tokens at once
    double loss = 0;
    for (int64_t i = 0; i < 8; ++i)
      loss += cross_entropy(decode(codes[static_cast<size_t>(i)], i), text[i + 1]).item<double>();
    run.log(1, 1, {{"decoded", sn::Tensor(loss / 8)}});
  } else {
    std::string written = "T";
    for (int64_t i = 0; i + 1 < kContext; ++i) {
      const auto last = static_cast<int64_t>(symbols.find(written.back()));
      written += symbols[sn::categorical(decode(last, i) / 0.5).item<int64_t>()];
    }
    std::printf("%s\n", written.c_str());
  }
  if (compiled_late) std::printf("%llu kernels were compiled after the second token\n", compiled_late + 0ULL);
  return run.finish() || compiled_late;
}
