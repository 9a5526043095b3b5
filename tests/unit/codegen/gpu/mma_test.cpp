// Products in steps of tensor cores: every list of Opts leaves what the interpreter computes, to the bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt_parse.h"
#include "codegen/tune/gpu/tuner.h"
#include "explain.h"
#include "runtime/cuda/clang_ptx.h"
#include "runtime/cuda/simulator.h"
#include "sinter/create.h"
#include "sinter/ops.h"
#include "skip.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;

namespace {

struct ProductSize {
  int64_t rows, columns, depth;
};

struct Factors {
  DType x, y;
};

/// Bytes have all their values.
Array factor(DType dtype, std::vector<int64_t> shape, unsigned seed) {
  Array a = random_array(dtype, std::move(shape), seed);
  std::mt19937 random(seed);
  if (is_integer(dtype))
    for (int64_t i = 0; i < a.numel(); ++i)
      a.set(i, Scalar::of(dtype, static_cast<int64_t>(random() % 256) - (is_unsigned(dtype) ? 0 : 128)));
  return a;
}

/// out[m, n] += x[m, k] y[k, n], with y as it lies or transposed.
KernelHarness product(const ProductSize& size, Factors types, bool transposed) {
  KernelHarness b;
  UOp x = b.buffer(factor(types.x, {size.rows, size.depth}, 1));
  UOp y = b.buffer(factor(
      types.y,
      transposed ? std::vector<int64_t>{size.columns, size.depth} : std::vector<int64_t>{size.depth, size.columns}, 2));
  UOp out = b.buffer(Array(ir::mma_sum(types.x), {size.rows, size.columns}));
  UOp m = b.outer(size.rows), n = b.outer(size.columns), k = b.over(size.depth, 2);
  b.stores({b.put(
      out, {m, n},
      b.reduce(Combine::Dot, {b.at(x, {m, k}), transposed ? b.at(y, {n, k}) : b.at(y, {k, n})}, {k}, {.mma = true}))});
  return b;
}

/// The best list of an H100 that brings factors to shared memory.
std::vector<Opt> staged_opts(const codegen::Kernel& kernel) {
  for (const codegen::RankedCandidate& r : codegen::rank_candidates(kernel, runtime::cuda_target({})))
    if (to_string(r.candidate.opts).find("async") != std::string::npos) return r.candidate.opts;
  FAIL("no candidate brings factors to shared memory");
  return {};
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
                         "mma(0, 1) split(2, 64) unroll(2, 2) unroll(1, 4)",
                         "thread_bind(1, 8, 1) unroll(0, 2)",
                         "lanes(1, 4)"};
  for (const auto [x, y] :
       {Factors{DType::BF16, DType::BF16}, Factors{DType::F16, DType::F16}, Factors{DType::F32, DType::F32},
        Factors{DType::I8, DType::I8}, Factors{DType::U8, DType::I8}, Factors{DType::U8, DType::U8}})
    for (const ProductSize& size : {ProductSize{32, 24, 64}, ProductSize{37, 21, 70}, ProductSize{5, 3, 17}})
      for (const bool transposed : {false, true}) {
        if (transposed ? size.rows == 32 : size.rows == 5) continue;  // only edges of tiles both ways
        INFO(name_of(x) << " " << name_of(y) << " " << size.rows << " " << size.columns << " " << size.depth << " "
                        << transposed);
        KernelHarness b = product(size, {x, y}, transposed);
        const std::vector<std::string> texts = gpu.check(b, parsed(lists));
        for (size_t i = 0; i < texts.size(); ++i)
          CHECK((texts[i].find("mma.sync") != std::string::npos) == (std::string_view(lists[i]).starts_with("mma")));
      }
}

TEST_CASE("Clang compiles what kernels on tensor cores say in words of CUDA", "[codegen][cuda][mma]") {
  if (!runtime::cuda::has_clang()) SKIP_TEST("no Clang plugin");
  const runtime::Target target = runtime::cuda_target({});
  const KernelHarness b = product({128, 128, 256}, {DType::BF16, DType::BF16}, false);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target);
  const runtime::CompileResult compiled = runtime::cuda::compile_ptx(
      codegen::generate_source(normalized, target, staged_opts(normalized.main), {}).text, target.sm);
  INFO(compiled.log);
  REQUIRE(compiled.ok);
  for (const char* part : {"mma.sync", "ldmatrix", "cp.async.c", "cvta.to.shared"}) {
    INFO(part);
    CHECK(compiled.object.find(part) != std::string::npos);
  }
}

TEST_CASE("sums of bytes on tensor cores wrap", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const int64_t depth = 140000;  // 128 * 128 * depth is more than 2^31
  KernelHarness b;
  Array lowest(DType::I8, {depth});
  for (int64_t k = 0; k < depth; ++k) lowest.set(k, Scalar::of(DType::I8, int64_t{-128}));
  UOp x = b.buffer(std::move(lowest)), out = b.buffer(Array(DType::I32, {2, 1}));
  UOp m = b.outer(2), n = b.outer(1), k = b.over(depth, 2);
  UOp row = where(le(m, b.index(0)), b.at(x, {k}), constant(b.g(), DType::I8, 1));
  UOp column = where(le(n, b.index(0)), b.at(x, {k}), constant(b.g(), DType::I8, 0));
  b.stores({b.put(out, {m, n}, b.reduce(Combine::Dot, {row, column}, {k}, {.mma = true}))});
  const char* lists[] = {"", "mma(0, 1)", "mma(0, 1) split(2, 64) unroll(2, 2)"};
  gpu.check(b, parsed(lists));
  CHECK(b.arrays[1].at(0).as_int() == 128 * 128 * depth - (int64_t{1} << 32));
  CHECK(b.arrays[1].at(1).as_int() == -128 * depth);
}

