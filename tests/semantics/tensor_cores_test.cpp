// Products of 16-bit floats, and of float32 in tf32: F8 of docs/semantics.md.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "ir/attr.h"
#include "ir/short_float.h"
#include "semantics/support.h"
#include "semantics/tensor_cores.h"
#include "sinter/attention.h"
#include "sinter/conv.h"
#include "sinter/cuda.h"
#include "sinter/floats.h"
#include "sinter/random.h"
#include "skip.h"

using namespace semantics;

namespace {

/// The sum over the k in [begin, end) of a[m, k] b[k, n] in float32, as steps of a tensor core from zero.
float in_steps(const Tensor& a, const Tensor& b, int64_t m, int64_t n, int64_t begin, int64_t end) {
  const std::vector<float> x = a.to(float32).to_vector<float>(), y = b.to(float32).to_vector<float>();
  const int64_t depth = a.shape()[1].value(), columns = b.shape()[1].value();
  const size_t step = ir::mma_step_length(a.dtype());
  const auto word = [&](float v) -> uint32_t {
    return a.dtype() == float32 ? ir::tf32_of(std::bit_cast<uint32_t>(v))
                                : ir::short_float_bits(a.dtype(), static_cast<double>(v));
  };
  uint32_t sum = 0;
  for (int64_t from = begin; from < end; from += static_cast<int64_t>(step)) {
    std::vector<uint32_t> p(step), q(step);
    for (int64_t k = from; k < std::min(end, from + static_cast<int64_t>(step)); ++k) {
      p[static_cast<size_t>(k - from)] = word(x[static_cast<size_t>(m * depth + k)]);
      q[static_cast<size_t>(k - from)] = word(y[static_cast<size_t>(k * columns + n)]);
    }
    sum = ir::mma_step(ir::mma_operand(a.dtype()), p, q, sum);
  }
  return std::bit_cast<float>(sum);
}

/// While alive, products of float32 are computed so.
class Precision {
 public:
  explicit Precision(const char* precision) : before_(get_float32_matmul_precision()) {
    set_float32_matmul_precision(precision);
  }
  ~Precision() { set_float32_matmul_precision(before_); }
  Precision(const Precision&) = delete;
  Precision& operator=(const Precision&) = delete;

 private:
  const std::string before_;
};

bool same_bits(const Tensor& a, const Tensor& b) {
  const std::vector<float> x = a.to_vector<float>(), y = b.to_vector<float>();
  return a.shape() == b.shape() && std::equal(x.begin(), x.end(), y.begin(), [](float v, float w) {
           return std::bit_cast<uint32_t>(v) == std::bit_cast<uint32_t>(w);
         });
}

}  // namespace

TEST_CASE("F8 short floats are summed in steps of tensor cores, to the bit", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  const DType dtype = GENERATE(float16, bfloat16);
  const Tensor a = randn({40, 100}).to(dtype), b = randn({100, 24}).to(dtype);
  // Without the last cast, the float32 sum.
  const Tensor c = (a.to(float32).unsqueeze(2) * b.to(float32)).sum(1);
  const std::vector<float> got = c.to_vector<float>();
  bool chain = true;  // whether a chain of multiply-adds has the same bits
  const std::vector<float> x = a.to(float32).to_vector<float>(), y = b.to(float32).to_vector<float>();
  for (int64_t m = 0; m < 40; ++m)
    for (int64_t n = 0; n < 24; ++n) {
      const float sum = in_steps(a, b, m, n, 0, 100);
      CHECK(std::bit_cast<uint32_t>(got[static_cast<size_t>(m * 24 + n)]) == std::bit_cast<uint32_t>(sum));
      float fma = 0;
      for (int64_t k = 0; k < 100; ++k)
        fma = std::fma(x[static_cast<size_t>(m * 100 + k)], y[static_cast<size_t>(k * 24 + n)], fma);
      chain &= fma == sum;
    }
  CHECK(!chain);
  const std::vector<float> rounded = matmul(a, b).to(float32).to_vector<float>();
  CHECK(rounded == c.to(dtype).to(float32).to_vector<float>());
}

