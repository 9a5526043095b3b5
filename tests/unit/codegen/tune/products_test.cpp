// What the heuristic asks for where a product's operands come from memory, and that these lists keep every bit.
#include <tuple>

#include "unit/codegen/choice.h"
#include "unit/codegen/products.h"

using namespace codegen_test;

TEST_CASE(
    "the columns of a matrix in panels get the lanes, and its rows are not asked for ahead where they fill the sets of "
    "the first cache",
    "[codegen][products]") {
  runtime::Target target = runtime::reference_target();
  const auto choice = [&](int64_t ways, int64_t deep) {
    target.l1 = ways * runtime::kPage;
    KernelHarness b;
    UOp x = b.buffer(Array(DType::F32, {1024, deep})), y = b.buffer(Array(DType::F32, {16, deep, 64})),
        out = b.buffer(Array(DType::F32, {1024, 16, 64}));
    UOp i = b.outer(1024), panel = b.outer(16), j = b.outer(64), k = b.over(deep, 3);
    b.stores({b.put(out, {i, panel, j}, b.reduce(Combine::Dot, {b.at(x, {i, k}), b.at(y, {panel, k, j})}, {k}))});
    return Choice(b, target);
  };
  const auto passes = [&] {  // all rows of a thread under each panel, which is not copied once more
    const Choice c = choice(8, 1024);
    INFO(to_string(c.opts()));
    CHECK(c.has_full_tile(2));
    CHECK(c.tasks(0) == 2);
    CHECK(c.packs() == 0);
    CHECK(c.prefetches() == 0);
    return c;
  };
  CHECK(passes().steps() > 1);
  CHECK(choice(8, 1040).prefetches() > 0);
  CHECK(choice(12, 1024).prefetches() > 0);
  (target = reference_machine("x86-64-v3", 32, 16)).l2 = 512 << 10;
  CHECK(passes().steps() == 1);  // no register is left
}

TEST_CASE("a matrix that many rows are multiplied with is copied block by block", "[codegen][products]") {
  for (const auto& [rows, deep, columns, across] : {std::tuple<int64_t, int64_t, int64_t, bool>{512, 512, 1024, false},
                                                    {512, 1024, 512, true},
                                                    {512, 4096, 512, true},
                                                    {49, 512, 1024, false}}) {
    const Choice c(product(rows, deep, columns, across));
    INFO(to_string(c.opts()));
    CHECK(c.has_full_tile(1));
    CHECK(c.steps() > 1);
    CHECK(c.is_whole(0));  // all rows share what is copied,
    REQUIRE(c.packs() == 1);
    CHECK(c.packed_bytes() == runtime::reference_target().l2 / 2);  // which stays in the second cache
    CHECK(c.panel() == c.width(1));
    CHECK(c.is_packed_transposed() == across);
    CHECK(c.is_outside(2, 0) == (deep == 4096));  // as a panel of all that is summed would not
  }
}

TEST_CASE("a matrix that is copied across the lanes is read from one end of its rows to the other",
          "[codegen][products]") {
  KernelHarness b = product(70, 40, 100, true);
  const std::vector<Opt> opts = chosen(b);
  INFO(to_string(opts));
  const std::string text = b.check(opts, false);
  const size_t along = text.find("inner range 2 of 40, unrolled by 16");
  CHECK(along != std::string::npos);
  CHECK(text.find("outer range 1 of 100, 16 lanes") < along);
  // Rows of one vector and a rest go by halves.
  KernelHarness halves = product(70, 24, 100, true);
  CHECK(halves.check(chosen(halves), false).find("inner range 2 of 24, unrolled by 8") != std::string::npos);
}

TEST_CASE("the next rows are asked for where operands come from further than the second cache", "[codegen][products]") {
  const auto products = [](int64_t batch) {
    KernelHarness b;
    const int64_t m = 100, k = 130, n = 64;
    UOp x = b.buffer(random_array(DType::F32, {batch, m, k}, 1)),
        y = b.buffer(random_array(DType::F32, {batch, k, n}, 2)), out = b.buffer(Array(DType::F32, {batch, m, n}));
    UOp item = b.outer(batch), i = b.outer(m), j = b.outer(n), l = b.over(k, 3);
    b.stores({b.put(out, {item, i, j}, b.reduce(Combine::Dot, {b.at(x, {item, i, l}), b.at(y, {item, l, j})}, {l}))});
    return b;
  };
  // Opts name a LOAD by its node's number, which is the same in both kernels: neither 2 nor 80 is a size that they have
  // otherwise.
  const Choice few(products(2)), many(products(80));
  INFO(to_string(few.opts()) << " and " << to_string(many.opts()));
  CHECK(few.prefetches() == 0);
  CHECK(many.prefetches() > 0);
  products(2).check(many.opts(), false);
}

