// How far the innermost loops of a product are unrolled, and that its sums keep every bit.
#include "unit/codegen/choice.h"
#include "unit/codegen/convolution.h"
#include "unit/codegen/products.h"

using namespace codegen_test;

namespace {

/// x [n, c, size] under w [c, taps, o]: `padded` gates x alone, `gradient` both factors.
KernelHarness convolution(int64_t n, int64_t o, int64_t c, int64_t size, int64_t taps, bool padded, bool gradient) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {n, c, size}, 1)), w = b.buffer(random_array(DType::F32, {c, taps, o}, 2));
  const int64_t results = padded || gradient ? size : size - taps + 1;
  UOp out = b.buffer(Array(DType::F32, {n, o, results}));
  UOp image = b.outer(n), to = b.outer(o), column = b.outer(results), from = b.over(c, 3), tap = b.over(taps, 4);
  UOp place = padded || gradient ? column + tap - b.index(taps / 2) : column + tap;
  UOp inside = le(b.index(0), place) & lt(place, b.index(size)), zero = constant(b.g(), DType::F32, 0.0);
  UOp pixel = padded || gradient ? b.at(x, {image, from, place}, inside, zero) : b.at(x, {image, from, place});
  UOp weight = gradient ? b.at(w, {from, tap, to}, inside, zero) : b.at(w, {from, tap, to});
  b.stores({b.put(out, {image, to, column}, b.reduce(Combine::Dot, {pixel, weight}, {from, tap}))});
  return b;
}

/// Steps of the innermost loop, a range, that follow one another without a branch.
int unrolled(const KernelHarness& b, int range, const runtime::Target& target = runtime::reference_target()) {
  return Choice(b, target).copies(range);
}

}  // namespace

TEST_CASE("a product's loop is unrolled by four, and a short one wholly", "[codegen][products]") {
  // k, steps: all up to 8; what divides it up to 16; four, five or seven if one divides it; else four and a rest.
  for (const auto& [k, wanted] : {std::pair{3, 3},
                                  {8, 8},
                                  {9, 3},
                                  {10, 5},
                                  {11, 1},
                                  {14, 7},
                                  {16, 4},
                                  {20, 4},
                                  {25, 5},
                                  {49, 7},
                                  {102, 4},
                                  {256, 4}}) {
    KernelHarness b = product(48, k, 128);
    INFO(k);
    CHECK(unrolled(b, 2) == wanted);
    b.check(chosen(b), false);
  }
}

TEST_CASE("a block of the sum that holds no whole number of five or seven steps has four", "[codegen][products]") {
  const KernelHarness b = product(200, 4095, 1024);  // 4095 is 5 times 819, its blocks are not
  const Choice c(b);
  INFO(to_string(c.opts()));
  CHECK(c.is_split(2));
  CHECK(c.copies(2) == 4);
  product(30, 4095, 80).check(c.opts(), false);
}

TEST_CASE("a product's loop is unrolled only where registers are left beside a tile", "[codegen][products]") {
  const KernelHarness b = product(48, 256, 128);
  CHECK(unrolled(b, 2, reference_machine("armv8-a", 16, 32)) == 4);
  CHECK(unrolled(b, 2, reference_machine("x86-64-v3", 32, 16)) == 1);  // 12 sums, 2 vectors and a scalar of 16
}

TEST_CASE(
    "a window's loop is unrolled wholly, and its tile leaves a register for each element that copies share from step "
    "to "
    "step",
    "[codegen][products]") {
  for (const int taps : {3, 5, 7}) {
    KernelHarness b = convolution(1, 64, 16, 35 + taps, taps, false, false);
    const Choice c(b);
    INFO(to_string(c.opts()));
    const int vectors = c.copies(1), columns = c.copies(2);  // copies are neighbours of a row
    CHECK(c.has_lanes(1));
    CHECK(columns > 1);
    CHECK(c.copies(4) == taps);
    CHECK(columns * vectors + vectors + columns <= runtime::reference_target().vector_registers);
    b.check(c.opts(), false);
  }
}

