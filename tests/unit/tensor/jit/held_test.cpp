// Jitted functions whose expressions somebody else has too: who holds or builds an equal one says nothing of the
// function. What the function itself leaves behind is refused.
#include "catch.h"
#include "jit_support.h"
#include "planted_faults.h"
#include "sinter/sinter.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace sinter;
using namespace jit_test;
using Catch::Matchers::Contains;

namespace {

struct Form {
  std::string name;
  std::function<Tensor(const Tensor& w, const Tensor& x)> build;  ///< w is used, x an input; both are [4, 4]
};

/// An expression of each kind of node that could be shared, of each kind of source.
const std::vector<Form>& forms() {
  static const Tensor rows = from({3, 0, 0, 2});
  static const std::vector<Form> all{
      {"cheap op", [](const Tensor& w, const Tensor&) { return w * 0.5; }},
      {"dear op", [](const Tensor& w, const Tensor&) { return exp(w); }},
      {"of the input", [](const Tensor&, const Tensor& x) { return exp(x) * 0.5; }},
      {"of both", [](const Tensor& w, const Tensor& x) { return tanh(w * x); }},
      {"reduction", [](const Tensor& w, const Tensor&) { return w.sum(0); }},
      {"product", [](const Tensor& w, const Tensor& x) { return matmul(x, w); }},
      {"reshape", [](const Tensor& w, const Tensor&) { return w.reshape({2, 8}).sum(0).reshape({2, 4}).sum(0); }},
      {"permute", [](const Tensor& w, const Tensor&) { return w.transpose(); }},
      {"slice", [](const Tensor& w, const Tensor&) { return w[1]; }},
      {"pad", [](const Tensor& w, const Tensor&) { return w.pad({{1, 0}}).slice(1, {0, 4}); }},
      {"flip", [](const Tensor& w, const Tensor&) { return w.flip({0}); }},
      {"copy", [](const Tensor& w, const Tensor&) { return w.transpose().contiguous(); }},
      {"cast", [](const Tensor& w, const Tensor&) { return w.to(int32).to(float32); }},
      {"gather", [](const Tensor& w, const Tensor&) { return w[rows]; }},
      {"constant", [](const Tensor&, const Tensor&) { return full({4, 4}, 0.5); }},
      {"positions", [](const Tensor&, const Tensor&) { return arange(4).to(float32); }},
      {"of positions", [](const Tensor&, const Tensor&) { return exp(arange(4).to(float32)); }},
      {"mask", [](const Tensor&, const Tensor&) { return where(arange(4) < 2, 1.0, exp(full({4}, 0.25))); }},
      {"random", [](const Tensor&, const Tensor& x) { return x * rand({4, 4}); }},
      {"gradient",
       [](const Tensor& w, const Tensor& x) {
         Tensor p = w.detach();
         p.requires_grad();
         return gradient(exp(matmul(x, p)).sum(), {p})[0].detach();
       }},
  };
  return all;
}

/// What f gives at each of some calls, with the seed of the call; `before` is told the number of each.
std::vector<std::vector<float>> run(const std::function<Tensor(const Tensor&)>& f, const Tensor& x,
                                    const std::function<void(int)>& before) {
  std::vector<std::vector<float>> all;
  for (int i = 0; i < 6; ++i) {
    before(i);
    manual_seed(static_cast<uint64_t>(i));
    all.push_back(values(f(x)));
  }
  return all;
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was refused";
}

/// What threads compute at the same time.
template <class F>
void in_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(f, t);
  for (std::thread& t : threads) t.join();
}

}  // namespace

TEST_CASE("a jitted function gives a result whoever holds an equal expression", "[jit]") {
  for (const Form& form : forms()) {
    const Tensor w = numbers({4, 4}, 0.5), x = numbers({4, 4}, -1);
    const auto f = [&](const Tensor& y) { return y + form.build(w, y); };
    const auto expected = run(f, x, [](int) {});
    manual_seed(77);
    const std::vector<float> value = values(form.build(w, x));
    const auto check = [&](const std::string& when, const std::function<void(int, std::vector<Tensor>&)>& hold) {
      CAPTURE(form.name, when);
      std::vector<Tensor> held;
      auto fast = jit(f);
      CHECK(run([&](const Tensor& t) { return fast(t); }, x, [&](int i) { hold(i, held); }) == expected);
      for (const Tensor& h : held) {  // nobody has written into them
        const std::vector<float> got = values(h.slice(h.rank() - 1, {0, 4}));
        CHECK(std::equal(value.begin(), value.end(), got.begin()));
      }
    };
    const auto build = [&] { return manual_seed(77), form.build(w, x); };
    check("from before the first call", [&](int i, auto& held) {
      if (i == 0) held.push_back(build());
    });
    check("from the second call", [&](int i, auto& held) {
      if (i == 1) held.push_back(build());
    });
    check("between recording and running", [&](int i, auto& held) {
      if (i == 2) held.push_back(build());
    });
    check("now and then", [&](int i, auto& held) { i % 2 ? held.clear() : held.push_back(build()); });
    check("a copy at every call", [&](int, auto& held) { held.push_back(build()); });
    check("computed", [&](int i, auto& held) {
      if (i < 4) held.push_back(build().realize());
    });
    check("in a larger one", [&](int i, auto& held) {
      if (i == 0) held.push_back(cat({build(), exp(build())}, -1));
    });
    const testing::PlantedFaults faults;
    check("built by another thread while the plan is compiled", [&](int i, auto& held) {
      if (i) return;
      debug::clear_plans();
      faults->while_compiling = [&] { std::thread([&] { held.push_back(build()); }).join(); };
    });
  }
}