TEST_CASE("lanes lie along what is summed row by row: a step down a column takes a page of its own",
          "[codegen][products]") {
  const Choice c(product(2048, 2048, 2048));
  INFO(to_string(c.opts()));
  CHECK(c.has_full_tile(1));
  CHECK(c.lanes(2) == 1);
  CHECK(c.tasks(0) == 2);
}

TEST_CASE("rows that share the columns of a matrix in memory share a copy of it", "[codegen][products]") {
  KernelHarness b;  // the weights of attention, times the values: q [h, m, k], keys [h, n, k], v [h, n, d]
  const int64_t h = 2, m = 50, n = 80, k = 32, d = 16;
  UOp q = b.buffer(random_array(DType::F32, {h, m, k}, 1)), keys = b.buffer(random_array(DType::F32, {h, n, k}, 2)),
      v = b.buffer(random_array(DType::F32, {h, n, d}, 3)), out = b.buffer(Array(DType::F32, {h, m, d}));
  UOp head = b.outer(h), i = b.outer(m), along = b.inner(d, 2), j = b.over(n, 3), l = b.over(k, 4);
  UOp weight = exp(b.reduce(Combine::Dot, {b.at(q, {head, i, l}), b.at(keys, {head, j, l})}, {l}) * 0.1);
  b.stores({b.put(out, {head, i, along}, b.reduce(Combine::Dot, {weight, b.at(v, {head, j, along})}, {j}))});
  const Choice c(b);
  INFO(to_string(c.opts()));
  CHECK(c.packs() == 1);  // of the keys, which lie across the lanes; the values are read as they lie
  CHECK(c.is_packed_transposed());
  CHECK(c.panel() > 0);
  b.check(c.opts(), false);
}

TEST_CASE("blocks under windows are so shallow that their lines wait for the neighbours", "[codegen][products]") {
  const auto convolution = [](int64_t channels, int64_t side, int64_t window) {
    KernelHarness b;  // x [n, c, y + i, x + j] under w [o, c, i, j]
    const int64_t n = 6, all = side + window - 1;
    UOp x = b.buffer(Array(DType::F32, {n, channels, all, all})),
        w = b.buffer(Array(DType::F32, {channels, channels, window, window}));
    UOp out = b.buffer(Array(DType::F32, {n, channels, side, side}));
    UOp image = b.outer(n), to = b.outer(channels), row = b.outer(side), column = b.outer(side);
    UOp from = b.over(channels, 4), i = b.over(window, 5), j = b.over(window, 6);
    b.stores({b.put(out, {image, to, row, column},
                    b.reduce(Combine::Dot, {b.at(w, {to, from, i, j}), b.at(x, {image, from, row + i, column + j})},
                             {from, i, j}))});
    return Choice(b);
  };
  CHECK(convolution(256, 14, 3).is_split(4));
  CHECK_FALSE(convolution(32, 14, 3).is_split());   // all that is summed is one shallow block
  CHECK_FALSE(convolution(512, 14, 1).is_split());  // no line is another row's
}

