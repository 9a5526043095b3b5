// Where scratch lies: as the plain search says, in steps that grow with the number of buffers.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <random>

#include "catch.h"
#include "runtime/base/sanitizer.h"
#include "runtime/exec/arena.h"

using namespace sinter::runtime;

namespace {

void add(Plan& plan, int64_t bytes, int first, int last) {
  PlanBuffer b;
  b.kind = PlanBuffer::Kind::Scratch;
  b.bound_bytes = bytes;
  b.first = first;
  b.last = last;
  plan.buffers.push_back(b);
}

/// Largest first, each at the lowest offset at which nothing that is alive with it lies, looked for among all.
std::vector<int64_t> plain_offsets(const Plan& plan) {
  const auto size = [&](size_t i) {
    return (plan.buffers[i].bound_bytes + 63) / 64 * 64 + static_cast<int64_t>(kRedZone);
  };
  std::vector<size_t> order(plan.buffers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int64_t x = plan.buffers[a].bound_bytes, y = plan.buffers[b].bound_bytes;
    return x != y ? x > y : a < b;
  });
  std::vector<int64_t> offsets(plan.buffers.size(), -1);
  for (const size_t i : order) {
    int64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t j = 0; j < offsets.size(); ++j) {
        const bool together =
            plan.buffers[j].first <= plan.buffers[i].last && plan.buffers[i].first <= plan.buffers[j].last;
        if (offsets[j] < 0 || !together || offsets[j] >= at + size(i) || offsets[j] + size(j) <= at) continue;
        at = offsets[j] + size(j);
        moved = true;
      }
    }
    offsets[i] = at;
  }
  return offsets;
}

}  // namespace

TEST_CASE("scratch lies at the lowest offset that is free over its life", "[runtime]") {
  std::mt19937 random(3);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    Plan plan;
    const int launches = 1 + below(40), longest = 1 + below(launches), sizes = 1 + below(round % 3 ? 400 : 4);
    for (int i = below(60); i >= 0; --i) {
      const int first = below(launches);
      add(plan, 16 * below(sizes), first, std::min(launches - 1, first + below(longest)));
    }
    INFO("round " << round);
    const ArenaLayout layout = lay_out(plan);
    CHECK(layout.offsets == plain_offsets(plan));
  }
}

TEST_CASE("laying out scratch takes steps that grow with the number of buffers", "[runtime]") {
  constexpr int kFew = 4000, kMany = 16 * kFew;
  struct Program {
    const char* text;
    std::function<Plan(int)> of;
  };
  const Program programs[] = {
      {"a chain of stores",
       [](int n) {
         Plan plan;
         for (int i = 0; i < n; ++i) add(plan, 256, i, i + 1);
         return plan;
       }},
      {"values that all live until the end",
       [](int n) {
         Plan plan;
         for (int i = 0; i < n; ++i) add(plan, 256, i, n);
         return plan;
       }},
      {"a forward pass, whose values the way back reads",
       [](int n) {
         Plan plan;
         for (int i = 0; i < n; ++i) add(plan, 64 * (1 + i % 7), i, 2 * n - i);
         return plan;
       }},
      {"values of many sizes and lives",
       [](int n) {
         Plan plan;
         std::mt19937 random(5);
         for (int i = 0; i < n; ++i) {
           const int life = random() % 16 ? 8 : 512;
           add(plan, 64 * static_cast<int64_t>(1 + random() % 50), i,
               i + 1 + static_cast<int>(random() % static_cast<unsigned>(life)));
         }
         return plan;
       }},
  };
  for (const Program& p : programs) {
    INFO(p.text);
    const double few = static_cast<double>(lay_out(p.of(kFew)).steps) / kFew;
    const double many = static_cast<double>(lay_out(p.of(kMany)).steps) / kMany;
    CHECK(many < 2 * few);  // a logarithm
    CHECK(many < 400);
  }
}
