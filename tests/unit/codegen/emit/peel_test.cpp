// Steps that stand outside of a loop, and what copies at the edge of an image know of the gates of their sums.
#include "unit/codegen/choice.h"

using namespace codegen_test;
using codegen::TaskBlock, codegen::Lanes, codegen::ThreadBind, codegen::LoopOrder, codegen::Cut, codegen::Split,
    codegen::Unroll;

namespace {

/// Steps of range 2 stand outside of its loop, if it has several.
void add_peel(std::vector<Opt>& opts, int64_t size, int64_t width, int first, int last) {
  if (const Cut cut = codegen::peel(2, size, width, first, last); !cut.at.empty()) opts.emplace_back(cut);
}

/// The input gradient of a window without padding or with: dx [n, c, size] of dy [n, o, size + padding + right - taps +
/// 1] and w [o, c, taps].
struct Gradient {
  int64_t n = 3, c = 32, o = 5, size = 24, taps = 5, padding = 0, right = padding;
  bool underflows = false;  ///< all products do, to -0,
  bool ends = false;        ///< but those of the last of o, which are -0

  KernelHarness bench() const {
    KernelHarness b;
    const int64_t results = size + padding + right - taps + 1;
    UOp dy = b.buffer(of({n, o, results}, 1)), w = b.buffer(of({o, c, taps}, 2)),
        out = b.buffer(Array(DType::F32, {n, c, size}));
    UOp image = b.outer(n), to = b.outer(c), column = b.outer(size), from = b.over(o, 3), tap = b.over(taps, 4);
    UOp place = column + b.index(padding) - tap, open = le(b.index(0), place) & lt(place, b.index(results)),
        zero = constant(b.g(), DType::F32, 0.0);
    b.stores({b.put(
        out, {image, to, column},
        b.reduce(Combine::Dot, {b.at(dy, {image, from, place}, open, zero), b.at(w, {from, to, tap}, open, zero)},
                 {from, tap}))});
    return b;
  }
  Array of(std::vector<int64_t> shape, unsigned seed) const {
    if (!underflows) return random_array(DType::F32, shape, seed);
    Array a(DType::F32, shape);
    for (int64_t i = 0; i < a.numel(); ++i)
      a.set(i, Scalar::of(DType::F32, seed == 2 ? -1e-30 : ends && i / shape[2] % o == o - 1 ? 0.0 : 1e-30));
    return a;
  }
  /// So many copies of a row, with the window unrolled.
  std::vector<Opt> opts(int copies, int first, int last) const {
    const int64_t whole = (size + copies - 1) / copies * copies;
    std::vector<Opt> all{Lanes{1, 16}, Unroll{2, copies}, TaskBlock{2, whole}, Unroll{4, static_cast<int>(taps)}};
    add_peel(all, size, copies, first, last);
    return all;
  }
};

}  // namespace

TEST_CASE("inside of an image no gate is asked for, and at its edges only open elements are multiplied",
          "[codegen][peel]") {
  const Gradient g;
  KernelHarness b = g.bench();
  const auto loops = [&](const std::vector<Opt>& opts) {
    const std::string text = b.check(opts, false);
    return text.substr(text.find("for (i64 "));
  };
  const std::string peeled = loops(g.opts(8, 1, 1)),
                    plain = loops({Lanes{1, 16}, Unroll{2, 8}, TaskBlock{2, 24}, Unroll{4, 5}});
  INFO(peeled);
  CHECK(count(peeled, "fma(") == 24 * 5 - 2 * (4 + 3 + 2 + 1));  // at either edge four places lack four taps to one
  CHECK(count(peeled, "?") == 0);
  CHECK(count(peeled, " && ") == 0);
  CHECK(count(plain, "fma(") == 8 * 5);  // of three steps, of what the gates select
}