TEST_CASE("threads share tiles that read different memory, and the same number of them", "[codegen][products]") {
  const auto weights = [](int64_t from, runtime::Target target, std::vector<int> threads) {
    KernelHarness b;  // the gradient [o, c, i, j] of a window's weights: dy [n, o, y, x], x [n, c, y + i, x + j]
    const int64_t n = 8, to = 32, side = 20, window = 5, all = side + window - 1;
    UOp dy = b.buffer(random_array(DType::F32, {n, to, side, side}, 1)),
        x = b.buffer(random_array(DType::F32, {n, from, all, all}, 2));
    UOp out = b.buffer(Array(DType::F32, {to, from, window, window}));
    UOp o = b.outer(to), c = from > 1 ? b.outer(from) : b.index(0), i = b.outer(window), j = b.outer(window);
    const int first = from > 1 ? 4 : 3;
    UOp image = b.over(n, first), row = b.over(side, first + 1), column = b.over(side, first + 2);
    b.stores(
        {b.put(out, {o, c, i, j},
               b.reduce(Combine::Dot, {b.at(dy, {image, o, row, column}), b.at(x, {image, c, row + i, column + j})},
                        {image, row, column}))});
    std::vector<Choice> made;
    for (int many : threads) {
      target.threads = many;
      made.emplace_back(b, target);
      if (from == 1) b.check(made.back().opts(), false);
    }
    return made;
  };
  // 11 of 32 channels would be 22 for one thread and 10 for the other; a row of the window each, and both would read
  // all images.
  const std::vector<Choice> many = weights(32, runtime::reference_target(), {1, 2});
  const Choice &alone = many[0], &together = many[1];
  INFO(to_string(alone.opts()) << " and " << to_string(together.opts()));
  CHECK((alone.copies(1) == 11 && alone.is_whole(1)));
  CHECK((together.block(1) > 1 && 32 % together.block(1) == 0 && together.tasks(1) % 2 == 0));
  for (const int window : {2, 3}) CHECK((alone.is_whole(window) && together.is_whole(window)));
  CHECK(weights(33, runtime::reference_target(), {2})[0].copies(1) != 11);
  // One channel: with so few rows each point would copy all of dy once more, so that threads have the halves of it.
  const std::vector<Choice> single = weights(1, runtime::reference_target(), {1, 2});
  const Choice &one = single[0], &halves = single[1];
  INFO(to_string(one.opts()) << " and " << to_string(halves.opts()));
  CHECK((one.has_lanes(0) && one.width(0) == 32 && one.accumulators() >= 10));
  CHECK((halves.has_lanes(0) && halves.is_shared(0) && halves.accumulators() >= 20));
  // With half of the registers a tile is a row of the window, and a task has all of them.
  const Choice rows = weights(1, reference_machine("x86-64-v3", 32, 16), {2})[0];
  INFO(to_string(rows.opts()));
  CHECK((rows.is_shared(0) && rows.accumulators() == 10));
  for (const int window : {1, 2}) CHECK(rows.is_whole(window));
}

