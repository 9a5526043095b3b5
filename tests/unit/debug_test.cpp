// What DEBUG prints, level by level (docs/environment.md), and that its numbers are those of the work done.
#include <cstdio>
#include <sstream>

#include "catch.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
using runtime_test::CapturedLog;
using runtime_test::Setting;

namespace {

/// What building and running a program prints.
template <class Run>
std::string printed(const char* level, Run run) {
  const runtime_test::FreshCache cache;
  debug::clear_plans();
  const Setting debug_level("DEBUG", level);
  CapturedLog log;
  run();
  return log.text();
}

int lines_with(const std::string& text, const std::string& what) {
  int n = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) n += line.find(what) != std::string::npos;
  return n;
}

/// A number known as well as its print allows.
struct Printed {
  double value = 0, off = 0;
  Approx near() const { return Approx(value).epsilon(0).margin(off); }
};
/// Float operations and bytes of the one launch that a text of DEBUG=2 shows: what the rates and the time say.
struct Rates {
  Printed flops, bytes;
};
Rates rates(const std::string& text) {
  char name[200];
  long points = 0;
  double us = 0, flops = 0, bytes = 0;
  REQUIRE(std::sscanf(text.c_str(), " %199s %ld points %lf us %lf GFLOP/s %lf GB/s", name, &points, &us, &flops,
                      &bytes) == 5);
  const auto times = [us](double rate) {  // rates have two decimals, the time has one
    return Printed{rate * us * 1e3, (0.01 * (us + 0.1) + 0.1 * rate) * 1e3};
  };
  return {times(flops), times(bytes)};
}

}  // namespace

TEST_CASE("each DEBUG level adds what the table of variables says", "[runtime][debug]") {
  const auto program = [] {
    Tensor a = rand({64, 96}), b = rand({96, 64});
    Tensor c = (exp(matmul(a, b)) / 8.0).sum(1);
    c.realize();
    (c + 1.0).realize();
  };
  const char* marks[] = {"plan: ", " GFLOP/s", "partition: ", "// kernel ", "-- plan", " -> ", "\tret"};
  for (int level = 0; level <= 7; ++level) {
    const std::string text = printed(std::to_string(level).c_str(), program);
    INFO("DEBUG=" << level << "\n" << text.substr(0, 3000));
    for (int l = 1; l <= 7; ++l) {
      INFO("what level " << l << " prints: " << marks[l - 1]);
      CHECK((lines_with(text, marks[l - 1]) > 0) == (l <= level));
    }
    if (level == 1) CHECK(lines_with(text, "plan: ") == lines_with(text, ""));
    if (level >= 3) CHECK(lines_with(text, "after schedule") > 0);  // the options that kernels were given
  }
}

TEST_CASE("DEBUG=2 counts arithmetic on floats, and bytes once", "[runtime][debug]") {
  Tensor a = rand({200, 300}).realize(), b = rand({300, 100}).realize();
  Rates r = rates(printed("2", [&] { matmul(a, b).realize(); }));
  CHECK(2.0 * 200 * 300 * 100 == r.flops.near());
  CHECK(4.0 * (200 * 300 + 300 * 100 + 200 * 100) == r.bytes.near());

  Tensor x = rand({1 << 20}).realize();  // two operations on floats: choosing and comparing are none
  const auto chosen = [&] {  // in a function: what handles hold at realize() would be stored too
    return where(x > 0.5, x * 2.0 + 1.0, x);
  };
  r = rates(printed("2", [&] { chosen().realize(); }));
  CHECK(2.0 * (1 << 20) == r.flops.near());
  CHECK(8.0 * (1 << 20) == r.bytes.near());

  Tensor i = arange(1 << 20).realize();
  const auto whole = [&] { return i * 3 + 1; };
  r = rates(printed("2", [&] { whole().realize(); }));
  CHECK(r.flops.value == 0);
  CHECK(16.0 * (1 << 20) == r.bytes.near());

  const Var n("n", 1, 4096);  // the size of this call, not the bound
  Tensor s = from(std::vector<float>(512 * 512, 1), {n(512), 512}).realize();
  const auto sums = [&] { return (s * s + 1.0).sum(1); };
  r = rates(printed("2", [&] { sums().realize(); }));
  CHECK(3.0 * 512 * 512 == r.flops.near());
  CHECK(4.0 * (512 * 512 + 512) == r.bytes.near());
}
