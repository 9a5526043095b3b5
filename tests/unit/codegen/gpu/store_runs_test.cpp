// Stores that take turns, copy by copy, and loops over their copies: they leave what the interpreter computes, to the
// bit.
#include "codegen/codegen.h"
#include "codegen/loopschedule/opt_parse.h"
#include "codegen/normalize/normalize.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;

namespace {

/// A product as the gradient of a matrix, and what AdamW makes of it: moments and the matrix, in place. Each result
/// takes some twenty operations.
KernelHarness product_with_moments(int64_t rows, int64_t columns, int64_t depth, bool mma) {
  KernelHarness b;
  const DType factors = mma ? DType::BF16 : DType::F32;
  UOp x = b.buffer(random_array(factors, {rows, depth}, 1)), y = b.buffer(random_array(factors, {depth, columns}, 2));
  UOp mean = b.buffer(random_array(DType::F32, {rows, columns}, 3)),
      square = b.buffer(random_array(DType::F32, {rows, columns}, 4)),
      matrix = b.buffer(random_array(DType::F32, {rows, columns}, 5));
  UOp m = b.outer(rows), n = b.outer(columns), k = b.over(depth, 2);
  UOp g = b.reduce(Combine::Dot, {b.at(x, {m, k}), b.at(y, {k, n})}, {k}, {.mma = mma});
  UOp first = b.at(mean, {m, n}) * 0.9 + g * 0.1;
  UOp second = b.at(square, {m, n}) * 0.999 + g * g * 0.001;
  UOp root = sqrt(maximum(second, like(second, 0))) + 1e-8;
  b.stores({b.put(mean, {m, n}, first), b.put(square, {m, n}, second),
            b.put(matrix, {m, n}, b.at(matrix, {m, n}) * 0.9999 - first / root * 0.001)});
  return b;
}

/// Loops over copies of results in the text of each list. Compares what the lists leave.
std::vector<int> rolled(KernelHarness b, const std::vector<const char*>& lists) {
  return ir::mapped(SimulatedGpu().check(b, parsed(lists)),
                    [](const std::string& text) { return count(text, "copies of results"); });
}

}  // namespace

TEST_CASE("long runs of stores on a GPU are loops over copies of results", "[codegen][cuda][store-runs]") {
  const std::vector<const char*> lists{
      "thread_bind(1, 8, 1) thread_bind(0, 2, 8) unroll(0, 8) unroll(1, 16)",
      "thread_bind(0, 8, 1) unroll(0, 16) unroll(1, 8)",
      "lanes(1, 4) thread_bind(1, 4, 1) thread_bind(0, 4, 4) unroll(0, 16) unroll(1, 2)",
      "thread_bind(1, 8, 1) thread_bind(0, 4, 8) unroll(0, 4) unroll(1, 2)"};
  CHECK(rolled(product_with_moments(64, 128, 5, false), lists) == std::vector{1, 1, 1, 0});  // the last text is short
  // The last block of a range may have a text of its own, in which the number of vectors that exist is known.
  CHECK(rolled(product_with_moments(53, 121, 5, false), lists) == std::vector{1, 0, 2, 0});
}

TEST_CASE("results of tensor cores are stored by loops over their copies", "[codegen][cuda][mma][store-runs]") {
  const std::vector<const char*> lists{"mma(0, 1) unroll(0, 2) unroll(1, 8)", "mma(0, 1) unroll(0, 4) unroll(1, 8)",
                                       "mma(0, 1) thread_bind(1, 2, 32) unroll(0, 2) unroll(1, 8)",
                                       "mma(0, 1) unroll(0, 2) unroll(1, 2)"};
  CHECK(rolled(product_with_moments(64, 128, 32, true), lists) == std::vector{1, 1, 1, 0});
  CHECK(rolled(product_with_moments(53, 121, 35, true), lists) == std::vector{2, 2, 1, 0});
}

TEST_CASE("updates of a scatter keep their order however many copies there are", "[codegen][cuda][store-runs]") {
  KernelHarness b;
  const int64_t results = 16, updates = 64;
  UOp x = b.buffer(random_array(DType::F32, {updates, 3}, 1)), out = b.buffer(random_array(DType::F32, {results}, 2));
  UOp i = b.inner(updates, 0), k = b.over(3, 1);
  UOp v = b.reduce(Combine::Add, {b.at(x, {i, k})}, {k});
  for (int step = 0; step < 16; ++step) v = v * 1.5 + 0.25;
  b.stores({b.put(out, {mod(i * b.index(5), b.index(results))}, v, true)});
  CHECK(rolled(std::move(b), {"", "unroll(0, 64)"}) == std::vector{0, 0});
}
