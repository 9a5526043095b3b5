// What the heuristic asks for where a convolution reaches over the border of its images and registers are few.
#include "unit/codegen/choice.h"
#include "unit/codegen/convolution.h"

using namespace codegen_test;

namespace {

runtime::Target avx2() {
  runtime::Target target = reference_machine("x86-64-v3", 32, 16);
  target.l2 = 512 << 10;
  target.threads = 1;
  target.parallel_units = 4;
  return target;
}

bool copies_rows(const Choice& c) {
  UNSCOPED_INFO(to_string(c.opts()));
  return c.packs() == 1 && c.loops().tile_copies[0].dims.back().taps >= 0;
}

}  // namespace

TEST_CASE("rows of images are copied with their borders, and lanes lie along them", "[codegen][window]") {
  const Convolution padded{.rows = 8, .columns = 16, .channels = 4, .filters = 8};
  const KernelHarness b = padded.kernel();
  const Choice c(b, avx2());
  CHECK(copies_rows(c));
  CHECK((c.has_lanes(3) && c.accumulators() == 8 && c.copies(1) == 4));
  CHECK(c.steps() == 9);  // without a branch
  KernelHarness same = padded.kernel();
  const std::string text = same.check(c.opts(), false);
  // No filter asks for the border: what is left of the conditions stands before the loop over filters.
  CHECK(text.rfind("sn_where_f32x8(") < text.find("outer range 1 of 8, unrolled by 4"));
  CHECK(count(text, "if (") == count(std::string(text, 0, text.find("outer range 1")), "if ("));
}

TEST_CASE("rows are copied where they are whole vectors and several filters read them", "[codegen][window]") {
  const auto copied = [](const Convolution& convolution, const runtime::Target& target = avx2()) {
    return copies_rows(Choice(convolution.kernel(), target));
  };
  const Convolution usual{.rows = 8, .columns = 24, .channels = 4, .filters = 8};
  const auto with = [&](auto change) {
    Convolution made = usual;
    change(made);
    return copied(made);
  };
  CHECK(copied(usual));
  CHECK(with([](auto& c) { c.dilation = 2; }));
  CHECK(with([](auto& c) { c.rows = 7, c.columns = 16; }));  // two vectors of a row
  CHECK(with([](auto& c) { c.rows = 9, c.taps = 5, c.border = 2, c.columns = 32; }));
  CHECK(!with([](auto& c) { c.columns = 20; }));
  CHECK(!with([](auto& c) { c.rows = 7; }));    // three vectors, one row
  CHECK(!with([](auto& c) { c.border = 0; }));  // images can be read where they lie
  CHECK(!with([](auto& c) { c.filters = 3; }));
  CHECK(!with([](auto& c) { c.step = 2; }));           // lanes would be strided
  CHECK(!copied(usual, runtime::reference_target()));  // registers for larger tiles
}

TEST_CASE("gradients by the image copy rows where their zeros may be multiplied", "[codegen][window]") {
  const Convolution usual{.rows = 8, .columns = 64, .channels = 4, .filters = 12};
  const Choice choice(usual.image_gradient(), avx2());
  CHECK(copies_rows(choice));
  CHECK((choice.has_lanes(3) && choice.copies(3) == 2 && choice.copies(2) == 1 && choice.copies(1) >= 4));
  KernelHarness b = usual.image_gradient();
  const std::string text = b.check(choice.opts(), false);
  // The first of two loops asks for no edge: 9 taps of all filters and both vectors in one body.
  const size_t begin = text.find("fma("), body = text.find("while", begin) - begin;
  CHECK(count(std::string(text, begin, body), "fma(") == 9 * choice.copies(1) * 2);
  CHECK(count(std::string(text, begin, body), "select") == 0);
  Convolution small = usual;
  small.rows = 1;
  CHECK(!copies_rows(Choice(small.image_gradient(), avx2())));  // few results use a filter
  Convolution stricter = usual;
  stricter.also = true;
  CHECK(!copies_rows(Choice(stricter.image_gradient(), avx2())));
}

TEST_CASE("tiles have as many filters as hide the latency of a multiply-add", "[codegen][window]") {
  const auto filters = [](int64_t all, int latency) {
    runtime::Target target = avx2();
    target.multiply_latency = latency;
    const Choice c(Convolution{.rows = 8, .columns = 24, .channels = 4, .filters = all}.kernel(), target);
    CHECK(copies_rows(c));
    return c.copies(1);
  };
  CHECK(filters(64, 4) == 4);
  CHECK(filters(64, 5) == 5);  // ten accumulators for two multiply-adds a cycle
  CHECK(filters(16, 5) == 4);  // 5 + 5 + 5 + 1 take as long
}

