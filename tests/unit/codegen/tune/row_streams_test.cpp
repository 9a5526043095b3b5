// Rows of a matrix that pass by once, from memory: so many streams, each of which goes on for some pages.
#include "codegen/nest/loop_tree.h"
#include "unit/codegen/choice.h"

using namespace codegen_test;

namespace {

constexpr int64_t kSummed = 768;

/// The rows of y [n, k] times a vector, k in chains as vectors are.
KernelHarness rows_times_vector(int64_t n, int64_t k = kSummed) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {k}, 1)), y = b.buffer(random_array(DType::F32, {n, k}, 2)),
      out = b.buffer(Array(DType::F32, {n}));
  UOp j = b.outer(n), l = b.over(k, 1);
  b.stores({b.put(out, {j}, b.reduce(Combine::Dot, {b.at(x, {l}), b.at(y, {j, l})}, {l}, ReductionTree{16, 0}))});
  return b;
}

/// The same in blocks of rows, each of which is stored and summed.
KernelHarness summed_rows(int64_t blocks, int64_t rows, int64_t k = kSummed) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {k}, 1)), y = b.buffer(random_array(DType::F32, {blocks, rows, k}, 2)),
      out = b.buffer(Array(DType::F32, {blocks, rows})), sums = b.buffer(Array(DType::F32, {blocks}));
  UOp j = b.outer(blocks);
  const auto row = [&](UOp r) {
    UOp l = b.over(k, 3);
    return b.reduce(Combine::Dot, {b.at(x, {l}), b.at(y, {j, r, l})}, {l}, ReductionTree{16, 0});
  };
  UOp r = b.inner(rows, 1);
  b.stores({b.put(out, {j, r}, row(r)), b.put(sums, {j}, b.reduce(Combine::Add, {row(r)}, {r}, ReductionTree{16, 0}))});
  return b;
}

/// Whose second cache holds a small part of these matrices.
runtime::Target target() {
  runtime::Target target = reference_machine("x86-64-v3", 32, 16);
  target.l2 = 64 << 10;
  return target;
}

const codegen::Unroll* copies_of(const Choice& c, int range) {
  return codegen::find_opt<codegen::Unroll>(c.opts(), range);
}

}  // namespace

TEST_CASE("short rows that are read once are streams of several pages, some rows apart", "[codegen][products]") {
  for (const int64_t n : {3072, 2304, 1536, 768}) {
    KernelHarness b = rows_times_vector(n);
    const Choice c(b, target());
    INFO(to_string(c.opts()));
    const codegen::Unroll* copies = copies_of(c, 0);
    REQUIRE(copies);
    CHECK(copies->count >= 4);
    CHECK(copies->distance * kSummed * 4 >= 4 * runtime::kPage);
    CHECK(n % (copies->count * copies->distance) == 0);
    CHECK(c.tasks(0) >= target().parallel_units);
    const std::string text = b.check(c.opts(), false);
    CHECK(count(text, "// values between copies") == 1);
  }
}

TEST_CASE("long rows, rows in the cache and numbers of rows without divisors stay side by side",
          "[codegen][products]") {
  const auto apart = [](const KernelHarness& b, const runtime::Target& target) {
    const Choice c(b, target);
    const codegen::Unroll* copies = copies_of(c, 0);
    return copies && copies->distance > 1;
  };
  CHECK(apart(rows_times_vector(768), target()));
  CHECK_FALSE(apart(rows_times_vector(768, 8192), target()));
  CHECK_FALSE(apart(rows_times_vector(769), target()));
  runtime::Target large = target();
  large.l2 = 4 << 20;
  CHECK_FALSE(apart(rows_times_vector(768), large));
}

TEST_CASE("rows that are stored and summed are multiplied once", "[codegen][products]") {
  for (const auto& [rows, streams] : {std::pair{32, 4}, {20, 5}}) {  // of seven that registers hold, none over
    KernelHarness b = summed_rows(24, rows);
    const Choice c(b, target());
    INFO(to_string(c.opts()));
    CHECK(c.materialized() == 1);
    CHECK(c.block(0) == 1);
    CHECK(c.copies(1) == streams);
    const std::string text = b.check(c.opts(), false);
    CHECK(count(text, "// inner range 3") == 1);
  }
}

TEST_CASE("rows that are summed only are not kept", "[codegen][products]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {kSummed}, 1)),
      y = b.buffer(random_array(DType::F32, {24, 32, kSummed}, 2)), sums = b.buffer(Array(DType::F32, {24})),
      largest = b.buffer(Array(DType::F32, {24}));
  UOp j = b.outer(24), r = b.over(32, 1), l = b.over(kSummed, 2);
  UOp row = b.reduce(Combine::Dot, {b.at(x, {l}), b.at(y, {j, r, l})}, {l}, ReductionTree{16, 0});
  b.stores({b.put(sums, {j}, b.reduce(Combine::Add, {row}, {r}, ReductionTree{16, 0})),
            b.put(largest, {j}, b.reduce(Combine::Max, {row}, {r}, ReductionTree{16, 0}))});
  const Choice c(b, target());
  CHECK(c.materialized() == 0);
  CHECK(count(b.check(c.opts(), false), "// inner range 2") == 1);
}

TEST_CASE("copies with a distance go through an outer range in whole steps", "[codegen][opts]") {
  const codegen::Kernel kernel = codegen::normalize(rows_times_vector(48, 32).kernel).main;
  const auto is_legal = [&](const std::vector<Opt>& opts) { return codegen::is_legal(kernel, opts); };
  codegen::TileCopy matrix{0, {{0}, {1}}};  // of the load that depends on both ranges
  while (!is_legal({matrix})) REQUIRE(++matrix.value < 100);
  const codegen::Unroll apart{0, 4, 6};
  CHECK(is_legal({apart}));
  CHECK(is_legal({apart, codegen::TaskBlock{0, 48}}));
  CHECK(is_legal({codegen::Unroll{0, 4}, matrix}));
  for (const std::vector<Opt>& refused :
       std::vector<std::vector<Opt>>{{codegen::Unroll{0, 4, 5}},
                                     {codegen::Unroll{0, 4, 0}},
                                     {codegen::Unroll{1, 4, 2}},
                                     {apart, codegen::TaskBlock{0, 12}},
                                     {apart, codegen::Lanes{0, 2}},
                                     {apart, codegen::ThreadBind{0, 2}},
                                     {apart, codegen::Cut{0, {24}}},
                                     {apart, matrix},
                                     {codegen::Unroll{0, 64, int64_t{1} << 51}, codegen::Lanes{0, 256}}}) {
    INFO(to_string(refused));
    CHECK_FALSE(is_legal(refused));
  }
}
