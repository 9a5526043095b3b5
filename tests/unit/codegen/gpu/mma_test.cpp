// Products in steps of tensor cores: every list of Opts leaves what the interpreter computes, to the bit.
#include <cmath>
#include <limits>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt_parse.h"
#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/eval/explain.h"
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
                         "thread_bind(1, 8, 1) unroll(0, 2)",
                         "lanes(1, 4)"};
  for (const DType dtype : {DType::BF16, DType::F16, DType::F32})
    for (const ProductSize& size : {ProductSize{32, 24, 64}, ProductSize{37, 21, 70}, ProductSize{5, 3, 17}})
      for (const bool transposed : {false, true}) {
        if (transposed ? size.rows == 32 : size.rows == 5) continue;  // only edges of tiles both ways
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

TEST_CASE("steps of zeros change no sum, whatever the other factor is", "[codegen][cuda][mma]") {
  // The gradient of sliding windows: out[y, c] += g[y - t, o] w[t, o, c] where 0 <= y - t < 20.
  const SimulatedGpu gpu;
  const char* lists[] = {"", "mma(0, 1)", "mma(1, 0)", "mma(0, 1) unroll(0, 2) unroll(1, 2)",
                         "mma(0, 1) thread_bind(1, 2, 32) split(3, 32) unroll(3, 2)"};
  for (const DType dtype : {DType::BF16, DType::F32}) {
    KernelHarness b;
    Array weights = random_array(dtype, {5, 32, 16}, 2);
    weights.set(3, Scalar::of(dtype, std::numeric_limits<double>::infinity()));
    weights.set(4 * 32 * 16 + 5, Scalar::of(dtype, std::nan("")));
    UOp g = b.buffer(random_array(dtype, {20, 32}, 1)), w = b.buffer(std::move(weights));
    UOp out = b.buffer(Array(DType::F32, {24, 16}));
    UOp y = b.outer(24), c = b.outer(16), t = b.over(5, 2), o = b.over(32, 3);
    UOp place = y - t, zero = constant(b.g(), dtype, 0);
    UOp inside = le(b.index(0), place) & lt(place, b.index(20));
    b.stores({b.put(out, {y, c},
                    b.reduce(Combine::Dot, {b.at(g, {place, o}, inside, zero), b.at(w, {t, o, c}, inside, zero)},
                             {t, o}, {.mma = true}))});
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    std::vector<runtime::KernelSource> sources;
    for (const char* list : lists)
      sources.push_back(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}));
    const auto programs = runtime::compile(sources, gpu.target());
    const std::vector<Array> before = b.interpret();
    CHECK(std::isnan(b.arrays[2].at(5).as_double()) == false);  // out of reach of the NaN: 0 * NaN is skipped
    for (size_t i = 0; i < programs.size(); ++i) {
      INFO(name_of(dtype) << " " << lists[i]);
      CHECK((sources[i].text.find("mma.sync") != std::string::npos) == (i > 0));
      gpu.compare(b, lists[i], *programs[i], before);
    }
  }
}

TEST_CASE("rows that end inside a tile have the code of whole tiles", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto steps = [&](int64_t rows) {
    const KernelHarness b = product({rows, 16, 32}, DType::BF16, false);
    const auto source = codegen::generate_source(codegen::normalize(b.kernel, gpu.target()), gpu.target(),
                                                 codegen::parse_opts("mma(0, 1) unroll(0, 2)"), {});
    int count = 0;
    for (size_t at = 0; (at = source.text.find("mma.sync", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(steps(96) > 0);
  CHECK(steps(90) == steps(96));
}

TEST_CASE("tensor cores refuse what they cannot compute", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  KernelHarness b = product({32, 24, 64}, DType::BF16, false);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  for (const char* list : {"mma(0, 0)", "mma(0, 1) mma(0, 1)", "mma(0, 1) lanes(1, 4)", "lanes(0, 4) mma(0, 1)",
                           "mma(0, 1) thread_bind(1, 2, 16)", "mma(0, 1) split(2, 24)", "mma(0, 1) order(0, 2, 1)",
                           "mma(0, 1) order(2, 0, 1)"}) {
    INFO(list);
    CHECK_THROWS_AS(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}),
                    codegen::IllegalOpt);
  }
}

TEST_CASE("machines whose steps are not known sum short floats in chains", "[codegen][cuda][mma]") {
  const auto x = [] { return full({64, 64}, 1.5, bfloat16, Device::cpu()).contiguous().realize(); };
  for (const int sm : {80, 90}) {
    const auto sources = tensor::explain(std::vector{matmul(x(), x())}, runtime::cuda_target({.sm = sm}));
    REQUIRE(sources.scheduled.kernels.size() == 1);
    bool steps = false;
    for (UOp n : ir::topological(sources.scheduled.kernels[0].sink))
      steps |= n->op == Op::Reduce && n->reduction().tree.mma;
    CHECK(steps == (sm >= 90));
  }
}
