// Kernels for a GPU on the simulated device, against the interpreter to the bit, with everything that the simulator
// checks. CODEGEN_FUZZ sets how many random kernels, CODEGEN_SEED the first.
#include <optional>

#include "cases.h"
#include "codegen/nest/ring.h"
#include "codegen/nest/thread_digits.h"
#include "codegen/tune/choose_opts.h"
#include "codegen/tune/gpu/tuner.h"
#include "ir/walk.h"
#include "runtime/cuda/simulator.h"
#include "sinter/error.h"
#include "unit/codegen/cuda_support.h"
#include "unit/codegen/random_kernels.h"

using namespace codegen_test;

TEST_CASE("random kernels for a GPU under random Opts", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  const auto first = number("CODEGEN_SEED", 1);
  const auto kernels = number("CODEGEN_FUZZ", cases(60));
  int legal = 0, refused = 0;
  std::map<std::string, int> used;
  for (unsigned seed = first; seed < first + kernels; ++seed) {
    INFO("CODEGEN_SEED=" << seed);
    KernelGenerator maker(seed, seed % 2 == 0);
    KernelHarness b = maker.make();
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel);
    std::vector<std::vector<Opt>> lists{{}, codegen::choose_opts(normalized.main, gpu.target())};
    for (int i = 0; i < 4; ++i) lists.push_back(maker.opts(normalized.main, true));
    const std::vector<UOp> nodes = topological(normalized.main.sink);
    std::vector<runtime::KernelSource> sources;
    std::vector<std::string> names;
    for (size_t i = 0; i < lists.size(); ++i) try {
        std::vector<Opt> finish;
        if (normalized.epilogue_kernel && always_has_tasks(normalized.main) && i % 2)
          finish = {codegen::LastBlock{codegen::make_loop_schedule(normalized.main, lists[i]).threads}};
        sources.push_back(codegen::generate_source(normalized, gpu.target(), lists[i], finish));
        names.push_back(to_string(lists[i]));
        used["last block"] += sources.back().takes_tickets;
        for (const Opt& o : lists[i]) {
          ++used[to_string(o).substr(0, to_string(o).find('('))];
          used["slots"] += to_string(o).find("slots") != std::string::npos;
          if (const auto* copy = std::get_if<codegen::TileCopy>(&o)) {
            used["joined dims"] += std::ranges::any_of(copy->dims, &codegen::TileCopy::CopyDim::joined);
            used["results"] += nodes[static_cast<size_t>(copy->value)]->op == Op::Store;
          }
        }
        legal += i > 1;
      } catch (const codegen::IllegalOpt& e) {
        INFO(to_string(lists[i]));
        if (i < 2) FAIL(e.what());
        ++refused;
      }
    const std::vector<Array> before = b.interpret();
    const auto programs = runtime::compile(sources, gpu.target());
    for (size_t i = 0; i < programs.size(); ++i) {
      INFO(sources[i].text);
      gpu.compare(b, names[i], *programs[i], before);
    }
  }
  INFO(legal << " legal lists, " << refused << " refused");
  if (kernels < 50) return;
  CHECK(legal >= static_cast<int>(kernels));
  for (const char* opt : {"lanes", "unroll", "split", "order", "materialize", "tile_copy", "block", "thread_bind"}) {
    INFO(opt << ": " << used[opt]);
    CHECK(used[opt] >= 8);
  }
  for (const char* kind : {"last block", "joined dims", "results"}) {
    INFO(kind << ": " << used[kind]);
    CHECK(used[kind] >= 5);
  }
}

TEST_CASE("a block of a sum that is shorter than the others takes no turn too many on a GPU", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {39, 13}, 1)), out = b.buffer(Array(DType::I64, {1}));
  UOp i = b.over(39, 0), k = b.over(13, 1);
  UOp number = cast(i * b.index(13) + k, DType::I64);
  b.stores({b.put(out, {b.index(0)}, b.reduce(Combine::ArgMin, {b.at(x, {i, k}), number}, {i, k}, {256, 104}, 1))});
  const std::vector<runtime::KernelSource> sources{
      codegen::generate_source(b.kernel, gpu.target(), std::vector<Opt>{})};
  const std::vector<Array> before = b.interpret();
  gpu.compare(b, "blocks of 8, 8, 8, 8 and 7 rows", *runtime::compile(sources, gpu.target())[0], before);
}

