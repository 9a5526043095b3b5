// What the kernels compute: against the interpretation of the plan graph, fused and unfused, bit for bit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "cases.h"
#include "catch.h"
#include "ir/dump.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "random_plans.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

runtime::Array numbers(DType dtype, const std::vector<int64_t>& shape, std::mt19937& random, int64_t low = -4,
                       int64_t high = 4) {
  runtime::Array a(dtype, shape);
  std::uniform_int_distribution<int64_t> whole(low, high);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const int64_t v = whole(random);
    a.set(i, is_float(dtype) ? Scalar::of(dtype, static_cast<double>(v) + 0.125 * static_cast<double>(whole(random)))
                             : Scalar::of(dtype, v));
  }
  return a;
}

std::vector<int64_t> sizes(const Shape& shape, const PlanGraph& plan, const std::vector<int64_t>& vars) {
  std::vector<int64_t> out;
  for (const Dim& d : shape) {
    int64_t n = d.value();
    for (size_t v = 0; v < plan.vars.size(); ++v)
      if (d.symbolic() && plan.vars[v] == d.var()) n = vars[v];
    out.push_back(n);
  }
  return out;
}

Inputs inputs_for(const PlanGraph& plan, std::mt19937& random, std::vector<int64_t> vars = {}, int64_t reach = 4) {
  Inputs in;
  in.vars = std::move(vars);
  for (const PlanSlot& s : plan.slots)
    in.slots.push_back(numbers(s.dtype, sizes(s.shape, plan, in.vars), random, -reach, reach));
  for (DType d : plan.args) in.args.push_back(Scalar::of(d, d == DType::Index ? int64_t{1} : int64_t{3}));
  return in;
}

/// Shapes may differ by a reshape: a plan stores values as its kernels see them.
bool same_bits(const runtime::Array& a, const runtime::Array& b) {
  return a.numel() == b.numel() && a.dtype == b.dtype && a.data == b.data;
}

/// Where a kernel reads what it overwrites, it is the very element: the same index expressions.
void check_exact(const codegen::Kernel& k) {
  for (UOp store : k.sink->src)
    for (UOp n : topological(k.sink)) {
      if (n->op != Op::Load || !(n->src[0] == store->src[0]) || store->integer() == 1) continue;
      const size_t rank = n->src[0]->rank();
      INFO(dump(k.sink));
      CHECK(std::equal(n->src.begin(), n->src.begin() + static_cast<std::ptrdiff_t>(rank) + 1, store->src.begin()));
    }
}

/// Which elements of look-ups the outputs of a program need.
enum class Wanted { All, Some };

/// Fused, unfused and the plan graph agree in every bit of every output, and in the error if all is wanted.
void check_values(const PlanGraph& plan, const Inputs& in, Wanted wanted = Wanted::Some) {
  PlanGraph lowered = plan;
  Partition table = partition_plan(lowered, kTarget);
  const Result expected = oracle(lowered, in);
  for (Policy policy : {Policy::Fused, Policy::Unfused}) {
    const KernelSchedule s = schedule::schedule(plan, kTarget, policy);
    for (const codegen::Kernel& k : s.kernels) {
      verify_kernel(k.sink, "rangeify");
      check_exact(k);
    }
    const Result got = run(s, in);
    // Nobody looks at indices of elements that no output wants, or into tables that are zero anyway.
    if (got.error > expected.error || (wanted == Wanted::All && got.error != expected.error)) {
      std::string text = to_string(table);
      for (auto& o : plan.outputs) text += dump(o.value);
      for (const codegen::Kernel& k : s.kernels) text += k.name + "\n" + dump(k.sink);
      FAIL("error " << got.error << " expected " << expected.error << (policy == Policy::Fused ? " fused" : " unfused")
                    << "\n"
                    << text);
    }
    for (size_t i = 0; i < got.outputs.size(); ++i) {
      if (same_bits(got.outputs[i], expected.outputs[i])) continue;
      std::string text = to_string(table) + dump(plan.outputs[i].value);
      for (const codegen::Kernel& k : s.kernels) text += k.name + "\n" + dump(k.sink);
      for (int64_t e = 0; e < std::min<int64_t>(16, got.outputs[i].numel()); ++e)
        text += dump(got.outputs[i].at(e)) + " expected " + dump(expected.outputs[i].at(e)) + "\n";
      FAIL("output " << i << (policy == Policy::Fused ? " fused" : " unfused") << "\n" << text);
    }
  }
}

