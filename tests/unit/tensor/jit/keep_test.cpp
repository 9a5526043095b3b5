// What a jitted function computes of tensors that nobody assigns: once for each of their versions.
#include "catch.h"
#include "jit_support.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/host_allocator.h"
#include "runtime/exec/buffer.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "tensor/core/cell.h"
#include "unit/runtime_support.h"

#include <array>
#include <thread>

using namespace sinter;
using namespace jit_test;
using Catch::Matchers::Contains;

namespace {

/// Launches of the call.
template <class F>
uint64_t launches(F&& call) {
  const uint64_t before = debug::counters().launches;
  call();
  return debug::counters().launches - before;
}

/// w is [k, n]: the same product of its columns, 16 at a time as they are used.
Tensor by_panels(const Tensor& x, const Tensor& w) {
  const int64_t k = w.shape()[0].value(), n = w.shape()[1].value();
  return matmul(x, w.reshape({k, n / 16, 16}).permute({1, 0, 2}).contiguous().permute({1, 0, 2}).reshape({k, n}));
}

}  // namespace

TEST_CASE("panels of a weight are made once for each version of it", "[jit][keep]") {
  Tensor w = numbers({8, 32});
  auto fast = jit([&](const Tensor& x) { return by_panels(x, w); });
  const auto call = [&](double from) {
    const Tensor x = numbers({24, 8}, from);
    Tensor y;
    const uint64_t count = launches([&] { y = fast(x); });
    CHECK(values(y) == values(by_panels(x, w)));
    return count;
  };
  call(0), call(1);  // the function runs
  CHECK(call(2) == 2);
  CHECK(call(3) == 1);
  CHECK(call(4) == 1);
  SECTION("assigned") {
    w.assign(numbers({8, 32}, 5));
    CHECK(call(5) == 2);
    CHECK(call(6) == 1);
  }
  SECTION("written in place") {
    const uint64_t before = debug::counters().in_place;
    w += 1.0;
    w.realize();
    CHECK(debug::counters().in_place == before + 1);
    CHECK(call(5) == 2);
    CHECK(call(6) == 1);
  }
  SECTION("a part of it written by another thread") {
    std::thread([&] { w.at({Slice{0, 4}}).assign(numbers({4, 32}, 9)), w.realize(); }).join();
    CHECK(call(5) == 2);
    CHECK(call(6) == 1);
  }
  SECTION("a launch failed before panels of another version were made, and after") {
    for (const int launch : {0, 1}) {
      w.assign(numbers({8, 32}, 5 + launch));
      const Tensor x = numbers({24, 8}, 1);
      runtime::fault_injection().fail_at_launch = launch;
      CHECK_THROWS_AS(fast(x), BackendError);
      CHECK(call(5) == 2);
      CHECK(call(6) == 1);
    }
  }
  SECTION("a launch failed that would have used them") {
    const Tensor x = numbers({24, 8}, 1);
    runtime::fault_injection().fail_at_launch = 1;
    CHECK_THROWS_AS(fast(x), BackendError);
    CHECK(call(5) == 2);  // nobody knows what a failed run has left
    CHECK(call(6) == 1);
  }
  SECTION("another shape has panels of its own") {
    const Tensor x = numbers({48, 8}, 1);
    for (int i = 0; i < 4; ++i) CHECK(values(fast(x)) == values(by_panels(x, w)));
    CHECK(launches([&] { fast(x); }) == 1);
    CHECK(call(5) == 1);
    w.assign(numbers({8, 32}, 5));
    w.realize();
    CHECK(launches([&] { fast(x); }) == 2);
    CHECK(call(6) == 2);
  }
}

TEST_CASE("a tensor that changes at each call does not make the others' kernels run again", "[jit][keep]") {
  Tensor w = numbers({8, 32}), scale = numbers({32}), swapped = numbers({24, 8}), other = numbers({24, 8}, 3);
  SECTION("assigned outside") {
    auto fast = jit([&](const Tensor& x) { return by_panels(x, w) * scale; });
    for (int i = 0; i < 6; ++i) {
      scale.assign(numbers({32}, i));
      scale.realize();
      const Tensor x = numbers({24, 8}, i);
      Tensor y;
      const uint64_t count = launches([&] { y = fast(x); });
      CHECK(values(y) == values(by_panels(x, w) * scale));
      if (i > 2) CHECK(count == 1);
    }
  }
  SECTION("assigned by the function, to one another") {
    auto fast = jit([&](const Tensor& x) {
      const Tensor y = by_panels(x + swapped - other, w), keep = swapped + 0.0;
      swapped.assign(other + 0.0);
      other.assign(keep);
      return y;
    });
    uint64_t first = 0, last = 0;
    for (int i = 0; i < 6; ++i) {
      const Tensor x = numbers({24, 8}, i);
      const Tensor expected = by_panels(x + swapped - other, w).realize();
      Tensor y;
      last = launches([&] { y = fast(x); });
      if (i == 2) first = last;
      CHECK(values(y) == values(expected));
    }
    CHECK(last == first - 1);
  }
}

