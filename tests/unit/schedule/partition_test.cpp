// Where kernel boundaries fall: launch counts and lines of the table, at a fixed Target.
#include <algorithm>

#include "catch.h"
#include "ir/walk.h"
#include "schedule/fusion/hazards.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

size_t launches(const Program& p, Policy policy = Policy::Fused) {
  return schedule::schedule(p.plan, kTarget, policy).plan.steps.size();
}

UOp relu(UOp x) { return maximum(x, like(x, 0.0)); }

}  // namespace

TEST_CASE("a chain of elementwise ops is one kernel, and one per op when unfused", "[schedule]") {
  Program p;
  UOp x = p.slot({1024, 1024}), y = x;
  for (int i = 0; i < 60; ++i) y = i % 3 ? y * 1.5 : exp(y);
  p.store(y);
  CHECK(launches(p) == 1);
  CHECK(launches(p, Policy::Unfused) == 60);
}

TEST_CASE("outputs over the same elements are one kernel", "[schedule]") {
  Program p;
  UOp a = p.slot({1000, 300}), b = p.slot({1000, 300});
  p.store(a + b);
  p.store(a * b);
  CHECK(launches(p) == 1);
  // A value that is stored and goes on being used stays where it is used.
  Program q;
  UOp x = q.slot({1000, 300}), sum = x + 1.0;
  q.store(sum);
  q.store(exp(sum) * 2.0);
  CHECK(launches(q) == 1);
}

TEST_CASE("kernels over different axes of equal size stay apart", "[schedule]") {
  Program p;
  UOp a = p.slot({256, 256}), rows = exp(a), columns = exp(a * 2.0);
  p.store(rows / broadcast_to(sum(rows, {1}), rows->shape));
  p.store(columns / broadcast_to(sum(columns, {0}), columns->shape));
  CHECK(launches(p) >= 2);
  // Sums over rows and over columns meet: one of them goes across the rows of the other.
  Program q;
  UOp b = q.slot({256, 256});
  q.store(reshape(sum(b, {0}), {256}));
  q.store(reshape(sum(b, {1}), {256}));
  CHECK(launches(q) == 1);
}

TEST_CASE("a reduction takes what feeds it and what follows it elementwise", "[schedule]") {
  Program p;
  UOp x = p.slot({512, 1024});
  p.store(sqrt(sum(exp(x) * 0.5, {1}) + 1.0));
  Partition cut = schedule::partition_plan(p.plan, kTarget);
  REQUIRE(cut.kernels.size() == 1);
  CHECK(cut.kernels[0].outer.size() == 1);
  CHECK(cut.kernels[0].inner.size() == 1);
  bool seen = false;
  for (const FusionDecision& d : cut.decisions)
    if (cut.graph.nodes[static_cast<size_t>(d.node)].kind == FusionNodeKind::Reduce) {
      seen = true;
      CHECK(d.choice == FusionChoice::Inline);
      CHECK(std::string(d.reason) == "reduction with epilogue");
      CHECK(d.inline_price < d.split_price);
    }
  CHECK(seen);
  const std::string table = to_string(cut);
  CHECK(table.find("Reduce#") != std::string::npos);
  CHECK(table.find("split") != std::string::npos);
}

TEST_CASE("a product of matrices takes bias and relu", "[schedule]") {
  Program p;
  UOp x = p.slot({256, 784}), w = p.slot({784, 128}), b = p.slot({128});
  UOp y = matmul(x, w);
  p.store(relu(y + row_like(b, y)));
  CHECK(launches(p) == 1);
  // Stored once as its epilogue, though it is needed transposed and as it is.
  Program q;
  x = q.slot({256, 784}), w = q.slot({784, 128}), b = q.slot({128});
  y = matmul(x, w);
  UOp h = relu(y + row_like(b, y));
  q.store(matmul(h, q.slot({128, 10})));
  q.store(matmul(transpose(h), q.slot({256, 10})));
  KernelSchedule s = schedule::schedule(q.plan, kTarget);
  CHECK(s.plan.steps.size() == 3);
}

