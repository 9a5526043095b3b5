// Which matrices are packed once for many products, and that no sum changes.
#include "catch.h"
#include "on_cpu.h"
#include "schedule/schedule.h"
#include "unit/schedule_support.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::ir;
using namespace sinter::schedule;
using namespace sinter::schedule::testing;

namespace {

/// Steps of a recurrence: a state of `rows` x `size` times one matrix, again and again.
struct Recurrence {
  int products = 8;
  int64_t rows = 32, size = 128;
  bool transposed = false;  ///< the matrix is stored by columns

  Program program() const {
    Program p;
    UOp state = p.slot({rows, size});
    const UOp stored = p.slot({size, size}), matrix = transposed ? permute(stored, {1, 0}) : stored;
    for (int i = 0; i < products; ++i)
      state = sum(expand(state, {rows, size, size}, {2}) * expand(matrix, {rows, size, size}, {0}), {1}) * 0x1p-6;
    p.store(state);
    return p;
  }
};

runtime::Target cpu(int64_t l2 = 1 << 20) {
  runtime::Target target = kTarget;
  target.l2 = l2;
  return target;
}

KernelSchedule scheduled(const Recurrence& recurrence, const runtime::Target& target) {
  return schedule::schedule(recurrence.program().plan, target);
}

/// Steps that are none of the products.
size_t copies(const Recurrence& recurrence, const runtime::Target& target = cpu()) {
  return scheduled(recurrence, target).plan.steps.size() - static_cast<size_t>(recurrence.products);
}

}  // namespace

TEST_CASE("a matrix that many products of few rows share is packed once", "[schedule]") {
  CHECK(copies({}) == 1);
  CHECK(copies({.products = 40}) == 1);
  CHECK(copies({.transposed = true}) == 1);
  CHECK(copies({.products = 7}) == 0);
  CHECK(copies({.rows = 4}) == 0);
  CHECK(copies({.rows = 96}) == 0);
  CHECK(copies({.size = 120}) == 0);  // no whole panels
  CHECK(copies({}, cpu(32 << 10)) == 0);
}

TEST_CASE("products over panels have the bits of products over the matrix", "[schedule]") {
  for (const bool transposed : {false, true}) {
    const Recurrence recurrence{.rows = 8, .transposed = transposed};
    const KernelSchedule plain = scheduled(recurrence, cpu(32 << 10)), packed = scheduled(recurrence, cpu());
    REQUIRE(packed.plan.steps.size() == plain.plan.steps.size() + 1);
    const Inputs in = random_inputs(recurrence.program());
    CHECK(run(plain, in).outputs[0].data == run(packed, in).outputs[0].data);
  }
}

TEST_CASE("compiled products over panels have the bits of products one by one", "[schedule]") {
  const OnCpu cpu;
  Generator g(4);
  const auto drawn = [&](Shape shape, DType dtype) {
    return randn(shape, {.dtype = float32, .generator = &g}).to(dtype).realize();
  };
  for (const DType dtype : {float32, float64, bfloat16})
    for (const bool transposed : {false, true}) {
      INFO(name_of(dtype) << (transposed ? ", stored by columns" : ""));
      const Tensor whole = drawn({200, 130}, dtype), start = drawn({32, 128}, dtype);
      const Tensor part = whole.narrow(0, 3, 128).narrow(1, 2, 128), matrix = transposed ? part.t() : part;
      const auto step = [&](const Tensor& state) { return matmul(state, matrix) * 0x1p-6; };
      Tensor together = start, alone = start;
      for (int i = 0; i < 9; ++i) {
        together = step(together);
        alone = step(alone).realize();
      }
      CHECK(sinter::testing::same(sinter::testing::numbers(together), sinter::testing::numbers(alone)));
    }
}
