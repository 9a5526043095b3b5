// How the threads of a product share its operands.
#include <algorithm>
#include <array>

#include "unit/codegen/choice.h"

using namespace codegen_test;

namespace {

/// x [m, k] by y [k, n], the one or the other stored transposed.
KernelHarness product(Dim m, int64_t k, Dim n, bool across_x, bool across_y) {
  KernelHarness b;
  const auto matrix = [&](const Dim& rows, const Dim& columns, unsigned seed) {
    return b.buffer(random_array(DType::F32, {rows.value(), columns.value()}, seed), {rows, columns});
  };
  UOp x = across_x ? matrix(k, m, 1) : matrix(m, k, 1), y = across_y ? matrix(n, k, 2) : matrix(k, n, 2),
      out = matrix(m, n, 3);
  UOp i = b.outer(m), j = b.outer(n), l = b.over(k, 2);
  UOp left = across_x ? b.at(x, {l, i}) : b.at(x, {i, l}), right = across_y ? b.at(y, {j, l}) : b.at(y, {l, j});
  b.stores({b.put(out, {i, j}, b.reduce(Combine::Dot, {left, right}, {l}))});
  return b;
}

struct Caches {
  int64_t l2;
  bool near_l3;
};
constexpr Caches kFar{2 << 20, false}, kNear{1 << 20, true};

runtime::Target machine(int threads, const Caches& caches = kFar) {
  runtime::Target target = runtime::reference_target();
  target.threads = threads;
  target.parallel_units = 4 * threads;
  target.l2 = caches.l2;
  target.near_l3 = caches.near_l3;
  return target;
}

bool is_packed(const KernelHarness& b, int threads, const Caches& caches = kFar) {
  const Choice c(b, machine(threads, caches));
  UNSCOPED_INFO(to_string(c.opts()));
  return c.packs() > 0;
}
/// Each thread has a block of the columns, or of the rows; or all threads have them all.
bool has_own_columns(const KernelHarness& b, int threads, const Caches& caches = kFar) {
  const Choice c(b, machine(threads, caches));
  UNSCOPED_INFO(to_string(c.opts()));
  return c.is_shared(1);
}
bool has_own_rows(const KernelHarness& b, int threads, const Caches& caches = kFar) {
  const Choice c(b, machine(threads, caches));
  UNSCOPED_INFO(to_string(c.opts()));
  return c.is_shared(0) && c.is_blocked(0);
}
bool has_all_columns(const KernelHarness& b, int threads, const Caches& caches = kFar) {
  const Choice c(b, machine(threads, caches));
  UNSCOPED_INFO(to_string(c.opts()));
  return c.is_whole(1);
}

}  // namespace

TEST_CASE("threads copy columns of their own where these are shared evenly", "[codegen][sharing]") {
  KernelHarness forward = product(256, 784, 128, false, true), back = product(256, 128, 784, false, true),
                square = product(512, 512, 512, false, false);
  CHECK(has_own_columns(forward, 2));
  CHECK(has_all_columns(forward, 1));
  CHECK(has_own_columns(back, 2));  // 49 vectors: 24 and 25
  CHECK(Choice(back, machine(2)).panel() == 3 * 16);
  CHECK(has_own_columns(square, 2));
  CHECK(Choice(square, machine(2)).is_whole(0));
  forward.check(chosen(forward, machine(2)), false);
  back.check(chosen(back, machine(2)), false);
}

TEST_CASE("threads share the rows where columns would not be even, other operands are large, or little is copied",
          "[codegen][sharing]") {
  CHECK(has_all_columns(product(500, 700, 300, false, false), 2));  // 19 vectors: 8 and 11
  CHECK(has_own_columns(product(900, 230, 512, false, false), 2));
  CHECK(has_all_columns(product(900, 230, 512, false, false), 5));  // 8 vectors, or 4, for a thread
  CHECK(has_all_columns(product(1200, 784, 128, false, true), 2));  // rows of 3.6 MB
  CHECK(has_all_columns(product(256, 10, 128, false, true), 2));    // a panel of 5 KB
}

TEST_CASE("an operand that all threads read lies where it is, under the rows of each, where few rows read a copy",
          "[codegen][sharing]") {
  KernelHarness update = product(128, 256, 784, true, false);
  CHECK_FALSE(is_packed(update, 2));
  CHECK(has_own_rows(update, 2));
  CHECK_FALSE(Choice(update, machine(1)).is_blocked(0));
  CHECK(is_packed(product(400, 256, 784, true, false), 2));
  CHECK(Choice(product(128, 256, 256, true, false), machine(2)).block(0) != 64);  // not large
  update.check(chosen(update, machine(2)), false);
}