TEST_CASE("a task of window rows fits the second cache, and all threads have tasks", "[codegen][window]") {
  const Convolution large{.rows = 64, .columns = 64, .channels = 64, .filters = 8};
  runtime::Target target = avx2();
  const int64_t row = 64 * 72 * 4;  // bytes of a row of all channels
  const Choice alone(large.kernel(), target);
  CHECK(copies_rows(alone));
  CHECK((alone.block(2) + 2) * row <= target.l2 / 2);
  CHECK((alone.block(2) * 2 + 2) * row > target.l2 / 2);
  target.threads = 64;
  const Choice many(large.kernel(), target);
  CHECK(copies_rows(many));
  CHECK(2 * many.tasks(2) * many.tasks(1) >= 2 * target.threads);  // of two images
  target.l2 = 2 * row;
  CHECK(!copies_rows(Choice(large.kernel(), target)));
}

TEST_CASE("a task of window rows is about as deep as it is high, so that few elements are copied",
          "[codegen][window]") {
  // Volumes of size x size x 24 under 3 x 3 x 3. Ranges: 0 images, 1 filters, 2 planes, 3 rows, 4 columns.
  const auto volume = [](int64_t size, int64_t channels) {
    KernelHarness b;
    const int64_t filters = 8, columns = 24;
    UOp x = b.buffer(random_array(DType::F32, {2, channels, size, size, columns}, 1)),
        w = b.buffer(random_array(DType::F32, {filters, channels, 3, 3, 3}, 2)),
        out = b.buffer(Array(DType::F32, {2, filters, size, size, columns}));
    UOp n = b.outer(2), f = b.outer(filters), d = b.outer(size), h = b.outer(size), v = b.outer(columns);
    UOp c = b.over(channels, 5), i = b.over(3, 6), j = b.over(3, 7), k = b.over(3, 8);
    const auto at = [&](UOp r, UOp tap) { return r + tap + b.index(-1); };
    const auto inside = [&](UOp p, int64_t all) { return le(b.index(0), p) & lt(p, b.index(all)); };
    UOp open = inside(at(d, i), size) & inside(at(h, j), size) & inside(at(v, k), columns);
    UOp element = b.at(x, {n, c, at(d, i), at(h, j), at(v, k)}, open, constant(b.g(), DType::F32, 0));
    b.stores({b.put(out, {n, f, d, h, v}, b.reduce(Combine::Dot, {element, b.at(w, {f, c, i, j, k})}, {c, i, j, k}))});
    return b;
  };
  const auto bytes = [](const Choice& c, int64_t channels) {
    return (c.block(2) + 2) * (c.block(3) + 2) * 32 * channels * 4;
  };
  KernelHarness small = volume(8, 3), large = volume(16, 32);
  const Choice all(small, avx2()), part(large, avx2());
  INFO(to_string(all.opts()) << " and " << to_string(part.opts()));
  CHECK((copies_rows(all) && copies_rows(part)));
  CHECK((all.block(2) == 8 && all.block(3) == 8));
  CHECK((part.block(3) <= 2 * part.block(2) && bytes(part, 32) <= avx2().l2 / 2));
  small.check(all.opts(), false);
  large.check(part.opts(), false);
}

TEST_CASE("a task has as many rows as fit where windows of neighbouring rows do not meet", "[codegen][window]") {
  // Images of 2 * rows x 24 under taps x 3, with a step of two rows. Ranges: 0 images, 1 filters, 2 rows, 3 columns.
  for (const int64_t taps : {1, 2}) {
    KernelHarness b;
    const int64_t rows = 8, columns = 24, channels = 3, filters = 8;
    UOp x = b.buffer(random_array(DType::F32, {2, channels, 2 * rows, columns}, 1)),
        w = b.buffer(random_array(DType::F32, {filters, channels, taps, 3}, 2)),
        out = b.buffer(Array(DType::F32, {2, filters, rows, columns}));
    UOp n = b.outer(2), f = b.outer(filters), h = b.outer(rows), v = b.outer(columns);
    UOp c = b.over(channels, 4), j = taps > 1 ? b.over(taps, 5) : b.index(0), k = b.over(3, 6);
    UOp row = h * b.index(2) + j, column = v + k + b.index(-1);
    UOp element = b.at(x, {n, c, row, column}, le(b.index(0), column) & lt(column, b.index(columns)),
                       constant(b.g(), DType::F32, 0));
    b.stores({b.put(out, {n, f, h, v},
                    b.reduce(Combine::Dot, {element, b.at(w, {f, c, j, k})},
                             taps > 1 ? std::vector<UOp>{c, j, k} : std::vector<UOp>{c, k}))});
    const Choice choice(b, avx2());
    INFO(to_string(choice.opts()));
    if (copies_rows(choice) && taps > 1) CHECK(choice.block(2) == rows);
    CHECK((copies_rows(choice) || taps == 1));
    b.check(choice.opts(), false);
  }
}