TEST_CASE("points with a small last block do not follow each other", "[codegen][products]") {
  const runtime_test::ScopedEnv threads("SINTER_THREADS", "2");  // one alone has nobody to wait for
  const auto points = [](int64_t rows, int64_t block) {
    KernelHarness b = product(rows, 8, 64);
    const std::string text =
        b.check({codegen::Lanes{1, 16}, codegen::TaskBlock{0, block}, codegen::TaskBlock{1, 16}}, false);
    const size_t at = text.find("// task, ");
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(points(16, 8) == "// task, 8 of range 0, 16 of range 1");
  CHECK(points(16, 12) == "// task, 16 of range 1, 12 of range 0");
  CHECK(points(100, 12) == "// task, 12 of range 0, 16 of range 1");  // many blocks: threads take from each other
}

TEST_CASE("few columns leave the lanes to the rows, which are transposed in registers", "[codegen][products]") {
  for (const int64_t deep : {128, 101})
    for (const int64_t columns : {10, 12}) {
      KernelHarness b = product(250, deep, columns);
      const Choice c(b);
      INFO(to_string(c.opts()));
      CHECK(c.has_lanes(0));
      CHECK(c.copies(1) == columns);
      // A vector of 4 columns leaves room for two of them, which share what is loaded for both.
      CHECK(c.copies(0) == (columns == 10 ? 2 : 1));
      CHECK(c.steps() >= 4);
      CHECK(c.packs() == 0);
      CHECK(count(b.check(c.opts()), "sn_odd1_") > 0);
    }
  CHECK(Choice(product(250, 128, 16)).has_lanes(1));  // whole vectors of columns
  CHECK(Choice(product(256, 100, 33)).packs() > 0);   // many share an element
}

TEST_CASE("a sum that underflows is -0 but where a border closes its last elements", "[codegen][products]") {
  const int64_t n = 7, c = 3, o = 32, l = 40, window = 5, padding = 2;
  KernelHarness b;  // y [n, o, l] of x [n, c, l] under w [o, c, window]
  Array tiny(DType::F32, {n, c, l}), minus(DType::F32, {o, c, window});
  for (int64_t i = 0; i < tiny.numel(); ++i) tiny.set(i, Scalar::of(DType::F32, 1e-30));
  for (int64_t i = 0; i < minus.numel(); ++i) minus.set(i, Scalar::of(DType::F32, -1e-30));
  UOp x = b.buffer(std::move(tiny)), w = b.buffer(std::move(minus)), out = b.buffer(Array(DType::F32, {n, o, l}));
  UOp image = b.outer(n), to = b.outer(o), at = b.outer(l), from = b.over(c, 3), tap = b.over(window, 4);
  UOp place = at + tap - b.index(padding), gate = le(b.index(0), place) & lt(place, b.index(l)),
      zero = constant(b.g(), DType::F32, 0.0);
  b.stores(
      {b.put(out, {image, to, at},
             b.reduce(Combine::Dot, {b.at(x, {image, from, place}, gate, zero), b.at(w, {to, from, tap}, gate, zero)},
                      {from, tap}))});
  b.check({codegen::Lanes{1, 16}, codegen::Unroll{0, 4}}, false);
  for (int64_t i = 0; i < l; ++i) CHECK(std::signbit(b.arrays[2].at(i).as_double()) == (i < l - padding));
}

TEST_CASE("what a gate skips is added in the last turn of the loops that it does not depend on",
          "[codegen][products]") {
  const bool moves = GENERATE(false, true),
             table = GENERATE(false, true);  // the gate changes with `from`; it lies in memory
  const std::vector<Opt> opts = GENERATE(values<std::vector<Opt>>(
      {{codegen::Lanes{1, 16}, codegen::Unroll{0, 4}},
       {codegen::Lanes{1, 16}, codegen::TaskBlock{0, 4}},
       {codegen::Lanes{1, 16}, codegen::TaskBlock{0, 4}, codegen::Split{2, 2}},
       {codegen::Lanes{1, 16}, codegen::TaskBlock{0, 4}, codegen::LoopOrder{{{2, 0}, {0, 0}}}}}));
  const int64_t n = 7, c = 3, o = 32, window = 5;
  KernelHarness b;  // out [n, o] of x [n, c, window] and w [o, c, window]: products underflow; in the last turn of
                    // `from` they are -0
  Array tiny(DType::F32, {n, c, window}), minus(DType::F32, {o, c, window}), open(DType::I32, {c, window});
  for (int64_t i = 0; i < tiny.numel(); ++i) tiny.set(i, Scalar::of(DType::F32, i / window % c < c - 1 ? 1e-30 : 0.0));
  for (int64_t i = 0; i < minus.numel(); ++i) minus.set(i, Scalar::of(DType::F32, -1e-30));
  for (int64_t i = 0; i < open.numel(); ++i)
    open.set(i, Scalar::of(DType::I32, int64_t{i % window < (moves ? i / window + 3 : window - 1)}));
  UOp x = b.buffer(std::move(tiny)), w = b.buffer(std::move(minus)), are = b.buffer(std::move(open)),
      out = b.buffer(Array(DType::F32, {n, o}));
  UOp image = b.outer(n), to = b.outer(o), from = b.over(c, 2), tap = b.over(window, 3),
      zero = constant(b.g(), DType::F32, 0.0);
  UOp gate = table ? lt(constant(b.g(), DType::I32, int64_t{0}), b.at(are, {moves ? from : b.index(0), tap}))
                   : lt(tap, moves ? from + b.index(3) : b.index(window - 1));
  b.stores(
      {b.put(out, {image, to},
             b.reduce(Combine::Dot, {b.at(x, {image, from, tap}, gate, zero), b.at(w, {to, from, tap}, gate, zero)},
                      {from, tap}))});
  b.check(opts, false);
  for (int64_t i = 0; i < n * o; ++i) CHECK_FALSE(std::signbit(b.arrays[3].at(i).as_double()));
}

TEST_CASE("operands whose gates move are not transposed in registers", "[codegen][products]") {
  KernelHarness b;  // the weight gradient of a padded conv1d: dy [n, o, l], x [n, c, l]
  const int64_t n = 8, o = 10, c = 64, l = 256;
  UOp dy = b.buffer(random_array(DType::F32, {n, o, l}, 1)), x = b.buffer(random_array(DType::F32, {n, c, l}, 2)),
      out = b.buffer(Array(DType::F32, {o, c}));
  UOp to = b.outer(o), from = b.outer(c), image = b.over(n, 2), at = b.over(l, 3), before = at - b.index(1);
  UOp shifted = b.at(x, {image, from, before}, le(b.index(1), at), constant(b.g(), DType::F32, 0.0));
  b.stores({b.put(out, {to, from}, b.reduce(Combine::Dot, {b.at(dy, {image, to, at}), shifted}, {image, at}))});
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.has_full_tile(1));
  CHECK(choice.packs() == 1);  // of those, for all of the others
  CHECK((choice.is_whole(0) && choice.is_whole(1)));
  CHECK(choice.panel() == choice.width(1));
  CHECK(choice.steps() > 1);
  b.check(choice.opts(), false);
}