TEST_CASE("embedding: lookup and dense gradient are one kernel each", "[schedule]") {
  Program p;
  UOp table = p.slot({50000, 64}), tokens = p.slot({128}, DType::I64);
  UOp index = expand(tokens, {128, 64}, {1});
  p.store(gather(table, index, 0) * 2.0);
  CHECK(launches(p) == 1);

  Program q;
  tokens = q.slot({128}, DType::I64);
  UOp g = q.slot({128, 64});
  index = expand(tokens, {128, 64}, {1});
  UOp zeros = full(q.graph(), {50000, 64}, DType::F32, 0.0);
  q.store(scatter_add(zeros, index, g * 0.5, 0));
  KernelSchedule s = schedule::schedule(q.plan, kTarget);
  REQUIRE(s.plan.steps.size() == 1);
  const codegen::Kernel& k = s.kernels[0];
  REQUIRE(k.sink->src.size() == 2);
  CHECK(k.outer.size() == 1);
  CHECK(k.outer[0] == 64);
  // Store 1 fills and is the only one with the rows' loop; store 2 adds.
  auto ranges = [](UOp store) {
    std::vector<int64_t> extents;
    for (UOp n : topological(store))
      if (n->op == Op::Range && n->get<RangeAttr>().kind == AxisKind::Inner)
        extents.push_back(n->src[0]->scalar().as_int());
    return extents;
  };
  CHECK(k.sink->src[0]->integer() == 0);
  CHECK(ranges(k.sink->src[0]) == std::vector<int64_t>{50000});
  CHECK(k.sink->src[1]->integer() == 1);
  CHECK(ranges(k.sink->src[1]) == std::vector<int64_t>{128});

  // Into the home itself: only the updates remain.
  Program r;
  UOp w = r.slot({50000, 64});
  tokens = r.slot({128}, DType::I64), g = r.slot({128, 64});
  r.store(scatter_add(w, expand(tokens, {128, 64}, {1}), g, 0), 0);
  KernelSchedule in_place = schedule::schedule(r.plan, kTarget);
  REQUIRE(in_place.plan.steps.size() == 1);
  CHECK(in_place.kernels[0].sink->src.size() == 1);
  CHECK(in_place.plan.outputs[0] == 0);
}

TEST_CASE("a value in two branches is not computed at exponential cost", "[schedule]") {
  Program p;
  UOp a = p.slot({1 << 20});
  for (int i = 0; i < 1000; ++i) a = a * 1.01 + alu(Op::Tanh, {a});
  p.store(a);
  Partition cut = schedule::partition_plan(p.plan, kTarget);
  CHECK(cut.kernels.size() <= 10);
  int evaluations = 0;
  for (const FusionGroup& k : cut.kernels) evaluations += k.evaluations;
  CHECK(evaluations <= 3000 + static_cast<int>(cut.kernels.size()));
}

TEST_CASE("shifted chains are evaluated at few places", "[schedule]") {
  Program p;
  UOp a = p.slot({1 << 16});
  for (int i = 0; i < 100; ++i) {
    const int64_t n = a->shape[0];
    a = shrink(a, {{0, n - 1}}) + shrink(a, {{1, n}}) * 0.5;
  }
  p.store(a);
  Partition cut = schedule::partition_plan(p.plan, kTarget);
  int evaluations = 0;
  for (const FusionGroup& k : cut.kernels) evaluations += k.evaluations;
  CHECK(cut.kernels.size() >= 20);
  CHECK(evaluations <= 800);
}

TEST_CASE("caps on nodes, buffers and loops cut where they must", "[schedule]") {
  Program p;
  UOp a = p.slot({64});
  for (int i = 0; i < 1000; ++i) a = a + 1.0;
  p.store(a);
  KernelSchedule s = schedule::schedule(p.plan, kTarget);
  CHECK(s.plan.steps.size() == 3);
  CHECK(s.kernels.size() == 2);

  Program q;
  UOp total = q.slot({4096});
  for (int i = 1; i < 100; ++i) total = total + q.slot({4096});
  q.store(total);
  s = schedule::schedule(q.plan, kTarget);
  CHECK(s.plan.steps.size() <= 4);
  for (const runtime::PlanStep& step : s.plan.steps) CHECK(step.buffers.size() <= 31);
}

TEST_CASE("equal kernels share a body whatever their buffers", "[schedule]") {
  Program p;
  for (int i = 0; i < 40; ++i) {
    UOp w = p.slot({100, 7}), g = p.slot({100, 7}), rate = p.arg(DType::F32);
    p.store(w - g * broadcast_to(rate, {100, 7}), 2 * i);
  }
  KernelSchedule s = schedule::schedule(p.plan, kTarget);
  CHECK(s.plan.steps.size() == 40);
  CHECK(s.kernels.size() == 1);
  for (size_t i = 0; i < s.plan.steps.size(); ++i) {
    CHECK(s.plan.steps[i].buffers.size() == 2);
    CHECK(s.plan.steps[i].args.size() == 1);
  }
}

