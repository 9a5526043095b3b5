// The clock model against an H100, and the tuner by the model.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt_parse.h"
#include "codegen/tune/gpu/bank_conflicts.h"
#include "codegen/tune/gpu/last_block.h"
#include "codegen/tune/gpu/tuner.h"
#include "cuda_lint.h"
#include "explain.h"
#include "repository.h"
#include "unit/codegen/tune/gpu/measured_kernels.h"
#include "unit/codegen_support.h"

using namespace codegen_test;

namespace {

const runtime::Target& h100() {
  static const runtime::Target target = runtime::cuda_target({});
  return target;
}

codegen::NormalizedKernel kernel_of(const Tensor& value, const runtime::Target& target = h100()) {
  const auto sources = testing::explain(std::vector{value}, target);
  REQUIRE(sources.scheduled.kernels.size() == 1);
  return codegen::normalize(sources.scheduled.kernels[0], h100());
}

double microseconds(const codegen::Kernel& kernel, const char* opts) {
  const auto terms = codegen::predict_clocks(kernel, codegen::parse_opts(opts), h100());
  INFO(kernel.name << ": " << opts);
  REQUIRE(terms);
  return terms->microseconds();
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> out;
  for (double v : values)
    out.push_back(static_cast<double>(std::count_if(values.begin(), values.end(), [v](double w) { return w < v; })));
  return out;
}

/// Spearman's coefficient, for values that differ.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const auto n = static_cast<double>(a.size());
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
  return 1 - 6 * squares / (n * (n * n - 1));
}

/// The best prediction for the kernels of a value and their epilogues.
double tuned_microseconds(const Tensor& value) {
  double sum = 0;
  for (const codegen::Kernel& kernel : testing::explain(std::vector{value}, h100()).scheduled.kernels) {
    const codegen::NormalizedKernel normal = codegen::normalize(kernel, h100());
    const codegen::ClockTerms main = codegen::rank_candidates(normal.main, h100()).at(0).terms;
    sum += main.microseconds();
    if (normal.epilogue_kernel) {
      const std::vector<Opt> finish =
          codegen::choose_epilogue_opts(normal, h100(), codegen::choose_opts(normal.main, h100()));
      sum += codegen::predict_epilogue(*normal.epilogue_kernel, finish, main, h100()).value().microseconds();
    }
  }
  return sum;
}

/// The kernel that ran. Gradients of filters were one then, as they still are on a GPU that their results fill.
codegen::NormalizedKernel kernel_as_measured(const MeasuredKernel& m) {
  const bool filter = std::string(m.name).starts_with("filter gradient");
  return kernel_of(m.make(), filter ? runtime::cuda_target({.multiprocessors = 4}) : h100());
}

}  // namespace

TEST_CASE("bank passes do not depend on the element that a warp counts from", "[codegen][cuda]") {
  for (const int64_t stride : {1, 2, 5, 8, 31, 32, 33})
    for (const int64_t width : {1, 2, 4})
      for (const int64_t bytes : {2, 4, 8}) {
        if (width * bytes > 16) continue;
        INFO("stride " << stride << ", width " << width << ", bytes " << bytes);
        std::vector<int64_t> from_first, from_last;
        for (int64_t thread = 0; thread < codegen::kWarp; ++thread) {
          from_first.push_back(thread * stride * width);
          from_last.push_back((thread - codegen::kWarp) * stride * width);
        }
        CHECK(codegen::bank_passes(from_last, width, bytes) == codegen::bank_passes(from_first, width, bytes));
      }
}