TEST_CASE("at most eight rows are stored far from each other at once, and a point writes their lines to the end",
          "[codegen][products]") {
  KernelHarness b;  // one plane, x [n, y, x], under weights of each row of its own, w [o, y, i, j]
  const int64_t n = 4, o = 11, size = 28, window = 5, out_size = size - window + 1;
  UOp x = b.buffer(random_array(DType::F32, {n, size, size}, 1)),
      w = b.buffer(random_array(DType::F32, {o, out_size, window, window}, 2)),
      out = b.buffer(Array(DType::F32, {n, o, out_size, out_size})),
      positive = b.buffer(Array(DType::F32, {n, o, out_size, out_size}));
  UOp image = b.outer(n), plane = b.outer(o), row = b.outer(out_size), column = b.outer(out_size),
      i = b.over(window, 4), j = b.over(window, 5);
  UOp sum = b.reduce(Combine::Dot, {b.at(w, {plane, row, i, j}), b.at(x, {image, row + i, column + j})}, {i, j});
  b.stores({b.put(out, {image, plane, row, column}, sum),
            b.put(positive, {image, plane, row, column}, maximum(sum, like(sum, 0.0)))});
  const Choice c(b);
  INFO(to_string(c.opts()));
  CHECK((c.has_lanes(3) && c.is_whole(3)));
  CHECK((c.copies(1) > 4 && c.copies(1) <= 8));
  CHECK((c.block(2) > 1 && out_size % c.block(2) == 0));
  CHECK(c.steps() == window);
  b.check(c.opts(), false);
}

TEST_CASE("a sum beside a product reads what lies across its lanes in rows that are transposed",
          "[codegen][products]") {
  for (const int64_t size : {24, 25}) {
    KernelHarness
        b;  // the gradients of a bias [o] and of weights [o, i, j], from dy [n, o, y, x] and images [n, y + i, x + j]
    const int64_t n = 4, o = 32, window = 5, all = size + window - 1;
    UOp dy = b.buffer(random_array(DType::F32, {n, o, size, size}, 1)),
        x = b.buffer(random_array(DType::F32, {n, all, all}, 2)),
        weights = b.buffer(Array(DType::F32, {o, window, window})), bias = b.buffer(Array(DType::F32, {o}));
    UOp to = b.outer(o), i = b.inner(window, 1), j = b.inner(window, 2), image = b.over(n, 3), row = b.over(size, 4),
        column = b.over(size, 5);
    UOp given = b.at(dy, {image, to, row, column});
    b.stores({b.put(weights, {to, i, j},
                    b.reduce(Combine::Dot, {given, b.at(x, {image, row + i, column + j})}, {image, row, column})),
              b.put(bias, {to}, b.reduce(Combine::Add, {given}, {image, row, column}))});
    const Choice c(b);
    INFO(to_string(c.opts()));
    CHECK((c.copies(5) == 4) == (size % 4 == 0));
    b.check(c.opts(), false);
  }
}

