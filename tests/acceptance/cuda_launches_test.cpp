// Launch counts of known programs at the Target of an H200: decided, written and, where there is NVRTC, compiled
// without a lint; not run. The programs are those whose counts the other tests hold on the CPU.
#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "cost.h"
#include "cuda_lint.h"
#include "explain.h"

using namespace sinter;

namespace {

size_t launches(const std::vector<Tensor>& asked) {
  const runtime::Target target = runtime::cuda_target({});
  const plan::KernelSources made = testing::explain(asked, target);
  check_lint(made.sources, target);
  return made.scheduled.plan.launches.size();
}

/// The values and the gradients that are asked for at once.
std::vector<Tensor> with_gradients(const Tensor& loss, const std::vector<Tensor>& of) {
  std::vector<Tensor> all = gradient(loss, of);
  all.push_back(loss);
  return all;
}

}  // namespace

TEST_CASE("launches on a GPU: rows", "[launches][cuda]") {
  Tensor x = stored(rand({8192, 1024})), w = stored(ones({1024})), b = stored(ones({1024}));
  CHECK(launches({softmax(x, 1)}) == 1);
  CHECK(launches({log_softmax(x, 1)}) == 1);
  CHECK(launches({layer_norm(x, {1024}, w, b)}) == 1);
  CHECK(launches({x.var(1), x.mean(1)}) == 1);
  CHECK(launches({x.argmax(1)}) == 1);
  CHECK(launches({x.sum(0)}) == 1);
  CHECK(launches({x.sum()}) == 1);
  Tensor y = stored(rand({8192, 1024})).requires_grad();
  CHECK(launches(gradient((layer_norm(y, {1024}, w, b) * x).sum(), {y})) == 1);
}

TEST_CASE("threads of a row on a GPU wait only where they exchange partial sums", "[cuda]") {
  Tensor x = stored(rand({8192, 1024})), w = stored(ones({1024})), b = stored(ones({1024}));
  for (const Tensor& rows : {softmax(x, 1), layer_norm(x, {1024}, w, b)}) {
    const plan::KernelSources made = testing::explain(std::vector<Tensor>{rows}, runtime::cuda_target({}));
    REQUIRE(made.sources.size() == 1);
    const std::string& text = made.sources[0].text;
    INFO(text);
    int barriers = 0;
    for (size_t at = 0; (at = text.find("__syncthreads", at)) != std::string::npos; ++at) ++barriers;
    // For each row of a block: behind the parts of either sum, and before and between them, as they lie in the same
    // memory.
    CHECK(barriers <= 4 * made.sources[0].blocks[0]);
    CHECK(text.find("i64") == std::string::npos);  // no number of such a kernel needs 64 bits
  }
}

TEST_CASE("a scan on a GPU has threads along its other axes", "[cuda]") {
  const plan::KernelSources made =
      testing::explain(std::vector<Tensor>{cumsum(stored(rand({4096, 256})), 1)}, runtime::cuda_target({}));
  REQUIRE(made.sources.size() == 1);
  CHECK(made.sources[0].threads > 1);
}

TEST_CASE("a scan of one long row on a GPU is three kernels of many threads", "[launches][cuda]") {
  const plan::KernelSources made =
      testing::explain(std::vector<Tensor>{cumsum(stored(rand({1 << 20})), 0)}, runtime::cuda_target({}));
  CHECK(made.sources.size() == 3);
  for (const auto& source : made.sources) {
    INFO(source.name);
    int64_t threads = source.threads;
    for (int64_t blocks : source.blocks) threads *= blocks;
    CHECK(threads > 1);
  }
}

TEST_CASE("launches on a GPU: backward passes", "[launches][cuda]") {
  Tensor x = stored(randn({8192, 1024})).requires_grad(), w = stored(ones({1024})).requires_grad(),
         b = stored(ones({1024})).requires_grad(), g = stored(randn({8192, 1024}));
  CHECK(launches(gradient((layer_norm(x, {1024}, w, b) * g).sum(), {x, w, b})) <= 2);
  CHECK(launches(gradient((rms_norm(x, {1024}, w) * g).sum(), {x, w})) == 1);
  Tensor y = stored(randint(0, 1024, {8192}));
  CHECK(launches(with_gradients(cross_entropy(x, y), {x})) <= 2);
}

