// Values that take the tile of the value that they are computed from, and padding between a tile's rows.
#include <fmt/format.h>

#include "codegen/loopschedule/opt.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;
using codegen::Lanes;
using codegen::Materialize;
using codegen::Split;
using codegen::TaskBlock;
using codegen::ThreadBind;
using codegen::Unroll;

namespace {

constexpr int64_t kRows = 6, kFeatures = 8;

struct Rows {
  KernelHarness b;
  int score = 0, weight = 0;  ///< positions of what is materialized
};

/// A softmax of scores x[i, j]^2, and its product with y[j, d]: threads that share the keys make what all of them read.
/// `keeps`: whether the largest score is a result too.
Rows weighted_sums(int64_t keys, ReductionTree tree, bool keeps = false) {
  Rows made;
  KernelHarness& b = made.b;
  UOp x = b.buffer(random_array(DType::F32, {kRows, keys}, 1)),
      y = b.buffer(random_array(DType::F32, {keys, kFeatures}, 2)),
      out = b.buffer(Array(DType::F32, {kRows, kFeatures})), top = b.buffer(Array(DType::F32, {kRows}));
  UOp i = b.outer(kRows), d = b.inner(kFeatures, 1), j = b.inner(keys, 2);
  UOp v = b.at(x, {i, j}), score = v * v, m = b.reduce(Combine::Max, {score}, {j}, tree);
  UOp weight = exp(score - m), sum = b.reduce(Combine::Add, {weight}, {j}, tree);
  UOp product = b.reduce(Combine::Dot, {weight, b.at(y, {j, d})}, {j});
  b.stores({b.put(out, {i, d}, product / sum), b.put(top, {i}, keeps ? m : sum)});
  made.score = place_of(b, [](UOp n) { return n->op == Op::Mul && n->src[0] == n->src[1]; });
  UOp factor;
  for (UOp n : topological(codegen::normalize(b.kernel).main.sink))
    if (n->op == Op::Reduce && n->reduction().combine == Combine::Dot) factor = n->src[0];
  made.weight = place_of(b, [&](UOp n) { return n == factor; });
  return made;
}

std::vector<Opt> in_one_tile(const Rows& rows, std::vector<Opt> more) {
  more.emplace_back(Materialize{rows.score, {2}});
  more.emplace_back(Materialize{rows.weight, {2}, rows.score});
  return more;
}

}  // namespace

TEST_CASE("a value takes the tile of the one that it is computed from", "[codegen]") {
  for (const int64_t keys : {37, 64})
    for (const ReductionTree tree : {ReductionTree{}, ReductionTree{16, 0}}) {
      INFO(keys << " keys, chains " << tree.lanes);
      Rows rows = weighted_sums(keys, tree);
      const std::string text = rows.b.check(in_one_tile(rows, {}));
      CHECK(count(text, "f32 p4[") == 1);
      CHECK(count(text, "f32 p5[") == 0);
      for (const std::vector<Opt>& more :
           std::vector<std::vector<Opt>>{{Lanes{1, 8}}, {Unroll{0, 2}, TaskBlock{0, 4}}, {Split{2, 32}, Unroll{2, 4}}})
        rows.b.check(in_one_tile(rows, more), false);
    }
}

TEST_CASE("threads read what takes a tile only when all have stored it", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  for (const int64_t keys : {37, 64}) {
    Rows rows = weighted_sums(keys, {16, 0});
    std::vector<runtime::KernelSource> sources;
    const std::vector<std::vector<Opt>> lists{
        {},
        {ThreadBind{2, 16, 1}, ThreadBind{1, 8, 1}},                                     // half of the threads repeat
        {ThreadBind{2, 16, 1}, Lanes{1, 4}, ThreadBind{1, 2, 1}, ThreadBind{0, 4, 16}},  // rows side by side
        {Unroll{2, 2}, ThreadBind{2, 8, 1}, ThreadBind{1, 8, 1}, Unroll{0, 2}, ThreadBind{0, 2, 8}},
        {ThreadBind{1, 8, 1}},  // all threads compute the row
        {ThreadBind{2, 16, 8}, ThreadBind{1, 8, 1}, Split{2, 32}}};
    for (const std::vector<Opt>& list : lists)
      sources.push_back(codegen::generate_source(rows.b.kernel, gpu.target(), in_one_tile(rows, list)));
    const std::vector<Array> before = rows.b.interpret();
    const auto programs = runtime::compile(sources, gpu.target());
    for (size_t i = 0; i < lists.size(); ++i) {
      INFO(keys << " keys: " << codegen::to_string(lists[i]) << "\n" << sources[i].text);
      CHECK(count(sources[i].text, "f32* p5 = ") == 0);
      gpu.compare(rows.b, "in one tile", *programs[i], before);
    }
  }
}

TEST_CASE("padding moves the rows of a tile apart", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  for (const int pad : {0, 3}) {
    Rows rows = weighted_sums(37, {16, 0});
    const std::vector<Opt> list{Unroll{0, 2}, TaskBlock{0, 4}, Materialize{rows.score, {2}, -1, pad},
                                Materialize{rows.weight, {2}, rows.score, pad}};
    const std::string text = rows.b.check(list, false);
    CHECK(count(text, fmt::format("f32 p4[{}]", 2 * (37 + pad))) == 1);
    std::vector<Opt> threads = list;
    threads.emplace_back(ThreadBind{2, 16, 1});
    gpu.check(rows.b, {threads});
  }
  Rows rows = weighted_sums(37, {});
  refused(rows.b, {Unroll{0, 2}, Materialize{rows.score, {2}, -1, 3}, Materialize{rows.weight, {2}, rows.score}},
          "the tiles of the two values differ");
}

TEST_CASE("no value takes a tile that others still need", "[codegen]") {
  Rows rows = weighted_sums(37, {});
  const Materialize score{rows.score, {2}}, weight{rows.weight, {2}, rows.score};
  refused(rows.b, {weight}, "no tile holds the value");
  refused(rows.b, {Materialize{rows.score, {2}, rows.weight}, Materialize{rows.weight, {2}}},
          "no tile holds the value");
  refused(rows.b, {Materialize{rows.score, {2}, -1, -1}}, "the padding is negative");
  Rows kept = weighted_sums(37, {}, true);  // the largest score is found again for the second store
  refused(kept.b, in_one_tile(kept, {}), "is used later");

  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {4, 20}, 1)), out = b.buffer(Array(DType::F64, {4}));
  UOp i = b.outer(4), j = b.inner(20, 1), v = b.at(x, {i, j});
  UOp square = v * v, other = exp(v), wide = cast(square, DType::F64);
  b.stores({b.put(out, {i}, b.reduce(Combine::Add, {wide * cast(other, DType::F64)}, {j}))});
  const int squared = place_of(b, [](UOp n) { return n->op == Op::Mul && n->src[0] == n->src[1]; }),
            widened = place_of(b, [](UOp n) { return n->op == Op::Cast && n->src[0]->op == Op::Mul; });
  UOp second;
  for (UOp n : topological(codegen::normalize(b.kernel).main.sink))
    if (n->op == Op::Cast && n->src[0]->op != Op::Mul && n->dtype == DType::F64) second = n->src[0];
  REQUIRE(second);
  const int exponential = place_of(b, [&](UOp n) { return n == second; });
  refused(b, {Materialize{squared, {1}}, Materialize{widened, {1}, squared}}, "the tiles of the two values differ");
  refused(b,
          {Materialize{std::min(squared, exponential), {1}},
           Materialize{std::max(squared, exponential), {1}, std::min(squared, exponential)}},
          "not computed from");
}
