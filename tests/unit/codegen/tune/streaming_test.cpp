// Schedules of products with few rows, and of sums down columns: through the matrix in the order in which it lies.
#include "unit/codegen/choice.h"
#include "unit/codegen/products.h"

using namespace codegen_test;

namespace {

/// Whether blocks of so many rows go one after the other outside of the columns, which have the lanes, so many
/// vectors at a time.
bool is_streamed(const Choice& c, int rows, int columns, int64_t deep, int vectors = 2) {
  UNSCOPED_INFO(to_string(c.opts()));
  return c.is_outside(rows, columns) && c.depth(rows) == deep && c.has_lanes(columns) && c.copies(columns) == vectors &&
         c.packs() == 0;
}

}  // namespace

TEST_CASE("a matrix that few rows are multiplied with is gone through row by row", "[codegen][products]") {
  for (const int64_t rows : {1, 3, 8}) {
    KernelHarness b = product(rows, 267, 1100);
    const Choice c(b);
    const int columns = rows == 1 ? 0 : 1, deep = rows == 1 ? 16 : 8;
    CHECK(is_streamed(c, 2, columns, deep));
    CHECK(c.copies(2) == deep);  // all side by side
    CHECK(c.tasks(columns) == 2);
    if (rows > 1) CHECK((c.is_whole(0) && c.copies(0) == 1));
    const std::string text = b.check(c.opts(), false);
    CHECK(count(text, "] __attribute__((aligned(64)))") == 0);  // sums rest in the output
  }
  // A point's results lie in the first cache, or a tenth of the second one.
  const Choice few(product(3, 267, 12000)), many(product(24, 267, 12000));
  CHECK((few.block(1) > 2000 && few.block(1) * 3 * 4 <= runtime::reference_target().l1));
  CHECK((many.block(1) > 500 && many.block(1) * 24 * 4 <= runtime::reference_target().l2 / 10));
}

TEST_CASE("rows of a matrix that several results share pass under a register tile of those", "[codegen][products]") {
  for (const auto& [rows, copies] :
       {std::pair{9, 5}, {21, 7}, {22, 8}, {24, 8}, {33, 7}, {36, 8}}) {  // evenly, eight at most
    KernelHarness b = product(rows, 267, 1100);
    for (const bool near_l3 : {false, true}) {
      const Choice c(b, near_l3 ? runtime::reference_target() : far_l3());
      const int depth = near_l3 && rows > 21 ? 256 : 32;  // results of 576 columns do not stay in the first cache
      CHECK(is_streamed(c, 2, 1, depth));
      CHECK(c.copies(0) == copies);
      CHECK((c.is_whole(0) && c.tasks(1) == 2));
      CHECK(c.steps() == 1);
      b.check(c.opts(), false);
    }
  }
  CHECK(Choice(product(37, 267, 1100), far_l3()).packs() > 0);
  CHECK(Choice(product(37, 267, 1100)).packs() > 0);  // too few rows for each thread to leave it
  CHECK(Choice(product(64, 267, 1100)).packs() == 0);
  const runtime::Target narrow = reference_machine("x86-64-v3", 32, 16);  // whose registers hold no such tile
  const auto eight = [&](int64_t rows) {                                  // rows side by side
    const Choice c(product(rows, 267, 1100), narrow);
    return c.is_split(2) && c.depth(2) == 8 && c.copies(2) == 8;
  };
  CHECK(eight(24));
  CHECK_FALSE(eight(25));
  const auto pages_apart = [&](int64_t rows) { return Choice(product(rows, 267, 1024), narrow).is_split(2); };
  CHECK(pages_apart(8));
  CHECK_FALSE(pages_apart(24));  // results that a set of the first cache does not hold
}