TEST_CASE("a sum that copies skip elements of has the sign of zero that it has without", "[codegen][peel]") {
  Gradient g;
  g.underflows = true;
  g.ends = GENERATE(false, true);
  g.padding = g.right = GENERATE(0, 2, 4);
  g.size = GENERATE(3, 8, 16, 24, 29);
  const int copies = GENERATE(2, 4, 8);
  if (g.size + 2 * g.padding < g.taps || g.size < copies) return;
  KernelHarness b = g.bench();
  const int steps = static_cast<int>(g.size / copies), first = (steps + 1) / 2;
  b.check(g.opts(copies, first, steps - first), false);
  const auto whole = [&](int64_t place) {
    return place >= 4 - g.padding && place < g.size + g.padding - 4;
  };  // has all its elements
  int64_t minus = 0, places = 0;
  for (int64_t i = 0; i < b.arrays[2].numel(); ++i) minus += std::signbit(b.arrays[2].at(i).as_double());
  for (int64_t i = 0; i < g.size; ++i) places += whole(i);
  CHECK((minus < b.arrays[2].numel() || places == g.size));
  if (!g.ends) {
    CHECK(minus > 0);
    return;
  }
  // What a place skips first makes +0 of what was there before, and -0 added to that leaves it.
  for (int64_t i = 0; i < b.arrays[2].numel(); ++i)
    CHECK(std::signbit(b.arrays[2].at(i).as_double()) == whole(i % g.size));
}

TEST_CASE("any number of steps outside, beside any rest, keeps every bit", "[codegen][peel]") {
  Gradient g;
  g.size = GENERATE(9, 24, 30);
  g.padding = g.right = GENERATE(0, 1);
  const int copies = GENERATE(2, 3, 8);
  KernelHarness b = g.bench();
  const int steps = static_cast<int>(g.size / copies);
  for (const auto& [first, last] : {std::pair{1, 0}, {0, 1}, {1, 1}, {2, 1}, {4, 4}})
    if (first + last <= steps) {
      b.check(g.opts(copies, first, last), false);
      std::vector<Opt> plain{Unroll{2, copies}, TaskBlock{2, 32 * copies}};  // the window's loop is none of copies
      add_peel(plain, g.size, copies, first, last);
      b.check(plain, false);
    }
  b.check({Lanes{2, 2}, Unroll{2, 2}, TaskBlock{2, 32}, Cut{2, {4}}}, false);  // lanes along the row
}

TEST_CASE("gates that leave holes in a window are asked for", "[codegen][peel]") {
  KernelHarness b;  // elements whose place is odd count for nothing
  const int64_t size = 12, taps = 5, o = 3;
  UOp x = b.buffer(random_array(DType::F32, {o, size + taps}, 1)),
      w = b.buffer(random_array(DType::F32, {o, taps, 16}, 2)), out = b.buffer(Array(DType::F32, {16, size}));
  UOp to = b.outer(16), column = b.outer(size), from = b.over(o, 2), tap = b.over(taps, 3), place = column + tap;
  UOp open = eq(mod(place, b.index(2)), b.index(0)), zero = constant(b.g(), DType::F32, 0.0);
  b.stores({b.put(out, {to, column},
                  b.reduce(Combine::Dot, {b.at(x, {from, place}, open, zero), b.at(w, {from, tap, to}, open, zero)},
                           {from, tap}))});
  b.check({Lanes{0, 16}, Unroll{1, 4}, TaskBlock{1, 12}, Cut{1, {4, 8}}, Unroll{3, 5}}, false);
  b.check({Lanes{0, 16}, Unroll{1, 4}, TaskBlock{1, 12}, Cut{1, {4, 8}}}, false);
}

