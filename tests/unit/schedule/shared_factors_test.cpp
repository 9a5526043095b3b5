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
  bool from_zeros = false;  ///< the first state is a constant

  Program program() const {
    Program p;
    UOp state = from_zeros ? full(p.graph(), {rows, size}, DType::F32, 0.0) : p.slot({rows, size});
    const UOp stored = p.slot({size, size}), matrix = transposed ? permute(stored, {1, 0}) : stored;
    for (int i = 0; i < products; ++i)
      state = sum(expand(state, {rows, size, size}, {2}) * expand(matrix, {rows, size, size}, {0}), {1}) * 0x1p-6;
    p.store(state);
    return p;
  }
};

/// A CPU with caches of these bytes.
runtime::Target cpu(int64_t l2 = 1 << 20, int64_t l3 = 1 << 20, bool near_l3 = false) {
  runtime::Target target = kTarget;
  target.l2 = l2;
  target.l3 = l3;
  target.near_l3 = near_l3;
  return target;
}
runtime::Target avx2() {
  runtime::Target target = cpu();
  set_isa(target, "x86-64-v3");
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
}

TEST_CASE("a matrix is packed that the second cache holds, or a part of a nearby last one", "[schedule]") {
  CHECK(copies({}, cpu(64 << 10)) == 1);
  CHECK(copies({}, cpu(63 << 10)) == 0);
  CHECK(copies({}, cpu(63 << 10, 256 << 10)) == 0);
  CHECK(copies({}, cpu(63 << 10, 256 << 10, true)) == 1);
  CHECK(copies({}, cpu(63 << 10, 255 << 10, true)) == 0);
}

TEST_CASE("panels are as wide as a tile that fills the registers", "[schedule]") {
  CHECK(copies({.size = 160}) == 0);          // 64 columns with AVX-512
  CHECK(copies({.size = 160}, avx2()) == 1);  // 16
  CHECK(copies({.size = 168}, avx2()) == 0);
}

TEST_CASE("a product by zeros is none of those that share a matrix", "[schedule]") {
  CHECK(copies({.products = 8, .from_zeros = true}) == 0);
  CHECK(copies({.products = 9, .from_zeros = true}) == 1);
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
