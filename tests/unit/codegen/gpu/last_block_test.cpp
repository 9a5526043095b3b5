// Sums in blocks whose last block finishes them: values against plain loops on the simulated GPU, launches, and
// what its races say of a kernel without a part of the pattern.
#include <fmt/format.h>

#include <functional>
#include <random>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/gpu/last_block.h"
#include "codegen/tune/gpu/tuner.h"
#include "explain.h"
#include "ir/walk.h"
#include "runtime/cuda/simulator.h"
#include "sinter/sinter.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;
namespace sim = sinter::runtime::cuda::sim;

namespace {

/// Small integers, whose sums are exact in every order.
Tensor numbers_of(const Shape& shape, DType dtype = float32) {
  const int64_t count = shape.bound();
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i * 37 % 13 - 6);
  return from(values, shape, Device::cuda()).to(dtype).realize();
}

/// Numbers in [-1, 1), whose sums show their order.
Tensor fractions_of(const Shape& shape) {
  std::mt19937 random(1);
  std::vector<float> values(static_cast<size_t>(shape.bound()));
  for (float& v : values) v = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
  return from(values, shape, Device::cuda()).realize();
}

/// What a program gives on the device, from plain loops for each tensor op, and the kernels that ran in blocks.
struct Run {
  std::vector<runtime::KernelSource> sources;
  std::vector<std::vector<double>> values;
};

using Program = std::function<std::vector<Tensor>()>;

std::vector<std::vector<double>> values_of(const Program& program, debug::Executor executor) {
  const debug::Executor before = debug::executor();
  debug::set_executor(executor);
  std::vector<Tensor> results = program();
  realize_all(results);
  std::vector<std::vector<double>> out;
  for (const Tensor& t : results) out.push_back(t.to(float64).to_vector<double>());
  debug::set_executor(before);
  return out;
}

int tickets_in(const std::vector<runtime::KernelSource>& sources) {
  int n = 0;
  for (const runtime::KernelSource& s : sources) n += s.takes_tickets ? 1 : 0;
  return n;
}

std::vector<runtime::KernelSource> sources_of(const Program& program) {
  const std::vector<Tensor> results = program();
  return testing::explain(results, runtime::cuda::Context::get(0)->target()).sources;
}

constexpr int64_t kLong = 1 << 18;

}  // namespace

TEST_CASE("sums in blocks are finished by their last block, with the bits of plain loops", "[codegen][cuda]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Tensor x = fractions_of({kLong}), y = fractions_of({kLong + 3}), table = fractions_of({1 << 16, 6});
  const Tensor integers = numbers_of({kLong});
  const Tensor n = integers.to(int32).realize(), tiny = integers.to(int8).realize(), half = x.to(float16).realize(),
               brain = x.to(bfloat16).realize();
  struct Case {
    const char* name;
    Program make;
    int tickets = 1;  ///< kernels that end so
  };
  for (const Case& c :
       std::vector<Case>{{"sum", [&] { return std::vector{x.sum()}; }},
                         {"sum of a length that no block divides", [&] { return std::vector{y.sum()}; }},
                         {"mean", [&] { return std::vector{x.mean()}; }},
                         {"what is made of a sum", [&] { return std::vector{sqrt(square(x).sum()) / 3 + 1}; }},
                         {"maximum", [&] { return std::vector{x.max()}; }},
                         {"argmax", [&] { return std::vector{x.argmax()}; }},
                         {"dot product", [&] { return std::vector{(x * (x + 1)).sum()}; }},
                         {"int32", [&] { return std::vector{n.sum()}; }},
                         {"int8", [&] { return std::vector{tiny.sum()}; }},
                         {"float16", [&] { return std::vector{half.sum()}; }},
                         {"bfloat16", [&] { return std::vector{brain.mean()}; }},
                         {"any", [&] { return std::vector{(x > 0.99999).any()}; }},
                         {"several results", [&] { return std::vector{x.sum(), x.max(), square(x).mean()}; }},
                         {"sums of few columns", [&] { return std::vector{table.sum(0)}; }},
                         {"a sum, and what is stored on the way", [&] { return std::vector{x + 1, (x + 1).sum()}; }},
                         {"two kernels in one launch", [&] { return std::vector{x.sum(), y.max()}; }, 2}}) {
    INFO(c.name);
    const std::vector<runtime::KernelSource> sources = sources_of(c.make);
    CHECK(tickets_in(sources) == c.tickets);
    const auto expected = values_of(c.make, debug::Executor::Unfused);
    for (int again = 0; again < 3; ++again) CHECK(values_of(c.make, debug::Executor::Compiled) == expected);
  }
}