/// The program as it was given has the same values too, up to rounding of its sums.
void check_meaning(const PlanGraph& plan, const Inputs& in) {
  const Result expected = oracle(plan, in), got = run(schedule::schedule(plan, kTarget), in);
  for (size_t i = 0; i < got.outputs.size(); ++i)
    for (int64_t e = 0; e < got.outputs[i].numel(); ++e) {
      const double x = got.outputs[i].at(e).as_double(), y = expected.outputs[i].at(e).as_double();
      CHECK(x == Approx(y).epsilon(1e-4).margin(1e-3));
    }
}

}  // namespace

TEST_CASE("products, softmax and layer norm", "[schedule]") {
  std::mt19937 random(1);
  Program p;
  UOp x = p.slot({5, 7}), w = p.slot({7, 3}), b = p.slot({3});
  UOp y = matmul(x, w);
  UOp z = maximum(y + row_like(b, y), like(y, 0.0));
  UOp e = exp(z - expand(reduce(Combine::Max, z, {1}), z->shape, {1}));
  p.store(e / expand(sum(e, {1}), z->shape, {1}));
  UOp mean = sum(x, {1}) * (1.0 / 7), d = x - expand(mean, x->shape, {1});
  p.store(d / sqrt(expand(sum(d * d, {1}) * (1.0 / 7) + 1e-5, x->shape, {1})));
  p.store(z);
  p.store(matmul(transpose(x), z));
  const Inputs in = inputs_for(p.plan, random);
  check_values(p.plan, in);
  check_meaning(p.plan, in);
}

TEST_CASE("views in any order", "[schedule]") {
  std::mt19937 random(2);
  Program p;
  UOp x = p.slot({4, 6});
  UOp padded = pad(x, {{1, 5}, {2, 8}}, {7, 9});
  p.store(exp(padded));
  p.store(flip(permute(reshape(exp(x), {2, 2, 6}), {2, 0, 1}), {0, 2}));
  p.store(shrink(pad(x + 1.0, {{2, 6}, {0, 6}}, {8, 6}), {{1, 4}, {2, 6}}) * 2.0);
  p.store(reshape(permute(x, {1, 0}), {3, 8}));
  p.store(sum(reshape(flip(padded, {1}), {7, 3, 3}), {1}));
  p.store(x);
  p.store(full(p.graph(), {3, 2}, DType::F32, 2.5));
  p.store(expand(arange(p.graph(), 5), {5, 4}, {1}) +
          cast(expand(shrink(reshape(x, {24}), {{3, 7}}), {5, 4}, {0}), DType::I64));
  check_values(p.plan, inputs_for(p.plan, random));
}

TEST_CASE("what a sum across outer ranges adds is computed at its points, not when they are done", "[schedule]") {
  std::mt19937 random(8);
  Program p;
  UOp a = p.slot({70}), x = p.slot({70}), e = exp(x - row_like(reduce(Combine::Max, x, {0}), x));
  UOp share = e / row_like(sum(e, {0}), e);  // a factor that is stored, and decided after its product
  UOp total = sum(a * 2.0 * share, {0});
  p.store(share);
  p.store(total);
  p.store(total * 2.0 - 1.0);
  check_values(p.plan, inputs_for(p.plan, random));
}

