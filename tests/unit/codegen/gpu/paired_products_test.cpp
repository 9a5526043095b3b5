// Two products back to back on tensor cores, with a softmax between them: what threads hold of the first is a factor of
// the second.
#include <limits>
#include <optional>

#include "codegen/codegen.h"
#include "codegen/kernel/access.h"
#include "codegen/loopschedule/opt_parse.h"
#include "codegen/tune/gpu/tuner.h"
#include "explain.h"
#include "runtime/cuda/simulator.h"
#include "sinter/attention.h"
#include "step_memory.h"
#include "unit/codegen/cuda_support.h"
#include "unit/codegen/tune/gpu/measured_kernels.h"

using namespace codegen_test;

namespace {

struct PairSize {
  int64_t rows, features, blocks, keys, depth;
};

/// Row i sees the keys from i - before to i + behind.
struct Window {
  int64_t before, behind;
};

/// out[i, f] = sum over blocks j of ExpSum(m[i, j], sum over b of bf16(exp(x[i, j, b] - m)) v[j, b, f]), divided by the
/// same with 1 for v, where x = q k^T and m is its maximum in the block. With a window, x is -inf outside of it, and
/// blocks of which a row sees nothing add nothing.
KernelHarness attention(const PairSize& size, DType dtype, std::optional<Window> window = {}) {
  KernelHarness b;
  UOp q = b.buffer(random_array(dtype, {size.rows, size.depth}, 1));
  UOp k = b.buffer(random_array(dtype, {size.blocks, size.keys, size.depth}, 2));
  UOp v = b.buffer(random_array(dtype, {size.blocks, size.keys, size.features}, 3));
  UOp out = b.buffer(Array(DType::F32, {size.rows, size.features}));
  UOp i = b.outer(size.rows), f = b.inner(size.features, 1), j = b.over(size.blocks, 2), key = b.over(size.keys, 3),
      d = b.over(size.depth, 4);
  UOp x = b.reduce(Combine::Dot, {b.at(q, {i, d}), b.at(k, {j, key, d})}, {d}, {.mma = true}) * 0.25;
  const double infinity = std::numeric_limits<double>::infinity();
  UOp seen;
  if (window) {
    const UOp first = j * static_cast<double>(size.keys), at = first + key;
    const auto inside = [&](UOp from, UOp to) {
      return lt(i, from + static_cast<double>(window->before + 1)) &
             lt(to, i + static_cast<double>(window->behind + 1));
    };
    x = where(inside(at, at), x, like(x, -infinity));
    seen = inside(first + static_cast<double>(size.keys - 1), first);
  }
  UOp most = b.reduce(Combine::Max, {x}, {key}, {.lanes = 8});
  UOp shift = window ? where(lt(like(most, -infinity), most), most, like(most, 0.0)) : most;
  UOp e = exp(x - shift);
  UOp weighted = b.reduce(Combine::Dot, {cast(e, dtype), b.at(v, {j, key, f})}, {key}, {.mma = true});
  UOp sum = b.reduce(Combine::Add, {e}, {key}, {.lanes = 8});
  if (window) {
    most = where(seen, most, like(most, -infinity));
    weighted = where(seen, weighted, like(weighted, 0.0));
    sum = where(seen, sum, like(sum, 0.0));
  }
  b.stores({b.put(
      out, {i, f},
      b.reduce(Combine::ExpSum, {most, weighted}, {j}, {}, 1) / b.reduce(Combine::ExpSum, {most, sum}, {j}, {}, 1))});
  return b;
}

/// Blocks of keys of which a tile of rows sees anything, in all tiles.
int64_t seen_blocks(const PairSize& size, const Window& window, int64_t tile) {
  int64_t all = 0;
  for (int64_t first = 0; first < size.rows; first += tile)
    for (int64_t j = 0; j < size.blocks; ++j)
      all += j * size.keys <= first + tile - 1 + window.behind && (j + 1) * size.keys > first - window.before;
  return all;
}

/// The number of the load from a slot, as Opts name values.
int load_from(const codegen::Kernel& kernel, int64_t slot) {
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  for (size_t n = 0; n < nodes.size(); ++n)
    if (nodes[n]->op == Op::Load && codegen::slot_of(nodes[n]) == slot) return static_cast<int>(n);
  FAIL("no such load");
  return -1;
}

std::string tiles_of(const PairSize& size) {
  return fmt::format("mma(0, 1) mma(0, 3) unroll(1, {}) unroll(3, {})", size.features / 8, size.keys / 8);
}
std::string rings_of(const codegen::Kernel& kernel, int slots) {
  return fmt::format(
      " split(2, 1) tile_copy(#{}, 2.0, 3, 4 lanes 8, pad 8, slots {} async) "
      "tile_copy(#{}, 2.0, 3, 1 lanes 8, pad 8, slots {} async) tile_copy(#{}, 0, 4 lanes 8, pad 8)",
      load_from(kernel, 1), slots, load_from(kernel, 2), slots, load_from(kernel, 0));
}

}  // namespace