TEST_CASE("a sum is one launch of one kernel", "[codegen][cuda]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Tensor x = numbers_of({kLong});
  const std::vector<runtime::KernelSource> sources = sources_of([&] { return std::vector{x.sum()}; });
  REQUIRE(sources.size() == 1);
  CHECK(sources[0].takes_tickets);
  CHECK_FALSE(sources[0].has_epilogue);
  CHECK(count(sources[0].text, "__global__") == 1);
  CHECK(count(sources[0].text, "__threadfence();") == 2);
  sim::clear_reports();
  for (uint64_t run = 1; run <= 3; ++run) {
    (void)x.sum().to_vector<float>();
    CHECK(sim::counters(sources[0].name).launches == run);
  }
}

TEST_CASE("a plan is run again and again, with tickets that begin at 0", "[codegen][cuda]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Tensor x = fractions_of({kLong});
  auto step = jit([](const Tensor& v) { return std::vector{v.sum(), (v * 2 + 1).max()}; });
  for (int run = 0; run < 5; ++run) {
    const Tensor now = (x + run).realize();
    const auto expected =
        values_of([&] { return std::vector{now.sum(), (now * 2 + 1).max()}; }, debug::Executor::Unfused);
    const std::vector<Tensor> got = step(now);
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i].to(float64).to_vector<double>() == expected[i]);
  }
}

TEST_CASE("sums of symbolic sizes are finished by the last block that there is", "[codegen][cuda]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  for (const int64_t least : {0, 1}) {
    const Var rows("rows", least, 300);
    for (const int64_t count : {0, 1, 2, 37, 300}) {
      if (count < least) continue;
      const Tensor x = fractions_of({300, 257}).narrow(0, 0, rows(count));
      const Program make = [&] { return std::vector{x.sum(), count ? x.max(0).values : x.sum(0), x.sum(1)}; };
      INFO(count << " rows of " << least << " or more");
      CHECK(values_of(make, debug::Executor::Compiled) == values_of(make, debug::Executor::Unfused));
    }
  }
}

namespace {

/// Column sums in blocks: `blocks` tasks of `rows` rows each, whose partial sums the epilogue adds.
KernelHarness column_sums(const Dim& blocks, int64_t rows, int64_t columns) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {blocks.bound() * rows, columns}, 1)),
      part = b.buffer(Array(DType::F32, {blocks.bound(), columns})), out = b.buffer(Array(DType::F32, {columns}));
  UOp i = b.outer(blocks), c = b.inner(columns, 1), k = b.over(rows, 2);
  b.stores({b.put(part, {i, c}, b.reduce(Combine::Add, {b.at(x, {i * b.index(rows) + k, c})}, {k}))});
  UOp last = b.inner(columns, 3), l = b.over(blocks, 4);
  b.kernel.epilogue_sink =
      sink(b.g(), {b.put(out, {last}, b.reduce(Combine::Add, {b.at(part, {l, last})}, {l}) * 2.0)});
  return b;
}

}  // namespace

