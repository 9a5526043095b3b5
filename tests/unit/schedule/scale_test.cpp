// Long programs through the partition, and the memory of plans.
#include <fmt/core.h>

#include <chrono>

#include "catch.h"
#include "ir/walk.h"
#include "plan/materialize.h"
#include "runtime/base/sanitizer.h"
#include "runtime/exec/arena.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;
using namespace sinter::plan;

namespace {

Partition cut_program(const Program& p) {
  PlanGraph plan = p.plan;
  return partition_plan(plan, kTarget);
}

/// Residual blocks with a normalisation over rows, and products of matrices.
Program residual_net(int blocks) {
  Program p;
  UOp x = p.slot({256, 64}), w = p.slot({64, 64});
  for (int i = 0; i < blocks; ++i) {
    UOp h = i % 3 ? x : matmul(x, w), off = h - column_like(sum(h, {1}), h);
    x = x + off / sqrt(column_like(sum(off * off, {1}), off) + 1e-5) * 0.5;
  }
  p.store(x);
  return p;
}

/// Every value is made of two of the last forty.
Program tangle(int ops) {
  Program p;
  std::mt19937 random(1);
  std::vector<UOp> pool{p.slot({256, 64})};
  auto any = [&] { return pool[pool.size() - 1 - random() % std::min<size_t>(pool.size(), 40)]; };
  for (int i = 0; i < ops; ++i) {
    UOp a = any(), b = any();
    pool.push_back(random() % 10 ? a + b * 0.5 : column_like(sum(a, {1}), a) * b);
  }
  p.store(pool.back());
  return p;
}

}  // namespace

TEST_CASE("in a chain of a thousand diamonds no node is evaluated twice", "[schedule]") {
  Program p;
  UOp x = p.slot({4096});
  for (int i = 0; i < 1000; ++i) x = x * 0.5 + exp(x);
  p.store(x);
  const Partition cut = cut_program(p);
  CHECK(cut.kernels.size() <= 10);
  std::vector<int> evaluated(cut.graph.nodes.size(), 0);
  for (const FusionGroup& k : cut.kernels)
    for (const Member& m : k.members) evaluated[static_cast<size_t>(m.node)] += static_cast<int>(m.at.size());
  for (size_t s = 0; s < evaluated.size(); ++s)
    CHECK(evaluated[s] == (cut.graph.nodes[s].kind == FusionNodeKind::Buffer ? 0 : 1));
}

TEST_CASE("kernels that end at a cap store the least", "[schedule]") {
  // Within a link of the first two chains two values are open, between links one.
  const auto stored = [](const Partition& p) {
    int64_t bytes = 0;
    for (const FusionGroup& k : p.kernels)
      for (const KernelStore& o : k.outputs) bytes += p.graph.nodes[static_cast<size_t>(o.node)].bytes;
    return bytes;
  };
  Program diamonds;
  UOp x = diamonds.slot({4096});
  for (int i = 0; i < 1000; ++i) x = x * 0.5 + exp(x);
  diamonds.store(x);
  Partition cut = cut_program(diamonds);
  CHECK(cut.kernels.size() <= 8);
  CHECK(stored(cut) == static_cast<int64_t>(cut.kernels.size()) * 4096 * 4);

  Program softmax;
  x = softmax.slot({512, 64});
  for (int i = 0; i < 300; ++i) {
    UOp e = exp(x - column_like(reduce(Combine::Max, x, {1}), x));
    x = e / column_like(sum(e, {1}), e);
  }
  softmax.store(x);
  cut = cut_program(softmax);
  CHECK(cut.kernels.size() <= 26);
  CHECK(stored(cut) == static_cast<int64_t>(cut.kernels.size()) * 512 * 64 * 4);

  // Of two values that depend on each other both are stored, and none of what lies within a link.
  Program pair;
  x = pair.slot({4096});
  UOp y = pair.slot({4096});
  for (int i = 0; i < 300; ++i) {
    const UOp next = x * 0.5 + exp(y);
    y = y * 0.25 + exp(x);
    x = next;
  }
  pair.store(x);
  pair.store(y);
  cut = cut_program(pair);
  CHECK(cut.kernels.size() <= 6);
  CHECK(stored(cut) == static_cast<int64_t>(cut.kernels.size()) * 2 * 4096 * 4);

  // What fits is not cut.
  Program whole;
  x = whole.slot({4096});
  for (int i = 0; i < 132; ++i) x = x * 0.5 + exp(x);
  whole.store(x);
  CHECK(cut_program(whole).kernels.size() == 1);
}