TEST_CASE("what depends on no tensor at all is kept too, and memory of others never", "[jit][keep]") {
  SECTION("a table") {
    const auto function = [](const Tensor& x) {
      const Tensor table = sin(arange(64, float32).reshape({8, 8}));
      return matmul(x, table.contiguous());
    };
    auto fast = jit(function);
    const Tensor x = numbers({24, 8});
    uint64_t first = 0;
    for (int i = 0; i < 5; ++i) {
      Tensor y;
      const uint64_t count = launches([&] { y = fast(x); });
      if (i == 2) first = count;
      if (i > 2) CHECK(count == first - 1);
      CHECK(values(y) == values(function(x)));
    }
    runtime::fault_injection().fail_at_launch = 1;
    CHECK_THROWS_AS(fast(x), BackendError);
    CHECK(launches([&] { CHECK(values(fast(x)) == values(function(x))); }) >= first);
  }
  SECTION("memory that others write") {
    if (default_device().kind() != Device::Kind::Cpu) SKIP_TEST("the default device is a GPU");
    alignas(64) std::array<float, 8 * 32> memory;
    memory.fill(1);
    Tensor w;
    {
      ir::GraphScope scope;
      ir::TensorGraph& g = ir::TensorGraph::get();
      ir::UOp n = g.make({ir::Op::Data, float32, {8, 32}, {}});
      g.attach_storage(n, runtime::Buffer::wrap(memory.data(), sizeof memory, {}).release());
      w = tensor::wrap(n);
    }
    auto fast = jit([&](const Tensor& x) { return by_panels(x, w); });
    const Tensor x = numbers({24, 8});
    for (int i = 0; i < 5; ++i) {
      memory.fill(static_cast<float>(i));
      CHECK(values(fast(x)) == values(by_panels(x, full({8, 32}, i).contiguous())));
    }
  }
}

TEST_CASE("where there is no memory to keep anything, jitted functions run without", "[jit][keep]") {
  if (default_device().kind() != Device::Kind::Cpu) SKIP_TEST("the default device is a GPU");
  if (runtime::kSanitizer == runtime::Sanitizer::Thread)
    SKIP_TEST("a sanitizer's build");  // whose narrower vectors give plans of more scratch than this allows
  const Tensor w = sin(numbers({256, 1024})).realize(), x = sin(numbers({64, 256})).realize();
  // One after the other these share their memory; kept, each has its own.
  const auto function = [&](const Tensor& a) {
    Tensor y = a;
    for (int i = 1; i < 6; ++i) y = matmul(by_panels(y, w * static_cast<double>(i)), w.transpose()) * 1e-3;
    return y;
  };
  const std::vector<float> expected = values(function(x));
  auto fast = jit(function);
  fast(x), fast(x);
  const runtime_test::ScopedEnv limit("SINTER_MEMORY_LIMIT", std::to_string(runtime::cpu::live_memory() + (3 << 20)));
  const uint64_t all = launches([&] { CHECK((values(fast(x)) == expected)); });
  for (int i = 0; i < 2; ++i) CHECK(launches([&] { CHECK((values(fast(x)) == expected)); }) == all);
}

TEST_CASE("nothing is kept while it would not be used, until it would be again", "[jit][keep]") {
  Tensor v = numbers({8, 32}), w = numbers({8, 32}, 1);
  const auto function = [&](const Tensor& x) { return by_panels(x, v) + by_panels(x, w); };
  auto fast = jit(function);
  const Tensor x = numbers({24, 8});
  const auto call = [&] {
    Tensor y;
    const uint64_t count = launches([&] { y = fast(x); });
    CHECK(values(y) == values(function(x)));
    return count;
  };
  const auto both_change = [&](int i) {
    v.assign(numbers({8, 32}, i));
    w.assign(numbers({8, 32}, -i));
    v.realize(), w.realize();
  };
  const uint64_t plain = launches([&] { function(x).realize(); });  // panels of both in one launch
  for (int i = 0; i < 2; ++i) call();
  const uint64_t before = debug::counters().live_buffers;
  CHECK(call() == plain + 1);  // apart, as one may change and the other not
  CHECK(debug::counters().live_buffers == before + 2);
  CHECK(call() == plain - 1);
  for (int i = 0; i < 4; ++i) both_change(i), call();
  for (int i = 0; i < 3; ++i) {
    both_change(i);
    CHECK(call() == plain);
    CHECK(debug::counters().live_buffers == before);
  }
  for (int i = 0; i < 15; ++i) CHECK(call() == plain);
  CHECK(call() == plain + 1);
  CHECK(call() == plain - 1);
}