TEST_CASE("an MLP's training step stays within its launches", "[schedule]") {
  Program p;
  UOp x = p.slot({256, 784}), t = p.slot({256, 10});
  UOp w1 = p.slot({784, 128}), b1 = p.slot({128}), w2 = p.slot({128, 10}), b2 = p.slot({10});
  UOp a1 = matmul(x, w1), pre = a1 + row_like(b1, a1), h = relu(pre);
  UOp a2 = matmul(h, w2), z = a2 + row_like(b2, a2);
  UOp shifted = z - expand(reduce(Combine::Max, z, {1}), z->shape, {1}), e = exp(shifted);
  UOp s = sum(e, {1});
  UOp logp = shifted - expand(log(s), z->shape, {1});
  UOp loss = reshape(sum(-(logp * t), {0, 1}), {}) * (1.0 / 256);
  UOp dz = (e / expand(s, z->shape, {1}) - t) * (1.0 / 256);
  UOp dw2 = matmul(transpose(h), dz), db2 = reshape(sum(dz, {0}), {10});
  UOp dh = matmul(dz, transpose(w2));
  UOp dpre = where(lt(like(pre, 0.0), pre), dh, like(dh, 0.0));
  UOp dw1 = matmul(transpose(x), dpre), db1 = reshape(sum(dpre, {0}), {128});
  p.store(loss);
  UOp rate = p.arg(DType::F32);
  auto adam = [&](UOp w, UOp g) {
    UOp m = p.slot(w->shape), v = p.slot(w->shape);
    UOp m2 = m * 0.9 + g * 0.1, v2 = v * 0.999 + g * g * 0.001;
    const int slots = static_cast<int>(p.plan.slots.size());
    p.store(m2, slots - 2);
    p.store(v2, slots - 1);
    p.store(w - broadcast_to(rate, w->shape) * m2 / (sqrt(v2) + 1e-8), static_cast<int>(w->integer()));
  };
  adam(w1, dw1);
  adam(b1, db1);
  adam(w2, dw2);
  adam(b2, db2);
  Partition cut = schedule::partition_plan(p.plan, kTarget);
  INFO(to_string(cut));
  CHECK(cut.kernels.size() <= 12);
  // Everything is written in place.
  for (size_t i = 1; i < cut.graph.homes.size(); ++i) CHECK(cut.graph.homes[i] >= 0);
}

TEST_CASE("a long chain of adds: few kernels, few bodies, near linear", "[schedule]") {
  Program p;
  UOp a = p.slot({3});
  const int n = 200000;
  for (int i = 0; i < n; ++i) a = a + 1.0;
  p.store(a);
  KernelSchedule s = schedule::schedule(p.plan, kTarget);
  CHECK(s.plan.steps.size() <= n / 385);
  CHECK(s.kernels.size() <= 3);
}

