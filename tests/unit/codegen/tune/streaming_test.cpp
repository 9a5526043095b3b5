// Schedules of products with few rows, and of sums down columns: through the matrix in the order in which it lies.
#include "unit/codegen/products.h"

using namespace codegen_test;

TEST_CASE("a matrix that few rows are multiplied with is gone through row by row", "[codegen][products]") {
  for (const int64_t rows : {1, 3, 8}) {
    KernelHarness b = product(rows, 267, 1100);
    const std::vector<Opt> opts = chosen(b);
    CHECK(
        to_string(opts) ==
        (rows == 1
             ? "split(2, 16) unroll(2, 16) block(0, 576) unroll(0, 2) order(2, 0, 2.1) lanes(0, 16)"
             : fmt::format(
                   "split(2, 8) unroll(2, 8) block(1, 576) unroll(1, 2) block(0, {}) order(2, 1, 0, 2.1) lanes(1, 16)",
                   rows)));
    const std::string text = b.check(opts, false);
    CHECK(count(text, "] __attribute__((aligned(64)))") == 0);  // sums rest in the output
  }
  // A point's results lie in the first cache.
  CHECK(to_string(chosen(product(3, 267, 12000))).find("block(1, 3008)") != std::string::npos);
  CHECK(to_string(chosen(product(24, 267, 12000))).find("block(1, 1024)") != std::string::npos);
}

TEST_CASE("rows of a matrix that several results share pass under a register tile of those", "[codegen][products]") {
  for (const auto& [rows, copies] :
       {std::pair{9, 5}, {21, 7}, {22, 8}, {24, 8}, {33, 7}, {36, 8}}) {  // evenly, eight at most
    KernelHarness b = product(rows, 267, 1100);
    for (const bool near_l3 : {false, true}) {
      const std::vector<Opt> opts = chosen(b, near_l3 ? runtime::reference_target() : far_l3());
      const int depth = near_l3 && rows > 21 ? 256 : 32;  // results of 576 columns do not stay in the first cache
      CHECK(to_string(opts) ==
            fmt::format(
                "split(2, {}) block(1, 576) unroll(1, 2) block(0, {}) unroll(0, {}) order(2, 1, 0, 2.1) lanes(1, 16)",
                depth, rows, copies));
      b.check(opts, false);
    }
  }
  CHECK(to_string(chosen(product(37, 267, 1100), far_l3())).find("tile_copy(") != std::string::npos);
  CHECK(to_string(chosen(product(37, 267, 1100))).find("tile_copy(") !=
        std::string::npos);  // too few rows for each thread to leave it
  CHECK(to_string(chosen(product(64, 267, 1100))).find("tile_copy(") == std::string::npos);
  const runtime::Target narrow = reference_machine("x86-64-v3", 32, 16);  // whose registers hold no such tile
  const auto opts = [&](int64_t rows) { return to_string(chosen(product(rows, 267, 1100), narrow)); };
  CHECK(opts(24).starts_with("split(2, 8) unroll(2, 8)"));
  CHECK(opts(25).find("split(2, 8)") == std::string::npos);
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
  const auto opts = [&](const Case& c) {
    KernelHarness b = matrix(c);
    runtime::Target target = runtime::reference_target();
    target.threads = c.threads;
    const std::vector<Opt> made = chosen(b, target);
    b.check(made, false);
    return to_string(made);
  };
  CHECK(opts({{330, 1100}}) == "split(1, 16) unroll(1, 16) block(0, 576) unroll(0, 2) order(1, 0, 1.1) lanes(0, 16)");
  CHECK(opts({{330, 1100}, DType::F32, {1, 64}}) ==
        "split(2, 16) unroll(2, 16) block(0, 576) unroll(0, 2) order(1, 2, 0, 2.1) lanes(0, 16)");
  CHECK(opts({{100, 12000}}).find("block(0, 3008)") != std::string::npos);    // two for each thread
  CHECK(opts({{3, 110, 1100}}).find("block(1, 576)") != std::string::npos);   // six points, not three
  CHECK(opts({{4, 110, 1100}}).find("block(1, 1120)") != std::string::npos);  // threads share the matrices
  CHECK(opts({{330, 10000}, DType::U8, {}, Combine::Max}).find("block(0, 5120)") !=
        std::string::npos);  // whole steps of its 64 lanes
  CHECK(opts({{330, 1100}, DType::F64}).find("block(0, 560)") != std::string::npos);
  // Rows that threads share have too little for each, and what lies in the second cache is near enough.
  CHECK(opts({{3000, 350}}).find("split") == std::string::npos);
  CHECK(opts({{330, 1100}, DType::F32, {}, Combine::Add, 16}).find("split") == std::string::npos);
  CHECK(opts({{200, 1100}}).find("split") == std::string::npos);
}

