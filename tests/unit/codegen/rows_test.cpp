// Kernels with rows: several reductions and stores over one inner range, what they keep between their loops, partial
// results of blocks of rows and the finish phase.
#include <bit>
#include <cmath>
#include <limits>

#include "codegen/kernel/access.h"
#include "codegen/kernel/ranges.h"
#include "codegen/tune/heuristic/heuristic.h"
#include "ir/walk.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"
#include "unit/codegen/choice.h"

using namespace codegen_test;
using codegen::Lanes;
using codegen::LoopOrder;
using codegen::Materialize;
using codegen::Split;
using codegen::TaskBlock;
using codegen::Unroll;

namespace {

/// exp(x - max) / sum over rows of n, with the row's maximum and sum.
KernelHarness softmax(int64_t rows, int64_t n, ReductionTree tree) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {rows, n}, 1)), out = b.buffer(Array(DType::F32, {rows, n})),
      top = b.buffer(Array(DType::F32, {rows})), sums = b.buffer(Array(DType::F32, {rows}));
  UOp i = b.outer(rows), j = b.inner(n, 1);
  UOp v = b.at(x, {i, j}), m = b.reduce(Combine::Max, {v}, {j}, tree);
  UOp e = exp(v - m), s = b.reduce(Combine::Add, {e}, {j}, tree);
  b.stores({b.put(out, {i, j}, e / s), b.put(top, {i}, m), b.put(sums, {i}, s)});
  return b;
}

/// What the last sum of the kernel adds up: of softmax exp(x - max).
int summed(const KernelHarness& b) {
  const std::vector<UOp> nodes = topological(codegen::normalize(b.kernel).main.sink);
  UOp value;
  for (UOp n : nodes)
    if (n->op == Op::Reduce && n->reduction().combine == Combine::Add) value = n->src[0];
  return place_of(b, [&](UOp n) { return n == value; });
}

/// The backward pass of a layer norm over rows of n: dx, and for each block of rows the sums for gamma and beta, which
/// a finish phase adds up. Everything that runs over rows of a block has one range.
KernelHarness layer_norm_backward(int64_t rows, int64_t n, int64_t block) {
  KernelHarness b;
  const int64_t blocks = (rows + block - 1) / block;
  UOp x = b.buffer(random_array(DType::F32, {rows, n}, 1)), dy = b.buffer(random_array(DType::F32, {rows, n}, 2)),
      gamma = b.buffer(random_array(DType::F32, {n}, 3)), dx = b.buffer(Array(DType::F32, {rows, n})),
      p = b.buffer(Array(DType::F32, {blocks, n})), q = b.buffer(Array(DType::F32, {blocks, n})),
      dgamma = b.buffer(Array(DType::F32, {n})), dbeta = b.buffer(Array(DType::F32, {n}));
  UOp ib = b.outer(blocks), size = b.index(block);
  UOp bound = rows % block ? minimum(size, b.index(rows) - ib * size) : size;
  UOp ii = range(bound, 1, AxisKind::Inner), j = b.inner(n, 2), i = ib * size + ii;
  const ReductionTree tree{n >= 16 ? 16 : 1, 0};
  UOp v = b.at(x, {i, j}), g = b.at(dy, {i, j});
  UOp mean = b.reduce(Combine::Add, {v}, {j}, tree) / static_cast<double>(n), d = v - mean;
  UOp scale = 1.0 / sqrt(b.reduce(Combine::Dot, {d, d}, {j}, tree) / static_cast<double>(n) + 1e-5);
  UOp h = d * scale, dh = g * b.at(gamma, {j});
  UOp s = b.reduce(Combine::Add, {dh}, {j}, tree) / static_cast<double>(n);
  UOp t = b.reduce(Combine::Dot, {dh, h}, {j}, tree) / static_cast<double>(n);
  b.stores({b.put(dx, {i, j}, (dh - s - h * t) * scale), b.put(p, {ib, j}, b.reduce(Combine::Dot, {g, h}, {ii})),
            b.put(q, {ib, j}, b.reduce(Combine::Add, {g}, {ii}))});
  UOp k = b.inner(n, 3), l = b.inner(blocks, 4);
  b.kernel.epilogue_sink = sink(b.g(), {b.put(dgamma, {k}, b.reduce(Combine::Add, {b.at(p, {l, k})}, {l})),
                                        b.put(dbeta, {k}, b.reduce(Combine::Add, {b.at(q, {l, k})}, {l}))});
  return b;
}

}  // namespace