TEST_CASE("a sum that rests where it is stored is read by all threads before one of them stores", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {4, 2, 3}, 1)), out = b.buffer(Array(DType::F32, {2}));
  UOp i = b.over(4, 10), j = b.over(2, 12), k = b.over(3, 13);
  b.stores({b.put(out, {j}, b.reduce(Combine::Max, {b.at(x, {i, j, k})}, {i, k}) * 2.0)});
  const std::vector<runtime::KernelSource> sources{
      codegen::generate_source(b.kernel, gpu.target(), {codegen::ThreadBind{12, 2, 4}})};
  const std::vector<Array> before = b.interpret();
  gpu.compare(b, "two threads, and three more for each of them", *runtime::compile(sources, gpu.target())[0], before);
}

TEST_CASE("a row is made in the block whose stores read it: others would read what these change", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {33}, 1)), out = b.buffer(Array(DType::F32, {33})),
      sums = b.buffer(random_array(DType::F32, {2}, 2));
  UOp i = b.outer(33), j = b.inner(2, 1);
  b.stores({b.put(out, {i}, b.at(x, {i})), b.put(sums, {j}, b.at(sums, {j}) * 2.0, true)});
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  const std::vector<UOp> nodes = ir::topological(normalized.main.sink);
  const auto doubled =
      std::find_if(nodes.begin(), nodes.end(), [](UOp n) { return n->op == Op::Mul && n->dtype == DType::F32; });
  REQUIRE(doubled != nodes.end());
  const codegen::Materialize row{static_cast<int>(doubled - nodes.begin()), {1}};
  const std::vector<runtime::KernelSource> sources{
      codegen::generate_source(normalized, gpu.target(), {codegen::TaskBlock{0, 16}, row}, {})};
  const std::vector<Array> before = b.interpret();
  gpu.compare(b, "three blocks", *runtime::compile(sources, gpu.target())[0], before);
}

namespace {

/// The candidate whose block is a square of results with this side, and whose operands go through rings of two slots.
/// Which candidate a kernel gets depends on the machine; what a ring promises does not.
std::vector<Opt> ring_of_squares(const codegen::Kernel& kernel, runtime::Target target, int64_t side = 64) {
  target.threads = 1;  // every tile fills one multiprocessor
  codegen::TuneSpace space(kernel, target, {});
  std::vector<codegen::Candidate> tiles, all;
  propose_products(space, tiles);
  for (const codegen::Candidate& c : tiles)
    if (c.refine) c.refine(all);
  std::optional<double> least;
  std::vector<Opt> best;
  for (const codegen::Candidate& c : all) {
    const codegen::LoopSchedule schedule = codegen::make_loop_schedule(kernel, c.opts);
    if (schedule.tile_copies.size() != 2 ||
        std::any_of(schedule.tile_copies.begin(), schedule.tile_copies.end(),
                    [](const codegen::TileCopy& t) { return t.slots != 2; }) ||
        std::any_of(schedule.outer.begin(), schedule.outer.end(), [&](UOp o) { return schedule.of(o).block != side; }))
      continue;
    const auto terms = codegen::predict_clocks(kernel, c.opts, target);
    if (!terms || (least && terms->clocks() >= *least)) continue;
    least = terms->clocks();
    best = c.opts;
  }
  INFO("squares of " << side);
  REQUIRE(least);
  return best;
}
/// Values of the sum in a block of a tile, and the number of blocks.
int64_t depth_of(const std::vector<Opt>& opts) {
  for (const Opt& o : opts)
    if (const auto* split = std::get_if<codegen::Split>(&o)) return split->step;
  FAIL("the sum is not split");
  return 0;
}
int64_t steps_of(const std::vector<Opt>& opts, int64_t values) {
  return (values + depth_of(opts) - 1) / depth_of(opts);
}

}  // namespace