TEST_CASE("the clock model ranks kernels as an H100 does", "[codegen][cuda][clock-model]") {
  std::vector<double> measured, predicted;
  std::string table;
  double worst = 1;
  for (const MeasuredKernel& m : measured_kernels()) {
    const codegen::NormalizedKernel kernel = kernel_as_measured(m);
    double us = microseconds(kernel.main, m.opts);
    if (kernel.epilogue_kernel) us += microseconds(*kernel.epilogue_kernel, m.epilogue_opts);
    measured.push_back(m.microseconds);
    predicted.push_back(us);
    worst = std::max({worst, us / m.microseconds, m.microseconds / us});
    table += fmt::format("{}\t{}\t{:.1f}\n", m.name, m.microseconds, us);
  }
  const double correlation = rank_correlation(measured, predicted);
  const std::string summary =
      fmt::format("{} kernels: rank correlation {:.3f}, worst factor {:.2f}", measured.size(), correlation, worst);
  fmt::print("{}\n", summary);
  table = "kernel\tmeasured us\tpredicted us\n" + table;
  if (const char* file = std::getenv("CLOCK_MODEL_TABLE")) std::ofstream(file) << table;
  INFO(table << summary);
  // If the model changed: CLOCK_MODEL_TABLE=docs/clock-model.tsv as above, then scripts/plot_clock_model.py.
  std::ifstream drawn(repository_path("docs/clock-model.tsv"));
  CHECK(std::string(std::istreambuf_iterator<char>(drawn), {}) == table);
  CHECK(correlation >= 0.95);
  CHECK(worst <= 1.6);
}

TEST_CASE("the tuner finds what the model promises for each measured program", "[codegen][cuda][clock-model]") {
  // Microseconds on an H100, by the model alone: no candidate has run on one.
  struct Goal {
    const char* name;
    double microseconds;
  };
  for (const Goal& goal : {Goal{"softmax 65536x1024", 190},
                           Goal{"layer norm 65536x1024", 190},
                           Goal{"chain 64M", 198},
                           Goal{"column sums 4096^2", 28},
                           Goal{"transpose 4096^2", 51},
                           Goal{"sum of 16M", 30},
                           Goal{"matvec 4096", 30},
                           Goal{"product 1024", 86},
                           Goal{"product 4096", 3100},
                           Goal{"gelu(matmul + b) 1024", 84},
                           Goal{"32 products of 256", 49},
                           Goal{"attention 4x8x512x64", 84},
                           Goal{"convolution 128x32x24x24 * 32x5x5", 110},
                           Goal{"input gradient 128x32x24x24 * 32x5x5", 270},
                           Goal{"filter gradient 128x32x24x24 * 32x5x5", 73},
                           Goal{"convolution 128x32x10x10 * 64x3x3", 27},
                           Goal{"input gradient 128x32x10x10 * 64x3x3", 50},
                           Goal{"filter gradient 128x32x10x10 * 64x3x3", 22},
                           Goal{"convolution 128x64x8x8 * 64x3x3", 27},
                           Goal{"input gradient 128x64x8x8 * 64x3x3", 50},
                           Goal{"filter gradient 128x64x8x8 * 64x3x3", 25}}) {
    const auto program = std::find_if(measured_kernels().begin(), measured_kernels().end(),
                                      [&](const MeasuredKernel& m) { return m.name == std::string(goal.name); });
    REQUIRE(program != measured_kernels().end());
    INFO(goal.name);
    const double tuned = tuned_microseconds(program->make());
    CHECK(tuned <= goal.microseconds);
    CHECK(tuned >= goal.microseconds / 3);  // a model that forgets a term promises more
  }
}

namespace {

Tensor short_matrix(int64_t rows, int64_t columns) {
  return full({rows, columns}, static_cast<double>(rows), bfloat16, Device::cpu()).contiguous().realize();
}

}  // namespace