TEST_CASE("F8 long sums of short floats have blocks, few results parts", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  const auto check = [](int64_t depth, int64_t part) {
    INFO(depth);
    const Tensor a = rand({16, depth}).to(bfloat16).realize(), b = rand({depth, 16}).to(bfloat16).realize();
    const std::vector<float> got = (a.to(float32).unsqueeze(2) * b.to(float32)).sum(1).to_vector<float>();
    for (const int64_t i : {0, 9, 15}) {
      float sum = 0;
      for (int64_t from = 0; from < depth; from += part)
        sum += in_steps(a, b, i, i, from, std::min(depth, from + part));
      CHECK(std::bit_cast<uint32_t>(got[static_cast<size_t>(17 * i)]) == std::bit_cast<uint32_t>(sum));
    }
  };
  check(1000, 1000);
  check(8192, 1024);   // parts
  check(17000, 8192);  // blocks: no part of it is whole steps
}

TEST_CASE("F8 fusion changes no bit of products of short floats", "[semantics]") {
  const Tensor a = randn({33, 70}).to(bfloat16).realize(), b = randn({70, 40}).to(bfloat16).realize();
  on_both([&] { return matmul(a, b); });
  const Tensor bias = randn({40}).to(bfloat16).realize();
  on_both([&] { return relu(matmul(a * 2.0, b) + bias); });
  const Tensor image = randn({2, 16, 7, 7}).to(float16).realize(), filter = randn({24, 16, 3, 3}).to(float16).realize();
  on_both([&] { return conv2d(image, filter, {}, {.padding = 1}); });
  on_both([&] { return conv2d(image, filter, {}, {.stride = 2}); });
  for (const ConvOptions& options : {ConvOptions{.padding = 1}, ConvOptions{.stride = 2}})
    on_both([&] {  // edges are no products of zeros and infinities
      Tensor x = image.detach().requires_grad();
      const Tensor weights = where(filter > 2.5, std::numeric_limits<double>::infinity(), filter).to(float16);
      const Tensor y = conv2d(x, weights, {}, options);
      return gradient(y, {x}, ones_like(y))[0];
    });
  const Tensor q = randn({2, 2, 40, 16}).to(bfloat16).realize();
  on_both([&] { return scaled_dot_product_attention(q, q, q, {.is_causal = true}); });
  // Blocks of a long sum.
  const Tensor x = randn({16, 17000}).to(bfloat16).realize(), y = randn({17000, 8}).to(bfloat16).realize();
  on_both([&] { return matmul(x, y); });
  // The last axis of a sum has no divisor that is a block.
  const Tensor u = randn({2, 8200, 16}).to(bfloat16).realize(), v = randn({2, 8200, 8}).to(bfloat16).realize();
  on_both([&] { return einsum("bki,bkj->ij", {u, v}); });
  // Another sum cuts the axis along which steps go.
  const Tensor h = randn({64, 160}).to(bfloat16).realize(), w = randn({160, 32}).to(bfloat16).realize();
  on_both([&] {
    const Tensor rows = h.reshape({64, 8, 20}).sum(2), product = matmul(h, w);
    realize(rows, product);
    return cat({rows.to(float32), product.to(float32)}, 1);
  });
  // Rows that are normalized first.
  const Tensor tall = randn({256, 64}).to(bfloat16).realize(), narrow = randn({64, 16}).to(bfloat16).realize();
  on_both([&] { return matmul(rms_norm(tall, {64}), narrow); });
}