TEST_CASE("sibling loops over a row, plain and with lanes", "[codegen]") {
  for (int64_t n : {1, 10, 37, 64, 130})
    for (ReductionTree tree : {ReductionTree{}, ReductionTree{16, 0}, ReductionTree{64, 0}}) {
      INFO("rows of " << n << ", chains " << tree.lanes);
      softmax(5, n, tree).check({}, n == 37);
      softmax(5, n, tree).check({Lanes{1, 16}}, n == 37 && tree.lanes == 64);
      softmax(5, n, tree).check({Lanes{1, 16}, Unroll{1, 4}}, false);
      softmax(5, n, tree).check({Unroll{0, 3}, Lanes{1, 8}, Unroll{1, 2}, TaskBlock{0, 6}}, false);
    }
}

TEST_CASE("a row tile is written by the first loop that evaluates it and read by the others", "[codegen]") {
  for (int64_t n : {37, 64}) {
    INFO("rows of " << n);
    KernelHarness b = softmax(5, n, {16, 0});
    const Materialize row{summed(b), {1}};
    const auto work = [](const std::string& text) { return count(text, "__builtin_elementwise_roundeven"); };
    const std::string plain = b.check({Lanes{1, 16}}), kept = b.check({row, Lanes{1, 16}});
    CHECK(work(kept) * 2 == work(plain));
    CHECK(count(kept, "f32 p4[" + std::to_string(n) + "]") == 1);
    b.check({row});
    b.check({row, Lanes{1, 16}, Unroll{1, 4}}, false);
    b.check({row, Lanes{1, 4}, Unroll{0, 2}}, false);  // two rows of the tile at once
    b.check({row, Lanes{0, 4}}, false);                // four rows, side by side
    b.check({row, Split{1, 32}, Lanes{1, 16}}, false);
  }
  KernelHarness b = softmax(5, 37, {});
  refused(b, {Materialize{summed(b), {}}}, "one element");
  refused(b, {Materialize{summed(b), {7}}}, "no range of that id");
  refused(b, {Materialize{summed(b), {0}}}, "inner ranges");
  refused(b, {Materialize{100000, {1}}}, "no such value");
  refused(b, {Materialize{summed(b), {1}}, Materialize{summed(b), {1}}}, "already");
}

TEST_CASE("a tile that is too large for the stack lies in scratch memory", "[codegen]") {
  KernelHarness b = softmax(2, 40000, {16, 0});
  const std::string text = b.check({Materialize{summed(b), {1}}, Lanes{1, 16}});
  CHECK(count(text, "bufs[5]") == 1);
  CHECK(codegen::generate_source(b.kernel, runtime::host_target(), {Materialize{summed(b), {1}}}).scratch == 160000);
}