TEST_CASE("in place: what is read first, and what takes new storage", "[schedule]") {
  auto homes = [](Program& p) {
    KernelSchedule s = schedule::schedule(p.plan, kTarget);
    return std::pair{s.plan.steps.size(), s.plan.outputs};
  };
  {
    Program p;  // x += 1
    UOp x = p.slot({100});
    p.store(x + 1.0, 0);
    CHECK(homes(p) == std::pair{size_t{1}, std::vector<int>{0}});
  }
  {
    Program p;  // x = x.T
    UOp x = p.slot({30, 30});
    p.store(transpose(x), 0);
    CHECK(homes(p) == std::pair{size_t{1}, std::vector<int>{1}});
  }
  {
    Program p;  // x, y = y, x
    UOp x = p.slot({100}), y = p.slot({100});
    p.store(y, 0);
    p.store(x, 1);
    auto [steps, buffers] = homes(p);
    CHECK(steps == 2);
    CHECK((buffers == std::vector<int>{0, 2} || buffers == std::vector<int>{2, 1}));
  }
  {
    Program p;  // x = x + y; z = (x + y) @ y: every point of a row reads the row that the first one would overwrite
    UOp x = p.slot({3, 3}), y = p.slot({3, 3}), sum = x + y;
    p.store(matmul(sum, y));
    p.store(sum, 0);
    auto [steps, buffers] = homes(p);
    CHECK((steps > 1 || buffers[1] != 0));
  }
  {
    Program p;  // x[1:] = x[:-1] * 2: through a temporary, in the box
    UOp x = p.slot({1000});
    p.store(p.after(x, shrink(x, {{0, 999}}) * 2.0, {{1, 1000}}), 0);
    auto [steps, buffers] = homes(p);
    CHECK(steps == 2);
    CHECK(buffers == std::vector<int>{0});
  }
  {
    Program p;  // x[2:5] *= 2: the read is of the element written
    UOp x = p.slot({1000});
    p.store(p.after(x, shrink(x, {{2, 5}}) * 2.0, {{2, 5}}), 0);
    KernelSchedule s = schedule::schedule(p.plan, kTarget);
    CHECK(s.plan.outputs == std::vector<int>{0});
    REQUIRE(s.kernels.size() == 1);
    CHECK(s.kernels[0].outer == std::vector<Dim>{3});
  }
  {
    Program p;  // w is read by what runs beside its update
    UOp w = p.slot({64, 64}), x = p.slot({64, 64});
    UOp g = matmul(transpose(x), x);
    p.store(w - g * 0.1, 0);
    p.store(matmul(x, transpose(w)));
    KernelSchedule s = schedule::schedule(p.plan, kTarget);
    REQUIRE(s.plan.steps.size() == 2);
    CHECK(s.plan.outputs[0] == 0);
    CHECK(s.plan.steps[1].writes == std::vector<int>{0});
  }
  {
    Program p;  // x -= mean(x) per row: the mean is done before any element is written
    UOp x = p.slot({64, 64});
    p.store(x - expand(sum(x, {1}), x->shape, {1}) * (1.0 / 64), 0);
    KernelSchedule s = schedule::schedule(p.plan, kTarget);
    CHECK(s.plan.steps.size() == 2);
    CHECK(s.plan.outputs[0] == 0);
  }
}

namespace {

/// How many points the only kernel of a program has.
int64_t points_of_one(const Program& p) {
  PlanGraph plan = p.plan;
  const Partition cut = schedule::partition_plan(plan, kTarget);
  INFO(to_string(cut));
  REQUIRE(cut.kernels.size() == 1);
  int64_t points = 1;
  for (int a : cut.kernels[0].outer) points *= tasks_along(cut.space, cut.kernels[0], a).bound();
  return points;
}

}  // namespace

TEST_CASE("reductions of several accumulators run on all units", "[schedule]") {
  for (Combine combine : {Combine::ArgMax, Combine::ArgMin, Combine::Moments, Combine::ExpSum})
    for (bool both : {false, true}) {
      INFO(static_cast<int>(combine) << " both " << both);
      Program whole;
      UOp x = whole.slot({16000000});
      whole.store(tuple(combine, x, 0, 1));
      if (both) whole.store(cast(tuple(combine, x, 0, 0), DType::F32) * 2.0);
      CHECK(points_of_one(whole) >= kTarget.parallel_units);
      // Few columns.
      Program columns;
      x = columns.slot({65536, 3});
      columns.store(tuple(combine, x, 0, 1));
      if (both) columns.store(cast(tuple(combine, x, 0, 0), DType::F32) * 2.0);
      CHECK(points_of_one(columns) >= kTarget.parallel_units);
    }
  // Sums over one tensor that meet in one number all go across its elements.
  Program two;
  UOp v = two.slot({16000000});
  two.store(sum(v, {0}) - sum(v * v, {0}) * tuple(Combine::Moments, v, 0, 2));
  PlanGraph plan = two.plan;
  const Partition cut = schedule::partition_plan(plan, kTarget);
  REQUIRE(cut.kernels.size() == 1);
  CHECK(split_reductions_of(cut.kernels[0]).size() == 3);
  // What their points store: one buffer per accumulator, whoever of them is wanted.
  Program p;
  UOp x = p.slot({1 << 20});
  p.store(tuple(Combine::ExpSum, x, 0, 0));
  p.store(tuple(Combine::ExpSum, x, 0, 1));
  const KernelSchedule s = schedule::schedule(p.plan, kTarget);
  REQUIRE(s.plan.steps.size() == 1);
  CHECK(s.plan.steps[0].buffers.size() == 1 + 2 + 2);
}

TEST_CASE("sums along short rows read them whole, in blocks", "[schedule]") {
  runtime::Target one = kTarget;
  one.threads = 1, one.parallel_units = 4;
  for (const runtime::Target& target : {kTarget, one})
    for (const auto& [rows, row, blocks] : {std::tuple{375000, 64, true}, {23000, 1024, false}, {512, 64, false}}) {
      Program p;
      p.store(sum(p.slot({rows, row}), {0}));
      PlanGraph plan = p.plan;
      const Partition cut = schedule::partition_plan(plan, target);
      INFO(rows << " rows of " << row << ", " << target.threads << " threads");
      REQUIRE(cut.kernels.size() == 1);
      CHECK((cut.kernels[0].blocks.axis >= 0) == blocks);
      if (blocks) CHECK(cut.kernels[0].outer.front() == cut.kernels[0].blocks.axis);
    }
}