TEST_CASE("sums down the columns of a matrix go through it row by row, one block of the sum after the other",
          "[codegen][products]") {
  struct Case {
    std::vector<int64_t> shape;  // the last but one is summed
    DType dtype = DType::F32;
    ReductionTree tree = {};
    Combine combine = Combine::Add;
    int threads = 2;
  };
  const auto matrix = [](const Case& c) {
    KernelHarness b;
    std::vector<int64_t> kept = c.shape;
    kept.erase(kept.end() - 2);
    UOp x = b.buffer(random_array(c.dtype, c.shape, 1)), out = b.buffer(Array(c.dtype, kept));
    std::vector<UOp> at, to;
    for (int64_t size : kept) to.push_back(b.outer(size));
    UOp i = b.over(c.shape[c.shape.size() - 2], static_cast<int>(kept.size()));
    at = to;
    at.insert(at.end() - 1, i);
    b.stores({b.put(out, to, b.reduce(c.combine, {b.at(x, at)}, {i}, c.tree))});
    return b;
  };
  const auto choice = [&](const Case& c) {
    KernelHarness b = matrix(c);
    runtime::Target target = runtime::reference_target();
    target.threads = c.threads;
    const Choice made(b, target);
    b.check(made.opts(), false);
    return made;
  };
  const Choice one = choice({{330, 1100}}), in_blocks = choice({{330, 1100}, DType::F32, {1, 64}});
  CHECK((is_streamed(one, 1, 0, 16) && one.copies(1) == 16));
  CHECK((is_streamed(in_blocks, 2, 0, 16) && in_blocks.copies(2) == 16));
  CHECK((one.tasks(0) == 2 && in_blocks.tasks(0) == 2));
  CHECK(choice({{100, 12000}}).tasks(0) == 4);    // two for each thread
  CHECK(choice({{3, 110, 1100}}).tasks(1) == 2);  // six points, not three
  const Choice matrices = choice({{4, 110, 1100}});
  CHECK((matrices.is_split() && matrices.is_whole(1)));  // threads share the matrices
  const Choice bytes = choice({{330, 10000}, DType::U8, {}, Combine::Max}), doubles = choice({{330, 1100}, DType::F64});
  CHECK((bytes.lanes(0) == 64 && bytes.block(0) % 64 == 0 && bytes.tasks(0) == 2));  // whole steps of its 64 lanes
  CHECK((doubles.is_split() && doubles.tasks(0) == 2));
  // Rows that threads share have too little for each, and what lies in the second cache is near enough.
  CHECK_FALSE(choice({{3000, 350}}).is_split());
  CHECK_FALSE(choice({{330, 1100}, DType::F32, {}, Combine::Add, 16}).is_split());
  CHECK_FALSE(choice({{200, 1100}}).is_split());
}

TEST_CASE("how many rows of a matrix go side by side: as many as memory and registers follow", "[codegen][products]") {
  const auto of_two = [](const auto& combine, const runtime::Target& target) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {330, 1100}, 1)), y = b.buffer(random_array(DType::F32, {330, 1100}, 2)),
        out = b.buffer(Array(DType::F32, {1100}));
    UOp j = b.outer(1100), i = b.over(330, 1);
    b.stores({b.put(out, {j}, b.reduce(Combine::Add, {combine(b.at(x, {i, j}), b.at(y, {i, j}))}, {i}))});
    const Choice c(b, target);
    b.check(c.opts(), false);
    return c;
  };
  const auto side_by_side = [](const Choice& c, int rows, int vectors) {
    UNSCOPED_INFO(to_string(c.opts()));
    return c.copies(1) == rows && c.copies(0) == vectors && c.tasks(0) == 2;
  };
  const runtime::Target wide = runtime::reference_target();
  const runtime::Target narrow = reference_machine("x86-64-v3", 32, 16);
  const auto one = [](UOp a, UOp) { return a; };
  const auto product = [](UOp a, UOp b) { return a * b; };
  const auto several = [](UOp a, UOp) { return a * a * a * a * a + a; };
  const auto long_one = [](UOp a, UOp) { return exp(exp(a)); };
  CHECK(side_by_side(of_two(one, wide), 16, 2));
  CHECK(side_by_side(of_two(product, wide), 8, 2));  // 16 streams
  CHECK(side_by_side(of_two(several, wide), 8, 1));
  CHECK_FALSE(of_two(long_one, wide).is_split());
  CHECK(side_by_side(of_two(one, narrow), 8, 1));
}

TEST_CASE("rows whole pages apart share the sets of the first cache: few of them go side by side where it has few ways",
          "[codegen][products]") {
  runtime::Target target = runtime::reference_target();
  target.near_l3 = false;
  const auto depth = [&](int64_t ways, int64_t rows, int64_t columns) {
    target.l1 = ways * runtime::kPage;
    KernelHarness b = product(rows, 267, columns);
    const Choice c(b, target);
    b.check(c.opts(), false);
    return c.depth(2);  // 267, were it not split
  };
  CHECK(depth(8, 1, 2048) == 8);
  CHECK(depth(8, 1, 2064) == 16);
  CHECK(depth(12, 1, 2048) == 16);
  // A tile's rows would not stay for all that are multiplied with them: it goes down the column instead.
  CHECK(depth(8, 24, 2048) == 256);
  CHECK(depth(8, 24, 2064) == 32);
  CHECK(depth(12, 24, 2048) == 32);
  target.near_l3 = true;  // where results do not stay either
  CHECK(depth(12, 24, 2064) == 256);
  CHECK(depth(12, 9, 2064) == 32);
  CHECK(depth(8, 24, 2064) == 32);  // the rows alone would fill that cache
}
