// The notice that a jitted function has a program for each size: when it comes, what it says, and when it must not.
#include "catch.h"
#include "jit_support.h"
#include "unit/runtime_support.h"

#include <string>

using namespace sinter;
using namespace jit_test;
using runtime_test::CapturedLog;
using runtime_test::ScopedEnv;

namespace {

const std::string kSaid = "another program for each value of";

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

Tensor rows(int64_t n) {
  static const Var all("tokens", 0, 32);
  return numbers({32, 3}).slice(0, {0, all(n)}).contiguous().realize();
}

/// Notices while `run` runs.
template <class Run>
std::string said(Run run) {
  CapturedLog log;
  run();
  return log.text();
}

template <class F>
void over_sizes(F& f) {
  for (int64_t n = 2; n < 14; ++n) f(rows(n));
}

}  // namespace

TEST_CASE("a jitted function that makes a number of a size says so once, with its line", "[jit][notice]") {
  const auto square = [](const Tensor& x) { return x * static_cast<double>(x.size(0).value()); };
  uint32_t line = 0;
  const auto make = [&] { return line = __LINE__, jit(square); };
  auto f = make();
  const std::string text = said([&] { over_sizes(f); });
  INFO(text);
  CHECK(count(text, kSaid) == 1);
  CHECK(count(text, "\n") == 1);
  CHECK(text.starts_with("sinter: jit at " + std::string(__FILE__) + ":" + std::to_string(line) + ": "));
  CHECK(count(text, "value of tokens, last for ") == 1);
  CHECK(count(text, "const Dim&") == 1);
  CHECK(count(text, "SINTER_NOTICES=0") == 1);
  auto again = make();  // of the same line
  CHECK(said([&] { over_sizes(again); }).empty());
}

TEST_CASE("a jitted function that keeps its size as a Dim says nothing", "[jit][notice]") {
  auto f = jit([](const Tensor& x) { return x * x.size(0); });
  auto g = jit([](const Tensor& x) { return x * Tensor(x.size(0)).to(float32); });
  CHECK(count(said([&] {
                over_sizes(f);
                over_sizes(g);
              }),
              kSaid) == 0);
}

TEST_CASE("the notice of sizes in jit is left out with SINTER_NOTICES=0, and said later", "[jit][notice]") {
  const auto square = [](const Tensor& x) { return x * static_cast<double>(x.size(0).value()) + 2.0; };
  const auto make = [&] { return jit(square); };
  {
    const ScopedEnv off("SINTER_NOTICES", "0");
    auto f = make();
    CHECK(said([&] { over_sizes(f); }).empty());
  }
  auto f = make();
  CHECK(count(said([&] { over_sizes(f); }), kSaid) == 1);
}
