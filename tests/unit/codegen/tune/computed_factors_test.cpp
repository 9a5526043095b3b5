// Products whose factors are computed, by a polynomial or by another product.
#include "unit/codegen/choice.h"

using namespace codegen_test;

TEST_CASE("lanes lie along the factor that is computed, if the other one is not", "[codegen][products]") {
  KernelHarness b;  // weights exp(x - max) of 256 keys, times 64 columns of y, over 128 queries
  UOp x = b.buffer(random_array(DType::F32, {128, 256}, 1)), top = b.buffer(random_array(DType::F32, {128}, 2)),
      y = b.buffer(random_array(DType::F32, {128, 64}, 3)), out = b.buffer(Array(DType::F32, {256, 64}));
  UOp key = b.outer(256), column = b.outer(64), query = b.over(128, 2);
  UOp weight = exp(b.at(x, {query, key}) - b.at(top, {query}));
  b.stores({b.put(out, {key, column}, b.reduce(Combine::Dot, {weight, b.at(y, {query, column})}, {query}))});
  const Choice c(b);
  INFO(to_string(c.opts()));
  CHECK(c.has_lanes(0));
  CHECK(c.packs() == 1);
  b.check(c.opts(), false);
}

TEST_CASE("a product below another one is not computed again for each of its columns", "[codegen][products]") {
  const auto kernel = [](int64_t heads, int64_t length) {
    KernelHarness b;  // what gives attention's keys their gradient: products weighted, times the columns of y
    const auto matrices = [&](int64_t width, unsigned seed) {
      return b.buffer(random_array(DType::F32, {heads, length, width}, seed));
    };
    UOp keys = matrices(64, 1), queries = matrices(64, 2), y = matrices(64, 3), weights = matrices(length, 4),
        sums = b.buffer(random_array(DType::F32, {heads, length}, 5)),
        out = b.buffer(Array(DType::F32, {heads, length, 64}));
    UOp head = b.outer(heads), key = b.outer(length), column = b.inner(64, 2), query = b.over(length, 3),
        i = b.over(64, 4);
    UOp weight = exp(b.at(weights, {head, query, key})) / b.at(sums, {head, query});
    UOp score = weight * b.reduce(Combine::Dot, {b.at(queries, {head, query, i}), b.at(keys, {head, key, i})}, {i});
    b.stores(
        {b.put(out, {head, key, column}, b.reduce(Combine::Dot, {score, b.at(y, {head, query, column})}, {query}))});
    return b;
  };
  for (const int64_t length : {128, 512}) {
    const Choice c(kernel(16, length));
    INFO(to_string(c.opts()));
    CHECK(c.materialized() == 1);
  }
  KernelHarness small = kernel(1, 128);
  small.check(chosen(small), false);
}