TEST_CASE("F8 sums of products of bytes are exact and wrap", "[semantics]") {
  const auto bytes = [](const Shape& shape, DType dtype) {
    return randint(is_unsigned(dtype) ? 0 : -128, is_unsigned(dtype) ? 256 : 128, shape).to(dtype).realize();
  };
  const auto [left, right] = GENERATE(std::pair(int8, int8), std::pair(uint8, int8), std::pair(uint8, uint8));
  const Tensor a = bytes({40, 100}, left), b = bytes({100, 24}, right), c = bytes({24, 100}, right);
  const auto product = [](const Tensor& x, const Tensor& y) { return matmul(x.to(int32), y.to(int32)); };
  const auto wide = [](const Tensor& x, const Tensor& y) { return matmul(x.to(int64), y.to(int64)).to(int32); };
  CHECK(product(a, b).to_vector<int32_t>() == wide(a, b).to_vector<int32_t>());
  CHECK(product(a, c.transpose()).to_vector<int32_t>() == wide(a, c.transpose()).to_vector<int32_t>());
  on_both([&] { return product(a, b); });
  const Tensor scale = rand({24}).realize(), bias = rand({24}).realize(), h = randn({40, 64}).realize();
  const Tensor d = bytes({64, 24}, right), e = bytes({16, 8192}, left), f = bytes({8192, 16}, right);
  const Tensor image = bytes({2, 32, 7, 7}, left), filter = bytes({24, 32, 3, 3}, right);
  on_both([&] { return product(a, c.transpose()).to(float32) * scale + bias; });
  on_both([&] { return product(round(h * 30.0).to(left), d); });
  on_both([&] { return product(e, f); });  // parts
  on_both([&] { return conv2d(image.to(int32), filter.to(int32), {}, {.padding = 1}); });
  // One product after the other, and scores of bytes.
  const Tensor w = bytes({24, 32}, right);
  on_both([&] { return product((product(a, b) / 512.0).to(left), w); });
  const Tensor x = bytes({16, 64}, left), y = bytes({64, 4, 32}, right), z = bytes({4, 32, 16}, right);
  on_both([&] {
    const Tensor middle = (einsum("ik,kbj->ibj", {x.to(int32), y.to(int32)}) / 512.0).to(left);
    return einsum("ibj,bjl->il", {middle.to(int32), z.to(int32)});
  });
  const Tensor short_z = randn({4, 32, 16}).to(bfloat16).realize();
  on_both([&] {  // a pair
    const Tensor middle = (einsum("ik,kbj->ibj", {x.to(int32), y.to(int32)}) * 1e-3).to(bfloat16);
    return einsum("ibj,bjl->il", {middle, short_z});
  });
  const Tensor q = bytes({2, 40, 32}, left), k = bytes({2, 64, 32}, right),
               v = randn({2, 64, 16}).to(bfloat16).realize();
  on_both([&] {
    const Tensor scores = product(q, k.transpose(1, 2)).to(float32) * 1e-3;
    return matmul(softmax(scores, 2).to(bfloat16), v);
  });
}

TEST_CASE("F8 products of float32 are tf32 where the program asks for it, to the bit", "[semantics]") {
  const Tensor a = randn({40, 100}).realize(), b = randn({100, 24}).realize();
  const Tensor exact = matmul(a, b).realize();
  const char* name = GENERATE("high", "medium");
  const Precision precision(name);
  CHECK(get_float32_matmul_precision() == name);
  const std::vector<float> got = matmul(a, b).to_vector<float>();
  CHECK(same_bits(matmul(a, b), exact) == !has_known_steps());
  CHECK(same_bits((a.unsqueeze(2) * b).sum(1), exact));  // no product of matrices by name
  if (!has_known_steps()) return;
  for (int64_t m = 0; m < 40; ++m)
    for (int64_t n = 0; n < 24; ++n)
      CHECK(std::bit_cast<uint32_t>(got[static_cast<size_t>(m * 24 + n)]) ==
            std::bit_cast<uint32_t>(in_steps(a, b, m, n, 0, 100)));
  // A value keeps what its call was made under.
  Tensor late = matmul(a, b);
  set_float32_matmul_precision("highest");
  const Tensor other = matmul(a, b);
  realize(late, other);
  CHECK(late.to_vector<float>() == got);
  CHECK(same_bits(other, exact));
}

