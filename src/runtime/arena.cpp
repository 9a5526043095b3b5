// Greedy placement by size.
#include "runtime/arena.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "runtime/sanitizer.h"

namespace sinter::runtime {
namespace {

constexpr int64_t kAlignment = 64;

/// With the red zone that follows; the arena's own stands before the first buffer.
int64_t rounded(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment + static_cast<int64_t>(kRedZone);
}

/// The largest number on overflow: more than any memory, so that asking for the arena says so.
int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace

ArenaLayout lay_out(const Plan& plan) {
  ArenaLayout out;
  out.offsets.assign(plan.buffers.size(), -1);
  std::vector<size_t> order;
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].kind == PlanBuffer::Kind::Scratch) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int64_t x = plan.buffers[a].bound_bytes, y = plan.buffers[b].bound_bytes;
    return x != y ? x > y : a < b;
  });

  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    const PlanBuffer& b = plan.buffers[i];
    const int64_t size = rounded(b.bound_bytes);
    int64_t at = 0;
    for (size_t j : placed) {
      const PlanBuffer& other = plan.buffers[j];
      if (other.last < b.first || b.last < other.first) continue;
      if (out.offsets[j] >= plus(at, size)) break;
      at = std::max(at, plus(out.offsets[j], rounded(other.bound_bytes)));
    }
    out.offsets[i] = at;
    out.bytes = std::max(out.bytes, plus(at, size));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t x, size_t y) { return out.offsets[x] < out.offsets[y]; }),
                  i);
  }
  return out;
}

PlanMemory memory_of(const Plan& plan) {
  PlanMemory memory;
  for (const PlanBuffer& b : plan.buffers) {
    if (b.kind == PlanBuffer::Kind::Output) memory.outputs += b.bound_bytes;
    if (b.kind == PlanBuffer::Kind::Kept) memory.kept += b.bound_bytes;
    if (b.kind == PlanBuffer::Kind::Scratch) memory.scratch += b.bound_bytes;
  }
  memory.arena = lay_out(plan).bytes;
  return memory;
}

}  // namespace sinter::runtime