TEST_CASE("columns are shared for as many rows as the second cache holds, if the last one is near",
          "[codegen][sharing]") {
  const KernelHarness forward = product(256, 784, 128, false, true);  // 800 KB of rows
  CHECK(has_own_columns(forward, 2, kNear));
  CHECK(has_all_columns(forward, 2, {kNear.l2, false}));
}

TEST_CASE("where the last cache is near, an operand is not copied whose panels stay in the second one",
          "[codegen][sharing]") {
  const auto staged = [](const KernelHarness& b, int threads, const Caches& caches = kNear) {
    return is_packed(b, threads, caches);
  };
  for (const int threads : {1, 2}) {
    for (const auto& [m, k, n] :
         {std::array<int64_t, 3>{128, 256, 784}, {500, 700, 300}, {500, 900, 900}, {512, 512, 512}, {512, 512, 1040}}) {
      const KernelHarness b = product(m, k, n, false, false);
      CHECK_FALSE(staged(b, threads));
      CHECK(staged(b, threads, {kNear.l2, false}));
    }
    CHECK(staged(product(512, 1024, 512, false, false),
                 threads));  // of 512 x 512 the whole fits, here no panel fits its sets
    CHECK(staged(product(768, 768, 768, false, false), threads));   // nor here
    CHECK(staged(product(512, 512, 1025, false, false), threads));  // nearly pages apart,
    CHECK(staged(product(512, 512, 1023, false, false), threads));  // which 1040 is not
    CHECK(staged(product(500, 2100, 120, false, false), threads));  // too deep
    CHECK(staged(product(9000, 512, 784, false, false), threads));  // other rows of 18 MB for each panel
    CHECK(staged(product(1100, 900, 900, true, false), threads));   // rows of the other operand on pages of their own
  }
  const Var some("rows", 1, 500);
  const KernelHarness tall = product(500, 700, 300, false, false), unknown = product(some(400), 700, 300, false, false);
  // All rows of a thread under each panel.
  CHECK(Choice(tall, machine(2, kNear)).tasks(0) == 2);
  CHECK(Choice(tall, machine(1, kNear)).is_whole(0));
  CHECK(staged(product(62, 500, 784, false, false), 2));  // too few
  CHECK(staged(unknown, 2));                              // of which nobody knows how many a thread has
  CHECK(staged(product(500, 700, Var("columns", 1, 300)(200), false, false), 2));  // nor how far apart these are
  for (const int threads : {1, 2})
    product(290, 90, 70, false, false).check(chosen(tall, machine(threads, kNear)), false);
  product(some(290), 90, 70, false, false).check(chosen(unknown, machine(2, kNear)), false);

  KernelHarness slice;  // 256 columns of 1536, whose rows share the sets of an eighth
  UOp x = slice.buffer(random_array(DType::F32, {300, 1000}, 1)),
      y = slice.buffer(random_array(DType::F32, {1000, 1536}, 2)), out = slice.buffer(Array(DType::F32, {300, 256}));
  UOp i = slice.outer(300), j = slice.outer(256), l = slice.over(1000, 2);
  slice.stores({slice.put(out, {i, j}, slice.reduce(Combine::Dot, {slice.at(x, {i, l}), slice.at(y, {l, j})}, {l}))});
  CHECK(staged(slice, 1));
}

TEST_CASE("where the last cache is near, an operand whose rows are pages apart is copied though it is small",
          "[codegen][sharing]") {
  const auto staged = [](const KernelHarness& b, int threads, const Caches& caches = kNear) {
    return is_packed(b, threads, caches);
  };
  for (const int threads : {1, 2}) {
    CHECK(staged(product(512, 64, 1024, false, false), threads));
    CHECK_FALSE(staged(product(512, 64, 1040, false, false), threads));
    CHECK_FALSE(staged(product(512, 64, 1024, false, false), threads, {kNear.l2, false}));
    CHECK_FALSE(staged(product(512, 32, 1024, false, false), threads));  // too small
    CHECK_FALSE(staged(product(120, 64, 1024, false, false), threads));  // too few rows
  }
  CHECK(staged(product(512, 90, 1024, false, false), 2, {2 << 20, true}));  // 360 KB, which is large anyway
}