TEST_CASE("the clock model prices tiles of tensor cores as an H100 runs them", "[codegen][cuda][clock-model]") {
  // Hand-written kernels with these tiles and rings, bf16, 4096^3, on an H100 (2026-11-26).
  struct Schedule {
    const char* tile;
    double microseconds;
    const char* opts;
  };
  const codegen::NormalizedKernel kernel = kernel_of(matmul(short_matrix(4096, 4096), short_matrix(4096, 4096)));
  for (const Schedule& s : {
           Schedule{
               "128x128x32", 347,
               "unroll(1, 8) thread_bind(1, 2, 32) unroll(0, 4) thread_bind(0, 2, 64) mma(0, 1) split(2, 32) "
               "unroll(2, 2) tile_copy(#8, 2.0 unroll 4 threads 8 by 16, 1 lanes 8 threads 16 by 1, pad 8, slots 4 "
               "async) tile_copy(#6, 0 unroll 4 threads 32 by 4, 2.0 lanes 8 threads 4 by 1, swizzle 8 by 2, slots "
               "4 async)"},
           Schedule{
               "128x256x32", 321,
               "unroll(1, 8) thread_bind(1, 4, 32) unroll(0, 4) thread_bind(0, 2, 128) mma(0, 1) split(2, 32) "
               "unroll(2, 2) tile_copy(#8, 2.0 unroll 4 threads 8 by 32, 1 lanes 8 threads 32 by 1, pad 8, slots 4 "
               "async) tile_copy(#6, 0 unroll 2 threads 64 by 4, 2.0 lanes 8 threads 4 by 1, swizzle 8 by 2, slots "
               "4 async)"},
           Schedule{
               "256x128x64", 312,
               "unroll(1, 8) thread_bind(1, 2, 32) unroll(0, 4) thread_bind(0, 4, 64) mma(0, 1) split(2, 64) "
               "unroll(2, 4) tile_copy(#8, 2.0 unroll 4 threads 16 by 16, 1 lanes 8 threads 16 by 1, pad 8, slots 4 "
               "async) tile_copy(#6, 0 unroll 8 threads 32 by 8, 2.0 lanes 8 threads 8 by 1, pad 8, slots 4 "
               "async)"},
       }) {
    INFO(s.tile);
    const double us = microseconds(kernel.main, s.opts);
    CHECK(us <= 1.15 * s.microseconds);
    CHECK(us >= s.microseconds / 1.15);
  }
}

TEST_CASE("products of short floats get tensor cores, whole matrices and no spills", "[codegen][cuda][clock-model]") {
  struct Goal {
    const char* name;
    double microseconds;  ///< 0.55 of what cuBLAS takes on an H100, or as measured for hand-written kernels
    std::function<Tensor()> make;
  };
  const auto x = [](Shape shape, double v) { return full(shape, v, bfloat16, Device::cpu()).contiguous().realize(); };
  for (const Goal& goal :
       {Goal{"4096", 343, [&] { return matmul(x({4096, 4096}, 1), x({4096, 4096}, 2)); }},
        Goal{"8192", 2500, [&] { return matmul(x({8192, 8192}, 1), x({8192, 8192}, 2)); }},
        Goal{"4096, B transposed", 343, [&] { return matmul(x({4096, 4096}, 1), x({4096, 4096}, 2).transpose()); }},
        Goal{"4096, A transposed", 343, [&] { return matmul(x({4096, 4096}, 1).transpose(), x({4096, 4096}, 2)); }},
        Goal{"a linear layer with gelu", 65,
             [&] { return gelu(matmul(x({8192, 512}, 1), x({2048, 512}, 2).transpose()) + x({2048}, 3)); }},
        Goal{"attention of 16 heads, 4096 x 128", 490,  // 280 TFLOP/s
             [&] {
               const Shape heads{1, 16, 4096, 128};
               return scaled_dot_product_attention(x(heads, 1), x(heads, 2), x(heads, 3));
             }},
        Goal{"causal attention of 16 heads, 4096 x 128", 270,
             [&] {
               const Shape heads{1, 16, 4096, 128};
               return scaled_dot_product_attention(x(heads, 1), x(heads, 2), x(heads, 3), {.is_causal = true});
             }},
        Goal{"attention of 32 heads, 512 x 64", 25,
             [&] {
               const Shape heads{4, 8, 512, 64};
               return scaled_dot_product_attention(x(heads, 1), x(heads, 2), x(heads, 3));
             }},
        Goal{"causal attention of 32 heads, 412 queries of 512 keys", 13, [&] {
               const Shape heads{4, 8, 512, 64};
               return scaled_dot_product_attention(x({4, 8, 412, 64}, 1), x(heads, 2), x(heads, 3),
                                                   {.is_causal = true, .lower_right = true});
             }}}) {
    INFO(goal.name);
    const codegen::NormalizedKernel kernel = kernel_of(goal.make());
    const codegen::RankedCandidate best = codegen::rank_candidates(kernel.main, h100()).at(0);
    CHECK(best.terms.microseconds() <= goal.microseconds);
    CHECK(best.terms.microseconds() >= goal.microseconds / 3);
    CHECK(
        (best.terms.blocks >= 2 * h100().threads || best.terms.blocks * best.terms.resident >= 0.95 * h100().threads));
    const runtime::KernelSource source = codegen::generate_source(kernel, h100(), best.candidate.opts, {});
    for (const char* part : {"sn_mma_bf16(acc", "sn_ldmatrix_x4", "sn_copy_async_16(", "cp.async.wait_group"})
      CHECK(source.text.find(part) != std::string::npos);
    CHECK(source.text.find("sn_step_") == std::string::npos);
    check_lint({source}, h100());
  }
}

