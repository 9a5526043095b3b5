// Products of filters and images that are small, or of which there is one.
#include <bit>

#include "unit/codegen/choice.h"
#include "unit/codegen/convolution.h"

using namespace codegen_test;

namespace {

/// out [f, i, j] = the sum over 4 blocks of 16 channels c of x [c, i + p - 1, j] * w, which lies as [c, p, f], or
/// across as [c, f, p]. Ranges: 0 to 2 f, i, j; 3 blocks, 4 channels of a block, 5 p.
KernelHarness image_gradient(bool across) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {64, 8, 4}, 1)),
      w = b.buffer(
          random_array(DType::F32, across ? std::vector<int64_t>{64, 64, 3} : std::vector<int64_t>{64, 3, 64}, 2)),
      out = b.buffer(Array(DType::F32, {64, 8, 4}));
  UOp f = b.outer(64), i = b.outer(8), j = b.outer(4), block = b.over(4, 3), part = b.over(16, 4), p = b.over(3, 5);
  UOp c = block * b.index(16) + part, row = i + p, inside = le(b.index(1), row) & lt(row, b.index(9));
  UOp zero = constant(b.g(), DType::F32, 0.0), filter = across ? b.at(w, {c, f, p}) : b.at(w, {c, p, f});
  UOp sum =
      b.reduce(Combine::Dot, {b.at(x, {c, row - b.index(1), j}, inside, zero), where(inside, filter, zero)}, {part, p});
  b.stores({b.put(out, {f, i, j}, b.reduce(Combine::Add, {sum}, {block}))});
  return b;
}

}  // namespace

TEST_CASE("filters of small images are copied from one end of a filter to the other", "[codegen][products]") {
  KernelHarness b = Convolution{.rows = 4, .columns = 4, .channels = 40, .filters = 48}.kernel();
  const std::string text = b.check(chosen(b), false);
  const size_t filters = text.find("outer range 1 of 48, 16 lanes");
  CHECK(filters < text.find("inner range 4 of 40"));
  CHECK(filters < text.find("inner range 5 of 3"));
}

TEST_CASE("blocks of channels go by outside of the rows of one image, whose border closes both factors",
          "[codegen][products]") {
  KernelHarness b = image_gradient(true);
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.packs() == 1);  // once for all rows
  const std::string text = b.check(choice.opts(), false);
  CHECK(text.find("inner range 3 of 4") < text.find("outer range 1 of 8"));
}

TEST_CASE("filters behind a border are zeros at another address where vectors have no masks", "[codegen][products]") {
  KernelHarness b = image_gradient(false);
  const std::vector<Opt> opts = {codegen::Lanes{0, 8}, codegen::Unroll{1, 4}};
  b.check(opts, false);
  const std::string text = codegen::generate_source(b.kernel, reference_machine("x86-64-v3", 32, 16), opts).text;
  CHECK(text.find("sn_load_if_f32x8") != std::string::npos);
  CHECK(text.find("sn_select_f32x8") == std::string::npos);
}

TEST_CASE("results a page apart are transposed in whole vectors", "[codegen][products]") {
  // Lanes along the filters, whose planes are 4 KiB: one set of the first cache has fewer ways than they have lines.
  const KernelHarness b = Convolution{.rows = 32, .columns = 32, .channels = 64, .filters = 64}.kernel();
  runtime::Target one = runtime::reference_target();
  one.multiplies_per_cycle = 1;
  for (const runtime::Target& target : {one, runtime::reference_target()}) {
    const Choice choice(b, target);
    INFO(to_string(choice.opts()));
    CHECK(choice.has_lanes(1));
    CHECK(choice.copies(3) >= 4);
    CHECK(std::has_single_bit(static_cast<unsigned>(choice.copies(3))));
  }
}

TEST_CASE("what a filter of one pixel reads of an image is computed with lanes along the pixels, for all results",
          "[codegen][products]") {
  // out [n, f, p]: the sum over c of w [f, c] times a long expression of x [n, c, p]. Ranges: n, p, f, c.
  for (const bool across : {false, true}) {  // of x [n, p, c], too
    KernelHarness b;
    UOp x = b.buffer(
            random_array(DType::F32, across ? std::vector<int64_t>{2, 256, 96} : std::vector{2l, 96l, 256l}, 1)),
        w = b.buffer(random_array(DType::F32, {16, 96}, 2)), out = b.buffer(Array(DType::F32, {2, 16, 256}));
    UOp n = b.outer(2), p = b.outer(256), f = b.inner(16, 2), c = b.over(96, 3);
    UOp value = across ? b.at(x, {n, p, c}) : b.at(x, {n, c, p});
    for (int i = 0; i < 8; ++i) value = maximum(value * value, value + 1.0);
    b.stores({b.put(out, {n, f, p}, b.reduce(Combine::Dot, {value, b.at(w, {f, c})}, {c}))});
    const Choice choice(b);
    INFO(to_string(choice.opts()));
    CHECK(choice.has_lanes(1) == !across);
    CHECK(std::ranges::any_of(choice.opts(),
                              [](const Opt& o) { return std::holds_alternative<codegen::Materialize>(o); }) == across);
    b.check(choice.opts(), false);
  }
}