TEST_CASE("an element that all copies of a step lack is a branch around the step", "[codegen][peel]") {
  const bool underflows = GENERATE(false, true);
  const int64_t o = 3, size = 9, taps = 3;
  KernelHarness b;  // out [16, size, phase] of x [o, size + taps] and w [o, taps, 16]: phases lack the last taps
  Array x(DType::F32, {o, size + taps}), w(DType::F32, {o, taps, 16});
  for (int64_t i = 0; i < x.numel(); ++i)  // all products are -0
    x.set(i, Scalar::of(DType::F32, underflows ? 1e-30 : 0.25 * static_cast<double>(i % 7) - 1));
  for (int64_t i = 0; i < w.numel(); ++i)
    w.set(i, Scalar::of(DType::F32, underflows ? -1e-30 : 0.5 * static_cast<double>(i % 5) - 1));
  UOp of = b.buffer(std::move(x)), by = b.buffer(std::move(w)), out = b.buffer(Array(DType::F32, {16, size, taps}));
  UOp to = b.outer(16), column = b.outer(size), phase = b.outer(taps), from = b.over(o, 3), tap = b.over(taps, 4);
  UOp open = lt(tap + phase, b.index(taps)), zero = constant(b.g(), DType::F32, 0.0);
  b.stores(
      {b.put(out, {to, column, phase},
             b.reduce(Combine::Dot, {b.at(of, {from, column + tap}, open, zero), b.at(by, {from, tap, to}, open, zero)},
                      {from, tap}))});
  const std::string text = b.check({Lanes{0, 16}, Unroll{1, 9}, Unroll{4, 3}}, false);
  INFO(text);
  CHECK(count(text, "fma(") == size * taps);
  CHECK(count(text, "sn_select_f32x16(") + count(text, "sn_load_if_f32_0(") == 0);
  for (int64_t i = 0; i < b.arrays[2].numel(); ++i)
    if (underflows) CHECK(std::signbit(b.arrays[2].at(i).as_double()) == (i % taps == 0));
}

TEST_CASE("images at the edge of a window skip a step together", "[codegen][peel]") {
  const int64_t n = 4, o = 3, size = 6, taps = 3;
  KernelHarness b;  // the input gradient of a padded window, copies of images
  UOp dy = b.buffer(random_array(DType::F32, {n, o, size, size}, 1)),
      w = b.buffer(random_array(DType::F32, {o, taps, taps, 16}, 2)),
      out = b.buffer(Array(DType::F32, {n, 16, size, size}));
  UOp image = b.outer(n), to = b.outer(16), row = b.outer(size), column = b.outer(size), from = b.over(o, 4),
      down = b.over(taps, 5), across = b.over(taps, 6);
  UOp y = row + b.index(1) - down, x = column + b.index(1) - across;
  const auto inside = [&](UOp place) { return le(b.index(0), place) & lt(place, b.index(size)); };
  UOp open = inside(y) & inside(x), zero = constant(b.g(), DType::F32, 0.0);
  b.stores({b.put(
      out, {image, to, row, column},
      b.reduce(Combine::Dot, {b.at(dy, {image, from, y, x}, open, zero), b.at(w, {from, down, across, to}, open, zero)},
               {from, down, across}))});
  const std::string images = b.check({Lanes{1, 16}, Unroll{0, 4}, Unroll{6, 3}}, false);
  INFO(images);
  CHECK(count(images, "fma(") == n * taps);
  CHECK(count(images, "sn_select_f32x16(") == 0);
}

TEST_CASE("rows of an input gradient are copies whose window is unrolled", "[codegen][peel]") {
  for (const auto& [size, taps, padding] :
       {std::array<int64_t, 3>{24, 5, 0}, {28, 3, 1}, {56, 3, 1}, {7, 3, 1}, {14, 5, 2}}) {
    Gradient g;
    g.n = 4, g.c = 64, g.o = 16, g.size = size, g.taps = taps, g.padding = g.right = padding;
    KernelHarness b = g.bench();
    const Choice c(b);
    INFO(to_string(c.opts()));
    CHECK((c.copies(2) > 1 && c.is_peeled(2)));
    CHECK(c.copies(4) == taps);
    CHECK(c.copies(0) == 1);
    b.check(c.opts(), false);
  }
}

