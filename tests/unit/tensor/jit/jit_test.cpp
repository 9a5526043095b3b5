// Jitted functions: the same results as without jit, no walk, and refusals of what cannot be repeated.
#include "catch.h"
#include "jit_support.h"
#include "runtime/base/fault_injection.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

#include <functional>
#include <memory>
#include <thread>

using namespace sinter;
using namespace jit_test;
using Catch::Matchers::Contains;

namespace {

/// The text of the UsageError that `run` throws.
std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was refused";
}

struct Mlp {
  nn::Linear l1{6, 5}, l2{5, 3};
  SINTER_MODULE(l1, l2)
  Tensor operator()(const Tensor& x) const { return l2(relu(l1(x))); }
};

}  // namespace

TEST_CASE("an input that another thread assigns while it is computed is computed again", "[jit]") {
  Tensor x = numbers({3});
  auto fast = jit([](const Tensor& t) { return t * 2.0; });
  for (int i = 0; i < 3; ++i) fast(x);
  x.assign(exp(x));
  runtime::fault_injection().before_launch = [&] { std::thread([&] { x.assign(x + 1.0); }).join(); };
  const std::vector<float> got = values(fast(x));
  CHECK(got == values((exp(numbers({3})) + 1.0) * 2.0));
}

TEST_CASE("a jitted function gives what the function gives, and runs no more from its third call on", "[jit]") {
  const no_grad off;
  const Mlp model;  // whose parameters wait: the first call computes them
  int runs = 0;
  auto fast = jit([&](const Tensor& x) { return ++runs, model(x); });
  for (int i = 0; i < 6; ++i) {
    const Tensor x = numbers({4, 6}, i);
    const debug::Counters before = debug::counters();
    CHECK(values(fast(x)) == values(model(x)));
    CHECK(runs == std::min(i + 1, 2));
    if (i > 2) CHECK(debug::counters().plan_misses == before.plan_misses);
  }
  SECTION("another shape is another program") {
    for (int i = 0; i < 3; ++i) CHECK(values(fast(numbers({2, 6}))) == values(model(numbers({2, 6}))));
    CHECK(runs == 4);
    CHECK(values(fast(numbers({4, 6}))) == values(model(numbers({4, 6}))));
    CHECK(runs == 4);
  }
  SECTION("an input that waits is computed first") {
    CHECK(values(fast(numbers({4, 6}) + 1.0)) == values(model(numbers({4, 6}) + 1.0)));
    CHECK(runs == 2);
  }
  SECTION("SINTER_CHECK runs it") {
    const runtime_test::ScopedEnv check("SINTER_CHECK", "1");
    fast(numbers({4, 6}));
    CHECK(runs == 3);
  }
}

TEST_CASE("a jitted function reads what its tensors hold now", "[jit]") {
  Tensor w = numbers({3}), x = numbers({3}, 1);
  auto scaled = jit([&](const Tensor& t) { return t * w; });
  for (int i = 0; i < 5; ++i) {
    CHECK(values(scaled(x)) == values(x * w));
    w.assign(numbers({3}, i));
    if (i % 2) w += 1.0;  // waits to be computed
  }
}

TEST_CASE("several results, several inputs, and none", "[jit]") {
  auto both = jit([](const Tensor& a, const Tensor& b) { return std::vector<Tensor>{a + b, a * b, a + b}; });
  const Tensor a = numbers({4}), b = numbers({4}, 2);
  for (int i = 0; i < 4; ++i) {
    const std::vector<Tensor> results = both(a, b);
    CHECK(values(results[0]) == values(a + b));
    CHECK(values(results[1]) == values(a * b));
    CHECK(values(results[2]) == values(a + b));
  }
  for (int i = 0; i < 4; ++i) CHECK(values(both(a, a)[1]) == values(a * a));  // one memory twice is another program
  CHECK(values(both(a, b)[1]) == values(a * b));
  Tensor count = numbers({1});
  auto tick = jit([&] { count += 1.0; });
  for (int i = 1; i < 6; ++i) {
    tick();
    CHECK(count.item<float>() == static_cast<float>(i));
  }
}

TEST_CASE("results that are copies of one handle share what is assigned to one of them", "[jit]") {
  const Tensor x = numbers({4});
  auto twice = jit([](const Tensor& t) {
    const Tensor y = t + 1.0;
    return std::vector<Tensor>{y, t * 2.0, y, y.detach()};
  });
  for (int i = 0; i < 4; ++i) {
    std::vector<Tensor> results = twice(x);
    results[0] += 3.0;
    CHECK(values(results[2]) == values(x + 4.0));
    CHECK(values(results[1]) == values(x * 2.0));
    CHECK(values(results[3]) == values(x + 1.0));
  }
}