TEST_CASE("gradients and an optimiser's state that are equal to a jitted function's values are no part of it",
          "[jit]") {
  Tensor p = numbers({4, 4}, 0.5).requires_grad();
  const Tensor x = numbers({4, 4}, -1);
  optim::SGD sgd({p}, {.lr = 0.125, .momentum = 0.5});
  auto fast = jit([&](const Tensor& y) { return gradient((y * p).sum(), {p})[0] * 0.5 + (y * 0.5).sum(); });
  for (int i = 0; i < 6; ++i) {
    (x * p).sum().backward();
    const Tensor held = p.grad() * 0.5, sum = (x * 0.5).sum();
    CHECK(values(fast(x)) == values(x * 0.5 + sum));
    if (i % 2) sgd.step();
    CHECK(values(held) == values(x * (i % 2 ? 1.0 : 0.5)));
  }
}

TEST_CASE("an expression of the old value is whole when a jitted function writes in its place", "[jit]") {
  Tensor w = numbers({4});
  auto step = jit([&](const Tensor& y) { return w.assign(w * 0.5 + y), w * 2.0; });
  const Tensor x = numbers({4}, 1);
  for (int i = 0; i < 8; ++i) {
    const std::vector<float> half = values(w * 0.5), next = values((w * 0.5 + x) * 2.0);
    const Tensor held = i % 3 ? w * 0.5 : Tensor();
    CHECK(values(step(x)) == next);
    if (held.defined()) CHECK(values(held) == half);
  }
}

TEST_CASE("old values that are let go one after the other are no other programs", "[jit]") {
  std::vector<Tensor> state, held;
  for (int i = 0; i < 7; ++i) {
    state.push_back(numbers({4}, i));
    held.push_back(state.back().detach());
  }
  auto tick = jit([&] {
    for (Tensor& t : state) t += 1.0;
  });
  for (int call = 1; call < 12; ++call) {
    tick();
    if (!held.empty()) held.pop_back();
    for (int i = 0; i < 7; ++i) CHECK(values(state[static_cast<size_t>(i)]) == values(numbers({4}, i + call)));
    for (size_t i = 0; i < held.size(); ++i) held[i] = state[i].detach();
  }
}

TEST_CASE("what a jitted function leaves behind is refused, in the results' plan or not", "[jit]") {
  const Tensor x = numbers({3});
  Tensor kept;
  std::vector<Tensor> list;
  const auto refused = [&](const char* text, const std::function<Tensor(const Tensor&)>& f) {
    CHECK_THAT(refusal([&] { jit(f)(x); }), Contains(text));
    CHECK(values(f(x)).size() == 3);  // without jit it is fine
    kept = Tensor();
    list.clear();
  };
  refused("would not renew", [&](const Tensor& t) { return kept = exp(t), kept * t; });
  refused("would not renew", [&](const Tensor& t) { return kept = t * 2.0, kept * t; });
  refused("would not renew", [&](const Tensor& t) { return kept = exp(t), t * 2.0; });
  refused("would not renew", [&](const Tensor& t) { return list.push_back(t.sum()), t * 2.0; });
  refused("would not renew", [&](const Tensor& t) { return kept = t * 2.0; });
  refused("would not renew", [&](const Tensor& t) { return kept = t.clone(), t * 2.0; });
  refused("would not renew", [&](const Tensor& t) { return kept = t.reshape({1, 3}), t * 2.0; });
  refused("its input 0", [&](const Tensor& t) { return kept = t, t * 2.0; });
  Tensor table;  // a constant stays what it is
  auto fast = jit([&](const Tensor& t) {
    if (!table.defined()) table = full({3}, 0.5);
    return t + table;
  });
  for (int i = 0; i < 5; ++i) CHECK(values(fast(x)) == values(x + 0.5));
}

TEST_CASE("a tensor that waits, of positions alone, is part of a jitted function's program", "[jit]") {
  const Tensor positions = arange(3), x = numbers({3}), lazy = exp(x);
  auto fast = jit([&](const Tensor& t) { return t + positions.to(float32); });
  for (int i = 0; i < 5; ++i) CHECK(values(fast(x)) == values(x + arange(3).to(float32)));
  const Tensor w = numbers({3}, 1), waits = w * 2.0;
  CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return t * waits + w; })(x); }),
             Contains("by operator*; compute it before, by t.realize()"));
}