TEST_CASE("a small product per row, its softmax and a sum over rows", "[codegen]") {
  for (int64_t classes : {10, 16, 33}) {
    KernelHarness b;
    constexpr int64_t rows = 24, block = 8, inner = 20;
    UOp h = b.buffer(random_array(DType::F32, {rows, inner}, 1)),
        w = b.buffer(random_array(DType::F32, {inner, classes}, 2)), y = b.buffer(Array(DType::I64, {rows})),
        out = b.buffer(Array(DType::F32, {rows, classes})), part = b.buffer(Array(DType::F32, {rows / block})),
        loss = b.buffer(Array(DType::F32, {}));
    UOp ib = b.outer(rows / block), ii = b.inner(block, 1), c = b.inner(classes, 2), k = b.over(inner, 3);
    UOp i = ib * b.index(block) + ii;
    UOp z = b.reduce(Combine::Dot, {b.at(h, {i, k}), b.at(w, {k, c})}, {k});
    UOp m = b.reduce(Combine::Max, {z}, {c}), e = exp(z - m), s = b.reduce(Combine::Add, {e}, {c});
    UOp hit = eq(cast(b.at(y, {i}), DType::Index), c);
    UOp target = b.reduce(Combine::Add, {where(hit, z, like(z, 0.0))}, {c});
    b.stores({b.put(out, {i, c}, e / s - cast(hit, DType::F32)),
              b.put(part, {ib}, b.reduce(Combine::Add, {log(s) + m - target}, {ii}))});
    UOp l = b.inner(rows / block, 4);
    b.kernel.epilogue_sink = sink(b.g(), {b.put(loss, {}, b.reduce(Combine::Add, {b.at(part, {l})}, {l}) / 24.0)});
    const bool gcc = classes == 33;
    b.check({}, gcc);
    const int product =
        place_of(b, [](UOp n) { return n->op == Op::Reduce && n->reduction().combine == Combine::Dot; });
    b.check({Materialize{product, {2}}}, gcc);
    b.check({Materialize{product, {2}}, Lanes{2, 16}}, gcc);
    b.check({Materialize{product, {2}}, Lanes{2, 16}, Unroll{1, 4}}, false);
    b.check({Materialize{product, {2}}, Lanes{1, 8}, Unroll{2, 5}}, false);
  }
}

// The scores of two decode steps, whose keys are updated in place: the second loop computes the products again.
TEST_CASE("what a product reads is not overwritten before the product is computed again", "[codegen]") {
  KernelHarness b;
  UOp keys = b.buffer(random_array(DType::F32, {3, 32, 8}, 1)), q = b.buffer(random_array(DType::F32, {2, 3, 8}, 2)),
      out = b.buffer(Array(DType::F32, {2, 3, 32}));
  UOp i = b.outer(3), a = b.inner(32, 1), d = b.over(8, 2);
  UOp key = b.at(keys, {i, a, d});
  std::vector<UOp> stores;
  for (const int64_t step : {0, 1}) {
    UOp z = b.reduce(Combine::Dot, {b.at(q, {b.index(step), i, d}), key}, {d});
    stores.push_back(b.put(out, {b.index(step), i, a}, exp(z - b.reduce(Combine::Max, {z}, {a}))));
  }
  stores.push_back(b.put(keys, {i, a, d}, key * 2.0));
  b.stores(stores);
  b.check();
  b.check({Lanes{1, 16}, Unroll{2, 8}});
}

TEST_CASE("exp of what lies below its maximum needs one bound less and has the bits of exp", "[codegen]") {
  constexpr int64_t rows = 64, n = 37;
  constexpr float inf = std::numeric_limits<float>::infinity();
  Array x = random_array(DType::F32, {rows, n}, 5);
  const float special[] = {inf, -inf, std::nanf(""), 3e38f, -3e38f, 1e-42f, -0.0f, 200.0f};
  for (int64_t i = 0; i < rows * n; ++i) {
    float& at = x.as<float>()[static_cast<size_t>(i)];
    const auto row = static_cast<size_t>(i / n);
    at *= static_cast<float>(row) * 4;
    if (row % 2 && i % n == 3) at = special[row / 2 % std::size(special)];
  }
  // out = exp(x - max(x)), at once or of a difference that was stored before.
  const auto run = [&](bool difference, bool power, const Array& from) {
    KernelHarness b;
    UOp in = b.buffer(copy(from)), out = b.buffer(Array(DType::F32, {rows, n})), i = b.outer(rows), j = b.over(n, 1),
        value = b.at(in, {i, j});
    if (difference) value = value - b.reduce(Combine::Max, {value}, {j});
    b.stores({b.put(out, {i, j}, power ? exp(value) : value)});
    const std::string text = b.check();
    if (power) CHECK((count(text, "89.0f") > 0) == !difference);
    return copy(b.arrays[1]);
  };
  const Array fused = run(true, true, x), apart = run(false, true, run(true, false, x));
  for (size_t i = 0; i < rows * n; ++i) {
    const float a = fused.as<float>()[i], b = apart.as<float>()[i];
    if (std::isnan(a) ? !std::isnan(b) : std::bit_cast<uint32_t>(a) != std::bit_cast<uint32_t>(b))
      FAIL_CHECK(a << " instead of " << b);
  }
}