TEST_CASE("sums in trees", "[schedule]") {
  std::mt19937 random(3);
  Program p;
  UOp x = p.slot({70, 130}), line = p.slot({70000}), column = p.slot({200, 3}), twice = p.slot({4, 80}, DType::F64),
      image = p.slot({3, 4, 5, 7}), signal = p.slot({5, 3, 26}), places = p.slot({5, 3, 24}),
      channels = p.slot({5, 9, 30}), taps = p.slot({9, 8}), pairs = p.slot({40, 50, 2}), sixes = p.slot({40, 50, 6}),
      colors = p.slot({9, 48, 3}), long_column = p.slot({5000, 3}), fives = p.slot({300, 5}), few = p.slot({100, 2}),
      rows = p.slot({32, 3, 50}), steps = p.slot({32, 3, 24}), patches = p.slot({32, 3, 8}), narrow = p.slot({6, 64}),
      wide = p.slot({64, 4}), heads = p.slot({3, 4, 80, 16}), turned = p.slot({3, 4, 16, 80}), scale = p.slot({64}),
      tall = p.slot({66000, 5}), beside = p.slot({66000, 5});
  // [batch, head, row, column] as [batch, row, head and column].
  const auto joined = [](UOp v) { return reshape(permute(v, {0, 2, 1, 3}), Shape({3, 80, 64})); };
  p.store(sum(x, {1}));
  p.store(sum(line, {0}));
  p.store(sum(column, {0}));
  p.store(sum(x, {0, 1}));
  p.store(sum(twice * twice, {1}));
  p.store(reduce(Combine::Max, permute(x, {1, 0}), {0}));
  p.store(sum(image, {1, 2, 3}));
  p.store(sum(permute(image, {0, 2, 1, 3}), {1, 2, 3}));
  p.store(sum(window(signal, 2, 3, 1, 1) * expand(places, {5, 3, 24, 3}, {3}), {0, 2}));
  p.store(sum(window(channels, 2, 8, 1, 1) * expand(taps, {5, 9, 23, 8}, {0, 2}), {1, 3}));
  p.store(sum(pairs * pairs, {0, 2}));
  p.store(sum(sixes, {0, 2}));
  p.store(sum(colors, {0, 1}));
  p.store(sum(long_column, {0}));
  p.store(sum(fives, {0}));
  p.store(sum(few, {0}));
  p.store(sum(window(rows, 2, 3, 2, 1) * expand(steps, {32, 3, 24, 3}, {3}), {0, 2}));
  p.store(
      sum(window(shrink(rows, {{0, 32}, {0, 3}, {0, 32}}), 2, 4, 4, 1) * expand(patches, {32, 3, 8, 4}, {3}), {0, 2}));
  p.store(matmul(narrow, wide));
  const UOp across = joined(permute(turned, {0, 1, 3, 2}));
  p.store(sum(joined(heads) + joined(heads * heads) * across, {1}));
  p.store(sum(joined(heads) + across, {1}));
  p.store(sum((joined(heads) + across) * expand(scale, {3, 80, 64}, {0, 1}), {1}));
  p.store(matmul(permute(tall, {1, 0}), beside));
  Inputs in = inputs_for(p.plan, random);
  check_values(p.plan, in);
  check_meaning(p.plan, in);
  PlanGraph plan = p.plan;
  partition_plan(plan, kTarget);
  auto tree = [&](size_t i) {
    UOp n = plan.outputs[i].value;
    while (n->op != Op::Reduce) n = n->src[0];
    return n->reduction();
  };
  CHECK(tree(0).tree == ReductionTree{16, 0});
  CHECK(tree(1).tree == ReductionTree{16, 2048});
  CHECK(tree(2).tree == ReductionTree{16, 0});  // lanes near each other
  CHECK(tree(4).tree == ReductionTree{8, 0});
  CHECK(tree(4).combine == Combine::Dot);
  CHECK(tree(5).tree == ReductionTree{16, 0});
  CHECK(tree(6).tree == ReductionTree{16, 0});  // rows in one piece are one row
  CHECK(tree(6).axes == Ints{1});
  CHECK(tree(7).tree == ReductionTree{1, 0});  // but not those of another order
  CHECK(tree(8).tree == ReductionTree{8, 0});  // the gradient of taps: rows of 24 are three parts of a vector
  CHECK(tree(9).tree == ReductionTree{1, 0});  // their use: places lie in order too, and are more
  CHECK(tree(10).tree.lanes == 1);             // results lie near enough to each other
  CHECK(tree(11).tree.lanes == 1);             // too short a row
  CHECK(tree(12).tree == ReductionTree{16, 0});
  CHECK(tree(13).tree == ReductionTree{16, 512});  // blocks of as many vectors as there are rows in other blocks
  CHECK(tree(14).tree == ReductionTree{1, 32});    // rows of the outermost axis: lanes would be too far apart
  CHECK(tree(15).tree == ReductionTree{1, 32});    // too few elements for two loads per vector
  CHECK(tree(16).tree == ReductionTree{8, 0});     // the gradient of taps in steps of two
  CHECK(tree(17).tree == ReductionTree{8, 0});     // patches are shorter than rows of them
  CHECK(tree(18).tree.lanes == 1);                 // as many rows of results fill vectors
  CHECK(tree(19).tree.lanes == 1);                 // more sources have vectors along results than along rows,
  CHECK(tree(20).tree.lanes == 16);                // as many,
  CHECK(tree(21).tree.lanes == 16);                // and one vector for all rows does not count
  CHECK(tree(22).tree.block > 0);                  // few results: threads share the sum
}

