// Greedy placement, largest first.
#include "runtime/exec/arena.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "runtime/base/sanitizer.h"

namespace sinter::runtime {
namespace {

constexpr int64_t kAlignment = 64;

/// Includes the red zone after the buffer. The arena's own red zone precedes the first buffer.
int64_t padded_size(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment + static_cast<int64_t>(kRedZone);
}

/// Saturates on overflow. That is more than any memory, so allocating the arena reports it.
int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

struct ByteSpan {
  int64_t begin, end;
};

/// Occupied bytes: sorted, disjoint spans that never touch each other.
class SpanSet {
 public:
  void add(ByteSpan s) {
    auto first = std::ranges::partition_point(spans_, [&](const ByteSpan& o) { return o.end < s.begin; });
    auto last = first;
    for (; last != spans_.end() && last->begin <= s.end; ++last)
      s = {std::min(s.begin, last->begin), std::max(s.end, last->end)};
    if (first == last) {
      spans_.insert(first, s);
    } else {
      *first = s;
      spans_.erase(first + 1, last);
    }
  }
  /// The end of the first span that `s` overlaps, or -1.
  int64_t overlapped(const ByteSpan& s) const {
    const auto at = std::ranges::partition_point(spans_, [&](const ByteSpan& o) { return o.end <= s.begin; });
    return at != spans_.end() && at->begin < s.end ? at->end : -1;
  }

 private:
  std::vector<ByteSpan> spans_;
};

/// Occupied bytes per launch: a segment tree over launches. A buffer's lifetime is the union of a few whole subtrees,
/// so no buffer is compared with every other one alive at the same time.
class OccupiedBytes {
 public:
  explicit OccupiedBytes(int launches) : leaves_(std::bit_ceil(static_cast<size_t>(launches))), nodes_(2 * leaves_) {}

  /// The lowest offset for `size` bytes that is free from launch `first` to launch `last`.
  int64_t place(int64_t size, int first, int last, uint64_t& steps) {
    split(first, last);
    searched_.clear();
    for (const size_t n : subtrees_) searched_.push_back(&nodes_[n].anywhere);
    for (const size_t n : ancestors_) searched_.push_back(&nodes_[n].everywhere);
    int64_t at = 0;
    for (size_t free_in = 0, i = 0; free_in < searched_.size(); i = (i + 1) % searched_.size(), ++steps) {
      const int64_t end = searched_[i]->overlapped({at, saturating_add(at, size)});
      free_in = end < 0 ? free_in + 1 : 0;
      if (end >= 0) at = end;
    }
    return at;
  }

  void take(ByteSpan bytes, int first, int last, uint64_t& steps) {
    split(first, last);
    for (const size_t n : subtrees_) {
      nodes_[n].everywhere.add(bytes);
      nodes_[n].anywhere.add(bytes);
    }
    for (const size_t n : ancestors_) nodes_[n].anywhere.add(bytes);
    steps += subtrees_.size() + ancestors_.size();
  }

 private:
  struct TreeNode {
    SpanSet everywhere;  ///< occupied in all of its launches: by buffers whose lifetime includes this whole subtree
    SpanSet anywhere;    ///< occupied in at least one of its launches
  };

  /// Sets subtrees_ to the maximal subtrees that cover these launches, and ancestors_ to the nodes above them.
  void split(int first, int last) {
    subtrees_.clear();
    ancestors_.clear();
    size_t a = leaves_ + static_cast<size_t>(first), b = leaves_ + static_cast<size_t>(last) + 1;
    for (; a < b; a /= 2, b /= 2) {
      if (a % 2) subtrees_.push_back(a++);
      if (b % 2) subtrees_.push_back(--b);
    }
    for (const size_t n : subtrees_)
      for (size_t up = n / 2; up; up /= 2) ancestors_.push_back(up);
    std::ranges::sort(ancestors_);
    ancestors_.erase(std::unique(ancestors_.begin(), ancestors_.end()), ancestors_.end());
  }

  const size_t leaves_;
  std::vector<TreeNode> nodes_;  ///< the root is 1, the children of n are 2n and 2n + 1
  std::vector<size_t> subtrees_, ancestors_;
  std::vector<const SpanSet*> searched_;
};

}  // namespace

ArenaLayout lay_out(const Plan& plan) {
  ArenaLayout out;
  out.offsets.assign(plan.buffers.size(), -1);
  std::vector<size_t> order;
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    if (plan.buffers[i].kind == PlanBuffer::Kind::Scratch) order.push_back(i);
  if (order.empty()) return out;
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const int64_t x = plan.buffers[a].bound_bytes, y = plan.buffers[b].bound_bytes;
    return x != y ? x > y : a < b;
  });

  int launches = 1;
  for (size_t i : order) launches = std::max(launches, plan.buffers[i].last + 1);
  OccupiedBytes taken(launches);
  for (size_t i : order) {
    const PlanBuffer& b = plan.buffers[i];
    const int64_t size = padded_size(b.bound_bytes);
    const int64_t at = out.offsets[i] = taken.place(size, b.first, b.last, out.steps);
    taken.take({at, saturating_add(at, size)}, b.first, b.last, out.steps);
    out.bytes = std::max(out.bytes, saturating_add(at, size));
  }
  return out;
}

PlanMemory memory_of(const Plan& plan) {
  PlanMemory memory;
  for (const PlanBuffer& b : plan.buffers) {
    if (b.kind == PlanBuffer::Kind::Output) memory.outputs += b.bound_bytes;
    if (b.kind == PlanBuffer::Kind::Invariant) memory.invariants += b.bound_bytes;
    if (b.kind == PlanBuffer::Kind::Scratch) memory.scratch += b.bound_bytes;
  }
  memory.arena = lay_out(plan).bytes;
  return memory;
}

}  // namespace sinter::runtime