TEST_CASE("of two products whose results meet in one store, one has lanes", "[codegen]") {
  constexpr int64_t n = 8, steps = 300;
  KernelHarness b;
  UOp out = b.buffer(Array(DType::F32, {n, n})), i = b.outer(n), j = b.outer(n);
  auto product = [&](UOp along, int id) {  // of a vector and the columns of a matrix
    UOp x = b.buffer(random_array(DType::F32, {steps, n}, 1)), v = b.buffer(random_array(DType::F32, {steps}, 2));
    UOp k = b.over(steps, id);
    return b.reduce(Combine::Dot, {b.at(x, {k, along}), b.at(v, {k})}, {k});
  };
  b.stores({b.put(out, {i, j}, product(i, 2) + product(j, 3))});
  const std::vector<Opt> opts = chosen(b);
  INFO(codegen::to_string(opts));
  CHECK(std::count_if(opts.begin(), opts.end(), [](const Opt& o) { return std::holds_alternative<Lanes>(o); }) == 1);
  b.check(opts, false);
}

TEST_CASE("loops in a row have lanes of their own, not along the range around them", "[codegen]") {
  constexpr int64_t rows = 32, n = 40;
  KernelHarness b;
  const UOp i = b.outer(rows);
  auto row = [&](int id) {  // along which both loops save less than along i together
    UOp x = b.buffer(random_array(DType::F32, {rows, n}, static_cast<unsigned>(id))),
        out = b.buffer(Array(DType::F32, {rows, n}));
    UOp j = b.over(n, id);
    return b.put(out, {i, j}, exp(b.at(x, {i, j})));
  };
  const UOp first = row(1), second = row(2);
  b.stores({first, second});
  const std::vector<Opt> opts = chosen(b);
  for (const int id : {0, 1, 2})
    CHECK(std::count_if(opts.begin(), opts.end(), [&](const Opt& o) {
            const auto* lanes = std::get_if<Lanes>(&o);
            return lanes && lanes->range == id;
          }) == (id > 0));
  b.check(opts, false);
}

TEST_CASE("partial results of a block are carried in the output: one nest for all of a layer norm's gradients",
          "[codegen]") {
  for (int64_t rows : {32, 37})
    for (int64_t n : {5, 64}) {
      INFO(rows << " rows of " << n);
      KernelHarness b = layer_norm_backward(rows, n, 8);
      const std::string text = b.check();
      CHECK(count(text, "// inner range 1") == 1);  // no row is looked at again for another element of the sums
      CHECK(count(text, "_finish(") == 1);
      b.check({Lanes{2, 16}}, false);
      b.check({Lanes{2, 16}, Unroll{2, 2}, Unroll{1, 4}}, false);
      b.check({Lanes{2, 4}, Split{1, 4}}, false);
      if (n == 5) b.check({LoopOrder{{{2, 0}, {1, 0}}}}, false);  // longer rows have chains, which are not carried
    }
}

TEST_CASE("a carried sum over nothing is what no elements come to", "[codegen]") {
  // The loop that is summed has the smaller id: it stands outside, and the sums rest in memory between its turns.
  for (const Combine combine : {Combine::Add, Combine::Max})
    for (const bool stored_as_it_is : {true, false})
      for (const int64_t n : {0, 1, 5}) {
        const Var rows("rows", 0, 9);
        KernelHarness b;
        const Dim count = rows(n);
        UOp x = b.buffer(random_array(DType::F32, {3, n, 6}, 1), Shape{3, count, 6}),
            out = b.buffer(random_array(DType::F32, {3, 6}, 2), Shape{3, 6});
        UOp p = b.outer(3), i = b.over(count, 1), j = b.inner(6, 2);
        UOp sum = b.reduce(combine, {b.at(x, {p, i, j})}, {i});
        b.stores({b.put(out, {p, j}, stored_as_it_is ? sum : sum * like(sum, 2.0))});
        INFO(n << " elements");
        b.check({}, n == 0);
      }
}