TEST_CASE("what the partition does grows with the number of nodes", "[schedule]") {
  for (const auto& make : {residual_net, tangle}) {
    const Partition small = cut_program(make(300)), large = cut_program(make(3000));
    const auto each = [](const Partition& p) {
      return static_cast<double>(p.steps) / static_cast<double>(p.graph.nodes.size());
    };
    CHECK(large.graph.nodes.size() > 8 * small.graph.nodes.size());
    CHECK(each(large) < 1.5 * each(small));
    CHECK(each(large) < 8);
  }
}

TEST_CASE("a hundred thousand nodes are cut", "[schedule][scale]") {
  for (auto [name, program] : {std::pair("residual blocks", residual_net(9000)), {"a tangle", tangle(75000)}}) {
    const size_t nodes = topological(values_of(program.plan)).size();
    REQUIRE(nodes >= 100000);
    const auto start = std::chrono::steady_clock::now();
    const Partition p = cut_program(program);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    CHECK(p.steps < 8 * static_cast<int64_t>(p.graph.nodes.size()));
    WARN(fmt::format("{}: {} nodes, {} fusion nodes, {} kernels in {:.2f} s", name, nodes, p.graph.nodes.size(),
                     p.kernels.size(), took.count()));
  }
}

TEST_CASE("a million views in a row are decided, each from the one before", "[schedule][scale]") {
  // To walk down from each of them would take 5e11 steps.
  constexpr int32_t kViews = 1000000;
  Program p;
  const UOp x = p.slot({4}), base = exp(x), view = flip(base, {0});
  CanonicalProgram plan;
  const auto add = [&](UOp n, std::initializer_list<SourceRef> sources) {
    Position at;
    at.node = n;
    at.first_source = static_cast<uint32_t>(plan.sources.size());
    at.source_count = static_cast<uint32_t>(sources.size());
    plan.sources.insert(plan.sources.end(), sources);
    plan.positions.push_back(at);
  };
  add(x, {});
  plan.positions[0].slot = 0;
  plan.storages.push_back({nullptr, x, 0});
  add(base, {{0}});
  for (int32_t i = 0; i < kViews; ++i) add(view, {{i + 1}});
  plan.positions[1].outlives = true;  // as the handles of a value and of a view of it do
  plan.positions[kViews / 2].outlives = true;
  plan.positions.back().root = true;
  const Materialization d = materialize(plan);
  CHECK(std::count(d.stored.begin(), d.stored.end(), 1) == 2);  // the value behind all views, and what was asked for
  CHECK(d.stored[1] == 1);
  CHECK(d.stored.back() == 1);
}

TEST_CASE("what plans allocate", "[schedule][memory]") {
  const int64_t matrix = 256 * 256 * 4;
  const auto memory = [](const Program& p) { return runtime::memory_of(schedule::schedule(p.plan, kTarget).plan); };
  // Ten products in a row: the values between them take turns in two places.
  Program chain;
  UOp x = chain.slot({256, 256}), w = chain.slot({256, 256});
  for (int i = 0; i < 10; ++i) x = matmul(x, w);
  chain.store(x);
  const runtime::PlanMemory m = memory(chain);
  const int64_t red = static_cast<int64_t>(runtime::kRedZone);
  CHECK(m.outputs == matrix);
  CHECK(m.scratch == 9 * matrix);
  CHECK(m.arena == 2 * (matrix + red));
  CHECK(m.peak() == m.outputs + m.arena);
  // An update in place allocates nothing.
  Program step;
  UOp parameter = step.slot({256, 256}), gradient = step.slot({256, 256});
  step.store(parameter - gradient * 0.1, 0);
  CHECK(memory(step).peak() == 0);
  // A row over its own sum stays in the kernel.
  Program rows;
  UOp e = exp(rows.slot({256, 256}));
  rows.store(e / column_like(sum(e, {1}), e));
  CHECK(memory(rows).peak() == matrix);
  // Partial sums: 32 rows each.
  Program columns;
  columns.store(sum(columns.slot({256, 256}), {0}));
  CHECK(memory(columns).peak() <= 256 * 4 + 256 / 32 * 256 * 4 + red);
}