TEST_CASE("one jitted model called from several threads gives what eager calls give", "[jit]") {
  const no_grad off;
  const nn::Linear l1{4, 5}, l2{5, 4};
  realize_all(std::vector<Tensor>{l1.weight, l1.bias, l2.weight, l2.bias});
  const auto model = [&](const Tensor& x) { return x + l2(relu(l1(x))); };
  std::vector<Tensor> inputs;
  std::vector<std::vector<float>> expected;
  for (int64_t i = 0; i < 12; ++i) {
    inputs.push_back(numbers({1 + i % 3, 4}, static_cast<double>(i)));
    expected.push_back(values(model(inputs.back())));
  }
  for (int round = 0; round < 8; ++round) {
    debug::clear_plans();  // all compile, which is when threads meet
    auto fast = jit(model);
    std::atomic<int> wrong = 0;
    std::vector<std::string> errors(4);
    in_threads(4, [&](int t) {
      const no_grad also_off;
      try {
        for (size_t i = 0; i < 24; ++i) {
          const size_t at = (i * 5 + static_cast<size_t>(t)) % inputs.size();
          const Tensor held = l1(inputs[at]);  // an equal expression
          wrong += values(fast(inputs[at])) != expected[at];
        }
      } catch (const std::exception& error) { errors[static_cast<size_t>(t)] = error.what(); }
    });
    CHECK(wrong == 0);
    CHECK(errors == std::vector<std::string>(4));
  }
}

TEST_CASE("calls of a jitted function that assigns come one after the other from all threads", "[jit]") {
  for (int round = 0; round < 8; ++round) {
    debug::clear_plans();
    Tensor count = numbers({1});
    const Tensor one = numbers({1}, 1);
    auto tick = jit([&](const Tensor& t) { return count += t, count * 2.0; });
    std::vector<std::string> errors(3);
    std::vector<std::vector<float>> seen(3);
    in_threads(3, [&](int t) {
      const auto mine = static_cast<size_t>(t);
      try {
        for (int i = 0; i < 10; ++i) seen[mine].push_back(values(tick(one))[0]);
      } catch (const std::exception& error) { errors[mine] = error.what(); }
    });
    CHECK(errors == std::vector<std::string>(3));
    CHECK(values(count) == std::vector<float>{30});
    std::vector<float> all, expected;
    for (const std::vector<float>& s : seen) all.insert(all.end(), s.begin(), s.end());
    std::sort(all.begin(), all.end());
    for (int i = 1; i <= 30; ++i) expected.push_back(static_cast<float>(2 * i));
    CHECK(all == expected);
  }
}

TEST_CASE("another thread may read what a jitted function assigns while its plan is compiled", "[jit]") {
  const testing::PlantedFaults faults;
  debug::clear_plans();
  Tensor w = numbers({4});
  auto step = jit([&](const Tensor& t) { return w += t, w * 3.0; });
  const Tensor one = full({4}, 1.0).contiguous().realize();
  for (int i = 1; i < 6; ++i) {
    std::vector<float> seen = values(w + 1.0);
    if (i == 1) faults->while_compiling = [&] { std::thread([&] { seen = values(w); }).join(); };
    const std::vector<float> got = values(step(one));
    CHECK(got == values(numbers({4}, i) * 3.0));
    CHECK(seen == values(numbers({4}, i)));
  }
}

TEST_CASE("equal constants of two layers are one value to a jitted function until one is assigned", "[jit]") {
  struct Layer {
    Tensor mask = tril(ones({3, 3}));
    Tensor operator()(const Tensor& x) const { return (x * mask).sum(1); }
  };
  Layer a, b;
  const auto both = [&](const Tensor& x) { return a(x) + b(x) * 2.0; };
  const Tensor x = arange(9, float32).reshape({3, 3}).realize();
  both(x).realize();  // stores the mask, which is one node
  auto f = jit(both);
  for (int i = 0; i < 3; ++i) CHECK(values(f(x)) == values(both(x)));
  b.mask = ones({3, 3}).clone().realize();
  for (int i = 0; i < 3; ++i) CHECK(values(f(x)) == values(both(x)));
  a.mask.assign(zeros({3, 3}));
  for (int i = 0; i < 3; ++i) CHECK(values(f(x)) == values(both(x)));
}

TEST_CASE("an error in a jitted function names the call and the line in it", "[jit]") {
  const uint32_t line = std::source_location::current().line() + 1;
  auto f = jit([](const Tensor& x) { return x.reshape({5}); });
  try {
    f(numbers({4}));
    FAIL("nothing was refused");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).find("reshape") != std::string::npos);
    CHECK(error.where().line() == line);
  }
}
