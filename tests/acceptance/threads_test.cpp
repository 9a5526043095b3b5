// The number of threads decides tiles, blocks and points; no result may tell it. Shapes are above every threshold from
// which threads share work, streams are followed and operands copied.
#include <cstring>
#include <map>
#include <string>

#include "catch.h"
#include "cost.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/program/host_target.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

using Results = std::map<std::string, std::vector<float>>;

Tensor noise(const Shape& shape) { return stored(rand(shape) * 2.0 - 1.0); }

/// Everything below, computed with so many threads. Each program is realised by itself.
Results compute(int threads) {
  const runtime_test::ScopedEnv setting("SINTER_THREADS", std::to_string(threads));
  REQUIRE(runtime::host_target().threads == threads);
  REQUIRE(runtime::cpu::thread_pool().threads() == threads);
  manual_seed(1);
  Results out;
  const auto add = [&](const std::string& name, const Tensor& t) {
    const Cost c = cost(t);
    CHECK(c.launches > 0);  // nothing is known of it from other numbers of threads
    out[name] = t.to(float32).to_vector<float>();
  };

  const Tensor a = noise({520, 700}), b = noise({700, 610}), batch = noise({6, 150, 190}), other = noise({6, 190, 170});
  add("product", matmul(a, b));
  add("product of a transposed operand", matmul(a, noise({610, 700}).transpose(0, 1)));
  add("product with an epilogue", gelu(matmul(a, b) + noise({610})));
  add("skinny product", matmul(noise({12, 1300}), noise({1300, 1100})));
  add("few columns", matmul(noise({3000, 300}), noise({300, 10})));
  add("batch of products", matmul(batch, other));
  add("matrix and vector", matmul(noise({1500, 1300}), noise({1300})));
  add("vector and matrix", matmul(noise({1300}), noise({1300, 1700})));

  add("product with a matrix in panels", matmul(a, noise({10, 700, 64}).permute({1, 0, 2}).reshape({700, 640})));
  add("column sums of joined heads", noise({4, 8, 300, 64}).permute({0, 2, 1, 3}).reshape({4, 300, 512}).sum(1));
  add("deep product", matmul(noise({200, 5000}), noise({5000, 300})));
  add("deep product of a transposed operand", matmul(noise({5000, 200}).transpose(0, 1), noise({5000, 300})));
  add("batch of products from memory", matmul(noise({80, 130, 130}), noise({80, 130, 130})));
  add("product of 16 bits", matmul(a.to(bfloat16), b.to(bfloat16)));
  add("attention",
      scaled_dot_product_attention(noise({2, 4, 130, 32}), noise({2, 4, 130, 32}), noise({2, 4, 130, 32})));

  const Tensor tall = noise({1500, 900}), long_rows = noise({40, 50000}), stack = noise({5, 300, 600});
  add("column sums", tall.sum(0));
  add("column sums of matrices", stack.sum(1));
  add("column maxima", tall.max(0));
  add("column variances", tall.var(0));
  add("argmax of columns", tall.argmax(0));
  add("softmax of columns", softmax(tall, 0));
  add("products summed by column", (tall * noise({1500, 900})).sum(0));
  add("row sums", long_rows.sum(1));
  add("row variances", long_rows.var(1));
  add("softmax", softmax(tall));
  add("layer norm", layer_norm(tall, {900}));
  add("sum of all", tall.sum());
  add("argmax of all", tall.flatten().argmax(0));
  add("running sums", cumsum(tall, 1));
  add("running sums of columns", cumsum(tall, 0));
  add("running sums of long rows", cumsum(long_rows, 1));
  add("running sums of all", cumsum(tall.flatten(), 0));
  add("running maxima of all", cummax(tall.flatten(), 0).values);
  add("sums by place", scatter_add(zeros({300}), 0, arange(90000) * 7 % 300, noise({90000})));
  add("largest by place", scatter_reduce(zeros({3, 9}), 1, (arange(90000) * 7 % 9).reshape({3, 30000}),
                                         noise({3, 30000}), ScatterReduce::Amax));
  add("elementwise", tanh(tall * 1.5 + 0.25) * sigmoid(tall) + 0.5);
  add("transpose", tall.transpose(0, 1).contiguous());
  add("column sums of float64", tall.to(float64).sum(0));
  const Tensor large = noise({4100, 2300});  // more than the last cache counts for
  add("large transpose", large.transpose(0, 1).contiguous());
  add("large elementwise", tanh(large * 1.5 + 0.25));
  add("large column sums", large.sum(0));
  add("large layer norm", layer_norm(large, {2300}));

  add("normal numbers", randn({700, 900}));
  add("whole numbers", randint(-50, 50, {700, 900}));
  add("a permutation", randperm(90000));
  add("truths", bernoulli(full({700, 900}, 0.25)));
  add("classes", multinomial(rand({500, 300}), 20));

  const std::pair<std::string, ConvOptions> convolutions[] = {
      {"convolution", {}}, {"padded convolution with a stride", {.stride = 2, .padding = 1}}};
  for (const auto& [name, options] : convolutions) {
    const Tensor x = noise({12, 16, 26, 26}).requires_grad(), w = noise({32, 16, 5, 5}).requires_grad(),
                 y = conv2d(x, w, {}, options);
    const std::vector<Tensor> gradients = gradient((y * y).sum(), {x, w});
    add(name, y);
    add(name + ", gradient of the input", gradients[0]);
    add(name + ", gradient of the weights", gradients[1]);
  }
  {
    const Tensor x = noise({700, 800}).requires_grad(), scale = noise({800}).requires_grad(),
                 shift = noise({800}).requires_grad();
    const std::vector<Tensor> of_norm = gradient(square(layer_norm(x, {800}, scale, shift)).sum(), {x, scale, shift});
    add("gradient of layer norm, input", of_norm[0]);
    add("gradient of layer norm, scale", of_norm[1]);
    add("gradient of softmax", gradient((softmax(x) * noise({700, 800})).sum(), {x})[0]);
    const Tensor images = noise({16, 24, 50, 50}).requires_grad();
    add("gradient of pooling", gradient(square(max_pool2d(images, 2)).sum(), {images})[0]);
    const Tensor table = noise({1000, 700}).requires_grad(), words = arange(3000) * 7 % 1000;
    add("gradient of picking rows", gradient(square(index_select(table, 0, words)).sum(), {table})[0]);
  }
  const Tensor plane = noise({40, 1, 28, 28}), taps = noise({32, 1, 5, 5}).requires_grad();
  add("gradient of one channel's weights", gradient(square(conv2d(plane, taps)).sum(), {taps})[0]);
  return out;
}

}  // namespace

TEST_CASE("results are the same to the bit for 1, 2, 3 and 7 threads", "[threads]") {
  const Results one = compute(1);
  REQUIRE(one.size() == 59);
  for (const int threads : {2, 3, 7})
    for (const auto& [name, values] : compute(threads)) {
      INFO(name << ", " << threads << " threads");
      const std::vector<float>& expected = one.at(name);
      REQUIRE(values.size() == expected.size());
      CHECK(std::memcmp(values.data(), expected.data(), values.size() * sizeof(float)) == 0);
    }
}
