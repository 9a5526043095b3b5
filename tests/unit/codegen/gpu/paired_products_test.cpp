// Two products back to back on tensor cores, with a softmax between them: what threads hold of the first is a factor of
// the second.
#include "codegen/codegen.h"
#include "codegen/kernel/access.h"
#include "codegen/loopschedule/opt_parse.h"
#include "codegen/tune/gpu/tuner.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;

namespace {

struct PairSize {
  int64_t rows, features, blocks, keys, depth;
};

/// out[i, f] = sum over blocks j of ExpSum(m[i, j], sum over b of bf16(exp(x[i, j, b] - m)) v[j, b, f]), divided by the
/// same with 1 for v, where x = q k^T and m is its maximum in the block.
KernelHarness attention(const PairSize& size, DType dtype) {
  KernelHarness b;
  UOp q = b.buffer(random_array(dtype, {size.rows, size.depth}, 1));
  UOp k = b.buffer(random_array(dtype, {size.blocks, size.keys, size.depth}, 2));
  UOp v = b.buffer(random_array(dtype, {size.blocks, size.keys, size.features}, 3));
  UOp out = b.buffer(Array(DType::F32, {size.rows, size.features}));
  UOp i = b.outer(size.rows), f = b.inner(size.features, 1), j = b.over(size.blocks, 2), key = b.over(size.keys, 3),
      d = b.over(size.depth, 4);
  UOp x = b.reduce(Combine::Dot, {b.at(q, {i, d}), b.at(k, {j, key, d})}, {d}, {.mma = true}) * 0.25;
  UOp most = b.reduce(Combine::Max, {x}, {key}, {.lanes = 8});
  UOp e = exp(x - most);
  UOp weighted = b.reduce(Combine::Dot, {cast(e, dtype), b.at(v, {j, key, f})}, {key}, {.mma = true});
  UOp sum = b.reduce(Combine::Add, {e}, {key}, {.lanes = 8});
  b.stores({b.put(
      out, {i, f},
      b.reduce(Combine::ExpSum, {most, weighted}, {j}, {}, 1) / b.reduce(Combine::ExpSum, {most, sum}, {j}, {}, 1))});
  return b;
}

/// The number of the load from a slot, as Opts name values.
int load_from(const codegen::Kernel& kernel, int64_t slot) {
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  for (size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n]->op == Op::Load && codegen::slot_of(nodes[n]) == slot) return static_cast<int>(n);
  FAIL("no such load");
  return -1;
}

}  // namespace

TEST_CASE("two products back to back leave what the interpreter computes", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto run = [&](const PairSize& size, DType dtype, const std::vector<std::string>& more) {
    KernelHarness b = attention(size, dtype);
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    const std::string tiles =
        fmt::format("mma(0, 1) mma(0, 3) unroll(1, {}) unroll(3, {})", size.features / 8, size.keys / 8);
    const std::string rings = fmt::format(
        " thread_bind(0, 2, 32) split(2, 1) tile_copy(#{}, 2.0, 3, 4 lanes 8, pad 8, slots 2 async) "
        "tile_copy(#{}, 2.0, 3, 1 lanes 8, pad 8, slots 2 async) tile_copy(#{}, 0, 4 lanes 8, pad 8)",
        load_from(normalized.main, 1), load_from(normalized.main, 2), load_from(normalized.main, 0));
    std::vector<std::string> lists = more;
    for (const std::string& list : {tiles, tiles + " unroll(4, 2)", tiles + rings}) lists.push_back(list);
    std::vector<runtime::KernelSource> sources;
    for (const std::string& list : lists)
      sources.push_back(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}));
    const auto programs = runtime::compile(sources, gpu.target());
    const std::vector<Array> before = b.interpret();
    for (size_t i = 0; i < programs.size(); ++i) {
      INFO(name_of(dtype) << " " << size.rows << " " << size.features << " " << size.keys);
      gpu.compare(b, lists[i], *programs[i], before);
    }
  };
  run({32, 16, 3, 32, 32}, DType::BF16, {"", "thread_bind(0, 8, 1)"});
  run({64, 24, 2, 64, 32}, DType::F16, {});
  run({37, 16, 2, 32, 32}, DType::BF16, {});
  run({32, 16, 5, 16, 48}, DType::BF16, {});
}

TEST_CASE("columns of a product that are no whole steps of the next are refused", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto refuses = [&](int64_t keys, const char* list) {
    KernelHarness b = attention({32, 16, 2, keys, 32}, DType::BF16);
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    INFO(list);
    CHECK_THROWS_AS(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}),
                    codegen::IllegalOpt);
  };
  refuses(32, "mma(0, 1) mma(0, 3) unroll(1, 2)");
  refuses(24, "mma(0, 1) mma(0, 3) unroll(1, 2) unroll(3, 3)");
  refuses(32, "mma(0, 1) mma(0, 3) unroll(1, 2) unroll(3, 2) thread_bind(3, 2, 32)");
}

TEST_CASE("each proposal for two products back to back leaves what the interpreter computes", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  KernelHarness b = attention({64, 16, 2, 32, 32}, DType::BF16);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  std::vector<runtime::KernelSource> sources;
  std::vector<std::string> lists;
  size_t staged = 0;
  for (const codegen::RankedCandidate& r : codegen::rank_candidates(normalized.main, gpu.target())) {
    if (std::string_view(r.candidate.generator) != "mma pair") continue;
    lists.push_back(codegen::to_string(r.candidate.opts));
    staged += lists.back().find("async") != std::string::npos;
    sources.push_back(codegen::generate_source(normalized, gpu.target(), r.candidate.opts, {}));
  }
  CHECK(staged >= 4);  // warps and slots
  CHECK(lists.size() > staged);
  const auto programs = runtime::compile(sources, gpu.target());
  const std::vector<Array> before = b.interpret();
  for (size_t i = 0; i < programs.size(); ++i) gpu.compare(b, lists[i], *programs[i], before);
}