TEST_CASE("updates in place are part of the program, and built values keep theirs", "[jit]") {
  const auto train = [](bool fast) {
    manual_seed(5);
    Tensor w = numbers({6, 1}, -0.5).requires_grad();
    const auto step = [&](const Tensor& x, const Tensor& y) {
      const Tensor error = matmul(x, w) - y, loss = (error * error).mean();
      const Tensor g = gradient(loss, {w})[0];
      const no_grad off;
      w.assign(w - g * 0.01);
      return loss.detach();
    };
    auto jitted = jit(step);
    std::vector<float> seen;
    std::vector<Tensor> kept;
    for (int i = 0; i < 7; ++i) {
      const Tensor x = numbers({4, 6}, i % 3), y = numbers({4, 1});
      if (i == 4) kept.push_back(w.detach());  // the next store may not be in its place
      seen.push_back((fast ? jitted(x, y) : step(x, y)).item<float>());
      realize_all(std::vector<Tensor>{w});
      if (i == 5) kept.push_back(w.detach() * 2.0);  // reads the version of now, later
    }
    for (const Tensor& t : kept)
      for (float v : values(t)) seen.push_back(v);
    for (float v : values(w.detach())) seen.push_back(v);
    CHECK(w.needs_grad());
    (w * w).sum().backward();  // still the same leaf
    CHECK(w.has_grad());
    return seen;
  };
  CHECK(train(true) == train(false));
}

TEST_CASE("an input that is also a tensor the function uses is refused, whatever the calls before were", "[jit]") {
  Tensor w = numbers({4, 4});
  const Tensor x = numbers({4, 4}, 1);
  auto turned = jit([&](const Tensor& t) { w.assign(w - t.transpose()); });
  for (int i = 0; i < 3; ++i) turned(x);
  const std::vector<float> before = values(w);
  CHECK_THAT(refusal([&] { turned(w); }), Contains("share their memory"));
  CHECK(values(w) == before);
  turned(x);
  CHECK(values(w) == values(numbers({4, 4}) - x.transpose() * 4.0));
}

TEST_CASE("who holds the old value now and then makes the function run then, and always, another program", "[jit]") {
  Tensor w = numbers({4}), kept;
  int runs = 0;
  auto tick = jit([&] { ++runs, w += 1.0; });
  for (int i = 0; i < 12; ++i) {
    kept = i % 2 ? w.detach() : Tensor();
    const std::vector<float> old = values(w);
    tick();
    if (kept.defined()) CHECK(values(kept) == old);
    CHECK(values(w) == values(numbers({4}, i + 1)));
  }
  CHECK(runs == 8);  // those that hold, and the first two that do not
  for (int i = 0; i < 4; ++i) {
    kept = w.detach();
    tick();
  }
  CHECK(runs == 9);
  CHECK(values(w) == values(numbers({4}, 16)));
  CHECK(values(kept) == values(numbers({4}, 15)));
}

TEST_CASE("random numbers are new at each call, and those of the function", "[jit]") {
  const Tensor x = numbers({64}, 1);
  const auto noisy = [](const Tensor& t) { return t * rand({64}) + randn({64}); };
  const auto run = [&](auto&& f) {
    manual_seed(9);
    std::vector<std::vector<float>> all;
    for (int i = 0; i < 5; ++i) all.push_back(values(f(x)));
    return all;
  };
  const auto plain = run(noisy);
  CHECK(run(jit(noisy)) == plain);
  CHECK(plain[3] != plain[4]);
}

TEST_CASE("a jitted function draws from the generator that is there", "[jit]") {
  const Tensor x = numbers({8});
  auto own = std::make_unique<Generator>(4);
  auto noisy = jit([&](const Tensor& t) { return t + rand({8}, {.generator = own.get()}); });
  Generator same(4);
  for (int i = 0; i < 8; ++i) {
    if (i == 4) {
      own = std::make_unique<Generator>(3);
      same.manual_seed(3);
    }
    CHECK(values(noisy(x)) == values(x + rand({8}, {.generator = &same})));
  }
  auto local = jit([](const Tensor& t) {
    Generator made(42);
    return t + rand({8}, {.generator = &made});
  });
  CHECK_THAT(refusal([&] { local(x); }), Contains("make the generator outside"));
}

TEST_CASE("an index out of range in a jitted function is met at the read", "[jit]") {
  const Tensor table = numbers({4, 2});
  auto pick = jit([&](const Tensor& i) { return table[i] * 2.0; });
  for (int i = 0; i < 4; ++i) CHECK(values(pick(from({1, 3}))) == std::vector<float>{1, 1.5f, 3, 3.5f});
  const Tensor bad = pick(from({1, 9}));
  CHECK_THAT(refusal([&] { values(bad); }), Contains("out of range"));
  CHECK(values(pick(from({1, 3}))) == std::vector<float>{1, 1.5f, 3, 3.5f});
}

