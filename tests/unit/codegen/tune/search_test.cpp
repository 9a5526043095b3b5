// Searching for Opts: neighbours, bounds, and decisions that are kept.
#include "cases.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/tune/choose_opts.h"
#include "codegen/tune/search/neighbors.h"
#include "codegen/tune/search/time_bound.h"
#include "planted_faults.h"
#include "runtime/cpu/host_allocator.h"
#include "runtime/program/host_target.h"
#include "sinter/sinter.h"
#include "unit/codegen/products.h"
#include "unit/codegen/random_kernels.h"

using namespace codegen_test;
using codegen::Neighbor;

TEST_CASE("neighbours of Opts are legal, new, and change no bit", "[codegen][opts][search]") {
  const auto kernels = number("CODEGEN_FUZZ", cases(60)), first = number("CODEGEN_SEED", 1);
  const runtime::Target target = runtime::host_target();
  std::map<std::string, int> changes;
  for (unsigned seed = first; seed < first + kernels; ++seed) {
    INFO("CODEGEN_SEED=" << seed);
    KernelGenerator maker(seed, true);
    KernelHarness b = maker.make();
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target);
    codegen::Neighborhood neighborhood(normalized.main, target);
    std::vector<std::vector<Opt>> lists{seed % 2 ? codegen::choose_opts(normalized.main, target) : std::vector<Opt>{}};
    std::vector<Neighbor> near = neighborhood.of(lists[0]);
    std::mt19937 rng(seed);
    for (int step = 0; step < 3 && !near.empty(); ++step) {  // a walk, with a look at both sides
      std::set<std::string> texts{to_string(lists.back())};
      for (const Neighbor& n : near) {
        CHECK(texts.insert(to_string(n.opts)).second);
        CHECK(codegen::is_legal(normalized.main, n.opts));
        ++changes[std::string(n.change)];
      }
      lists.push_back(near[rng() % near.size()].opts);
      lists.push_back(near[rng() % near.size()].opts);
      near = neighborhood.of(lists.back());
    }
    std::vector<runtime::KernelSource> sources;
    for (const auto& opts : lists) sources.push_back(codegen::generate_source(normalized, target, opts, {}));
    const std::vector<Array> before = b.interpret();
    const auto programs = runtime::compile(sources, target);
    for (size_t i = 0; i < programs.size(); ++i) {
      INFO(sources[i].text);
      b.compare(to_string(lists[i]), *programs[i], before);
    }
  }
  if (kernels < 40) return;
  for (const char* change :
       {"lanes", "unrolls", "splits", "orders", "blocks", "tile_copies", "prefetches", "without"}) {
    INFO(change << ": " << changes[change]);
    CHECK(changes[change] >= 20);
  }
  CHECK(changes["peels"] >= 5);               // of ranges that have copies and gates
  CHECK(changes["nontemporal_stores"] >= 5);  // few stores are whole vectors of what the kernel does not read
}

TEST_CASE("a value that is worth a tile is a neighbour's row", "[codegen][opts][search]") {
  KernelHarness b;  // a softmax of rows
  UOp i = b.outer(8), j = b.inner(100, 1);
  UOp x = b.buffer(random_array(DType::F32, {8, 100}, 1)), y = b.buffer(Array(DType::F32, {8, 100}));
  UOp v = b.at(x, {i, j}), e = exp(v - b.reduce(Combine::Max, {v}, {j}));
  b.stores({b.put(y, {i, j}, e / b.reduce(Combine::Add, {e}, {j}))});
  const runtime::Target target = runtime::host_target();
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target);
  codegen::Neighborhood neighborhood(normalized.main, target);
  std::vector<Opt> rows;
  for (const Neighbor& n : neighborhood.of({}))
    if (n.change == "materializations") rows.push_back(n.opts.at(0));
  REQUIRE(rows.size() >= 1);
  const std::vector<Opt> heuristic = codegen::choose_opts(normalized.main, target);
  CHECK(std::find(heuristic.begin(), heuristic.end(), rows[0]) != heuristic.end());
  b.check({rows[0]}, false);
}

