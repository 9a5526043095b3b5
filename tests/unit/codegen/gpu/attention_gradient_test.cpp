// The gradients of attention on tensor cores: sums over blocks of products whose factors are made of other products.
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt_parse.h"
#include "codegen/tune/gpu/tuner.h"
#include "cuda_lint.h"
#include "explain.h"
#include "runtime/cuda/simulator.h"
#include "sinter/attention.h"
#include "step_memory.h"
#include "unit/codegen/cuda_support.h"
#include "unit/codegen/tune/gpu/measured_kernels.h"

using namespace codegen_test;

namespace {

struct BlockSize {
  int64_t rows, features, blocks, columns, depth;
};

/// dq[i, d] = sum over j, b of bf16(w (g v^T - delta[i])) k[j, b, d], where w = exp(q k^T / 4 - l[i]).
KernelHarness query_gradient(const BlockSize& size, DType dtype) {
  KernelHarness b;
  UOp q = b.buffer(random_array(dtype, {size.rows, size.depth}, 1));
  UOp g = b.buffer(random_array(dtype, {size.rows, size.features}, 2));
  UOp k = b.buffer(random_array(dtype, {size.blocks, size.columns, size.depth}, 3));
  UOp v = b.buffer(random_array(dtype, {size.blocks, size.columns, size.features}, 4));
  UOp l = b.buffer(random_array(DType::F32, {size.rows}, 5)),
      delta = b.buffer(random_array(DType::F32, {size.rows}, 6));
  UOp out = b.buffer(Array(DType::F32, {size.rows, size.depth}));
  UOp i = b.outer(size.rows), e = b.inner(size.depth, 1), j = b.over(size.blocks, 2), key = b.over(size.columns, 3),
      d = b.over(size.depth, 4), f = b.over(size.features, 5);
  UOp x = b.reduce(Combine::Dot, {b.at(q, {i, d}), b.at(k, {j, key, d})}, {d}, {.mma = true}) * 0.25;
  UOp y = b.reduce(Combine::Dot, {b.at(g, {i, f}), b.at(v, {j, key, f})}, {f}, {.mma = true});
  UOp w = exp(x - b.at(l, {i}));
  UOp s = w * (y - b.at(delta, {i})) * 0.25;
  b.stores(
      {b.put(out, {i, e}, b.reduce(Combine::Dot, {cast(s, dtype), b.at(k, {j, key, e})}, {j, key}, {.mma = true}))});
  return b;
}

/// dv[i, f] = sum over j, b of bf16(w) g[j, b, f] and dk[i, d] = sum of bf16(w (v g^T - delta[j, b])) q[j, b, d], where
/// w = exp(k q^T / 4 - l[j, b]).
KernelHarness key_gradients(const BlockSize& size, DType dtype) {
  KernelHarness b;
  UOp k = b.buffer(random_array(dtype, {size.rows, size.depth}, 1));
  UOp v = b.buffer(random_array(dtype, {size.rows, size.features}, 2));
  UOp q = b.buffer(random_array(dtype, {size.blocks, size.columns, size.depth}, 3));
  UOp g = b.buffer(random_array(dtype, {size.blocks, size.columns, size.features}, 4));
  UOp l = b.buffer(random_array(DType::F32, {size.blocks, size.columns}, 5)),
      delta = b.buffer(random_array(DType::F32, {size.blocks, size.columns}, 6));
  UOp dv = b.buffer(Array(DType::F32, {size.rows, size.features})),
      dk = b.buffer(Array(DType::F32, {size.rows, size.depth}));
  UOp i = b.outer(size.rows), h = b.inner(size.features, 1), e = b.inner(size.depth, 2), j = b.over(size.blocks, 3),
      row = b.over(size.columns, 4), d = b.over(size.depth, 5), f = b.over(size.features, 6);
  UOp x = b.reduce(Combine::Dot, {b.at(k, {i, d}), b.at(q, {j, row, d})}, {d}, {.mma = true}) * 0.25;
  UOp y = b.reduce(Combine::Dot, {b.at(v, {i, f}), b.at(g, {j, row, f})}, {f}, {.mma = true});
  UOp w = exp(x - b.at(l, {j, row}));
  UOp s = w * (y - b.at(delta, {j, row})) * 0.25;
  UOp of_values = b.reduce(Combine::Dot, {cast(w, dtype), b.at(g, {j, row, h})}, {j, row}, {.mma = true});
  UOp of_keys = b.reduce(Combine::Dot, {cast(s, dtype), b.at(q, {j, row, e})}, {j, row}, {.mma = true});
  b.stores({b.put(dv, {i, h}, of_values), b.put(dk, {i, e}, of_keys)});
  return b;
}

}  // namespace

TEST_CASE("sums of products whose factors are made of products leave what the interpreter computes",
          "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto check = [&](KernelHarness b, const std::string& tiles) {
    gpu.check(b, {codegen::parse_opts(tiles), codegen::parse_opts(tiles + " thread_bind(0, 2, 32)")});
  };
  KernelHarness without_tiles = query_gradient({32, 16, 2, 16, 16}, DType::BF16);
  gpu.check(without_tiles, {codegen::parse_opts("thread_bind(0, 8, 1)")});
  check(query_gradient({32, 16, 2, 16, 16}, DType::BF16), "mma(0, 1) mma(0, 3) unroll(1, 2) unroll(3, 2)");
  check(key_gradients({37, 16, 2, 16, 16}, DType::F16),
        "mma(0, 1) mma(0, 2) mma(0, 4) unroll(1, 2) unroll(2, 2) unroll(4, 2)");
}