TEST_CASE("where only what no whole step covers is an edge nothing is peeled, and the window is unrolled all the same",
          "[codegen][peel]") {
  Gradient g;  // of a causal window
  g.n = 4, g.c = 64, g.o = 16, g.size = 14, g.taps = 3, g.padding = 2, g.right = 0;
  KernelHarness b = g.bench();
  const Choice c(b);
  INFO(to_string(c.opts()));
  for (const int range : {0, 1, 2}) CHECK_FALSE(c.is_cut(range));
  CHECK(c.copies(4) == g.taps);
  b.check(c.opts(), false);
}

TEST_CASE("a point holds a whole row only where threads have others", "[codegen][peel]") {
  Gradient g;
  g.n = 1, g.c = 64, g.o = 16, g.size = 1 << 12, g.taps = 3, g.padding = g.right = 1;
  const KernelHarness one = g.bench();
  const Choice alone(one, with_threads(1)), two(one, with_threads(2)), many(one, with_threads(32));
  INFO(to_string(alone.opts()) << "\n" << to_string(two.opts()) << "\n" << to_string(many.opts()));
  CHECK(alone.is_cut(2));
  CHECK_FALSE(two.is_cut(2));
  CHECK(many.tasks(0) * many.tasks(1) * many.tasks(2) >= 32);
}

TEST_CASE("rows whose edges are peeled do not rest in a tile", "[codegen][peel]") {
  const int64_t n = 8, c = 32, o = 64, size = 56, taps = 3;
  KernelHarness
      b;  // dx [n, c, i, j], where the window's rows are summed last, and results lie side by side along the columns
  UOp dy = b.buffer(Array(DType::F32, {n, o, size, size})), w = b.buffer(Array(DType::F32, {o, c, taps, taps})),
      out = b.buffer(Array(DType::F32, {n, c, size, size}));
  UOp image = b.outer(n), to = b.outer(c), i = b.outer(size), j = b.outer(size), from = b.over(o, 4),
      across = b.over(taps, 5), down = b.over(taps, 6);
  UOp y = i + b.index(1) - down, x = j + b.index(1) - across, zero = constant(b.g(), DType::F32, 0.0);
  UOp open = le(b.index(0), y) & lt(y, b.index(size)) & le(b.index(0), x) & lt(x, b.index(size));
  b.stores({b.put(
      out, {image, to, i, j},
      b.reduce(Combine::Dot, {b.at(dy, {image, from, y, x}, open, zero), b.at(w, {from, to, down, across}, open, zero)},
               {from, across, down}))});
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK((choice.copies(2) > 1 && choice.is_cut(2)));
  CHECK(choice.copies(6) == taps);
}

TEST_CASE("a row is whole for any of several products", "[codegen][peel]") {
  const int64_t n = 16, c = 64, size = 28, o = 16, wide = 60, taps = 3;
  KernelHarness b;  // the gradients of a window of one place, which is the busier one, and of one of three
  UOp dy = b.buffer(random_array(DType::F32, {n, o, size}, 1)), w = b.buffer(random_array(DType::F32, {o, c, taps}, 2));
  UOp dz = b.buffer(random_array(DType::F32, {n, size, wide}, 3)), v = b.buffer(random_array(DType::F32, {wide, c}, 4)),
      out = b.buffer(Array(DType::F32, {n, c, size}));
  UOp image = b.outer(n), to = b.outer(c), column = b.outer(size), other = b.over(wide, 3), from = b.over(o, 4),
      tap = b.over(taps, 5);
  UOp place = column + b.index(1) - tap, open = le(b.index(0), place) & lt(place, b.index(size)),
      zero = constant(b.g(), DType::F32, 0.0);
  UOp one = b.reduce(Combine::Dot, {b.at(dz, {image, column, other}), b.at(v, {other, to})}, {other});
  UOp three = b.reduce(Combine::Dot, {b.at(dy, {image, from, place}, open, zero), b.at(w, {from, to, tap}, open, zero)},
                       {from, tap});
  b.stores({b.put(out, {image, to, column}, one + three)});
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.is_cut(2));
  b.check(choice.opts(), false);
}