TEST_CASE("some warps of the last block do all of the epilogue, or all of its threads", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  KernelHarness b = column_sums(6, 5, 40);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  REQUIRE(normalized.epilogue_kernel);
  REQUIRE(normalized.epilogue_kernel->outer.size() == 1);
  const codegen::TaskBlock all{0, 40};
  std::vector<std::string> names;
  std::vector<runtime::KernelSource> sources;
  for (const int threads : {8, 64}) {
    const std::vector<Opt> main{codegen::ThreadBind{1, threads, 1}};
    const auto add = [&](std::vector<Opt> finish, int last) {
      finish.insert(finish.end(), {all, codegen::LastBlock{last}});
      sources.push_back(codegen::generate_source(normalized, gpu.target(), main, finish));
      names.push_back(to_string(finish));
    };
    for (const int last : {threads, std::min(threads, 32)}) {
      add({}, last);
      add({codegen::ThreadBind{0, 4, 1}}, last);
      add({codegen::ThreadBind{0, 8, 1}, codegen::Lanes{0, 4}}, last);
    }
    sources.push_back(codegen::generate_source(normalized, gpu.target(), main,
                                               codegen::choose_epilogue_opts(normalized, gpu.target(), main)));
    names.emplace_back("chosen");
  }
  const std::vector<Array> before = b.interpret();
  const auto programs = runtime::compile(sources, gpu.target());
  for (size_t i = 0; i < programs.size(); ++i) {
    INFO(sources[i].text);
    CHECK(sources[i].takes_tickets);
    CHECK(count(sources[i].text, ", f32* p1,") == 1);  // what one part writes and one reads
    CHECK(count(sources[i].text, "__restrict__ p1") == 0);
    CHECK(count(sources[i].text, "__restrict__ p0") == 1);
    gpu.compare(b, names[i], *programs[i], before);
  }
  const auto refused = [&](int threads, const std::vector<Opt>& finish, const std::string& why) {
    CHECK_THROWS_WITH(codegen::generate_source(normalized, gpu.target(), {codegen::ThreadBind{1, threads, 1}}, finish),
                      Catch::Matchers::Contains(why));
  };
  refused(8, {all, codegen::LastBlock{16}}, "not some warps of the 8 threads");
  refused(64, {all, codegen::LastBlock{16}}, "not some warps of the 64 threads");
  refused(8, {codegen::LastBlock{8}}, "does not cover all outer ranges");
  refused(8, {codegen::ThreadBind{0, 16, 1}, all, codegen::LastBlock{8}}, "more threads");
  refused(8, {all, codegen::LastBlock{8}, codegen::Occupancy{2}}, "the occupancy of its main kernel");
  CHECK_THROWS_WITH(
      codegen::generate_source(normalized, gpu.target(), {codegen::TaskBlock{0, 6}, codegen::LastBlock{8}},
                               {all, codegen::LastBlock{8}}),
      Catch::Matchers::Contains("only an epilogue"));
  CHECK_THROWS_WITH(
      codegen::generate_source(codegen::normalize(b.kernel), runtime::reference_target(), {}, {codegen::LastBlock{1}}),
      Catch::Matchers::Contains("on GPUs only"));
}

TEST_CASE("an epilogue whose main kernel may have no block is a launch", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  for (const int64_t least : {0, 1}) {
    const Var blocks("blocks", least, 9);
    KernelHarness b = column_sums(blocks(5), 5, 40);
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    const std::vector<Opt> main = codegen::choose_opts(normalized.main, gpu.target());
    const runtime::KernelSource chosen = codegen::generate_source(
        normalized, gpu.target(), main, codegen::choose_epilogue_opts(normalized, gpu.target(), main));
    CHECK(chosen.takes_tickets == (least == 1));
    const std::vector<Array> before = b.interpret();
    gpu.compare(b, to_string(main), *runtime::compile({&chosen, 1}, gpu.target())[0], before);
    const std::vector<Opt> finish{codegen::TaskBlock{0, 40}, codegen::LastBlock{8}},
        eight{codegen::ThreadBind{1, 8, 1}};
    if (least == 0)
      CHECK_THROWS_WITH(codegen::generate_source(normalized, gpu.target(), eight, finish),
                        Catch::Matchers::Contains("the main kernel may have no block"));
    else
      CHECK(codegen::generate_source(normalized, gpu.target(), eight, finish).takes_tickets);
  }
}