TEST_CASE("how many rows of a matrix go side by side: as many as memory and registers follow", "[codegen][products]") {
  const auto of_two = [](const auto& combine, const runtime::Target& target) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {330, 1100}, 1)), y = b.buffer(random_array(DType::F32, {330, 1100}, 2)),
        out = b.buffer(Array(DType::F32, {1100}));
    UOp j = b.outer(1100), i = b.over(330, 1);
    b.stores({b.put(out, {j}, b.reduce(Combine::Add, {combine(b.at(x, {i, j}), b.at(y, {i, j}))}, {i}))});
    const std::vector<Opt> opts = chosen(b, target);
    b.check(opts, false);
    return to_string(opts);
  };
  const runtime::Target wide = runtime::reference_target();
  const runtime::Target narrow = reference_machine("x86-64-v3", 32, 16);
  const auto one = [](UOp a, UOp) { return a; };
  const auto product = [](UOp a, UOp b) { return a * b; };
  const auto several = [](UOp a, UOp) { return a * a * a * a * a + a; };
  const auto long_one = [](UOp a, UOp) { return exp(exp(a)); };
  CHECK(of_two(one, wide).find("unroll(1, 16) block(0, 576) unroll(0, 2)") != std::string::npos);
  CHECK(of_two(product, wide).find("unroll(1, 8) block(0, 576) unroll(0, 2)") != std::string::npos);  // 16 streams
  CHECK(of_two(several, wide).find("unroll(1, 8) block(0, 560) order") != std::string::npos);
  CHECK(of_two(long_one, wide).find("split") == std::string::npos);
  CHECK(of_two(one, narrow).find("unroll(1, 8) block(0, 552) order") != std::string::npos);
}

TEST_CASE("rows whole pages apart share the sets of the first cache: few of them go side by side where it has few ways",
          "[codegen][products]") {
  runtime::Target target = runtime::reference_target();
  target.near_l3 = false;
  const auto split = [&](int64_t ways, int64_t rows, int64_t columns) {
    target.l1 = ways * runtime::kPage;
    KernelHarness b = product(rows, 267, columns);
    const std::vector<Opt> opts = chosen(b, target);
    b.check(opts, false);
    return to_string(opts).substr(0, 13);
  };
  CHECK(split(8, 1, 2048) == "split(2, 8) u");
  CHECK(split(8, 1, 2064) == "split(2, 16) ");
  CHECK(split(12, 1, 2048) == "split(2, 16) ");
  // A tile's rows would not stay for all that are multiplied with them: it goes down the column instead.
  CHECK(split(8, 24, 2048) == "split(2, 256)");
  CHECK(split(8, 24, 2064) == "split(2, 32) ");
  CHECK(split(12, 24, 2048) == "split(2, 32) ");
  target.near_l3 = true;  // where results do not stay either
  CHECK(split(12, 24, 2064) == "split(2, 256)");
  CHECK(split(12, 9, 2064) == "split(2, 32) ");
  CHECK(split(8, 24, 2064) == "split(2, 32) ");  // the rows alone would fill that cache
}