TEST_CASE("lanes of a sum over a slice at an offset that changes", "[schedule]") {
  Program p;
  UOp rows = p.slot({5, 80, 64}), turned = p.slot({64, 80});
  p.plan.args = {DType::I64, DType::I64, DType::I64};
  ir::Sources src{rows};
  for (int64_t i = 0; i < 3; ++i) src.push_back(argument(p.graph(), i, DType::I64));
  UOp step = p.graph().make({Op::Shrink, DType::F32, Shape({1, 80, 64}), src, ir::Region{{0, 1}, {0, 80}, {0, 64}}});
  step = reshape(step, {80, 64});
  p.store(sum((step + permute(turned, {1, 0})) * step, {0}));
  PlanGraph plan = p.plan;
  partition_plan(plan, kTarget);
  UOp n = plan.outputs[0].value;
  while (n->op != Op::Reduce) n = n->src[0];
  CHECK(n->reduction().tree.lanes == 1);  // two of three sources have vectors along results
}

TEST_CASE("gather and scatter: negative indices, and ones out of range", "[schedule]") {
  std::mt19937 random(4);
  auto looked_up = [](Program& p, int which) -> UOp {
    UOp table = p.slot({6, 3}), index = p.slot({5, 3}, DType::I32), value = p.slot({5, 3});
    switch (which) {
      case 0: return gather(exp(table), index, 0) + 1.0;
      case 1: {
        UOp first = gather(index, cast(index, DType::I64) * like(cast(index, DType::I64), 0.0), 0);
        return gather(permute(table, {1, 0}), permute(first, {1, 0}), 1);
      }
      case 2: return scatter_add(table * 2.0, index, value + 1.0, 0);
      case 3: return scatter_add(full(p.graph(), {6, 3}, DType::F32, 0.0), index, value, 0);
      default: return sum(gather(table, index, 0) * value, {0, 1});
    }
  };
  for (int which = 0; which < 5; ++which) {
    INFO("look-up " << which);
    Program p;
    p.store(looked_up(p, which));
    for (int64_t reach : {5, 9}) check_values(p.plan, inputs_for(p.plan, random, {}, reach), Wanted::All);
    Inputs in = inputs_for(p.plan, random, {}, 5);
    CHECK(run(schedule::schedule(p.plan, kTarget), in).error == 0);
    for (int64_t beyond : {6, -7})  // one index alone raises the bit
      for (int64_t at : {0, 1}) {
        in.slots[1].set(at, Scalar::of(DType::I32, beyond));
        check_values(p.plan, in, Wanted::All);
        CHECK(run(schedule::schedule(p.plan, kTarget), in).error == 1);
        in.slots[1].set(at, Scalar::of(DType::I32, 0));
      }
  }
  Program p;  // all in one plan
  for (int which = 0; which < 5; ++which) p.store(looked_up(p, which));
  for (int64_t reach : {5, 9}) check_values(p.plan, inputs_for(p.plan, random, {}, reach), Wanted::All);
}