TEST_CASE("an epilogue has tasks if each reads of its results what it stores itself", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  const auto normalized = [&](KernelHarness& b, UOp store) {
    b.kernel.epilogue_sink = sink(b.g(), {store});
    return codegen::normalize(b.kernel, gpu.target());
  };
  const auto tasks = [](const codegen::NormalizedKernel& k) {
    int64_t all = 1;
    for (const Dim& d : k.epilogue_kernel->outer) all *= d.value();
    return all;
  };
  const auto sum_of = [](KernelHarness& b, UOp column) {
    UOp l = b.over(6, 4);
    return b.reduce(Combine::Add, {b.at(param(b.g(), 1, DType::F32, {6, 40}), {l, column})}, {l});
  };
  {
    KernelHarness b = column_sums(6, 5, 40);
    UOp weights = b.buffer(random_array(DType::F32, {40}, 2)), c = b.inner(40, 3);
    const codegen::NormalizedKernel made = normalized(b, b.put(weights, {c}, b.at(weights, {c}) - sum_of(b, c) * 0.5));
    CHECK(tasks(made) == 40);
    const std::vector<Array> before = b.interpret();
    const runtime::KernelSource source =
        codegen::generate_source(made, gpu.target(), {codegen::ThreadBind{1, 8, 1}}, {codegen::ThreadBind{0, 8, 1}});
    CHECK(source.epilogue_blocks == 5);
    gpu.compare(b, "", *runtime::compile({&source, 1}, gpu.target())[0], before);
  }
  for (const bool apart : {false, true}) {  // in the second dim
    KernelHarness b = column_sums(6, 5, 40);
    UOp weights = b.buffer(random_array(DType::F32, {4, 10}, 2)), r = b.inner(4, 3), c = b.inner(10, 5);
    UOp mine = sum_of(b, r * b.index(10) + c), from = apart ? b.index(9) - c : c;
    CHECK(tasks(normalized(b, b.put(weights, {r, c}, b.at(weights, {r, from}) - mine))) == (apart ? 1 : 40));
  }
  KernelHarness b = column_sums(6, 5, 40);  // of rank 0
  UOp weight = b.buffer(random_array(DType::F32, {}, 2));
  CHECK(tasks(normalized(b, b.put(weight, {}, b.at(weight, {}) - sum_of(b, b.index(0))))) == 1);
}

TEST_CASE("an epilogue with barriers runs in some warps of the last block", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  KernelHarness b;  // a sum of six sums
  UOp x = b.buffer(random_array(DType::F32, {6, 64}, 1)), part = b.buffer(Array(DType::F32, {6, 64})),
      out = b.buffer(Array(DType::F32, {}));
  UOp i = b.outer(6), c = b.inner(64, 1), k = b.over(6, 2), l = b.over(64, 3);
  b.stores({b.put(part, {i, c}, b.at(x, {i, c}) * 3.0)});
  b.kernel.epilogue_sink =
      sink(b.g(), {b.put(out, {}, b.reduce(Combine::Add, {b.reduce(Combine::Add, {b.at(part, {k, l})}, {l})}, {k}))});
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  std::vector<runtime::KernelSource> sources;
  int barriers = 0;
  for (const codegen::RankedCandidate& r : codegen::rank_candidates(*normalized.epilogue_kernel, gpu.target()))
    for (const int last : {32, 64}) {
      std::vector<Opt> finish = r.candidate.opts;
      finish.emplace_back(codegen::LastBlock{last});
      if (r.terms.threads > last || !codegen::is_legal(*normalized.epilogue_kernel, finish)) continue;
      sources.push_back(codegen::generate_source(normalized, gpu.target(), {codegen::ThreadBind{1, 64, 1}}, finish));
      barriers += count(sources.back().text, "bar.sync 1, 32;");
    }
  CHECK(barriers > 0);
  const std::vector<Array> before = b.interpret();
  for (const auto& program : runtime::compile(sources, gpu.target())) gpu.compare(b, "", *program, before);
}

TEST_CASE("tiles of a main kernel and of its last block lie one over the other", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  const int64_t kRow = GENERATE(640, 13000);  // the second is more than a kernel may declare
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {3, kRow}, 1)), part = b.buffer(Array(DType::F32, {3, 64})),
      out = b.buffer(Array(DType::F32, {}));
  UOp i = b.outer(3), j = b.over(kRow, 1), c = b.inner(64, 2), k = b.over(3, 3), l = b.over(64, 4);
  UOp twice = b.at(x, {i, j}) * 2.0, most = b.reduce(Combine::Max, {twice}, {j}, {64, 0});
  UOp sum = b.reduce(Combine::Add, {twice - most}, {j}, {64, 0});
  b.stores({b.put(part, {i, c}, sum * b.at(x, {i, c}))});
  b.kernel.epilogue_sink =
      sink(b.g(), {b.put(out, {}, b.reduce(Combine::Add, {b.reduce(Combine::Add, {b.at(part, {k, l})}, {l})}, {k}))});
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
  const auto place = [](const codegen::Kernel& kernel, auto what) {
    const std::vector<UOp> nodes = ir::topological(kernel.sink);
    return static_cast<int>(std::find_if(nodes.begin(), nodes.end(), what) - nodes.begin());
  };
  const int row = place(normalized.main, [](UOp n) { return n->op == Op::Mul && n->dtype == DType::F32; });
  const int inner = place(*normalized.epilogue_kernel, [](UOp n) { return n->op == Op::Reduce; });
  const std::vector<Opt> main{codegen::ThreadBind{1, 64, 1}, codegen::Materialize{row, {1}}};
  const std::vector<Opt> finish{codegen::Materialize{inner, {3}}, codegen::ThreadBind{3, 4, 1}, codegen::LastBlock{32}};
  const std::vector<runtime::KernelSource> sources{codegen::generate_source(normalized, gpu.target(), main, finish)};
  INFO(sources[0].text);
  CHECK(sources[0].shared == kRow * 4 + 64 * 4);  // the main kernel's row, and what its threads exchange
  CHECK(count(sources[0].text, "extern __shared__") == 2);
  const std::vector<Array> before = b.interpret();
  gpu.compare(b, "", *runtime::compile(sources, gpu.target())[0], before);
}