TEST_CASE("a sum whose chains need more copies than a range has goes over all of it in one loop", "[codegen][peel]") {
  KernelHarness b;
  const int64_t rows = 3, size = 33;
  UOp x = b.buffer(random_array(DType::F32, {rows, size}, 1)), out = b.buffer(Array(DType::F32, {rows}));
  UOp row = b.outer(rows), at = b.over(size, 1);
  b.stores({b.put(out, {row}, b.reduce(Combine::Add, {b.at(x, {row, at})}, {at}, ReductionTree{16, 0}))});
  b.check({Lanes{1, 2}, Unroll{1, 2}, Cut{1, {4, 8, 12, 16, 20, 24, 28, 32}}}, false);  // 8 copies of 2 lanes
  b.check({Lanes{1, 4}, Unroll{1, 4}, Cut{1, {16, 32}}}, false);
}

TEST_CASE("cuts that a loop cannot have are refused", "[codegen][peel]") {
  const KernelHarness b = Gradient().bench();
  const Opt copies = Unroll{2, 4}, all = TaskBlock{2, 24};
  refused(b, {copies, all, Cut{2, {}}}, "at 1 to 64 values");
  refused(b, {all, Cut{2, std::vector<int64_t>(65, 1)}}, "at 1 to 64 values");
  refused(b, {copies, all, Cut{2, {8, 8}}}, "do not ascend");
  refused(b, {copies, all, Cut{2, {4}}, Cut{2, {8}}}, "cut already");
  refused(b, {copies, all, Cut{2, {0, 4}}}, "inside of its known size");
  refused(b, {copies, all, Cut{2, {4, 24}}}, "inside of its known size");
  refused(b, {copies, all, Cut{2, {4, 10}}}, "multiples of lanes x unroll");
  refused(b, {copies, ThreadBind{2, 2, 1}, all, Cut{2, {8}}}, "without threads");
  refused(b, {Cut{9, {4}}}, "no range of that id");
}

TEST_CASE("rows inside of an image need no mask for its border", "[codegen][peel]") {
  const bool gradient = GENERATE(false, true);  // whose other factor is 0 there too
  const int64_t c = 3, height = 6, width = 48, taps = 3;
  KernelHarness b;  // a padded depthwise window, with lanes along a row
  UOp x = b.buffer(random_array(DType::F32, {c, height, width}, 1)),
      w = b.buffer(random_array(DType::F32, {c, taps, taps}, 2)), out = b.buffer(Array(DType::F32, {c, height, width}));
  UOp channel = b.outer(c), row = b.outer(height), column = b.outer(width), down = b.over(taps, 3),
      across = b.over(taps, 4);
  UOp y = row + down - b.index(1), at = column + across - b.index(1);
  UOp inside = (le(b.index(0), y) & lt(y, b.index(height))) & (le(b.index(0), at) & lt(at, b.index(width))),
      zero = constant(b.g(), DType::F32, 0.0);
  b.stores(
      {b.put(out, {channel, row, column},
             b.reduce(Combine::Dot,
                      {b.at(x, {channel, y, at}, inside, zero),
                       gradient ? b.at(w, {channel, down, across}, inside, zero) : b.at(w, {channel, down, across})},
                      {down, across}))});
  const std::string text = b.check({Lanes{2, 16}, Unroll{2, 3}, Unroll{1, 2}, Unroll{4, 3}}, false);
  const size_t masked = text.rfind("if (!");
  INFO(text);
  REQUIRE(masked != std::string::npos);
  const std::string inner = text.substr(0, masked), border = text.substr(masked);
  CHECK(count(inner, "fma(") == 2 * 3 * taps);
  CHECK(count(border, "fma(") == 2 * 3 * taps);
  CHECK(count(inner, "= sn_where_f32x16(") == 2 * 2);  // of each row the first place and the last
  CHECK(count(border, "= sn_where_f32x16(") == 2 * 3 * taps);
}