TEST_CASE("under a stride a window holds only what copies read in a later step", "[codegen][products]") {
  const runtime::Target narrow = reference_machine("x86-64-v3", 32, 16);
  const int64_t o = 16, c = 256, taps = 4, results = 32, images = 8;
  KernelHarness b;  // x [n, c, size] under w [c, taps, o]: each second place
  UOp x = b.buffer(random_array(DType::F32, {images, c, 2 * results + taps}, 1)),
      w = b.buffer(random_array(DType::F32, {c, taps, o}, 2));
  UOp out = b.buffer(Array(DType::F32, {images, o, results}));
  UOp image = b.outer(images), to = b.outer(o), column = b.outer(results), from = b.over(c, 3), tap = b.over(taps, 4);
  b.stores({b.put(out, {image, to, column},
                  b.reduce(Combine::Dot, {b.at(x, {image, from, column * b.index(2) + tap}), b.at(w, {from, tap, to})},
                           {from, tap}))});
  const Choice choice(b, narrow);
  INFO(to_string(choice.opts()));
  CHECK(choice.copies(1) == 2);  // 8 sums, 2 vectors, and 6 of the 10 elements of a row for two steps
  CHECK(choice.copies(2) == 4);
  CHECK(choice.copies(4) == taps);
  b.check(choice.opts(), false);
}

TEST_CASE("of windows of 2 x 2 all steps follow one another, of 3 x 3 those of a row", "[codegen][products]") {
  const int64_t taps = GENERATE(2, 3);
  const Convolution strided{
      .rows = 4, .columns = 32, .taps = taps, .step = taps, .channels = 32, .filters = 64, .border = 0};
  KernelHarness b = strided.kernel();
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.copies(6) == taps);
  CHECK(choice.copies(5) == (taps == 2 ? 2 : 1));
  b.check(choice.opts(), false);
}

TEST_CASE("rows of a window that a border skips are not unrolled", "[codegen][products]") {
  const auto window = [](int64_t border) {
    return Convolution{.rows = 9, .columns = 33, .taps = 2, .channels = 32, .filters = 64, .border = border}.kernel();
  };
  CHECK(Choice(window(0)).copies(5) == 2);
  KernelHarness b = window(1);
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.copies(5) == 1);
  b.check(choice.opts(), false);
}

TEST_CASE("short loops under rows at no fixed distance, or that windows skip, keep every bit", "[codegen][products]") {
  const bool scattered = GENERATE(true, false);
  const int64_t o = 64, c = 8, taps = 3, results = 30;
  KernelHarness b;  // x [c, size] under w [c, taps, o]: each second place, or those in some other order
  UOp x = b.buffer(random_array(DType::F32, {c, 2 * results + taps}, 1)),
      w = b.buffer(random_array(DType::F32, {c, taps, o}, 2));
  UOp out = b.buffer(Array(DType::F32, {o, results}));
  UOp to = b.outer(o), column = b.outer(results), from = b.over(c, 2), tap = b.over(taps, 3);
  UOp place = scattered ? mod(column * b.index(7), b.index(results)) + tap : column * b.index(2) + tap;
  b.stores({b.put(out, {to, column},
                  b.reduce(Combine::Dot, {b.at(x, {from, place}), b.at(w, {from, tap, to})}, {from, tap}))});
  const std::vector<Opt> opts = chosen(b);
  INFO(to_string(opts));
  CHECK(unrolled(b, 1) > 1);
  if (!scattered) CHECK(unrolled(b, 3) == taps);
  b.check(opts, false);
}

TEST_CASE("a gate of both factors makes the ends of a long loop, which is not unrolled", "[codegen][products]") {
  KernelHarness open = convolution(8, 64, 16, 24, 9, true, false), both = convolution(8, 64, 16, 24, 9, false, true);
  INFO(to_string(chosen(open)) << "\n" << to_string(chosen(both)));
  CHECK(unrolled(open, 4) > 1);
  CHECK(unrolled(both, 4) == 1);
  open.check(chosen(open), false);
  both.check(chosen(both), false);
}

TEST_CASE("results between the strided lanes of a sum are copies that share its vectors", "[codegen]") {
  for (const int64_t channels : {2, 3, 4, 5})
    for (const bool rows : {false, true}) {  // whether the row is stored, less its sum
      INFO(channels << " channels, rows " << rows);
      KernelHarness b;
      UOp in = b.buffer(random_array(DType::F32, {16, 100, channels}, 1));
      UOp image = b.outer(16), channel = b.outer(channels), pixel = b.over(100, rows ? 3 : 2);
      UOp sum = b.reduce(Combine::Add, {b.at(in, {image, pixel, channel})}, {pixel}, ReductionTree{16, 0});
      if (rows) {
        UOp out = b.buffer(Array(DType::F32, {16, 100, channels})), other = b.inner(100, 2);
        b.stores({b.put(out, {image, other, channel}, b.at(in, {image, other, channel}) - sum)});
      } else {
        UOp out = b.buffer(Array(DType::F32, {16, channels}));
        b.stores({b.put(out, {image, channel}, sum)});
      }
      const Choice c(b);
      INFO(to_string(c.opts()));
      CHECK((c.copies(1) > 1) == (channels < 5));
      b.check(c.opts(), false);
    }
}