TEST_CASE("two products back to back leave what the interpreter computes", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto run = [&](const PairSize& size, DType dtype, const std::vector<std::string>& more) {
    KernelHarness b = attention(size, dtype);
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    const std::string tiles = tiles_of(size), rings = " thread_bind(0, 2, 32)" + rings_of(normalized.main, 2);
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
  run({32, 16, 3, 32, 32}, DType::BF16, {"thread_bind(0, 8, 1)"});
  run({64, 24, 2, 64, 32}, DType::F16, {});
  run({37, 16, 2, 32, 32}, DType::BF16, {});
  run({32, 16, 5, 16, 48}, DType::BF16, {});
}

TEST_CASE("blocks of keys of which no row of a tile sees anything are not computed", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  constexpr int64_t kAll = 1 << 20;
  const auto run = [&](const PairSize& size, const Window& window, const std::vector<std::string>& without_tiles = {}) {
    KernelHarness b = attention(size, DType::BF16, window);
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    const std::string tiles = tiles_of(size), warps = " thread_bind(0, 2, 32)";
    std::vector<std::string> lists = without_tiles;
    lists.push_back(tiles + " split(2, 2)");
    const size_t uncounted = lists.size();  // no tiles, or blocks two at a time
    for (const std::string& list :
         {tiles, tiles + rings_of(normalized.main, 2), tiles + warps + rings_of(normalized.main, 3)})
      lists.push_back(list);
    std::vector<runtime::KernelSource> sources;
    for (const std::string& list : lists)
      sources.push_back(codegen::generate_source(normalized, gpu.target(), codegen::parse_opts(list), {}));
    const auto programs = runtime::compile(sources, gpu.target());
    const std::vector<Array> before = b.interpret();
    const int64_t steps =
        size.keys / 8 * (size.depth / 16) + size.features / 8 * (size.keys / 16);  // a block's, for 16 rows
    for (size_t i = 0; i < lists.size(); ++i) {
      INFO(lists[i] << ", a window from -" << window.before << " to " << window.behind);
      runtime::cuda::sim::clear_reports();
      gpu.compare(b, lists[i], *programs[i], before);
      if (i < uncounted) continue;
      const int64_t warps_of_tile = i + 1 < lists.size() ? 1 : 2, tile = 16 * warps_of_tile;
      CHECK(static_cast<int64_t>(runtime::cuda::sim::counters(programs[i]->name()).matrix_steps) ==
            steps * warps_of_tile * seen_blocks(size, window, tile));
    }
  };
  run({64, 16, 4, 16, 32}, {kAll, 0});
  run({37, 16, 3, 16, 32}, {kAll, 5});
  run({64, 16, 2, 32, 32}, {kAll, -20});  // rows that see no key
  run({64, 16, 6, 16, 32}, {17, 3}, {"thread_bind(0, 8, 1)"});
}

TEST_CASE("attention under a causal mask computes the blocks of keys up to the diagonal", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const auto context = runtime::cuda::Context::get(0);
  const auto steps = [&](const AttentionOptions& options) {
    const auto heads = [] { return stored({1, 1, 512, 32}).to(bfloat16).realize(); };
    const auto made =
        testing::explain(std::vector{scaled_dot_product_attention(heads(), heads(), heads(), options)}, gpu.target());
    const runtime::Plan& plan = made.scheduled.plan;
    REQUIRE(plan.steps.size() == 1);
    const codegen::NormalizedKernel kernel = codegen::normalize(made.scheduled.kernels[0], gpu.target());
    const std::vector<runtime::KernelSource> sources{
        codegen::generate_source(kernel, gpu.target(), codegen::tune_for_gpu(kernel.main, gpu.target()), {})};
    const auto program = runtime::compile(sources, gpu.target())[0];
    runtime::cuda::sim::clear_reports();
    launched(*context, *program, program->task_count(fixed_sizes(plan.steps[0].outer)), memory_of(plan, plan.steps[0]),
             numbers_of(kernel.main));
    return runtime::cuda::sim::counters(program->name()).matrix_steps;
  };
  const uint64_t all = steps({});
  CHECK(steps({.is_causal = true}) * 16 == all * 10);  // of 4 x 4 blocks
}

TEST_CASE("a loop over blocks of keys that ends too early gives other numbers, and one too late the same",
          "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  const PairSize size{64, 16, 4, 16, 32};
  KernelHarness b = attention(size, DType::BF16, Window{1 << 20, 0});
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  const codegen::LoweredKernel right =
      codegen::lower(normalized, gpu.target(), codegen::parse_opts(tiles_of(size)), {});
  // The loop ends at min(all, last + 1).
  const auto edited = [&](const auto& change) {
    codegen::LoweredKernel code = right;
    int found = 0;
    for (codegen::Inst& n : code.main.insts)
      if (n.code == codegen::InstCode::Alu && n.op == Op::Min && !is_float(n.type.dtype)) {
        change(n, code.main[n.src[1]]);
        ++found;
      }
    CHECK(found == 1);
    return codegen::render(code, normalized.main.name, gpu.target());
  };
  const std::vector<runtime::KernelSource> sources{
      codegen::render(right, normalized.main.name, gpu.target()),
      edited([](codegen::Inst& end, const codegen::Inst& bound) { end.src[1] = bound.src[0]; }),
      edited([](codegen::Inst& end, const codegen::Inst&) { end.src[1] = end.src[0]; })};
  const auto programs = runtime::compile(sources, gpu.target());
  const auto context = runtime::cuda::Context::get(0);
  std::vector<std::vector<runtime::PoolVector<std::byte>>> left;
  std::vector<uint64_t> steps;
  for (const auto& program : programs) {
    runtime::cuda::sim::clear_reports();
    left.push_back(launched(*context, *program, b.points(*program), b.arrays, {}));
    steps.push_back(runtime::cuda::sim::counters(program->name()).matrix_steps);
  }
  CHECK(left[1] != left[0]);
  CHECK(steps[1] < steps[0]);
  CHECK(left[2] == left[0]);
  CHECK(steps[2] * 10 == steps[0] * 16);
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
