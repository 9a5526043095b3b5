// Jitted functions of symbolic sizes: one program for all values of a Var.
#include "catch.h"
#include "jit_support.h"

#include <algorithm>
#include <functional>

using namespace sinter;
using namespace jit_test;
using Catch::Matchers::Contains;

namespace {

const Var kRows("rows", 0, 9), kKeys("keys", 1, 16);

Tensor rows(int64_t n, double first = 1) {
  return numbers({9, 3}, first).slice(0, {0, kRows(n)}).contiguous().realize();
}

template <class Run>
std::string refusal(Run run) {
  try {
    run();
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("a jitted function is one program for all values of a Var", "[jit]") {
  int runs = 0;
  Tensor seen = zeros({3}).contiguous().realize();
  auto f = jit([&](const Tensor& x) -> std::vector<Tensor> {
    ++runs;
    seen += x.sum({0});
    return {x * 2.0 + x.size(0), x.mean({0})};
  });
  double total = 0;
  for (const int64_t n : {3, 5, 2, 9, 1, 0, 4}) {
    const debug::Counters before = debug::counters();
    const std::vector<Tensor> y = f(rows(n));
    CHECK(y[0].shape() == Shape{kRows(n), 3});
    CHECK(values(y[0]) == values(rows(n) * 2.0 + static_cast<double>(n)));
    if (n) CHECK(values(y[1]) == values(rows(n).mean({0})));
    total += rows(n).sum().item();
    if (runs > 2) CHECK(debug::counters().compiles == before.compiles);
  }
  CHECK(runs == 2);
  CHECK(seen.sum().item() == Approx(total));
}

TEST_CASE("what is equal among the sizes of a call is part of its signature", "[jit]") {
  int runs = 0;
  auto f = jit([&](const Tensor& a, const Tensor& b) { return ++runs, a.sum() + b.sum({0}); });
  for (const int64_t n : {2, 3, 4})
    CHECK(values(f(rows(n), rows(n, 2))) == values(rows(n).sum() + rows(n, 2).sum({0})));
  CHECK(runs == 2);
  for (const int64_t n : {2, 3, 4})
    CHECK(values(f(rows(n), rows(n + 1, 2))) == values(rows(n).sum() + rows(n + 1, 2).sum({0})));
  CHECK(runs == 4);
  CHECK(values(f(rows(7), rows(7, 2))) == values(rows(7).sum() + rows(7, 2).sum({0})));
  CHECK(runs == 4);
}

TEST_CASE("a jitted function takes sizes beside tensors", "[jit]") {
  int runs = 0;
  Tensor keys = numbers({16, 2}).contiguous().realize();
  auto f = jit([&](const Dim& n, const Tensor& scale, const Dim& fixed) {
    ++runs;
    return keys.slice(0, {0, n}).sum({0}) * scale + ones({fixed}).sum();
  });
  const Tensor two = full({1}, 2.0).contiguous().realize();
  for (const int64_t n : {1, 16, 7, 3})
    CHECK(values(f(kKeys(n), two, Dim(4))) == values(keys.slice(0, {0, n}).sum({0}) * 2.0 + 4.0));
  CHECK(runs == 2);
  CHECK(values(f(kKeys(2), two, Dim(5))) == values(keys.slice(0, {0, 2}).sum({0}) * 2.0 + 5.0));
  CHECK(runs == 3);
}

TEST_CASE("random numbers of a jitted function are as many as the call's sizes need", "[jit]") {
  auto f =
      jit([](const Tensor& x) { return x * 0.0 + rand(x.shape()) + randn(x.shape(), {.dtype = float64}).to(float32); });
  const auto drawn = [&](bool jitted) {
    std::vector<std::vector<float>> out;
    manual_seed(11);
    for (const int64_t n : {2, 5, 3, 8, 1}) {
      const Tensor x = rows(n);
      out.push_back(
          values(jitted ? f(x) : x * 0.0 + rand(x.shape()) + randn(x.shape(), {.dtype = float64}).to(float32)));
    }
    return out;
  };
  CHECK(drawn(true) == drawn(false));
}

TEST_CASE("a number that the function makes of a size is not frozen", "[jit]") {
  int runs = 0;
  auto f = jit([&](const Tensor& x) { return ++runs, x * static_cast<double>(x.size(0).value()); });
  for (int round = 0; round < 3; ++round)
    for (const int64_t n : {2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 3})
      CHECK(values(f(rows(n))) == values(rows(n) * static_cast<double>(n)));
  const int before = runs;
  for (const int64_t n : {4, 5, 6, 7}) CHECK(values(f(rows(n))) == values(rows(n) * static_cast<double>(n)));
  CHECK(runs == before);  // a program for each size
}

TEST_CASE("a tensor of the program that has a size of an input is met again", "[jit]") {
  const Tensor state = rows(4);
  auto f = jit([&](const Tensor& x) { return x + state; });
  for (int i = 0; i < 3; ++i) CHECK(values(f(rows(4))) == values(rows(4) + state));
  CHECK_THAT(refusal([&] { f(rows(5)); }), Contains("rows=5"));
  CHECK(values(f(rows(4))) == values(rows(4) + state));
}

TEST_CASE("a size that only the function binds is refused with the way out", "[jit]") {
  Tensor keys = numbers({16, 2}).contiguous().realize();
  int64_t n = 1;
  auto f = jit([&](const Tensor& x) { return keys.slice(0, {0, kKeys(n++)}).sum() * x; });
  f(numbers({1}));
  const std::string text = refusal([&] { f(numbers({1})); });
  CHECK_THAT(text, Contains("was 1 in one call and 2 in the next") && Contains("const Dim&"));
}

TEST_CASE("a position that a jitted function advances recompiles and freezes nothing", "[jit]") {
  int runs = 0;
  Tensor cache = zeros({16, 2}).contiguous().realize(), at = Tensor(0).contiguous().realize();
  auto push = jit([&](const Tensor& row) {
    ++runs;
    cache.at({Narrow{at, 1}}) = rotary_embedding(row, at.reshape({1}));
    at += 1;
  });
  for (int64_t i = 0; i < 10; ++i) {
    const debug::Counters before = debug::counters();
    push(numbers({1, 2}, static_cast<double>(i)));
    if (i > 1) CHECK(debug::counters().compiles == before.compiles);
    CHECK(at.item<int64_t>() == i + 1);
    const Tensor want = rotary_embedding(numbers({1, 2}, static_cast<double>(i)), {.offset = i});
    const std::vector<float> got = values(cache.narrow(0, i, 1)), expected = values(want);
    for (size_t k = 0; k < got.size(); ++k) CHECK(got[k] == Approx(expected[k]).margin(1e-6));
  }
  CHECK(runs == 2);
}