namespace {

/// x by w as a network's layer, [n, in, h, w] by [out, in, k, k]: windows of what is padded by k / 2.
UOp convolution(UOp x, UOp w, int64_t stride) {
  const int64_t k = w->shape[2].value(), out = w->shape[0].value();
  for (const int64_t axis : {3, 2}) {
    Shape room = x->shape;
    room[axis] = room[axis].value() + 2 * (k / 2);
    ir::Region box;
    for (size_t i = 0; i < x->rank(); ++i) box.push_back({static_cast<int64_t>(i) == axis ? k / 2 : 0, x->shape[i]});
    x = ir::window(ir::pad(x, box, room), axis, k, stride, 1);
  }
  // x: [n, in, h, k, w, k]; both factors: [n, out, h, w, in, k, k].
  x = ir::permute(x, {0, 2, 4, 1, 3, 5});
  const Dim n = x->shape[0], h = x->shape[1], wide = x->shape[2], in = x->shape[3];
  const Shape all{n, Dim(out), h, wide, in, Dim(k), Dim(k)};
  return ir::sum(ir::expand(x, all, {1}) * ir::expand(w, all, {0, 2, 3}), {4, 5, 6});
}

}  // namespace

TEST_CASE("a convolution is no loop inside the row of its batch norm", "[schedule]") {
  for (const int64_t k : {1, 3})
    for (const int64_t stride : {1, 2}) {
      Program p;
      UOp c = convolution(p.slot({32, 64, 32, 32}), p.slot({128, 64, k, k}), stride);
      const auto each = [&](UOp v) { return ir::expand(v, c->shape, {0, 2, 3}); };
      const double count = static_cast<double>(c->shape.bound()) / 128;
      UOp d = c - each(sum(c, {0, 2, 3}) * (1 / count));
      UOp variance = sum(d * d, {0, 2, 3}) * (1 / count);
      UOp y = relu(d / each(sqrt(variance + 1e-5)));
      for (UOp v : {c, d, y, variance}) p.store(v);
      const Partition cut = schedule::partition_plan(p.plan, kTarget);
      INFO(k << " x " << k << ", stride " << stride << "\n" << to_string(cut));
      for (const schedule::FusionGroup& kernel : cut.kernels)
        for (const ReductionNest& nest : kernel.nests) {
          if (!cut.graph.nodes[static_cast<size_t>(nest.node)].contraction) continue;
          for (int a : cut.space.axes_of(nest.at)) CHECK(contains(kernel.outer, a));
        }
    }
}

TEST_CASE("windows slide over an enlarged image that is stored", "[schedule]") {
  for (const bool enlarged : {false, true}) {
    Program p;
    UOp x = enlarged ? reshape(expand(p.slot({4, 8, 7, 7}), {4, 8, 7, 2, 7, 2}, {3, 5}), {4, 8, 14, 14})
                     : p.slot({4, 8, 14, 14});
    p.store(convolution(x, p.slot({16, 8, 3, 3}), 1));
    PlanGraph plan = p.plan;
    const Partition cut = schedule::partition_plan(plan, kTarget);
    INFO(to_string(cut));
    CHECK(cut.kernels.size() == (enlarged ? 2 : 1));
    CHECK(std::any_of(cut.graph.nodes.begin(), cut.graph.nodes.end(),
                      [](const FusionNode& s) { return s.kind == FusionNodeKind::Contiguous; }) == enlarged);
  }
}

TEST_CASE("channels of large images are stored beside no product that sums them", "[schedule]") {
  // All channels of a small image stay in a core's cache until their other pixels are read.
  for (const int64_t side : {32, 4}) {
    Program p;
    UOp x = p.slot({32, 144, side, side}), y = relu(x + ir::expand(p.slot({144}), x->shape, {0, 2, 3}));
    p.store(y);
    p.store(convolution(y, p.slot({24, 144, 1, 1}), 1));
    const Partition cut = schedule::partition_plan(p.plan, kTarget);
    INFO(to_string(cut));
    CHECK(cut.kernels.size() == (side == 32 ? 2 : 1));
  }
}