TEST_CASE("bounds say what tiles, lanes and blocks cost at least", "[codegen][opts][search]") {
  KernelHarness b = product(960, 512, 1024);
  runtime::Target target = runtime::reference_target();
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target);
  codegen::TimeBound bound(normalized.main, target, 100);
  const auto ns = [&](int rows, int columns, int lanes = 16) {
    std::vector<Opt> opts;
    if (lanes > 1) opts.push_back(codegen::Lanes{1, lanes});
    if (rows > 1) opts.push_back(codegen::Unroll{0, rows});
    if (columns > 1) opts.push_back(codegen::Unroll{1, columns});
    return bound.ns(opts);
  };
  const double peak = 2.0 * 960 * 1024 * 512 / 100 / 2;                        // of two threads
  const auto near = [](double value) { return Approx(value).epsilon(0.01); };  // results are stored too
  CHECK(ns(6, 4) == near(peak));                                               // 10 loads for 24 multiply-adds
  CHECK(ns(1, 4) == near(peak * 5 / 4));                                       // 5 loads for 4
  CHECK(ns(1, 1) == near(peak * 4));                                           // latency
  CHECK(ns(8, 8) == near(peak * (16 + 2 * 33) / 64));  // 33 more than there are registers, beside what is loaded
  CHECK(ns(6, 4, 1) == near(16 * peak));
  CHECK(bound.ns({codegen::Lanes{1, 16}, codegen::Unroll{0, 6}, codegen::Unroll{1, 4}, codegen::TaskBlock{0, 960},
                  codegen::TaskBlock{1, 1024}}) == near(2 * peak));  // one point for one thread
  CHECK_THROWS_AS(bound.ns({codegen::Lanes{7, 16}}), codegen::IllegalOpt);
}

TEST_CASE("a search changes no bit, and what it decides is kept", "[search]") {
  const runtime_test::FreshCache cache;
  Tensor x = rand({96, 64}).realize();
  const runtime_test::ScopedEnv debug("DEBUG", "2");
  const auto run = [&](const char* beam) {
    const runtime_test::ScopedEnv setting("SINTER_BEAM", beam);
    debug::clear_plans();
    runtime_test::CapturedLog log;
    const std::vector<float> values = (x.transpose(0, 1) / x.sum(0).reshape({64, 1})).to_vector<float>();
    return std::pair(values, log.text());
  };
  const auto [heuristic, plain] = run("0");
  CHECK(count(plain, "search: ") == 0);
  const auto [searched, first] = run("1");
  INFO(first);
  CHECK(searched == heuristic);
  const int kernels = count(first, "search: ");
  CHECK(kernels >= 1);
  CHECK(count(first, " us instead of ") == kernels);
  CHECK(count(first, "timed 0 lists") == 0);
  CHECK(count(run("1").second, "search: ") == 0);  // the plan is in the cache folder too
  const auto without_plans = [&] {
    const testing::PlantedFaults faults;
    faults->skip_stored_plans = true;
    return run("1");
  };
  const auto [again, second] = without_plans();
  INFO(second);
  CHECK(again == heuristic);
  CHECK(count(second, "decided before: ") == kernels);
  CHECK(count(second, " us instead of ") == 0);
  CHECK(count(run("2").second, " us instead of ") == kernels);  // a wider search is another question
}

TEST_CASE("a search that has no memory for its trials leaves the heuristic's Opts, and is made another time",
          "[search]") {
  const runtime_test::FreshCache cache;
  const Tensor x = full({1 << 20}, 1.0f).contiguous().realize();  // 4 MiB
  const runtime_test::ScopedEnv debug("DEBUG", "2"), beam("SINTER_BEAM", "1");
  const auto run = [&] {
    debug::clear_plans();
    runtime_test::CapturedLog log;
    CHECK((x + 1.0f).realize().sum().item<float>() == 2 << 20);
    return log.text();
  };
  {  // room for the result, but not for what a trial reads and writes
    const runtime_test::ScopedEnv limit("SINTER_MEMORY_LIMIT", std::to_string(runtime::cpu::live_memory() + (6 << 20)));
    const std::string text = run();
    INFO(text);
    CHECK(count(text, "the heuristic's Opts: out of memory on the CPU") >= 1);
  }
  const std::string text = run();
  INFO(text);
  CHECK(count(text, "search: ") >= 2);  // neither Opts nor the plan were kept
  CHECK(count(text, " us instead of ") == count(text, "search: "));
}