TEST_CASE("faults planted in kernels of bytes change what they leave", "[codegen][cuda][mma]") {
  struct Edit {
    const char *from, *to;
  };
  const Edit edits[] = {{"", ""},
                        {".s8.u8", ".u8.u8"},
                        {".s8.u8", ".s8.s8"},
                        {"{%4, %5, %6, %7}", "{%5, %4, %6, %7}"},
                        {"{%4, %5, %6, %7}", "{%4, %5, %7, %6}"},
                        {"{%4, %5, %6, %7}", "{%6, %7, %4, %5}"},
                        {"{%8, %9}", "{%9, %8}"},
                        {"ldmatrix.sync.aligned.m8n8.x2.shared", "ldmatrix.sync.aligned.m8n8.x2.trans.shared"}};
  const SimulatedGpu gpu;
  const auto context = runtime::cuda::Context::get(0);
  KernelHarness b = product({128, 128, 256}, {DType::I8, DType::U8}, true);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  const std::vector<Opt> opts = staged_opts(normalized.main);
  std::vector<runtime::KernelSource> sources;
  for (const Edit& edit : edits) {
    sources.push_back(codegen::generate_source(normalized, gpu.target(), opts, {}));
    std::string& text = sources.back().text;
    const size_t at = text.find(edit.from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::strlen(edit.from), edit.to);
  }
  const auto programs = runtime::compile(sources, gpu.target());
  const std::vector<Array> before = b.interpret();
  const auto right = launched(*context, *programs[0], b.points(*programs[0]), before, {});
  for (size_t i = 0; i < programs.size(); ++i) {
    INFO(edits[i].from << " " << edits[i].to);
    CHECK((launched(*context, *programs[i], b.points(*programs[i]), before, {}) == right) == (i == 0));
  }
}

TEST_CASE("tiles of bytes meet no bank of shared memory twice", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  for (const bool by_rows : {true, false}) {  // else the second factor is read byte by byte
    KernelHarness b = product({128, 128, 256}, {DType::I8, DType::I8}, by_rows);
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    const std::vector<Opt> opts = staged_opts(normalized.main);
    INFO(to_string(opts));
    const std::vector<runtime::KernelSource> sources{codegen::generate_source(normalized, gpu.target(), opts, {})};
    const auto program = runtime::compile(sources, gpu.target())[0];
    const std::vector<Array> before = b.interpret();
    runtime::cuda::sim::clear_reports();
    gpu.compare(b, to_string(opts), *program, before);
    const auto counted = runtime::cuda::sim::counters(program->name());
    CHECK(counted.matrix_steps == 128 * 128 * 256 / (16 * 8 * 32));
    CHECK(counted.wavefronts == counted.ideal_wavefronts);
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
    INFO(name_of(dtype));
    const std::vector<std::string> texts = gpu.check(b, parsed(lists));
    CHECK(std::isnan(b.arrays[2].at(5).as_double()) == false);  // out of reach of the NaN: 0 * NaN is skipped
    for (size_t i = 0; i < texts.size(); ++i) CHECK((texts[i].find("mma.sync") != std::string::npos) == (i > 0));
  }
}

TEST_CASE("rows that end inside a tile have the code of whole tiles", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto steps = [&](int64_t rows) {
    const KernelHarness b = product({rows, 16, 32}, {DType::BF16, DType::BF16}, false);
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
  KernelHarness b = product({32, 24, 64}, {DType::BF16, DType::BF16}, false);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  for (const char* list : {"mma(0, 0)", "mma(0, 1) mma(0, 1)", "mma(0, 1) lanes(1, 4)", "lanes(0, 4) mma(0, 1)",
                           "mma(0, 1) thread_bind(1, 2, 16)", "mma(0, 1) split(2, 24)", "mma(0, 1) order(0, 2, 1)",
                           "mma(0, 1) order(2, 0, 1)"}) {
    INFO(list);
    CHECK_THROWS_AS(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}),
                    codegen::IllegalOpt);
  }
  // Threads hold columns of results as they hold steps of 16-bit factors, and no others.
  for (const DType dtype : {DType::F32, DType::I8}) {
    KernelHarness other = product({32, 24, 64}, {dtype, dtype}, false);
    CHECK_THROWS_AS(codegen::generate_source(codegen::normalize(other.kernel, gpu.target()), gpu.target(),
                                             codegen::parse_opts("mma(0, 1) mma(0, 2) unroll(2, 2)"), {}),
                    codegen::IllegalOpt);
  }
}

TEST_CASE("machines whose steps are not known sum short floats in chains", "[codegen][cuda][mma]") {
  const auto x = [](DType dtype) { return full({64, 64}, 1, dtype, Device::cpu()).contiguous().realize(); };
  const auto has_steps = [](const Tensor& product, int sm) {
    const auto sources = testing::explain(std::vector{product}, runtime::cuda_target({.sm = sm}));
    REQUIRE(sources.scheduled.kernels.size() == 1);
    bool steps = false;
    for (UOp n : ir::topological(sources.scheduled.kernels[0].sink))
      steps |= n->op == Op::Reduce && n->reduction().tree.mma;
    return steps;
  };
  for (const int sm : {75, 80, 90}) {
    CHECK(has_steps(matmul(x(bfloat16), x(bfloat16)), sm) == (sm >= 90));
    CHECK(has_steps(matmul(x(int8).to(int32), x(uint8).to(int32)), sm) == (sm >= 80));
    CHECK(!has_steps(matmul(x(int16).to(int32), x(int8).to(int32)), sm));
  }
}
