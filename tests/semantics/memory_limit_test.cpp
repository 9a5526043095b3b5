// V6: what a plan does with less memory than it would take.
#include <functional>
#include <string>

#include "semantics/support.h"
#include "short_memory.h"
#include "sinter/error.h"
#include "sinter/sinter.h"
#include "tensor/core/cell.h"

using namespace semantics;

namespace {

constexpr int64_t kSize = 1 << 20;  // 8 MiB of int64 or float64

/// So much more than what is live now on the CPU.
runtime_test::ScopedEnv limit(uint64_t mebibytes) { return memory_beyond(mebibytes << 20); }

bool lazy(const Tensor& t) { return !tensor::node_of(t)->storage(); }

}  // namespace

TEST_CASE("V6 a statement needs no memory for its temporaries", "[semantics]") {
  debug::set_executor(debug::Executor::Compiled);
  const LeakCheck clean;
  const OnCpu cpu;
  const Tensor x = (arange(kSize) % 1000).to(float64).realize(), row = full64({1024}, 0.5);
  struct Statement {
    const char* text;
    std::function<Tensor()> run;
  };
  const Statement statements[] = {
      {"a cast of a remainder", [] { return (arange(kSize) % 251).to(uint8).realize(); }},
      {"an element", [&] { return (sqrt(x * 3.0 + 1.0) % 7.0).slice(0, {5, 6}).realize(); }},
      {"a sum", [&] { return exp(sqrt(x) * -0.5 + 0.25).sum().realize(); }},
      {"a sum along rows", [&] { return tanh(x.reshape({1024, 1024}) / 300.0).sum(1).realize(); }},
      {"a mean of squares", [&] { return square(sqrt(x) - sqrt(x).mean()).mean().realize(); }},
      {"an outer product", [&] { return sqrt(row.reshape({1024, 1}) * row + 1.0).max(0).realize(); }},
      {"a comparison", [&] { return where(sqrt(x) > 5.0, exp(x * -0.1), sin(x)).to(int8).realize(); }},
      {"a contraction", [&] { return matmul(sqrt(x.reshape({1024, 1024})), exp(row.reshape({1024, 1}))).realize(); }},
      {"random numbers",
       [] {
         manual_seed(7);
         return (rand({kSize}) * 250.0).to(uint8).realize();
       }},
  };
  for (const Statement& s : statements) {
    INFO(s.text);
    const Vec want = read(s.run().to(float64));
    memory::release_pool();
    Tensor got;
    {
      const auto three = limit(3);
      got = s.run();
    }
    CHECK((read(got.to(float64)) == want));
  }
}

TEST_CASE("V6 what stays lazy where memory is short keeps its meaning", "[semantics]") {
  debug::set_executor(debug::Executor::Compiled);
  const LeakCheck clean;
  const OnCpu cpu;
  SECTION("a handle is computed when it is read") {
    const Tensor remainder = arange(kSize) % 251;
    {
      const auto four = limit(4);
      CHECK(read(remainder.to(uint8).realize().slice(0, {250, 253}).to(float64)) == Vec{250, 0, 1});
      CHECK(lazy(remainder));
      CHECK_THROWS_AS(remainder.clone().realize(), OutOfMemory);
      CHECK(remainder.max().item() == 250);
    }
    CHECK(read(remainder.slice(0, {250, 253}).to(float64)) == Vec{250, 0, 1});
    CHECK(remainder.realize().sum().item() == 131'064'401);
  }
  SECTION("what it is made of is not written in place") {
    Tensor w = full({kSize}, 4.0, float32).contiguous().realize();
    const Tensor root = sqrt(w.to(float64));
    w += 5.0;
    {
      const auto six = limit(6);
      w.realize();
    }
    CHECK(lazy(root));
    CHECK((root.min().item() == 2 && root.max().item() == 2));
    CHECK((w.min().item() == 9 && w.max().item() == 9));
  }
  SECTION("what is smaller than the memory that it would hold is stored") {
    Tensor w = full({kSize}, 4.0, float32).contiguous().realize();
    const Tensor sum = sqrt(w).sum();
    const Tensor huge = exp(arange(kSize).to(float64) * -1.0);
    w += (huge * 0.0).to(float32) + (sum * 0.0 + 5.0);
    CounterDelta c;
    {
      const auto two = limit(2);
      w.realize();
    }
    CHECK(c.in_place() == 1);
    CHECK(lazy(huge));
    CHECK_FALSE(lazy(sum));
    CHECK(sum.item() == 2.0 * kSize);
    CHECK(w.max().item() == 9);
  }
  SECTION("what another assignment needs is stored with it") {
    Tensor record = full64({3}, 1);
    record += 1.0;
    const Tensor remainder = arange(kSize) % 251;
    {
      const auto four = limit(4);
      remainder.to(uint8).realize();
    }
    CHECK_FALSE(lazy(record));
    CHECK(read(record) == Vec{2, 2, 2});
  }
}

TEST_CASE("V6 an interpreted plan that runs out of memory is tried with less", "[semantics]") {
  debug::set_executor(debug::Executor::Interpreter);
  const LeakCheck clean;
  const OnCpu cpu;
  // 4 MiB, as each of the values; the interpreter writes out what lies between two stores.
  const Tensor x = full({kSize}, 4.0, float32).contiguous().realize();
  const Tensor root = sqrt(x), scaled = root * 3.0, sum = scaled.sum();
  constexpr double kSum = 6.0 * kSize;
  SECTION("without what handles hold") {
    {
      const auto little = limit(14);
      CHECK(sum.item() == kSum);
    }
    CHECK((lazy(root) && lazy(scaled)));
    CHECK(scaled.max().item() == 6);
  }
  SECTION("without what was assigned") {
    Tensor record = full({2 * kSize}, 4.0, float32).contiguous().realize();
    record.assign(sqrt(record).flip({0}));
    {
      const auto little = limit(14);
      CHECK(sum.item() == kSum);
      CHECK(lazy(record));
    }
    CHECK(record.max().item() == 2);
  }
  SECTION("and throws where that is not enough") {
    {
      const auto little = limit(6);
      CHECK_THROWS_AS(sum.item(), OutOfMemory);
      CHECK((lazy(root) && lazy(scaled) && lazy(sum)));
    }
    CHECK(sum.item() == kSum);
  }
}