TEST_CASE("a product whose reduced axis stands outside is carried block by block", "[codegen]") {
  for (bool epilogue : {false, true}) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {13, 50}, 1)), y = b.buffer(random_array(DType::F32, {50, 37}, 2)),
        out = b.buffer(Array(DType::F32, {13, 37})), more = b.buffer(Array(DType::F32, {37, 13}));
    UOp i = b.outer(13), j = b.outer(37), k = b.over(50, 2);
    UOp sum = b.reduce(Combine::Dot, {b.at(x, {i, k}), b.at(y, {k, j})}, {k});
    std::vector<UOp> stores{b.put(out, {i, j}, epilogue ? maximum(sum, like(sum, 0.0)) : sum)};
    if (epilogue) stores.push_back(b.put(more, {j, i}, sum * 2.0));
    b.stores(std::move(stores));
    const std::vector<Opt> blocked{Split{2, 16},     Lanes{1, 16},     Unroll{0, 4},
                                   TaskBlock{0, 16}, TaskBlock{1, 48}, LoopOrder{{{2, 0}, {0, 0}, {1, 0}, {2, 1}}}};
    const std::string text = b.check(blocked);
    CHECK(count(text, "] __attribute__((aligned(64)))") ==
          epilogue);                         // the sums rest in the output, unless two read them
    CHECK(count(text, "? (f32x16)*") == 0);  // and go on from there under one condition
    b.check({LoopOrder{{{2, 0}, {0, 0}, {1, 0}}}, TaskBlock{0, 4}, TaskBlock{1, 8}}, false);
    b.check({Unroll{2, 7}, Lanes{1, 8}}, false);
  }
}

TEST_CASE("stores of carried sums stay in the block of their sums", "[codegen]") {
  for (const int copies : {2, 3, 4, 6}) {
    const int block = 4 * copies, size = block + 4;
    INFO(size << " values in blocks of " << block);
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {5, 3, size}, 1)), out = b.buffer(Array(DType::F32, {3, size})),
        more = b.buffer(Array(DType::F32, {3, size}));
    UOp j = b.outer(size), k = b.over(5, 1), row = b.inner(3, 2),
        sum = b.reduce(Combine::Add, {b.at(x, {k, row, j})}, {k});
    b.stores({b.put(out, {row, j}, maximum(sum, like(sum, 0.0))), b.put(more, {row, j}, sum * 2.0)});
    b.check({Lanes{0, 4}, Unroll{0, copies}, TaskBlock{0, block}, LoopOrder{{{1, 0}, {2, 0}, {0, 0}}}}, false);
  }
}

TEST_CASE("sums of a row that go one by one leave the lanes to the rows side by side, whose memory is transposed",
          "[codegen]") {
  const auto choice = [](int64_t columns, ReductionTree tree) {
    KernelHarness b = softmax(37, columns, tree);
    const Choice c(b);
    b.check(c.opts(), false);
    return c;
  };
  for (const int64_t columns : {5, 10, 16, 63}) {
    const Choice c = choice(columns, {});
    INFO(to_string(c.opts()));
    CHECK((c.has_lanes(0) && c.lanes(1) == 1 && c.copies(1) == 8));
  }
  CHECK(choice(64, {16, 0}).has_lanes(1));
}

TEST_CASE("no lanes part loops that share a row", "[codegen]") {
  KernelHarness b;  // what softmax's gradient has, and its sums over 32 rows
  UOp x = b.buffer(random_array(DType::F32, {4, 32, 10}, 1)), y = b.buffer(Array(DType::F32, {4, 32, 10})),
      sums = b.buffer(Array(DType::F32, {4, 10}));
  UOp block = b.outer(4), row = b.inner(32, 1), column = b.over(10, 2);
  UOp e = exp(b.at(x, {block, row, column})), d = exp(b.at(x, {block, row, column}) * 2.0);
  UOp v = d + e * (b.reduce(Combine::Add, {d}, {column}) / b.reduce(Combine::Add, {e}, {column}));
  b.stores({b.put(y, {block, row, column}, v), b.put(sums, {block, column}, b.reduce(Combine::Add, {v}, {row}))});
  const Choice c(b);
  INFO(to_string(c.opts()));
  CHECK((c.has_lanes(2) && c.lanes(1) == 1));
  CHECK(c.materialized() > 0);
  b.check(c.opts(), false);
}