TEST_CASE("versions in place and in new storage", "[schedule]") {
  std::mt19937 random(5);
  Program p;
  UOp x = p.slot({8, 6}), y = p.slot({8, 6}), v = p.slot({30}), w = p.slot({4, 4}), table = p.slot({6, 3}),
      big = p.slot({40});
  UOp begin = p.arg(DType::Index), zero = constant(p.graph(), DType::Index, 0);
  UOp x2 = p.after(x, shrink(y, {{0, 3}, {0, 6}}), {{2, 5}, {0, 6}});
  p.store(x2, 0);                                                 // a box of its home
  p.store(x2 + y, 1);                                             // reads the new version
  p.store(p.after(v, shrink(v, {{0, 29}}) * 2.0, {{1, 30}}), 2);  // through a temporary
  p.store(transpose(w), 3);                                       // new storage
  p.store(
      scatter_add(table, cast(shrink(table, {{0, 4}, {0, 3}}) * like(shrink(table, {{0, 4}, {0, 3}}), 0.0), DType::I64),
                  shrink(table, {{1, 5}, {0, 3}}), 0),
      4);                                                               // reads what it adds to: new storage
  UOp b2 = p.after(big, shrink(big, {{20, 25}}), {{3, 8}});             // a view of itself
  UOp b3 = p.after(b2, shrink(b2, {{0, 5}}) + 1.0, {{0, 5}}, {begin});  // a begin that changes from call to call
  p.store(b3, 5);
  p.store(sum(b2, {0}));
  (void)zero;
  Inputs in = inputs_for(p.plan, random);
  in.args[0] = Scalar::of(DType::Index, 30);
  check_values(p.plan, in);
  check_meaning(p.plan, in);
  const KernelSchedule s = schedule::schedule(p.plan, kTarget);
  CHECK(s.plan.outputs[0] == 0);
  CHECK(s.plan.outputs[1] == 1);
  CHECK(s.plan.outputs[2] == 2);
  CHECK(s.plan.outputs[3] >= 6);
  CHECK(s.plan.outputs[4] >= 6);
}

TEST_CASE("swaps, and stores of one kernel that read each other's old values", "[schedule]") {
  std::mt19937 random(6);
  Program p;
  UOp a = p.slot({9}), b = p.slot({9}), c = p.slot({9});
  UOp s = sum(c, {0});
  UOp shared = broadcast_to(s, {9}) + c;
  p.store(b * 2.0 + shared, 0);
  p.store(a * 3.0 + shared, 1);
  p.store(a + b, 2);
  check_values(p.plan, inputs_for(p.plan, random));
  Program q;
  a = q.slot({9}), b = q.slot({9});
  q.store(b, 0);
  q.store(a, 1);
  check_values(q.plan, inputs_for(q.plan, random));
}