TEST_CASE("a product on a GPU reads each operand once per block of its result", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  // Sizes with and without edges; B as it lies and transposed.
  struct Case {
    int64_t m, n, k;
    bool transposed;
  };
  for (const Case& c :
       {Case{128, 64, 64, false}, Case{64, 128, 80, true}, Case{70, 67, 65, false}, Case{65, 130, 77, true}}) {
    INFO(c.m << " x " << c.n << " x " << c.k << (c.transposed ? ", transposed" : ""));
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {c.m, c.k}, 1));
    UOp y = b.buffer(random_array(DType::F32, c.transposed ? std::vector{c.n, c.k} : std::vector{c.k, c.n}, 2));
    UOp out = b.buffer(Array(DType::F32, {c.m, c.n}));
    UOp i = b.outer(c.m), j = b.outer(c.n), k = b.over(c.k, 2);
    b.stores({b.put(out, {i, j},
                    b.reduce(Combine::Dot, {b.at(x, {i, k}), c.transposed ? b.at(y, {j, k}) : b.at(y, {k, j})}, {k}))});
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    const std::vector<Opt> opts = ring_of_squares(normalized.main, gpu.target());
    INFO(to_string(opts));
    const std::vector<runtime::KernelSource> sources{codegen::generate_source(normalized, gpu.target(), opts, {})};
    const std::vector<Array> before = b.interpret();
    const auto program = runtime::compile(sources, gpu.target())[0];
    gpu.compare(b, to_string(opts), *program, before);
    const runtime::cuda::sim::CostCounters counted = runtime::cuda::sim::counters(program->name());
    const int64_t rows = (c.m + 63) / 64, columns = (c.n + 63) / 64;  // blocks of 64 x 64
    // Whole sectors of 8 floats, one more where a row of a block begins inside one; the result is written once.
    const int64_t steps = steps_of(opts, c.k), run = depth_of(opts) / 8 + 1;
    const int64_t x_sectors = columns * c.m * steps * run, result = c.m * (c.n / 8 + 2 * columns);
    const int64_t y_sectors = rows * (c.transposed ? c.n * steps * run : c.k * (c.n / 8 + 2 * columns));
    CHECK(static_cast<int64_t>(counted.sectors) <= x_sectors + y_sectors + result);
    CHECK(counted.wavefronts <= counted.ideal_wavefronts * 2);
  }
}

namespace {

/// A product of square matrices of float32 in one of the ways in which its operands may lie: "nt" is A times B
/// transposed.
class Product {
 public:
  Product(const std::string& layout, int64_t size, int64_t depth, const runtime::Target& target, int64_t side = 64)
      : gpu_(target) {
    const bool at = layout[0] == 't', bt = layout[1] == 't';
    UOp x = bench.buffer(random_array(DType::F32, at ? std::vector{depth, size} : std::vector{size, depth}, 1));
    UOp y = bench.buffer(random_array(DType::F32, bt ? std::vector{size, depth} : std::vector{depth, size}, 2));
    UOp out = bench.buffer(Array(DType::F32, {size, size}));
    UOp i = bench.outer(size), j = bench.outer(size), k = bench.over(depth, kDepth);
    UOp a = at ? bench.at(x, {k, i}) : bench.at(x, {i, k}), b = bt ? bench.at(y, {j, k}) : bench.at(y, {k, j});
    bench.stores({bench.put(out, {i, j}, bench.reduce(Combine::Dot, {a, b}, {k}))});
    normalized_.emplace(codegen::normalize(bench.kernel, target));
    opts = ring_of_squares(normalized_->main, target, side);
    before_ = bench.interpret();
  }

  /// What the simulated device counts under these Opts; the result must be the interpreter's.
  runtime::cuda::sim::CostCounters run(const SimulatedGpu& gpu, const std::vector<Opt>& list) const {
    INFO(to_string(list));
    const std::vector<runtime::KernelSource> sources{codegen::generate_source(*normalized_, gpu_, list, {})};
    const auto program = runtime::compile(sources, gpu_)[0];
    runtime::cuda::sim::clear_reports();
    gpu.compare(bench, to_string(list), *program, before_);
    return runtime::cuda::sim::counters(program->name());
  }
  /// Tiles as they are without a choice: the operand that threads share along rows with the sum's values side by side,
  /// the other with columns, rows one behind the other.
  std::vector<Opt> plain() const {
    std::vector<Opt> list = opts;
    bool across = false;  // the second operand
    for (Opt& o : list)
      if (codegen::TileCopy* s = std::get_if<codegen::TileCopy>(&o)) {
        s->pad = s->swizzle_unit = 0;
        if ((s->dims[1].range == kDepth) == across) std::swap(s->dims[0], s->dims[1]);
        across = true;
      }
    return list;
  }