TEST_CASE("products of float32 in tf32 get tensor cores and no spills", "[codegen][cuda][clock-model]") {
  struct Goal {
    const char* name;
    /// By the model, about twice those of bfloat16: factors and steps are twice as long. Of a factor by rows that are
    /// not summed, threads load elements.
    double microseconds;
    std::function<Tensor()> make;
  };
  const Tensor images = stored({128, 32, 24, 24}), filters = stored({32, 32, 5, 5});
  for (const Goal& goal :
       {Goal{"4096", 760, [] { return matmul(stored({4096, 4096}), stored({4096, 4096})); }},
        Goal{"4096, B transposed", 700, [] { return matmul(stored({4096, 4096}), stored({4096, 4096}).transpose()); }},
        Goal{"a linear layer with gelu", 110,
             [] { return gelu(linear(stored({8192, 512}), stored({2048, 512}), stored({2048}))); }},
        Goal{"a convolution", 65, [&] { return conv2d(images, filters); }}}) {
    INFO(goal.name);
    set_float32_matmul_precision("high");
    const Tensor value = goal.make();
    set_float32_matmul_precision("highest");
    const codegen::NormalizedKernel kernel = kernel_of(value);
    const codegen::RankedCandidate best = codegen::rank_candidates(kernel.main, h100()).at(0);
    CHECK(best.terms.microseconds() <= goal.microseconds);
    CHECK(best.terms.microseconds() >= goal.microseconds / 3);
    const runtime::KernelSource source = codegen::generate_source(kernel, h100(), best.candidate.opts, {});
    CHECK(source.text.find("sn_mma_tf32(") != std::string::npos);
    CHECK(source.text.find("sn_step_") == std::string::npos);
    check_lint({source}, h100());
  }
}

TEST_CASE("products of bytes get tensor cores, whole matrices and no spills", "[codegen][cuda][clock-model]") {
  struct Goal {
    const char* name;
    double microseconds;  ///< by the model, about half of bfloat16's; by columns, threads load bytes
    std::function<Tensor()> make;
    bool by_rows = true;  ///< factors are contiguous along the sum
  };
  const auto x = [](Shape shape, DType dtype = int8) { return stored(shape).to(dtype).realize(); };
  const auto product = [](const Tensor& a, const Tensor& b) { return matmul(a.to(int32), b.to(int32)); };
  for (const Goal& goal :
       {Goal{"4096", 175, [&] { return product(x({4096, 4096}), x({4096, 4096}).transpose()); }},
        Goal{"8192", 1300, [&] { return product(x({8192, 8192}), x({8192, 8192}, uint8).transpose()); }},
        Goal{"a quantised linear layer", 45,
             [&] {
               const Tensor sums = product(x({8192, 512}), x({2048, 512}).transpose());
               return sums.to(float32) * stored({2048}) + stored({2048});
             }},
        Goal{"4096, B by columns", 370, [&] { return product(x({4096, 4096}), x({4096, 4096})); }, false}}) {
    INFO(goal.name);
    const codegen::NormalizedKernel kernel = kernel_of(goal.make());
    const codegen::RankedCandidate best = codegen::rank_candidates(kernel.main, h100()).at(0);
    CHECK(best.terms.microseconds() <= goal.microseconds);
    CHECK(best.terms.microseconds() >= goal.microseconds / 3);
    const runtime::KernelSource source =
        codegen::generate_source(kernel, h100(), codegen::tune_for_gpu(kernel.main, h100()), {});
    for (const char* part : {"m16n8k32", "sn_copy_async_16(", "cp.async.wait_group", "sn_ldmatrix_x4"})
      CHECK(source.text.find(part) != std::string::npos);
    CHECK((source.text.find("sn_ldmatrix_x2") != std::string::npos) == goal.by_rows);
    CHECK(source.text.find("sn_step_") == std::string::npos);
    check_lint({source}, h100());
  }
}

