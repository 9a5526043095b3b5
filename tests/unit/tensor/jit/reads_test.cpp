// Every way to read a tensor on the host, of every kind of tensor, while a jitted function is recorded: later calls
// would not read again, so each is refused, computed or not.
#include "catch.h"
#include "jit_support.h"
#include "sinter/sinter.h"

#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

using namespace sinter;
using namespace jit_test;
using Catch::Matchers::Contains;

namespace {

struct Way {
  std::string name;
  std::function<void(const Tensor&)> read;  ///< of one float
};
const std::vector<Way>& ways() {
  static const std::string file = (std::filesystem::temp_directory_path() / "sinter_jit_reads.safetensors").string();
  static const std::vector<Way> all{
      {"item", [](const Tensor& t) { static_cast<void>(t.item()); }},
      {"item<float>", [](const Tensor& t) { static_cast<void>(t.item<float>()); }},
      {"to_vector", [](const Tensor& t) { t.to_vector<float>(); }},
      {"to_bytes", [](const Tensor& t) { t.to_bytes(); }},
      {"to_string", [](const Tensor& t) { t.to_string(); }},
      {"<<", [](const Tensor& t) { std::ostringstream() << t; }},
      {"save", [](const Tensor& t) { nn::save(nn::NamedTensors{{"t", t}}, file); }},
      {"realize", [](const Tensor& t) { t.realize(); }},
      {"realize of two", [](const Tensor& t) { realize(t, t); }},
  };
  return all;
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("a jitted function that reads is refused, in whatever way and whatever it reads", "[jit]") {
  Tensor w = numbers({1}, 2), p = numbers({1}, 3), collected = numbers({1}, 4);
  p.requires_grad();
  (p * w).sum().backward();
  p.grad().realize();
  const Tensor x = numbers({1}, 5), constant = full({1}, 6.0);
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>> kinds{
      {"the input", [](const Tensor& t) { return t; }},
      {"a clone of the input", [](const Tensor& t) { return t.clone(); }},
      {"a view of the input", [](const Tensor& t) { return t[0]; }},
      {"the input as another shape", [](const Tensor& t) { return t.reshape({}); }},
      {"computed of the input", [](const Tensor& t) { return exp(t); }},
      {"a tensor used beside", [&](const Tensor&) { return w; }},
      {"detached", [&](const Tensor&) { return p.detach(); }},
      {"a view of it", [&](const Tensor&) { return w[0]; }},
      {"a place of it", [&](const Tensor&) { return static_cast<Tensor>(w.at({0})); }},
      {"computed of it", [&](const Tensor&) { return exp(w); }},
      {"a parameter", [&](const Tensor&) { return p; }},
      {"computed of a parameter", [&](const Tensor&) { return p * 2.0; }},
      {"a gradient", [&](const Tensor&) { return p.grad(); }},
      {"a constant", [](const Tensor&) { return full({1}, 1.0); }},
      {"a constant from outside", [&](const Tensor&) { return constant; }},
      {"random", [](const Tensor&) { return rand({1}); }},
  };
  for (const Way& way : ways())
    for (const auto& [kind, of] : kinds) {
      CAPTURE(way.name, kind);
      auto fast = jit([&](const Tensor& t) { return way.read(of(t)), t * 2.0; });
      for (int i = 0; i < 2; ++i)
        CHECK_THAT(refusal([&] { fast(x); }), Contains("reads or realizes a tensor (made at"));
      way.read(of(x));  // outside it is nothing special
    }
}

TEST_CASE("a branch on what a jitted function reads is refused, not stale", "[jit]") {
  auto f = jit([](const Tensor& x) { return x.item() > 3 ? x * 100.0 : x + 1.0; });
  for (const double v : {1.0, 2.0, 5.0})
    CHECK_THAT(refusal([&] { f(from({v}).realize()); }), Contains("reads or realizes"));
}

TEST_CASE("a jitted function may ask what a tensor is, and the answers of now count", "[jit]") {
  Tensor w = numbers({2, 3}), p = numbers({3}).requires_grad();
  int runs = 0;
  const auto plain = [&](const Tensor& x) {
    double sum = static_cast<double>(x.numel() + 10 * x.rank()) + static_cast<double>(x.size(0).value());
    for (const Tensor& t : {x, w}) {
      if (t.dtype() == float64) sum += 100;
      if (t.needs_grad()) sum += 1000;
      if (t.device() == Device::cpu()) sum += 10000;
    }
    sum += static_cast<double>(w.shape()[0].value()) / 4;
    return x.sum() + sum + (p.has_grad() ? p.grad().sum() : Tensor(0.5));
  };
  auto fast = jit([&](const Tensor& x) { return ++runs, plain(x); });
  const no_grad off;
  const auto same = [&](const Tensor& x) {
    for (int i = 0; i < 4; ++i) CHECK(fast(x).item() == plain(x).item());
  };
  same(numbers({4}));
  const int settled = runs;
  same(numbers({4}, 3));
  CHECK(runs == settled);
  same(numbers({2, 4}));
  same(numbers({4}).to(float64).realize());
  w.assign(numbers({2, 3}, 9));
  same(numbers({4}));
  p.set_grad(numbers({3}, 1));
  same(numbers({4}));
  p.set_grad(numbers({3}, 2));
  same(numbers({4}));
  p.zero_grad();
  same(numbers({4}));
}

TEST_CASE("what a jitted function does to gradients of tensors that it has not made is refused", "[jit]") {
  Tensor p = numbers({3}).requires_grad();
  const Tensor x = numbers({3}, 1);
  p.set_grad(numbers({3}));
  const auto refused = [&](const char* text, const std::function<void(const Tensor&)>& act) {
    CHECK_THAT(refusal([&] { jit([&](const Tensor& t) { return act(t), t * 2.0; })(x); }), Contains(text));
  };
  refused("collects, by backward(), that of a tensor that has a gradient from before",
          [&](const Tensor& t) { (t * p).sum().backward(); });
  refused("sets the gradient", [&](const Tensor& t) { p.set_grad(t); });
  refused("takes the gradient", [&](const Tensor&) { p.zero_grad(); });
  refused("requires_grad()", [&](const Tensor&) { p.requires_grad(false); });
  refused("collected", [&](const Tensor& t) { static_cast<void>(t.has_grad()); });
  CHECK(p.has_grad());
  auto own = jit([](const Tensor& t) {
    Tensor leaf = t.detach().clone();
    leaf.requires_grad();
    (leaf * leaf).sum().backward();
    return leaf.grad() * 1.0;
  });
  for (int i = 0; i < 4; ++i) CHECK(values(own(numbers({3}, i))) == values(numbers({3}, i) * 2.0));
}