TEST_CASE("one plan for every value of a symbolic size", "[schedule]") {
  std::mt19937 random(7);
  Var batch("batch", 1, 256);
  Program p;
  Dim n = batch(96);
  UOp x = p.slot({n, 6}), w = p.slot({6, 4}), b = p.slot({4});
  UOp y = matmul(x, w);
  UOp h = maximum(y + row_like(b, y), like(y, 0.0));
  UOp count = cast(variable(p.graph(), batch, DType::I64), DType::F32);
  p.store(reshape(sum(h, {0, 1}), {}) / count);
  p.store(reshape(h, {n, 2, 2}) * 2.0);
  p.store(sum(reshape(shrink(x, {{0, n}, {0, 1}}), {n}), {0}));
  p.store(flip(x, {0}));
  for (int64_t value : {1, 7, 256}) {
    const Inputs in = inputs_for(p.plan, random, {value});
    const KernelSchedule s = schedule::schedule(p.plan, kTarget);
    // The interpreter takes sizes from the graph: the program at this very value is its oracle.
    Program q;
    Dim m = batch(value);
    x = q.slot({m, 6}), w = q.slot({6, 4}), b = q.slot({4});
    y = matmul(x, w);
    h = maximum(y + row_like(b, y), like(y, 0.0));
    count = cast(variable(q.graph(), batch, DType::I64), DType::F32);
    q.store(reshape(sum(h, {0, 1}), {}) / count);
    q.store(reshape(h, {m, 2, 2}) * 2.0);
    q.store(sum(reshape(shrink(x, {{0, m}, {0, 1}}), {m}), {0}));
    q.store(flip(x, {0}));
    PlanGraph lowered = q.plan;
    partition_plan(lowered, kTarget);
    const Result expected = oracle(lowered, in), got = run(s, in);
    for (size_t i = 0; i < 4; ++i) CHECK(same_bits(got.outputs[i], expected.outputs[i]));
  }
}

TEST_CASE("empty sizes and sizes of one", "[schedule]") {
  std::mt19937 random(8);
  Program p;
  UOp none = p.slot({0, 3}), one = p.slot({1, 1, 4}), bits = p.slot({4}, DType::Bool);
  p.store(sum(none, {0}));
  p.store(none + 1.0);
  p.store(sum(one, {0, 1}) * 2.0);
  p.store(reduce(Combine::Max, one, {1}));
  p.store(reshape(one, {2, 2}));
  p.store(reduce(Combine::Max, bits, {0}));
  p.store(pad(none, {{1, 1}, {0, 3}}, {2, 3}));
  UOp rows = p.slot({0, 2}), bias = p.slot({2}) * 2.0;
  p.store(rows + row_like(bias, rows));
  p.store(bias);  // not at the first row: there is none
  check_values(p.plan, inputs_for(p.plan, random));
}

TEST_CASE("reductions of several accumulators across outer ranges", "[schedule]") {
  std::mt19937 random(9);
  int finished = 0;
  for (Combine combine : {Combine::ArgMax, Combine::ArgMin, Combine::Moments, Combine::ExpSum})
    for (const Shape& shape : {Shape{5003}, Shape{4096}, Shape{2100, 3}, Shape{131, 2, 5}, Shape{64, 1}})
      for (DType dtype : {DType::F32, DType::F64, DType::I32}) {
        const bool order = combine == Combine::ArgMax || combine == Combine::ArgMin;
        if (!order && !is_float(dtype)) continue;
        INFO(static_cast<int>(combine) << " " << to_string(shape) << " " << name_of(dtype));
        Program p;
        UOp x = p.slot(shape, dtype);
        for (int i = 0; i < accumulator_count(combine); ++i) p.store(tuple(combine, x + like(x, 1), 0, i));
        p.store(cast(tuple(combine, x, 0, 1), DType::F32) * 0.5 + 1.0);  // one accumulator, used in the finish
        p.store(sum(x, {0}));
        check_values(p.plan, inputs_for(p.plan, random));
        for (const codegen::Kernel& k : schedule::schedule(p.plan, kTarget).kernels)
          finished += k.epilogue_sink ? 1 : 0;
      }
  CHECK(finished >= 8);
}