  const codegen::Kernel& kernel() const { return normalized_->main; }

  KernelHarness bench;
  std::vector<Opt> opts;

 private:
  static constexpr int kDepth = 2;  ///< the range that is summed
  runtime::Target gpu_;
  std::optional<codegen::NormalizedKernel> normalized_;
  std::vector<Array> before_;
};

}  // namespace

TEST_CASE("staged operands of a product meet no bank of shared memory twice", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  for (const int64_t size : {64, 128})  // with small and large register tiles
    for (const char* layout : {"nn", "nt", "tn", "tt"}) {
      const Product product(layout, size, 64, gpu.target(), size);
      const auto chosen = product.run(gpu, product.opts), plain = product.run(gpu, product.plain());
      INFO(layout << " of " << size << ": " << chosen.wavefronts << " passes over the banks in "
                  << chosen.shared_requests << " requests, " << plain.wavefronts << " in " << plain.shared_requests
                  << " without a layout; ideal " << chosen.ideal_wavefronts);
      CHECK(chosen.wavefronts == chosen.ideal_wavefronts);
      CHECK(plain.wavefronts > plain.ideal_wavefronts);
    }
}

TEST_CASE("a product with two slots waits once for each block of its sum", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  struct Case {
    int64_t size, depth;
  };
  for (const char* layout : {"nn", "nt", "tn", "tt"})
    for (const Case& c : {Case{64, 64}, Case{67, 72}, Case{130, 65}}) {  // with and without edges
      const Product product(layout, c.size, c.depth, gpu.target());
      std::vector<Opt> single = product.opts;
      for (Opt& o : single)
        if (codegen::TileCopy* s = std::get_if<codegen::TileCopy>(&o)) {
          CHECK(s->slots == 2);
          s->slots = 1;
        }
      const auto two = product.run(gpu, product.opts), one = product.run(gpu, single);
      const uint64_t points = static_cast<uint64_t>((c.size + 63) / 64) * static_cast<uint64_t>((c.size + 63) / 64),
                     steps = static_cast<uint64_t>(steps_of(product.opts, c.depth));
      INFO(layout << " of " << c.size << " x " << c.depth);
      CHECK(two.barriers == points * steps);
      CHECK(one.barriers == points * 2 * steps);
      CHECK(two.sectors == one.sectors);
    }
}

using Items = std::vector<codegen::LoopItem>;

/// Calls `f(list, i)` at each item of a tree, which it may change.
template <class F>
void at_each(Items& list, const F& f) {
  for (size_t i = 0; i < list.size(); ++i) {
    at_each(list[i].body, f);
    f(list, i);
  }
}

