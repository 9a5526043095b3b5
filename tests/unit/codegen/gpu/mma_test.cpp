// Products in steps of tensor cores: every list of Opts leaves what the interpreter computes, to the bit.
#include <bit>
#include <cmath>
#include <functional>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt_parse.h"
#include "ir/mma_step.h"
#include "ir/short_float.h"
#include "sinter/sinter.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;

namespace {

struct ProductSize {
  int64_t rows, columns, depth;
};

/// out[m, n] += x[m, k] y[k, n], with y as it lies or transposed.
KernelHarness product(const ProductSize& size, DType dtype, bool transposed) {
  KernelHarness b;
  UOp x = b.buffer(random_array(dtype, {size.rows, size.depth}, 1));
  UOp y = b.buffer(random_array(
      dtype,
      transposed ? std::vector<int64_t>{size.columns, size.depth} : std::vector<int64_t>{size.depth, size.columns}, 2));
  UOp out = b.buffer(Array(DType::F32, {size.rows, size.columns}));
  UOp m = b.outer(size.rows), n = b.outer(size.columns), k = b.over(size.depth, 2);
  b.stores({b.put(
      out, {m, n},
      b.reduce(Combine::Dot, {b.at(x, {m, k}), transposed ? b.at(y, {n, k}) : b.at(y, {k, n})}, {k}, {.mma = true}))});
  return b;
}

}  // namespace

TEST_CASE("tensor cores and single threads leave what the interpreter computes", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const char* lists[] = {"",
                         "mma(0, 1)",
                         "mma(1, 0)",
                         "mma(0, 1) unroll(2, 2)",
                         "mma(0, 1) unroll(0, 3) unroll(1, 2)",
                         "mma(0, 1) thread_bind(1, 2, 32) thread_bind(0, 2, 64)",
                         "mma(0, 1) split(2, 32) unroll(2, 2) unroll(1, 4)",
                         "thread_bind(1, 8, 1) unroll(0, 2)"};
  for (const DType dtype : {DType::BF16, DType::F16, DType::F32})
    for (const ProductSize& size : {ProductSize{32, 24, 64}, ProductSize{37, 21, 70}, ProductSize{5, 3, 17}})
      for (const bool transposed : {false, true}) {
        std::vector<runtime::KernelSource> sources;
        KernelHarness b = product(size, dtype, transposed);
        const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
        for (const char* list : lists)
          sources.push_back(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}));
        const auto programs = runtime::compile(sources, gpu.target());
        const std::vector<Array> before = b.interpret();
        for (size_t i = 0; i < programs.size(); ++i) {
          INFO(name_of(dtype) << " " << size.rows << " " << size.columns << " " << size.depth << " " << transposed);
          CHECK((sources[i].text.find("mma.sync") != std::string::npos) ==
                (std::string_view(lists[i]).starts_with("mma")));
          gpu.compare(b, lists[i], *programs[i], before);
        }
      }
}

TEST_CASE("tensor cores refuse what they cannot compute", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  KernelHarness b = product({32, 24, 64}, DType::BF16, false);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  for (const char* list : {"mma(0, 0)", "mma(0, 1) mma(0, 1)", "mma(0, 1) lanes(1, 4)", "lanes(0, 4) mma(0, 1)",
                           "mma(0, 1) thread_bind(1, 2, 16)", "mma(0, 1) split(2, 24)", "lanes(1, 4)"}) {
    INFO(list);
    CHECK_THROWS_AS(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}),
                    codegen::IllegalOpt);
  }
}

namespace {

/// The sum over k of a[m, k] b[k, n] in float32, as steps of a tensor core from zero.
float in_steps(const Tensor& a, const Tensor& b, int64_t m, int64_t n) {
  const std::vector<float> x = a.to(float32).to_vector<float>(), y = b.to(float32).to_vector<float>();
  const int64_t depth = a.shape()[1].value(), columns = b.shape()[1].value();
  const size_t step = ir::mma_step_length(a.dtype());
  uint32_t sum = 0;
  for (int64_t from = 0; from < depth; from += static_cast<int64_t>(step)) {
    std::vector<uint32_t> p(step), q(step);
    for (int64_t k = from; k < std::min(depth, from + static_cast<int64_t>(step)); ++k) {
      p[static_cast<size_t>(k - from)] = ir::short_float_bits(a.dtype(), x[static_cast<size_t>(m * depth + k)]);
      q[static_cast<size_t>(k - from)] = ir::short_float_bits(b.dtype(), y[static_cast<size_t>(k * columns + n)]);
    }
    sum = ir::mma_step(ir::mma_operand(a.dtype()), p, q, sum);
  }
  return std::bit_cast<float>(sum);
}

}  // namespace

TEST_CASE("F8 short floats are summed in steps of tensor cores, to the bit", "[cuda][mma]") {
  runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const DType dtype = GENERATE(float16, bfloat16);
  const Tensor a = randn({40, 100}).to(dtype), b = randn({100, 24}).to(dtype);
  // Without the last cast, the float32 sum.
  const Tensor c = (a.to(float32).unsqueeze(2) * b.to(float32)).sum(1);
  const std::vector<float> got = c.to_vector<float>();
  bool chain = true;  // whether a chain of multiply-adds has the same bits
  const std::vector<float> x = a.to(float32).to_vector<float>(), y = b.to(float32).to_vector<float>();
  for (int64_t m = 0; m < 40; ++m)
    for (int64_t n = 0; n < 24; ++n) {
      const float sum = in_steps(a, b, m, n);
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

TEST_CASE("fusion changes no bit of products in steps of tensor cores", "[cuda][mma]") {
  runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const auto on_both = [](const std::function<Tensor()>& make) {
    std::vector<std::vector<float>> out;
    for (const debug::Executor e : {debug::Executor::Compiled, debug::Executor::Unfused}) {
      debug::set_executor(e);
      out.push_back(make().to(float32).to_vector<float>());
    }
    debug::set_executor(debug::Executor::Compiled);
    REQUIRE(out[0].size() == out[1].size());
    for (size_t i = 0; i < out[0].size(); ++i) CHECK(out[0][i] == out[1][i]);
  };
  const Tensor a = randn({33, 70}).to(bfloat16).realize(), b = randn({70, 40}).to(bfloat16).realize();
  on_both([&] { return matmul(a, b); });
  const Tensor bias = randn({40}).to(bfloat16).realize();
  on_both([&] { return relu(matmul(a * 2.0, b) + bias); });
  const Tensor image = randn({2, 16, 7, 7}).to(float16).realize(), filter = randn({24, 16, 3, 3}).to(float16).realize();
  on_both([&] { return conv2d(image, filter, {}, {.padding = 1}); });
  on_both([&] { return conv2d(image, filter, {}, {.stride = 2}); });
  const Tensor q = randn({2, 2, 40, 16}).to(bfloat16).realize();
  on_both([&] { return scaled_dot_product_attention(q, q, q, {.causal = true}); });
  // Blocks of a long sum.
  const Tensor x = randn({24, 17000}).to(bfloat16).realize(), y = randn({17000, 16}).to(bfloat16).realize();
  on_both([&] { return matmul(x, y); });
}