TEST_CASE("each proposal for three and four products leaves what the interpreter computes", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto check = [&](KernelHarness b, size_t rings) {
    const codegen::NormalizedKernel kernel = codegen::normalize(b.kernel, gpu.target());
    std::vector<std::vector<Opt>> lists;
    size_t staged = 0;
    for (const codegen::RankedCandidate& r : codegen::rank_candidates(kernel.main, gpu.target())) {
      if (std::string_view(r.candidate.generator) != "mma pair") continue;
      lists.push_back(r.candidate.opts);
      const std::string text = codegen::to_string(r.candidate.opts);
      size_t async = 0;
      for (size_t at = 0; (at = text.find("async", at)) != std::string::npos; ++at) ++async;
      CHECK((async == 0 || async == rings));
      staged += async == rings;
    }
    CHECK(staged >= 4);  // warps and slots
    gpu.check(b, lists);
  };
  check(query_gradient({32, 16, 2, 32, 16}, DType::BF16), 3);
  check(key_gradients({32, 16, 2, 32, 16}, DType::BF16), 4);
}

namespace {

struct Heads {
  int64_t heads, queries, keys, features;
};

/// The plan of attention and its gradients.
plan::KernelSources gradients_of(const Heads& size, const AttentionOptions& options, const runtime::Target& target) {
  const auto values = [&](int64_t rows) { return stored({1, size.heads, rows, size.features}).to(bfloat16).realize(); };
  std::vector<Tensor> from;
  for (const int64_t rows : {size.queries, size.keys, size.keys}) from.push_back(values(rows).requires_grad());
  std::vector<Tensor> all{scaled_dot_product_attention(from[0], from[1], from[2], options)};
  for (const Tensor& g : gradient(all[0], from, values(size.queries))) all.push_back(g);
  return testing::explain(all, target);
}

}  // namespace

TEST_CASE("attention and its gradients are four kernels that store no scores", "[codegen][cuda][mma]") {
  const runtime::Target h100 = runtime::cuda_target({});
  struct Case {
    Heads size;
    AttentionOptions options;
    double microseconds;  ///< by the model; no such kernel has run on an H100
  };
  for (const Case& c :
       {Case{{16, 4096, 4096, 128}, {}, 2050}, Case{{16, 4096, 4096, 128}, {.is_causal = true}, 1160},
        Case{{32, 512, 512, 64}, {}, 56}, Case{{32, 412, 512, 64}, {.is_causal = true, .lower_right = true}, 50}}) {
    INFO(c.size.heads << " heads, " << c.size.queries << " queries, causal " << c.options.is_causal);
    const plan::KernelSources made = gradients_of(c.size, c.options, h100);
    CHECK(made.scheduled.plan.steps.size() == 4);
    for (const runtime::PlanBuffer& b : made.scheduled.plan.buffers)
      if (b.kind == runtime::PlanBuffer::Kind::Scratch) CHECK(b.bound_bytes <= 4 * c.size.heads * c.size.queries);
    double sum = 0;
    for (const codegen::Kernel& kernel : made.scheduled.kernels) {
      const codegen::NormalizedKernel normalized = codegen::normalize(kernel, h100);
      const codegen::RankedCandidate best = codegen::rank_candidates(normalized.main, h100).at(0);
      sum += best.terms.microseconds();
      const runtime::KernelSource source = codegen::generate_source(normalized, h100, best.candidate.opts, {});
      CHECK(source.text.find("sn_step_") == std::string::npos);
      check_lint({source}, h100);
    }
    CHECK(sum <= c.microseconds);
    CHECK(sum >= c.microseconds / 3);
  }
}

TEST_CASE("the gradients of attention under a causal mask compute the tiles at and below the diagonal",
          "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto context = runtime::cuda::Context::get(0);
  const auto steps = [&](const AttentionOptions& options) {
    const plan::KernelSources made = gradients_of({1, 512, 512, 16}, options, gpu.target());
    std::vector<uint64_t> out;
    for (const runtime::PlanStep& step : made.scheduled.plan.steps) {
      const codegen::NormalizedKernel kernel =
          codegen::normalize(made.scheduled.kernels[static_cast<size_t>(step.program)], gpu.target());
      const std::vector<runtime::KernelSource> sources{
          codegen::generate_source(kernel, gpu.target(), codegen::tune_for_gpu(kernel.main, gpu.target()), {})};
      const auto program = runtime::compile(sources, gpu.target())[0];
      runtime::cuda::sim::clear_reports();
      launched(*context, *program, program->task_count(fixed_sizes(step.outer)), memory_of(made.scheduled.plan, step),
               numbers_of(kernel.main));
      out.push_back(runtime::cuda::sim::counters(program->name()).matrix_steps);
    }
    return out;
  };
  const std::vector<uint64_t> all = steps({}), causal = steps({.is_causal = true});
  REQUIRE(all.size() == 4);
  REQUIRE(causal.size() == 4);
  CHECK(std::count(all.begin(), all.end(), 0) == 1);
  for (size_t i = 0; i < all.size(); ++i) CHECK(causal[i] * 16 == all[i] * 10);  // of 4 x 4 tiles of 128 x 128
}