TEST_CASE("an index that a jitted function says is out of range is named without jit", "[jit]") {
  const Tensor table = numbers({4});
  const auto pick = [&](const Tensor& index) { return table[index] * 2.0; };
  auto fast = jit(pick);
  const Tensor good = from({0, 1}).realize(), bad = from({0, 9}).realize();
  for (int i = 0; i < 3; ++i) values(fast(good));
  CHECK_THAT(refusal([&] { values(fast(bad)); }), Contains("call the function without jit to see which"));
  CHECK_THAT(refusal([&] { values(pick(bad)); }), Contains("index 9"));
}

TEST_CASE("a launch that fails poisons what was written in place", "[jit]") {
  Tensor count = numbers({3});
  auto tick = jit([&] { count += 1.0; });
  for (int i = 0; i < 3; ++i) tick();
  runtime::fault_injection().fail_at_launch = 0;
  CHECK_THROWS_AS(tick(), BackendError);
  CHECK_THROWS_AS(values(count), BackendError);
  CHECK_THROWS_AS(tick(), BackendError);
  count.assign(numbers({3}));
  tick();
  CHECK(values(count) == values(numbers({3}, 1)));
}

TEST_CASE("b.clone().contiguous().realize() before jit is a copy that it may use beside b", "[jit]") {
  Tensor b = numbers({4});
  const Tensor copies[] = {b.clone().contiguous().realize(), b.clone().realize(), b.contiguous().clone().realize(),
                           b.detach().clone().realize(),
                           b.reshape({2, 2}).clone().realize().reshape({4}).clone().realize()};
  for (const Tensor& copy : copies) {
    const std::vector<float> old = values(copy);
    auto fast = jit([&](const Tensor& x) { return x * copy + b; });
    for (int i = 0; i < 6; ++i) {
      const Tensor x = numbers({4}, i);
      CHECK(values(fast(x)) == values(x * copy + b));
      CHECK(values(fast(copy.clone())) == values(copy * copy + b));
      b += 1.0;  // the copy stays
    }
    CHECK(values(copy) == old);
  }
}

TEST_CASE("what cannot be repeated is refused", "[jit]") {
  const Tensor x = numbers({3}), w = numbers({3}, 1);
  Tensor kept;
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t * t.sum().item(); })(x); }),
             Contains("reads or realizes"));
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return (t * 2.0).realize(); })(x); }),
             Contains("reads or realizes"));
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t * from({1.0, 2.0, 3.0}); })(x); }),
             Contains("data from host memory"));
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t * number(2.0); })(x); }), Contains("number()"));
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return kept = exp(t).sum(), kept * t; })(x); }),
             Contains("would not renew"));
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t; })(x); }), Contains("not computed by it"));
  CHECK_THAT(refusal([&] { jit([&](const Tensor&) { return w; })(x); }), Contains("not computed by it"));
  CHECK_THAT(refusal([&] { jit([&](Tensor t) { return t += 1.0, t * 2.0; })(x); }), Contains("assigns its input 0"));
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t * w; })(w); }), Contains("share their memory"));
  CHECK_THAT(refusal([&] { jit([](const Tensor&) {})(x); }), Contains("computes nothing"));
  const Tensor lazy = exp(w);
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t * lazy; })(x); }),
             Contains("by exp; compute it before, by t.realize()"));
  Tensor p = numbers({3}).requires_grad();
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t * p; })(x); }), Contains("requires grad"));
  optim::SGD sgd({p}, {.lr = 0.1});
  p.set_grad(numbers({3}));
  CHECK_THAT(refusal([&] { jit([&](const Tensor&) { sgd.step(); })(x); }), Contains("has a gradient from before"));
  auto inner = jit([](const Tensor& t) { return t * 2.0; });
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return inner(t); })(x); }), Contains("calls another one"));
}

TEST_CASE("numbers and programs that change from call to call are refused", "[jit]") {
  const Tensor x = numbers({3});
  double factor = 1;
  auto scaled = jit([&](const Tensor& t) { return t * (factor += 0.5); });
  CHECK(values(scaled(x)) == values(x * 1.5));
  CHECK_THAT(refusal([&] { scaled(x); }), Contains("was 1.5 in one call and 2 in the next"));
  const Var size("size", 1, 256);
  int64_t n = 96;
  auto counted = jit([&](const Tensor& t) { return t + arange(size(n)).sum().to(float32); });
  CHECK(values(counted(x)) == values(x + 4560.0));
  n = 64;
  CHECK_THAT(refusal([&] { counted(x); }), Contains("was 96 in one call and 64 in the next"));
  int calls = 0;
  auto growing = jit([&](const Tensor& t) {
    Tensor y = t;
    for (int i = ++calls; i >= 0; --i) y = y + t;
    return y;
  });
  const auto all = [&] {
    for (int i = 0; i < 8; ++i) {
      const Tensor y = growing(x);
      CHECK(values(y) == values(x * static_cast<double>(calls + 2)));
    }
  };
  CHECK_THAT(refusal(all), Contains("another program"));
}