TEST_CASE("a short window along which memory is read at no fixed distance is written out", "[codegen]") {
  const auto [one_range, side] =
      GENERATE(values<std::pair<bool, int64_t>>({{true, 2}, {false, 2}, {true, 3}, {true, 4}}));
  KernelHarness b;  // the largest of side x side in x [n, side * y, side * x]
  const int64_t n = 8, size = 10;
  UOp x = b.buffer(random_array(DType::F32, {n, side * size, side * size}, 1)),
      out = b.buffer(Array(DType::F32, {n, size, size}));
  UOp image = b.outer(n), row = b.outer(size), column = b.outer(size), step = b.index(side);
  UOp i = b.over(one_range ? side * side : side, 3), j = b.over(side, 4);
  UOp value = one_range ? b.at(x, {image, row * step + idiv(i, step), column * step + mod(i, step)})
                        : b.at(x, {image, row * step + i, column * step + j});
  b.stores({b.put(out, {image, row, column},
                  b.reduce(Combine::Max, {value}, one_range ? std::vector<UOp>{i} : std::vector<UOp>{i, j}))});
  const Choice c(b);
  INFO(to_string(c.opts()));
  CHECK((c.copies(3) == side * side) == (one_range && side < 4));
  if (!one_range) CHECK(c.copies(4) == 1);
  b.check(c.opts(), false);
}

TEST_CASE("masks of a padded window have registers, and are known ones where the window is short",
          "[codegen][products]") {
  const int64_t window = GENERATE(3, 5), n = 2, c = 2, size = 56, border = window / 2;
  KernelHarness b;  // x [n, c, y, x] under w [c, i, j], with zeros around
  UOp x = b.buffer(random_array(DType::F32, {n, c, size, size}, 1)),
      w = b.buffer(random_array(DType::F32, {c, window, window}, 2));
  UOp out = b.buffer(Array(DType::F32, {n, c, size, size}));
  UOp image = b.outer(n), plane = b.outer(c), row = b.outer(size), column = b.outer(size), i = b.over(window, 4),
      j = b.over(window, 5);
  const auto inside = [&](UOp at) { return le(b.index(border), at) & lt(at, b.index(size + border)); };
  UOp value = b.at(x, {image, plane, row + i - b.index(border), column + j - b.index(border)},
                   inside(row + i) & inside(column + j), constant(b.g(), DType::F32, 0.0));
  b.stores({b.put(out, {image, plane, row, column}, b.reduce(Combine::Dot, {b.at(w, {plane, i, j}), value}, {i, j}))});
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.has_lanes(3));
  CHECK(choice.accumulators() >= 20);
  CHECK(choice.copies(2) < 7);  // which would fit without masks
  CHECK((choice.copies(5) == 3) == (window == 3));
  b.check(choice.opts(), false);
}

TEST_CASE("results whose lanes and copies lie apart rest in a tile until their row is there", "[codegen][products]") {
  const auto [o, apart] = GENERATE(values<std::pair<int64_t, int64_t>>({{4, 1}, {32, 1}, {32, 2}, {32, 3}}));
  const int64_t n = 96, c = 32, size = 24, window = 9, from_size = size - window + 1;
  KernelHarness b;  // dx [n, c, apart * y] from dy [n, o, y - window + 1] and w [o, c, window]: the window is too long
                    // for copies of its row, so that they are images, whose gates agree
  UOp dy = b.buffer(random_array(DType::F32, {n, o, from_size}, 1)),
      w = b.buffer(random_array(DType::F32, {o, c, window}, 2));
  UOp out = b.buffer(Array(DType::F32, {n, c, apart * size}));
  UOp image = b.outer(n), to = b.outer(c), y = b.outer(size), from = b.over(o, 3), tap = b.over(window, 4),
      at = y - tap;
  UOp gate = le(b.index(0), at) & lt(at, b.index(from_size)), zero = constant(b.g(), DType::F32, 0.0);
  b.stores(
      {b.put(out, {image, to, y * b.index(apart)},
             b.reduce(Combine::Dot, {b.at(dy, {image, from, at}, gate, zero), b.at(w, {from, to, tap}, gate, zero)},
                      {from, tap}))});
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  const std::string text = b.check(choice.opts(), false);
  const bool rests = o * window >= 64 && apart <= 2;
  CHECK((choice.is_split(3) && choice.depth(3) == o) == rests);
  CHECK((count(text, "*(f32x8_m*)(p2") > 0) == (rests && apart == 1));
}