TEST_CASE("of stores of carried sums whose lanes lie apart one vector is stored in a turn, of others two",
          "[codegen]") {
  for (const bool apart : {true, false}) {
    KernelHarness b;
    const int64_t size = 32;
    UOp x = b.buffer(random_array(DType::F32, {5, 3, size}, 1)),
        out = b.buffer(Array(DType::F32, apart ? std::vector<int64_t>{size, 3} : std::vector<int64_t>{3, size}));
    UOp j = b.outer(size), k = b.over(5, 1), row = b.inner(3, 2),
        sum = b.reduce(Combine::Add, {b.at(x, {k, row, j})}, {k});
    const std::vector<UOp> place = apart ? std::vector<UOp>{j, row} : std::vector<UOp>{row, j};
    b.stores({b.put(out, place, maximum(sum, like(sum, 0.0)))});
    const std::string text =
        b.check({Lanes{0, 4}, Unroll{0, 4}, TaskBlock{0, size}, LoopOrder{{{1, 0}, {2, 0}, {0, 0}}}}, false);
    CHECK(count(text, "outer range 0 of 32, 4 lanes\n") == (apart ? 1 : 0));
    CHECK(count(text, "outer range 0 of 32, 4 lanes, unrolled by 2\n") == (apart ? 0 : 1));
  }
}

TEST_CASE("stores of carried sums whose lanes lie apart have copies of their own along memory", "[codegen]") {
  const int64_t length = GENERATE(3, 4, 12, 24);
  KernelHarness b;
  const int64_t size = 32;
  UOp x = b.buffer(random_array(DType::F32, {5, length, size}, 1)), out = b.buffer(Array(DType::F32, {size, length}));
  UOp j = b.outer(size), k = b.over(5, 1), row = b.inner(length, 2),
      sum = b.reduce(Combine::Add, {b.at(x, {k, row, j})}, {k});
  b.stores({b.put(out, {j, row}, maximum(sum, like(sum, 0.0)))});
  const std::string text =
      b.check({Lanes{0, 4}, Unroll{0, 4}, TaskBlock{0, size}, LoopOrder{{{1, 0}, {2, 0}, {0, 0}}}}, false);
  CHECK(count(text, "inner range 2 of 24, unrolled by 8\n") == (length == 24));
  CHECK((count(text, "*(f32x4_m*)(p1") > 0) == (length > 3));  // transposed in registers
}

TEST_CASE("stores of carried sums whose lanes lie apart write lines to their end", "[codegen]") {
  for (const bool apart : {true, false}) {
    KernelHarness b;
    const int64_t size = 32;
    UOp x = b.buffer(random_array(DType::F32, {5, 3, 2, size}, 1));
    UOp out = b.buffer(Array(DType::F32, apart ? std::vector<int64_t>{size, 3, 2} : std::vector<int64_t>{3, 2, size}));
    UOp j = b.outer(size), k = b.over(5, 1), row = b.inner(3, 2), column = b.inner(2, 3),
        sum = b.reduce(Combine::Add, {b.at(x, {k, row, column, j})}, {k});
    const std::vector<UOp> place = apart ? std::vector<UOp>{j, row, column} : std::vector<UOp>{row, column, j};
    b.stores({b.put(out, place, maximum(sum, like(sum, 0.0)))});
    const std::string text =
        b.check({Lanes{0, 4}, TaskBlock{0, size}, LoopOrder{{{1, 0}, {3, 0}, {2, 0}, {0, 0}}}}, false);
    const size_t lanes = text.rfind("outer range 0 of 32, 4 lanes"), rows = text.rfind("inner range 2 of 3"),
                 columns = text.rfind("inner range 3 of 2");
    CHECK((apart ? lanes < rows && rows < columns
                 : columns < rows && rows < lanes));  // as the sum goes, where lanes lie side by side
  }
}