TEST_CASE("launches on a GPU: attention", "[launches][cuda]") {
  for (const int64_t length : {512, 4096}) {
    INFO("length " << length);
    const auto heads = [&] { return stored(randn({1, 4, length, 64})).requires_grad(); };
    Tensor q = heads(), k = heads(), v = heads(), seed = stored(randn({1, 4, length, 64}));
    CHECK(launches({scaled_dot_product_attention(q, k, v)}) == 1);
    const auto gradients = [&] { return gradient(scaled_dot_product_attention(q, k, v), {q, k, v}, seed); };
    CHECK(launches(gradients()) <= 3);
    const auto short_heads = [&] { return randn({1, 4, length, 64}).to(bfloat16).realize(); };
    CHECK(launches({scaled_dot_product_attention(short_heads(), short_heads(), short_heads())}) == 1);
    CHECK(launches({scaled_dot_product_attention(short_heads(), short_heads(), short_heads(), {.is_causal = true})}) ==
          1);
  }
  const auto numbers = [](const Shape& shape) { return randn(shape).to(bfloat16).realize(); };
  // Products before it, of queries, keys and values, and reductions after it have kernels of their own.
  const Tensor x = numbers({2, 256, 256});
  const auto heads = [&] { return matmul(x, numbers({256, 256})).reshape({2, 256, 4, 64}).permute({0, 2, 1, 3}); };
  CHECK(launches({scaled_dot_product_attention(heads(), heads(), heads())}) <= 4);
  CHECK(launches({scaled_dot_product_attention(rotary_embedding(heads()), rotary_embedding(heads()), heads())}) <= 7);
  const auto stored_heads = [&] { return numbers({2, 4, 256, 64}); };
  CHECK(launches({scaled_dot_product_attention(stored_heads(), stored_heads(), stored_heads()).mean(-2)}) == 2);
  CHECK(launches({scaled_dot_product_attention(stored_heads(), numbers({2, 1, 256, 64}), numbers({2, 1, 256, 64}))}) ==
        1);
  // Masks made of positions are computed where they are needed.
  const auto late = [&](const AttentionOptions& options) {
    return launches({scaled_dot_product_attention(numbers({2, 4, 2000, 64}), numbers({2, 4, 4000, 64}),
                                                  numbers({2, 4, 4000, 64}), options)});
  };
  CHECK(late({.is_causal = true, .lower_right = true}) == 1);
  // Queries that the program holds on to are stored before.
  const Tensor held = numbers({2, 4, 256, 64}) * 2.0;
  CHECK(launches({scaled_dot_product_attention(held, stored_heads(), stored_heads())}) == 2);
  // Two products in a row and an ExpSum are no attention.
  const Tensor hidden = gelu(matmul(numbers({256, 128}), numbers({128, 512})));
  CHECK(launches({logsumexp(matmul(hidden.to(float32), numbers({512, 8192}).to(float32)), 1)}) == 3);
}

TEST_CASE("launches on a GPU: training steps", "[launches][cuda]") {
  const auto step = [](const std::vector<Tensor>& parameters, const Tensor& loss) {
    std::vector<Tensor> all = with_gradients(loss, parameters);
    for (size_t i = 0; i < parameters.size(); ++i) all[i] = parameters[i].detach() - 0.1 * all[i];
    return launches(all);
  };
  nn::Linear l1(784, 128), l2(128, 10);
  const std::vector<Tensor> mlp{l1.weight, l1.bias, l2.weight, l2.bias};
  realize_all(mlp);
  Tensor x = stored(rand({256, 784})), y = stored(randint(0, 10, {256}));
  CHECK(step(mlp, cross_entropy(l2(relu(l1(x))), y)) <= 6);

  nn::Conv2d c1(1, 32, 5), c2(32, 64, 3);
  nn::Linear head(64 * 11 * 11, 10);
  const std::vector<Tensor> conv{c1.weight, c1.bias, c2.weight, c2.bias, head.weight, head.bias};
  realize_all(conv);
  Tensor images = stored(rand({16, 1, 28, 28})), labels = stored(randint(0, 10, {16}));
  CHECK(step(conv, cross_entropy(head(max_pool2d(relu(c2(relu(c1(images)))), 2).flatten(1)), labels)) <= 16);

  nn::LSTMCell cell(64, 128);
  realize_all(std::vector<Tensor>{cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh});
  Tensor in = stored(randn({32, 64})), h = stored(randn({32, 128})), c = stored(randn({32, 128}));
  const auto [h1, c1_] = cell(in, {h, c});
  CHECK(launches({h1, c1_}) <= 2);
}