TEST_CASE("an operand is not read by all threads where each has matrices of its own, or the rows are not known",
          "[codegen][sharing]") {
  KernelHarness batch;  // x [b, k, m] by y [b, k, n]
  UOp x = batch.buffer(Array(DType::F32, {4, 256, 96})), y = batch.buffer(Array(DType::F32, {4, 256, 784})),
      out = batch.buffer(Array(DType::F32, {4, 96, 784}));
  UOp n = batch.outer(4), i = batch.outer(96), j = batch.outer(784), l = batch.over(256, 3);
  batch.stores(
      {batch.put(out, {n, i, j}, batch.reduce(Combine::Dot, {batch.at(x, {n, l, i}), batch.at(y, {n, l, j})}, {l}))});
  CHECK(Choice(batch, machine(2)).block(1) != 48);
  KernelHarness rows = product(Var("rows", 1, 128)(128), 256, 784, true, false);
  CHECK(Choice(rows, machine(2)).block(0) != 64);
  rows.check(chosen(rows, machine(2)), false);
}

TEST_CASE("threads share the columns where they would have few rows each", "[codegen][sharing]") {
  KernelHarness few = product(128, 512, 128, false, true);
  CHECK(has_own_columns(few, 2));
  few.check(chosen(few, machine(2)), false);
}

TEST_CASE("threads get about as many columns of few rows, in tasks that are not smaller than need be",
          "[codegen][sharing]") {
  runtime::Target target = reference_machine("x86-64-v3", 32, 16);
  target.l2 = 512 << 10;
  target.threads = 2;
  for (const auto& [depth, columns] :
       {std::pair<int64_t, int64_t>{256, 1024}, {1024, 400}, {1024, 1000}, {768, 50248}}) {
    KernelHarness b = product(32, depth, columns, false, false);
    const Choice c(b, target);
    INFO(to_string(c.opts()));
    REQUIRE((c.has_lanes(1) && c.packs() == 1));
    const int64_t first = c.tasks(1) / 2 * c.block(1);  // of the thread with fewer tasks
    CHECK(std::max(first, columns - first) * 100 <= columns * 57);
    CHECK(2 * c.packed_bytes() > target.l2 / 4);  // half of the second cache holds a task's columns
    if (columns < 2000) b.check(c.opts(), false);
  }
}

TEST_CASE("columns are not shared where their number is not known", "[codegen][sharing]") {
  const Var width("width", 1, 512);
  CHECK(has_own_columns(product(512, 512, 512, false, false), 2));
  const Choice unknown(product(512, 512, width(300), false, false), machine(2));
  const std::vector<Opt>& opts = unknown.opts();
  CHECK(unknown.block(1) != 256);
  product(150, 150, width(300), false, false)
      .check(opts, false);  // equal sizes too, so that nodes have the numbers which the Opts name
}

TEST_CASE("tiles of three vectors are taken where rows and columns come out even, and not for windows",
          "[codegen][sharing]") {
  const Choice three(product(128, 256, 784, true, false), machine(1)),
      four(product(512, 512, 512, false, false), machine(1));
  CHECK((three.has_full_tile(1) && three.copies(1) == 3 && 128 % three.copies(0) == 0));
  CHECK((four.has_full_tile(1) && four.copies(1) == 4));
  const int64_t size = 7;  // 512 planes under 3 x 3
  KernelHarness b;
  UOp x = b.buffer(Array(DType::F32, {16, 512, size, size})), w = b.buffer(Array(DType::F32, {512, 512, 3, 3})),
      out = b.buffer(Array(DType::F32, {16, 512, size, size}));
  UOp image = b.outer(16), to = b.outer(512), i = b.outer(size), j = b.outer(size), from = b.over(512, 4),
      down = b.over(3, 5), across = b.over(3, 6);
  UOp row = i + down + b.index(-1), column = j + across + b.index(-1);
  UOp open = le(b.index(0), row) & lt(row, b.index(size)) & le(b.index(0), column) & lt(column, b.index(size));
  UOp element = b.at(x, {image, from, row, column}, open, constant(b.g(), DType::F32, 0.0));
  b.stores({b.put(out, {image, to, i, j},
                  b.reduce(Combine::Dot, {element, b.at(w, {to, from, down, across})}, {from, down, across}))});
  CHECK(Choice(b, machine(1)).copies(1) != 3);
}