TEST_CASE("stores of carried sums that read a staged tile keep the loops for whose turns it is filled", "[codegen]") {
  KernelHarness b;
  const int64_t size = 32;
  UOp x = b.buffer(random_array(DType::F32, {5, 3, 2, size}, 1)),
      y = b.buffer(random_array(DType::F32, {size, 3, 2}, 2)), out = b.buffer(Array(DType::F32, {size, 3, 2}));
  UOp j = b.outer(size), k = b.over(5, 1), row = b.inner(3, 2), column = b.inner(2, 3),
      sum = b.reduce(Combine::Add, {b.at(x, {k, row, column, j})}, {k});
  b.stores({b.put(out, {j, row, column}, maximum(sum, like(sum, 0.0)) * b.at(y, {j, row, column}))});
  const int load = place_of(b, [](UOp n) { return n->op == Op::Load && codegen::slot_of(n) == 1; });
  b.check({Lanes{0, 4}, TaskBlock{0, size}, LoopOrder{{{1, 0}, {3, 0}, {2, 0}, {0, 0}}},
           codegen::TileCopy{load, {{2}, {0}}}},
          false);
}

TEST_CASE("stores of carried sums have no more copies than fit the panels they read", "[codegen]") {
  const int panel = GENERATE(4, 8, 12, 24);
  KernelHarness b;
  const int64_t size = 32, length = 24;
  UOp x = b.buffer(random_array(DType::F32, {5, length, size}, 1)),
      y = b.buffer(random_array(DType::F32, {size, length}, 2)), out = b.buffer(Array(DType::F32, {size, length}));
  UOp j = b.outer(size), k = b.over(5, 1), row = b.inner(length, 2),
      sum = b.reduce(Combine::Add, {b.at(x, {k, row, j})}, {k});
  b.stores({b.put(out, {j, row}, maximum(sum, like(sum, 0.0)) * b.at(y, {j, row}))});
  const int load = place_of(b, [](UOp n) { return n->op == Op::Load && codegen::slot_of(n) == 1; });
  const std::string text = b.check({Lanes{0, 4}, Unroll{0, 4}, TaskBlock{0, size}, LoopOrder{{{1, 0}, {2, 0}, {0, 0}}},
                                    codegen::TileCopy{load, {{0}, {2}}, panel}},
                                   false);
  CHECK(count(text, "inner range 2 of 24, unrolled by 8\n") == (panel % 8 == 0));
  CHECK(count(text, "inner range 2 of 24, unrolled by 4\n") == (panel % 8 != 0));
}

TEST_CASE("a tile of what the bound of a range is made of is refused", "[codegen]") {
  KernelHarness b;  // sums of blocks of a row, whose bound depends on where they begin
  UOp x = b.buffer(random_array(DType::F32, {3, 1000}, 1)), out = b.buffer(Array(DType::F32, {3}));
  UOp i = b.outer(3), k = b.over(1000, 1);
  b.stores({b.put(out, {i}, b.reduce(Combine::Add, {b.at(x, {i, k})}, {k}, {1, 64}))});
  UOp bound, blocks;
  for (UOp n : topological(codegen::normalize(b.kernel).main.sink))
    if (n->op == Op::Range && n->src[0]->op != Op::Const) bound = n->src[0];
  REQUIRE(bound);
  for (UOp n : topological(bound))
    if (n->op == Op::Range) blocks = n;
  REQUIRE(blocks);
  const int place = place_of(b, [&](UOp n) { return n == bound; });
  refused(b, {Materialize{place, {codegen::range_id(blocks)}}}, "the bound of range");
  refused(b, {codegen::TileCopy{place, {{codegen::range_id(blocks)}}}}, "the bound of range");
}

TEST_CASE("of two carried sums in one store, one rests in the output", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {6, 30}, 1)), y = b.buffer(random_array(DType::F32, {6, 30}, 2)),
      out = b.buffer(Array(DType::F32, {30}));
  UOp j = b.outer(30), k = b.over(6, 1), l = b.over(6, 2);
  b.stores({b.put(out, {j},
                  b.reduce(Combine::Add, {b.at(x, {k, j})}, {k}) * b.reduce(Combine::Add, {b.at(y, {l, j})}, {l}))});
  const std::string text = b.check({Lanes{0, 8}, TaskBlock{0, 32}, LoopOrder{{{1, 0}, {2, 0}, {0, 0}}}}, false);
  CHECK(count(text, "] __attribute__((aligned(64)))") == 1);
}

