// What the heuristic asks for where a product's operands come from memory, and that these lists keep every bit.
#include "codegen/heuristic.h"
#include "codegen_support.h"

using namespace codegen_test;

namespace {

/// x [m, k] times y [k, n], or y [n, k]; one row is a vector.
Bench product(int64_t m, int64_t k, int64_t n, bool transposed = false) {
  Bench b;
  UOp x = b.buffer(random_array(DType::F32, {m, k}, 1));
  UOp y = b.buffer(random_array(DType::F32, transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 2));
  UOp out = b.buffer(Array(DType::F32, {m, n}));
  UOp i = m > 1 ? b.outer(m) : b.index(0), j = b.outer(n), l = b.over(k, 2);
  b.stores({b.put(out, {i, j}, b.reduce(Combine::Dot, {b.at(x, {i, l}), transposed ? b.at(y, {j, l}) : b.at(y, {l, j})}, {l}))});
  return b;
}

std::vector<Opt> chosen(const Bench& b) {
  return codegen::heuristic(codegen::prepare(b.kernel).main, runtime::reference_target());
}

}  // namespace

TEST_CASE("a matrix that few rows are multiplied with is gone through row by row", "[codegen][products]") {
  for (const int64_t rows : {1, 3, 15}) {
    Bench b = product(rows, 267, 1100);
    const std::vector<Opt> opts = chosen(b);
    CHECK(to_string(opts) == (rows == 1 ? "unroll(0, 2) split(2, 8) unroll(2, 8) block(0, 576) order(2, 0, 2.1) lanes(0, 16)"
                                        : fmt::format("unroll(1, 2) split(2, 8) unroll(2, 8) block(1, 576) block(0, {}) order(2, 1, 0, 2.1) lanes(1, 16)", rows)));
    const std::string text = b.check(opts, false);
    CHECK(count(text, "] __attribute__((aligned(64)))") == 0);  // sums rest in the output
  }
}

TEST_CASE("a matrix that many rows are multiplied with is copied block by block", "[codegen][products]") {
  CHECK(to_string(chosen(product(512, 512, 1024))) ==
        "lanes(1, 16) unroll(1, 4) unroll(0, 6) block(0, 516) block(1, 256) order(0, 1, 2) stage(#9, 2, 1 lanes 16 unroll 4, panel 64)");
  CHECK(to_string(chosen(product(512, 1024, 512, true))) ==
        "lanes(1, 16) unroll(1, 4) unroll(0, 6) split(2, 512) block(0, 516) block(1, 256) order(2, 0, 1, 2.1) stage(#9, 2.0 unroll 16, 1 lanes 16, panel 64)");
  CHECK(to_string(chosen(product(16, 512, 1024))) ==
        "lanes(1, 16) unroll(1, 4) unroll(0, 6) block(0, 18) block(1, 256) order(0, 1, 2) stage(#10, 2, 1 lanes 16 unroll 4, panel 64)");
}

TEST_CASE("a matrix that lies in a cache is read as it lies", "[codegen][products]") {
  CHECK(to_string(chosen(product(1, 128, 1100))) == "lanes(0, 16) unroll(0, 4)");
  CHECK(to_string(chosen(product(64, 128, 128))) == "lanes(1, 16) unroll(1, 4) unroll(0, 6)");
}