TEST_CASE("an epilogue that is too much for one block is a launch", "[codegen][cuda]") {
  const runtime::Target target = runtime::cuda_target({});
  const auto finish_of = [&](int64_t blocks, int64_t columns) {
    KernelHarness b = column_sums(blocks, 4, columns);
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target);
    const std::vector<Opt> main = codegen::choose_opts(normalized.main, target);
    return codegen::generate_source(normalized, target, main, codegen::choose_epilogue_opts(normalized, target, main));
  };
  CHECK(finish_of(64, 4).takes_tickets);
  const runtime::KernelSource wide = finish_of(256, 1 << 14);
  CHECK_FALSE(wide.takes_tickets);
  CHECK(wide.has_epilogue);
  CHECK(wide.epilogue_blocks > 1);
}

TEST_CASE("each wave of a main kernel's blocks takes tickets, a launch does not", "[codegen][cuda]") {
  const runtime::Target target = runtime::cuda_target({});
  KernelHarness b = column_sums(64, 4, 4);
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target);
  const auto start = [&](int64_t blocks, const std::vector<Opt>& opts) {
    const codegen::ClockTerms main{.blocks = blocks, .resident = 2};
    const auto terms = codegen::predict_epilogue(*normalized.epilogue_kernel, opts, main, target).value();
    CHECK_THAT(to_string(terms), Catch::Matchers::Contains(fmt::format(" start {:.0f};", terms.start)));
    return terms.start;
  };
  const std::vector<Opt> last{codegen::TaskBlock{0, 4}, codegen::LastBlock{32}};
  const int64_t wave = 2 * target.threads;
  CHECK(start(1, last) > 0);
  CHECK(start(wave, last) == start(1, last));
  CHECK(start(wave + 1, last) == 2 * start(1, last));
  CHECK(start(wave + 1, {}) == start(1, {}));
  CHECK(start(1, {}) > start(1, last));
}

TEST_CASE("without a fence or its barrier the last block races with the others", "[codegen][cuda]") {
  KernelHarness b = column_sums(6, 5, 40);
  runtime::KernelSource good;
  {
    const SimulatedGpu gpu;
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, gpu.target());
    const std::vector<Opt> main{codegen::ThreadBind{1, 64, 1}};
    good = codegen::generate_source(normalized, gpu.target(), main,
                                    codegen::choose_epilogue_opts(normalized, gpu.target(), main));
  }
  REQUIRE(good.takes_tickets);
  const std::vector<Array> before = b.interpret();
  const std::string fence = "__threadfence();", barrier = "__syncthreads();";
  const size_t first = good.text.find(fence);
  for (const auto& [what, at, bytes] :
       {std::tuple("the fence before the ticket", first, fence.size()),
        std::tuple("the fence behind the ticket", good.text.find(fence, first + 1), fence.size()),
        std::tuple("the barrier before the ticket", good.text.rfind(barrier, first), barrier.size())}) {
    INFO(what);
    runtime::KernelSource bad = good;
    bad.text.erase(at, bytes);
    sim::clear_reports();
    {
      const SimulatedGpu gpu;
      const auto program = runtime::compile({&bad, 1}, gpu.target())[0];
      CHECK_THROWS_AS(gpu.compare(b, what, *program, before), BackendError);
      CHECK_THAT(sim::last_fault(), Catch::Matchers::Contains("race") && Catch::Matchers::Contains("another block"));
    }
    debug::clear_plans();  // whose graphs hold the context, which is lost
    runtime::forget_programs();
    runtime::cuda::forget_devices();
  }
}
