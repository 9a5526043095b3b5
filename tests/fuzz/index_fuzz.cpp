// Random index expressions with negative values and gates: the simplified form agrees with brute force, is a fixed
// point, and mostly got smaller.
#include <fmt/core.h>

#include <cstdio>

#include "catch.h"
#include "index_oracle.h"
#include "ir/dump.h"
#include "rewrite/index_math.h"

using namespace sinter;
using namespace sinter::ir;
using sinter::test::Oracle;

namespace {

constexpr int kExpressions = 60000;
constexpr int kPoints = 12;

bool divides(UOp u) { return u->op == Op::IDiv || u->op == Op::Mod; }
size_t divisions(UOp root) {
  size_t n = 0;
  for (UOp u : topological(root)) n += divides(u);
  return n;
}

}  // namespace

TEST_CASE("simplified index expressions agree with brute force", "[fuzz][rewrite]") {
  std::mt19937 random(20240229);
  int twice = 0, shrank = 0, fewer = 0, with_div = 0, grew = 0;
  for (int n = 0; n < kExpressions; ++n) {
    Arena g;
    test::RandomIndex gen(g, random);
    const bool gated = gen.pick(3) == 0;
    UOp before = gen.index(2 + gen.pick(3)), gate = gated ? gen.condition(2) : UOp();
    IndexMath free(g);
    UOp simple_gate = gated ? free.simplify(gate) : UOp();
    IndexMath inside = gated ? IndexMath(free, simple_gate) : free;
    UOp after = inside.simplify(before);

    const size_t size = test::node_count({before}), now = test::node_count({after});
    const size_t div_before = divisions(before), div_after = divisions(after);
    shrank += now < size;
    grew += now > size;
    with_div += div_before > 0;
    fewer += div_after < div_before;

    const Interval bounds = inside.bounds(after);
    std::vector<UOp> roots{before, after};
    if (gated) roots.insert(roots.end(), {gate, simple_gate});
    Oracle oracle(roots);
    for (int i = 0; i < kPoints; ++i) {
      auto point = gen.point();
      auto v = oracle.at(gen.ranges, point);
      if (gated && v[2] != v[3])
        FAIL(fmt::format("gate of expression {}:\n{}became\n{}", n, dump(gate), dump(simple_gate)));
      if (gated && !v[2].as_int()) continue;
      if (v[0] != v[1])
        FAIL(fmt::format("expression {}: {} became {}\n{}became\n{}{}", n, v[0].as_int(), v[1].as_int(), dump(before),
                         dump(after), gated ? "under\n" + dump(gate) : ""));
      const int64_t x = v[1].as_int();
      if (x < bounds.lo || x > bounds.hi || (bounds.multiple ? x % bounds.multiple : x) != 0)
        FAIL(fmt::format("{} lies outside [{}, {}] or is no multiple of {}:\n{}", x, bounds.lo, bounds.hi,
                         bounds.multiple, dump(after)));
    }
    // A product of three variables that a gate fixes in part may take a second round; none takes more.
    UOp again = (gated ? IndexMath(free, simple_gate) : IndexMath(g)).simplify(after);
    twice += !(again == after);
    UOp last = (gated ? IndexMath(free, simple_gate) : IndexMath(g)).simplify(again);
    if (!(last == again))
      FAIL(fmt::format("expression {} is no fixed point:\n{}then\n{}then\n{}{}", n, dump(before), dump(again),
                       dump(last), gated ? "under\n" + dump(simple_gate) : ""));
  }
  std::printf("index fuzz: %d expressions, %.1f %% shrank, %.1f %% grew, fewer div and mod in %.1f %% of %d with any\n",
              kExpressions, 100.0 * shrank / kExpressions, 100.0 * grew / kExpressions, 100.0 * fewer / with_div,
              with_div);
  CHECK(twice < 10);
  CHECK(shrank > kExpressions * 8 / 10);
}