TEST_CASE("rows outside a border are told apart once for all columns of a tile", "[codegen][products]") {
  const int64_t window = GENERATE(3, 5), n = 2, c = 5, o = 32, size = 14, border = window / 2;
  KernelHarness b;  // y [n, o, y, x] of x [n, c, y, x] under w [o, c, i, j], with zeros around
  UOp x = b.buffer(random_array(DType::F32, {n, c, size, size}, 1)),
      w = b.buffer(random_array(DType::F32, {o, c, window, window}, 2));
  UOp out = b.buffer(Array(DType::F32, {n, o, size, size}));
  UOp image = b.outer(n), to = b.outer(o), row = b.outer(size), column = b.outer(size), from = b.over(c, 4),
      i = b.over(window, 5), j = b.over(window, 6);
  const auto inside = [&](UOp at) { return le(b.index(border), at) & lt(at, b.index(size + border)); };
  UOp value = b.at(x, {image, from, row + i - b.index(border), column + j - b.index(border)},
                   inside(row + i) & inside(column + j), constant(b.g(), DType::F32, 0.0));
  b.stores(
      {b.put(out, {image, to, row, column}, b.reduce(Combine::Dot, {value, b.at(w, {to, from, i, j})}, {from, i, j}))});
  const std::string text = b.check({codegen::Lanes{1, 16}, codegen::Unroll{3, 7}}, false);
  const auto border_columns = count(text, "sn_load_if_f32_0(p");
  CHECK((border_columns > 0 && border_columns <= 2 * border));  // near the left border, and near the right one
}

TEST_CASE("what follows from a closed gate of one sum is unknown to the next one", "[codegen][products]") {
  KernelHarness b;  // sum and maximum of rows of x [length, width] that `to` [n, length] names one place before
  const int64_t n = 4, length = 9, width = 32;
  Array places(DType::I32, {n, length});
  for (int64_t i = 0; i < places.numel(); ++i) places.set(i, Scalar::of(DType::I32, i % (length - 1) + 1));
  UOp to = b.buffer(std::move(places)), x = b.buffer(random_array(DType::F32, {length, width}, 1));
  UOp out = b.buffer(Array(DType::F32, {n, width})), most = b.buffer(Array(DType::F32, {n, width}));
  UOp row = b.outer(n), column = b.outer(width), k = b.over(length, 2);
  UOp place = b.at(to, {row, k - b.index(1)}, le(b.index(1), k), constant(b.g(), DType::I32, int64_t{0}));
  UOp value = b.at(x, {cast(place, DType::Index), column});
  b.stores({b.put(out, {row, column}, b.reduce(Combine::Add, {value}, {k})),
            b.put(most, {row, column}, b.reduce(Combine::Max, {value * 2.0}, {k}))});
  b.check({codegen::Lanes{1, 16}, codegen::Unroll{0, 4}}, false);
}

TEST_CASE("a matrix that lies in a cache is read as it lies", "[codegen][products]") {
  for (const int64_t rows : {1, 64}) {
    const Choice c(product(rows, 128, rows == 1 ? 1100 : 128));
    INFO(to_string(c.opts()));
    CHECK((c.packs() == 0 && c.prefetches() == 0 && !c.is_split() && c.loops().order.empty()));
    CHECK(c.steps() > 1);
    if (rows == 1)
      CHECK((c.has_lanes(0) && c.accumulators() >= 4));
    else
      CHECK(c.has_full_tile(1));
  }
}

TEST_CASE("of a short sum a task stores long rows, as long as what all rows share stays in the first cache",
          "[codegen][products]") {
  const auto columns = [](int64_t deep) {
    KernelHarness b;  // a convolution with a window of one: [image, place] from [image, channel, place]
    UOp x = b.buffer(Array(DType::F32, {32, deep, 1024})), w = b.buffer(Array(DType::F32, {96, deep})),
        out = b.buffer(Array(DType::F32, {32, 96, 1024}));
    UOp image = b.outer(32), o = b.outer(96), place = b.outer(1024), k = b.over(deep, 3);
    b.stores(
        {b.put(out, {image, o, place}, b.reduce(Combine::Dot, {b.at(w, {o, k}), b.at(x, {image, k, place})}, {k}))});
    const runtime::Target target = reference_machine("x86-64-v3", 32, 16);
    const Choice c(b, target);
    INFO(to_string(c.opts()));
    CHECK(c.has_full_tile(2));
    CHECK(c.block(2) * deep * 4 <= target.l1 / 2);
    return c.block(2);
  };
  CHECK(columns(16) > 128);
  CHECK(columns(40) < 128);
}