TEST_CASE("a carried sum has a place for each chain of the sum that reads it", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {2, 8, 6, 3}, 1)), out = b.buffer(Array(DType::F32, {2}));
  UOp p = b.outer(2), j = b.over(8, 1), m = b.over(3, 2), k = b.over(6, 3);
  UOp most = b.reduce(Combine::Max, {b.at(x, {p, j, k, m})}, {k}), sums = b.reduce(Combine::Add, {most}, {m});
  b.stores({b.put(out, {p}, b.reduce(Combine::Add, {sums}, {j}, ReductionTree{16, 0}))});
  CHECK(count(b.check({LoopOrder{{{3, 0}, {2, 0}}}}, false), "f32x16 acc") > 0);
}

TEST_CASE("a carried sum that is read again does not rest where another value goes", "[codegen]") {
  for (const bool kept : {false, true}) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {2, 5, 8}, 1)), y = b.buffer(random_array(DType::F32, {2, 5, 8}, 2)),
        first = b.buffer(Array(DType::F32, {2, 5})), rest = b.buffer(Array(DType::F32, {2, 5, 8})),
        sums = b.buffer(Array(DType::F32, {2, 8}));
    UOp p = b.outer(2), m = b.inner(8, 4), j = b.over(5, 5), k = b.over(8, 6);
    UOp most = b.reduce(Combine::Max, {b.at(x, {p, j, k})}, {k}),
        sum = b.reduce(Combine::Add, {b.at(y, {p, j, m})}, {j});
    b.stores({b.put(first, {p, j}, kept ? most : most * 2.0), b.put(rest, {p, j, m}, b.at(y, {p, j, m}) - most),
              b.put(sums, {p, m}, sum)});
    const std::string text =
        b.check({Lanes{4, 8}, Split{6, 4}, LoopOrder{{{6, 0}, {0, 0}, {4, 0}, {5, 0}, {6, 1}}}}, false);
    CHECK(count(text, "] __attribute__((aligned(64)))") == (kept ? 0 : 1));
  }
}

TEST_CASE("Orders that would change a result are refused", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {6, 5, 8}, 1)), out = b.buffer(Array(DType::F32, {6}));
  UOp i = b.outer(6), k = b.over(5, 1), l = b.over(8, 2);
  b.stores({b.put(out, {i}, b.reduce(Combine::Add, {b.at(x, {i, k, l})}, {k, l}))});
  refused(b, {LoopOrder{{{2, 0}, {1, 0}}}}, "the order in which");
  refused(b, {LoopOrder{{{2, 1}}}}, "no such loop");
  refused(b, {Split{1, 3}, LoopOrder{{{1, 1}, {1, 0}}}}, "largest blocks");
  refused(b, {Split{1, 4}, Split{1, 3}}, "does not divide");
  refused(b, {Split{1, 3}, Unroll{1, 2}}, "not a multiple");
  refused(b, {LoopOrder{{{1, 0}}}, LoopOrder{{{1, 0}}}}, "an order already");
  refused(b, {TaskBlock{1, 2}}, "outer ranges only");
  refused(b, {TaskBlock{0, 3}, Unroll{0, 2}}, "not a multiple");
  refused(b, {Lanes{0, 3}}, "2, 4, 8, ... 256 elements");
  refused(b, {Lanes{0, 4}, Lanes{0, 8}}, "lanes already");
  b.check({Unroll{1, 5}, Unroll{2, 3}, TaskBlock{0, 4}});
}

TEST_CASE("a value per row takes no lanes from the loops over rows", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {144, 4096}, 1)), y = b.buffer(random_array(DType::F32, {144}, 2)),
      out = b.buffer(Array(DType::F32, {144})), other = b.buffer(Array(DType::F32, {144}));
  UOp i = b.outer(144), k = b.over(4096, 1), v = b.at(y, {i});
  b.stores({b.put(out, {i}, b.reduce(Combine::Add, {b.at(x, {i, k})}, {k}, {32, 0})), b.put(other, {i}, v + v)});
  const Choice c(b);
  INFO(to_string(c.opts()));
  CHECK((c.lanes(0) == 1 && c.lanes(1) > 1));
}