TEST_CASE("what is kept goes where somebody else needs the memory", "[jit][keep]") {
  if (default_device().kind() != Device::Kind::Cpu) SKIP_TEST("the default device is a GPU");
  const Tensor w = sin(numbers({256, 4096})).realize(), x = sin(numbers({16, 256})).realize();
  auto fast = jit([&](const Tensor& a) { return by_panels(a, w); });
  const std::vector<float> expected = values(by_panels(x, w)), more = values(w.slice(0, {0, 192}) * 2.0);
  for (int i = 0; i < 4; ++i) CHECK((values(fast(x)) == expected));
  auto other = jit([&](const Tensor& a) { return (a.reshape({1, 1024}) + zeros({1024, 1})).contiguous(); });  // 4 MiB
  const Tensor row = sin(numbers({1024})).realize();
  for (int i = 0; i < 3; ++i) other(row);
  const uint64_t kept = debug::counters().live_buffers;
  // Room for what surrounds buffers where an address sanitizer watches, and not for the 3 and 4 MiB that are asked for.
  const runtime_test::ScopedEnv limit("SINTER_MEMORY_LIMIT", std::to_string(runtime::cpu::live_memory() + (2 << 20)));
  SECTION("a value") {
    const Tensor twice = (w.slice(0, {0, 192}) * 2.0).realize();  // 3 MiB
    CHECK(debug::counters().live_buffers == kept);                // one more, one less
    CHECK((values(twice) == more));
  }
  SECTION("another jitted function") {
    const Tensor first = other(row);
    CHECK(debug::counters().live_buffers == kept);
    CHECK_THROWS_AS(other(row), OutOfMemory);  // there is nothing left to give up
  }
  SECTION("more than all of it") {
    CHECK_THROWS_AS((w * 2.0).expand({64, 256, 4096}).contiguous().realize(), OutOfMemory);
  }
  CHECK((values(fast(x)) == expected));
}

TEST_CASE("what a jitted function assigns, draws or returns is computed at each call", "[jit][keep]") {
  Tensor w = numbers({8, 32});
  const Tensor x = numbers({24, 8});
  SECTION("it assigns the weight") {
    Tensor twin = w.clone().realize();
    const auto step = [&](Tensor& weight) {
      const Tensor y = by_panels(x, weight);
      weight.assign(weight * 0.5);
      return y;
    };
    auto fast = jit([&](const Tensor&) { return step(w); });
    for (int i = 0; i < 6; ++i) CHECK(values(fast(numbers({1}))) == values(step(twin)));
  }
  SECTION("it draws numbers") {
    const auto noisy = [&](const Tensor& a) { return by_panels(a, w * rand({8, 32})); };
    const auto all = [&](auto&& f) {
      manual_seed(3);
      std::vector<std::vector<float>> seen;
      for (int i = 0; i < 5; ++i) seen.push_back(values(f(x)));
      return seen;
    };
    CHECK(all(jit(noisy)) == all(noisy));
  }
  SECTION("it returns the panels") {
    auto fast = jit([&](const Tensor& a) {
      const Tensor panels = (w * 2.0).contiguous();
      return std::vector<Tensor>{matmul(a, panels), panels};
    });
    std::vector<Tensor> kept;
    for (int i = 0; i < 5; ++i) {
      kept.push_back(fast(x)[1]);
      CHECK(values(kept.back()) == values(w * 2.0));
      kept.back() += 1.0;  // its own memory, which no later call reads
    }
    for (const Tensor& t : kept) CHECK(values(t) == values(w * 2.0 + 1.0));
  }
}

TEST_CASE("an index out of range is said at each call, whatever it picks from", "[jit][keep]") {
  const Tensor table = numbers({4, 16});
  Tensor rows = from({1, 9});
  auto pick = jit([&](const Tensor& x) { return matmul(x, table[rows].contiguous()); });
  const Tensor x = numbers({3, 2});
  for (int i = 0; i < 5; ++i) CHECK_THROWS_WITH(values(pick(x)), Contains("out of range"));
  rows.assign(from({1, 3}));
  for (int i = 0; i < 3; ++i) CHECK(values(pick(x)) == values(matmul(x, table[from({1, 3})])));
}

TEST_CASE("what is kept goes with the jitted function", "[jit][keep]") {
  const Tensor w = numbers({8, 32}), x = numbers({24, 8});
  const uint64_t before = debug::counters().live_buffers;
  {
    auto fast = jit([&](const Tensor& a) { return by_panels(a, w); });
    for (int i = 0; i < 4; ++i) fast(x);
    CHECK(debug::counters().live_buffers == before + 1);
  }
  CHECK(debug::counters().live_buffers == before);
}