TEST_CASE("axes of size 1 between a sum and its broadcast", "[schedule]") {
  std::mt19937 random(3);
  Program p;
  UOp x = p.slot({4, 5000});
  UOp total = reshape(sum(x, {1}), {4, 1});  // as sum(1, true) gives it
  UOp off = x - broadcast_to(total / like(total, 5000.0), x->shape);
  p.store(sum(off * off, {1}));
  check_values(p.plan, inputs_for(p.plan, random));
  partition_plan(p.plan, kTarget);
  int moments = 0, reshapes = 0;
  for (UOp n : topological(values_of(p.plan))) {
    moments += n->op == Op::Reduce && n->reduction().combine == Combine::Moments;
    reshapes += n->op == Op::Reshape;
  }
  CHECK(moments == 1);  // the squares are taken from a mean
  CHECK(reshapes == 0);
  Program q;
  UOp y = q.slot({2, 3}), z = q.slot({3, 1, 2});
  q.store(reshape(exp(reshape(y, {3, 2})) + reshape(z, {3, 2}), {3, 1, 2}));  // of y it moves elements to other axes
  q.store(exp(reshape(y, {2, 1, 3}) * 2.0));
  check_values(q.plan, inputs_for(q.plan, random));
}

TEST_CASE("sums across a symbolic number of rows", "[schedule]") {
  std::mt19937 random(10);
  Var batch("batch", 0, 256);
  auto make = [&](int64_t value) {
    Program p;
    const Dim n = batch(value);
    UOp x = p.slot({n, 6}), y = p.slot({n}), w = p.slot({n, 3, 5}, DType::I32);
    UOp e = exp(x - expand(reduce(Combine::Max, x, {1}), x->shape, {1})), s = sum(e, {1});
    p.store(e / expand(s, x->shape, {1}));
    p.store(sum(log(s), {0}) * 0.5);  // across the rows
    p.store(sum(x, {0}) + 1.0);
    p.store(reduce(Combine::Max, y, {0}));
    p.store(tuple(Combine::Moments, y, 0, 2));
    p.store(tuple(Combine::ExpSum, x * 2.0, 0, 1));
    p.store(tuple(Combine::ArgMin, y, 0, 1));
    p.store(sum(w, {0, 1}));
    return p;
  };
  const KernelSchedule s = schedule::schedule(make(96).plan, kTarget);
  CHECK(std::any_of(s.kernels.begin(), s.kernels.end(), [](const codegen::Kernel& k) { return k.epilogue_sink; }));
  for (int64_t value : {0, 1, 31, 32, 33, 64, 255, 256}) {
    INFO(value);
    const Program p = make(value);
    const Inputs in = inputs_for(p.plan, random, {value});
    PlanGraph lowered = p.plan;
    partition_plan(lowered, kTarget);
    const Result expected = oracle(lowered, in), got = run(s, in);
    const Result unfused = run(schedule::schedule(p.plan, kTarget, Policy::Unfused), in);
    for (size_t i = 0; i < got.outputs.size(); ++i) {
      INFO("output " << i);
      CHECK(same_bits(got.outputs[i], expected.outputs[i]));
      CHECK(same_bits(unfused.outputs[i], expected.outputs[i]));
    }
  }
}

TEST_CASE("random programs with sums across outer ranges agree in every bit", "[schedule]") {
  int finished = 0;
  for (uint32_t seed = 1; seed <= cases(800); ++seed) {
    INFO("seed " << seed);
    Program p = Generator(seed, true).make();
    std::mt19937 random(seed);
    check_values(p.plan, inputs_for(p.plan, random));
    for (const codegen::Kernel& k : schedule::schedule(p.plan, kTarget).kernels) finished += k.epilogue_sink ? 1 : 0;
  }
  CHECK(finished > static_cast<int>(cases(800) / 6));
}

TEST_CASE("random programs: fused, unfused and plan graph agree in every bit", "[schedule]") {
  for (uint32_t seed = 1; seed <= cases(1500); ++seed) {
    INFO("seed " << seed);
    Program p = Generator(seed).make();
    std::mt19937 random(seed);
    check_values(p.plan, inputs_for(p.plan, random));
  }
}
