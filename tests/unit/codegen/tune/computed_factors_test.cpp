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
  KernelHarness b;  // scores of keys by queries, times the columns of y, summed over the queries
  UOp keys = b.buffer(random_array(DType::F32, {256, 32}, 1)),
      queries = b.buffer(random_array(DType::F32, {128, 32}, 2)), y = b.buffer(random_array(DType::F32, {128, 64}, 3)),
      out = b.buffer(Array(DType::F32, {256, 64}));
  UOp key = b.outer(256), column = b.inner(64, 1), query = b.over(128, 2), i = b.over(32, 3);
  UOp score = b.reduce(Combine::Dot, {b.at(queries, {query, i}), b.at(keys, {key, i})}, {i});
  b.stores({b.put(out, {key, column}, b.reduce(Combine::Dot, {score, b.at(y, {query, column})}, {query}))});
  for (const int threads : {1, 2}) {
    runtime::Target target = runtime::reference_target();
    target.threads = threads;
    const Choice c(b, target);
    INFO(to_string(c.opts()));
    CHECK(c.materialized() == 1);
    b.check(c.opts(), false);
  }
}