TEST_CASE("input gradients of convolutions get tensor cores", "[codegen][cuda][clock-model]") {
  struct Goal {
    const char* name;
    double short_floats, tf32;  ///< microseconds by the model; no such kernel has run on an H100
    Shape image, filter;
  };
  for (const Goal& goal : {Goal{"128x32x24x24 * 32x5x5", 60, 80, {128, 32, 24, 24}, {32, 32, 5, 5}},
                           Goal{"128x64x8x8 * 64x3x3", 16, 16, {128, 64, 8, 8}, {64, 64, 3, 3}}})
    for (const bool in_tf32 : {false, true}) {
      INFO(goal.name << (in_tf32 ? ", tf32" : ", bfloat16"));
      const auto values = [&](const Shape& shape) {
        return in_tf32 ? stored(shape) : stored(shape).to(bfloat16).realize();
      };
      const auto input_gradient = [&] {
        const Tensor x = values(goal.image).requires_grad(), y = conv2d(x, values(goal.filter));
        return gradient(y, {x}, values(y.shape()))[0];
      };
      if (in_tf32) set_float32_matmul_precision("high");
      const Tensor dx = input_gradient();
      set_float32_matmul_precision("highest");
      const codegen::NormalizedKernel kernel = kernel_of(dx);
      const codegen::RankedCandidate best = codegen::rank_candidates(kernel.main, h100()).at(0);
      const double most = in_tf32 ? goal.tf32 : goal.short_floats;
      CHECK(best.terms.microseconds() <= most);
      CHECK(best.terms.microseconds() >= most / 3);
      const runtime::KernelSource source = codegen::generate_source(kernel, h100(), best.candidate.opts, {});
      CHECK(source.text.find(in_tf32 ? "sn_mma_tf32(" : "sn_mma_bf16(") != std::string::npos);
      CHECK(source.text.find("sn_step_") == std::string::npos);
      check_lint({source}, h100());
    }
}

TEST_CASE("blocks of a wave share what they read", "[codegen][cuda][clock-model]") {
  // A block has 128 rows and 128 columns; 132 run at once, and L2 holds neither factor.
  const std::string tile =
      "lanes(1, 4) unroll(1, 2) thread_bind(1, 16, 1) unroll(0, 8) thread_bind(0, 16, 16) split(3, 16) tile_copy(#11, "
      "0 "
      "threads 64 by 4, 3.0 lanes 4 threads 4 by 1) tile_copy(#13, 3.0 threads 8 by 32, 1 lanes 4 threads 32 by 1)";
  const auto terms_of = [&](int64_t n, const std::string& more) {
    const codegen::NormalizedKernel kernel = kernel_of(matmul(stored({n, n}), stored({n, n})));
    return codegen::predict_clocks(kernel.main, codegen::parse_opts(tile + more), h100()).value();
  };
  const codegen::ClockTerms rows = terms_of(8192, ""), bands = terms_of(8192, " band(0, 8)");
  CHECK(bands.reread < 0.7 * rows.reread);
  CHECK(rows.memory - rows.reread == Approx(bands.memory - bands.reread));

  const auto best_of = [&](int64_t n) {
    return codegen::rank_candidates(kernel_of(matmul(stored({n, n}), stored({n, n}))).main, h100()).at(0);
  };
  CHECK(count(codegen::to_string(best_of(8192).candidate.opts), "band(") == 1);
  CHECK(count(codegen::to_string(best_of(1024).candidate.opts), "band(") == 0);
  CHECK(best_of(1024).terms.reread == 0);
}