TEST_CASE("a loop tree that lacks a barrier or a part of what is filled ahead is refused", "[codegen][cuda]") {
  using ItemKind = codegen::LoopItem::ItemKind;
  const SimulatedGpu gpu;
  const Product product("nn", 67, 72, gpu.target());
  const codegen::LoopSchedule schedule = codegen::make_loop_schedule(product.kernel(), product.opts);
  codegen::FreeRanges ranges;
  codegen::Statements statements = codegen::make_statements(product.kernel(), schedule, ranges);
  Items tree = codegen::make_loop_tree(statements);
  const auto legal = [&](const Items& t) {
    try {
      codegen::verify(t, statements, codegen::RingFills::Pipelined);
      codegen::verify_barriers(t, statements, schedule);
      return true;
    } catch (const InternalError&) { return false; }
  };
  CHECK_FALSE(legal(tree));  // tiles with two slots are filled in place
  codegen::pipeline_ring_fills(tree, statements);
  CHECK_FALSE(legal(tree));  // no thread waits for another
  codegen::add_barriers(tree, statements, schedule);
  REQUIRE(legal(tree));
  CHECK_THROWS_AS(codegen::verify(tree, statements), InternalError);
  CHECK_THROWS_AS(codegen::verify_barriers(tree, statements, codegen::make_loop_schedule(product.kernel(), {})),
                  InternalError);

  // `tree` with item `k` of all, in the order of at_each(), changed.
  const auto changed = [&](int k, auto change) {
    Items broken = tree;
    int number = 0;
    at_each(broken, [&](Items& list, size_t i) {
      if (number++ == k) change(list, i);
    });
    return broken;
  };
  std::map<ItemKind, int> kinds;
  std::vector<ItemKind> whats;
  at_each(tree, [&](Items& list, size_t i) { ++kinds[list[i].kind], whats.push_back(list[i].kind); });
  for (const ItemKind what : {ItemKind::Init, ItemKind::Update, ItemKind::Finish, ItemKind::Store, ItemKind::Barrier,
                              ItemKind::FillFirst, ItemKind::FillNext, ItemKind::Fetch, ItemKind::Put})
    CHECK(kinds[what] > 0);
  for (int k = 0; k < static_cast<int>(whats.size()); ++k) {
    INFO(to_string(tree) << "item " << k << ", children first");
    CHECK_FALSE(
        legal(changed(k, [](Items& list, size_t i) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(i)); })));
    const ItemKind what = whats[static_cast<size_t>(k)];
    for (const ItemKind other :
         {ItemKind::Store, ItemKind::Fetch, ItemKind::Put, ItemKind::FillFirst, ItemKind::FillNext, ItemKind::Loop}) {
      const bool body = other == ItemKind::FillFirst || other == ItemKind::FillNext || other == ItemKind::Loop;
      if (what == other || body != codegen::LoopItem{what}.has_body() || what == ItemKind::Barrier) continue;
      CHECK_FALSE(legal(changed(k, [&](Items& list, size_t i) { list[i].kind = other; })));
    }
    if (what == ItemKind::FillNext)  // at the other end of its loop
      CHECK_FALSE(legal(changed(k, [](Items& list, size_t i) {
        const codegen::LoopItem next = list[i];
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
        list.insert(i == 0 ? list.end() : list.begin(), next);
      })));
  }
}

TEST_CASE("threads exchange the chains of several results between two barriers", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  constexpr int kRows = 16;
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {kRows, 300}, 1)), sums = b.buffer(Array(DType::F32, {kRows})),
      tops = b.buffer(Array(DType::I32, {kRows}));
  UOp i = b.inner(kRows, 0), k = b.over(300, 1);
  const ReductionTree tree{256, 0};
  const UOp at = cast(b.at(x, {i, k}) * 100.0, DType::I32);
  b.stores({b.put(sums, {i}, b.reduce(Combine::Add, {b.at(x, {i, k})}, {k}, tree)),
            b.put(tops, {i}, b.reduce(Combine::Max, {at}, {k}, tree))});
  const std::vector<Array> before = b.interpret();
  // A result takes 128 or 256 threads x 2 or 1 lanes x 4 bytes, and each of two dtypes has 8 KiB for exchanges. All
  // sums come before all maxima: of 16 rows 8 sums, 8 sums with 8 maxima, 8 maxima.
  for (const auto& [opts, barriers] : std::vector<std::pair<std::vector<Opt>, int>>{
           {{codegen::Unroll{0, 8}, codegen::ThreadBind{1, 256, 1}}, 2},
           {{codegen::Unroll{0, 8}, codegen::ThreadBind{1, 128, 1}, codegen::Lanes{1, 2}}, 2},
           {{codegen::Unroll{0, kRows}, codegen::ThreadBind{1, 256, 1}}, 5},
           {{codegen::ThreadBind{1, 256, 1}}, 2}}) {
    INFO(to_string(opts));
    const runtime::KernelSource source =
        codegen::generate_source(codegen::normalize(b.kernel, gpu.target()), gpu.target(), opts, {});
    INFO(source.text);
    CHECK(count(source.text, "__syncthreads();") == barriers);
    gpu.compare(b, to_string(opts), *runtime::compile({&source, 1}, gpu.target())[0], before);
  }
}