TEST_CASE("F8 numbers at the edges of tf32 are rounded as in float32", "[semantics]") {
  if (!has_known_steps()) SKIP_TEST("no tensor cores whose steps are known");
  const Precision precision("high");
  const auto of = [](float x) {  // x * 1, once for all results
    const Tensor row = full({16, 16}, 0.0).realize(), one = full({16, 16}, 1.0).realize();
    Tensor first = row;
    first = cat({from(std::vector<float>(16, x), {16, 1}), row.narrow(1, 0, 15)}, 1).realize();
    return matmul(first, one).to_vector<float>()[0];
  };
  CHECK(of(1 + 0x1p-10f) == 1 + 0x1p-10f);
  CHECK(of(1 + 0x1p-11f) == 1 + 0x1p-10f);  // a tie
  CHECK(of(-1 - 0x1p-11f) == -1 - 0x1p-10f);
  CHECK(of(1 + 0x1p-12f) == 1);
  CHECK(of(2 - 0x1p-23f) == 2);
  CHECK(std::isinf(of(std::numeric_limits<float>::max())));
  CHECK(std::isinf(of(-std::numeric_limits<float>::infinity())));
  for (const uint32_t nan : {0x7fffffffu, 0xffffffffu, 0x7f800001u}) CHECK(std::isnan(of(std::bit_cast<float>(nan))));
}

TEST_CASE("F8 gradients of products in tf32 are such products", "[semantics]") {
  const Tensor seed = randn({40, 24}).realize();
  const Tensor a = randn({40, 32}).realize(), b = randn({32, 24}).realize();
  Tensor x = a.detach().requires_grad(), w = b.detach().requires_grad(), y;
  {
    const Precision precision("high");
    y = matmul(x, w);
  }
  const std::vector<Tensor> got = gradient(y, {x, w}, seed);  // under "highest"
  const Precision precision("high");
  CHECK(same_bits(got[0], matmul(seed, b.transpose())));
  CHECK(same_bits(got[1], matmul(a.transpose(), seed)));
  set_float32_matmul_precision("highest");
  CHECK(same_bits(got[0], matmul(seed, b.transpose())) == !has_known_steps());
}

TEST_CASE("F8 fusion changes no bit of products in tf32", "[semantics]") {
  const Precision precision("high");
  const Tensor a = randn({33, 70}).realize(), b = randn({70, 40}).realize(), bias = randn({40}).realize();
  on_both([&] { return matmul(a, b); });
  on_both([&] { return relu(linear(a * 2.0, b.transpose(), bias)); });
  on_both([&] { return einsum("ik,kj->ji", {a, b}); });
  const Tensor image = randn({2, 16, 7, 7}).realize(), filter = randn({24, 16, 3, 3}).realize();
  on_both([&] { return conv2d(image, filter, {}, {.padding = 1}); });
  on_both([&] { return conv2d(image, filter, {}, {.stride = 2}); });
  on_both([&] { return conv_transpose2d(image, filter.permute({1, 0, 2, 3}), {}, {.stride = 2}); });
  for (const bool input : {true, false})
    on_both([&] {
      Tensor x = image.detach().requires_grad(), w = filter.detach().requires_grad();
      const Tensor y = conv2d(x, w, {}, {.padding = 1});
      return gradient(square(y).sum(), {input ? x : w})[0];
    });
  const Tensor q = randn({2, 2, 40, 16}).realize();
  on_both([&] { return scaled_dot_product_attention(q, q, q, {.is_causal = true}); });
  const Tensor u = randn({16, 17000}).realize(), v = randn({17000, 8}).realize();
  on_both([&] { return matmul(u, v); });
}
