// Counts of nodes, allocations and bytes, which cost nothing, decide when to look. One walk over the latest values
// decides what to realize.
#include "tensor/eval/auto_realize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "plan/canonicalize.h"
#include "runtime/base/counters.h"
#include "runtime/base/log.h"
#include "runtime/exec/devices.h"
#include "sinter/error.h"
#include "tensor/core/cell.h"
#include "tensor/eval/realize.h"

namespace sinter::tensor {
namespace {

/// Guarded by the graph's mutex.
struct PendingTracker {
  size_t limit = kPendingLimit, check_at = kPendingLimit, patience = 0;  ///< nodes
  bool tracking = false;                                                 ///< a look may be near
  uint64_t allocations = ~uint64_t{0};                                   ///< at the last call that found nothing to do
  double check_at_share = 0;  ///< look only above this share of a device's memory: the last look found no gain below
  std::array<std::weak_ptr<Cell>, 64> made;  ///< ring of the latest values
  size_t next = 0;

  static PendingTracker& get() {
    static auto* pending = new PendingTracker;  // never destroyed (SEMANTICS V7)
    return *pending;
  }
  /// The tracked values that have no storage yet.
  std::vector<UOp> waiting() const {
    std::vector<UOp> out;
    for (const std::weak_ptr<Cell>& made_one : made)
      if (const auto cell = made_one.lock(); cell && !cell->node->storage()) out.push_back(cell->node.get());
    std::ranges::sort(out, [](UOp a, UOp b) { return a->id < b->id; });
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
};

constexpr double kMemoryShare = 0.5;  ///< of the memory that a device may have

/// The roots of the walk that no other node of it reads.
std::vector<UOp> unread_roots(const plan::CanonicalProgram& walk) {
  std::vector<uint8_t> read(walk.positions.size());
  for (const plan::SourceRef s : walk.sources)
    if (!s.constant()) read[s.position()] = 1;
  std::vector<UOp> out;
  for (const int32_t root : walk.roots)
    if (!read[root]) out.push_back(walk.positions[root].node);
  return out;
}

}  // namespace

void set_pending_limit(size_t nodes) {
  const GraphScope scope;
  PendingTracker& p = PendingTracker::get();
  p.limit = nodes;
  p.check_at = TensorGraph::get().live_nodes() + nodes;
  p.patience = 0;
}

void track_pending_value(const std::shared_ptr<Cell>& cell) {
  PendingTracker& p = PendingTracker::get();
  if (!p.tracking) return;
  p.made[p.next++ % p.made.size()] = cell;
}

namespace {

/// Realizes the unread values of the ring, if that frees enough. `many`: the node count asks for it, and not the
/// memory.
void realize_unread(bool many, const runtime::MemoryUsage& usage) {
  TensorGraph& g = TensorGraph::get();
  PendingTracker& p = PendingTracker::get();
  g.release_pool();
  const size_t nodes = g.live_nodes();
  if (many) p.check_at = nodes + (p.patience = std::clamp<size_t>(p.patience * 2, p.limit / 64 + 1, p.limit));
  p.check_at_share = usage.share() + kMemoryShare / 8;
  const std::vector<UOp> waiting = p.waiting();
  if (waiting.empty()) return;
  const plan::Request request{.roots = waiting, .dying_refs = {}, .kept = {}};
  plan::Liveness liveness;
  plan::compute_liveness(request, liveness);
  if (liveness.claimed) return;
  const plan::CanonicalProgram plan = liveness.mixed ? plan::CanonicalProgram() : plan::canonicalize(request, liveness);
  const uint64_t held = plan::bytes_freed(plan, usage.device);
  if (!many && static_cast<double>(held) <= kMemoryShare * static_cast<double>(usage.limit)) return;
  realize(liveness.mixed ? waiting : unread_roots(plan));
  if (g.live_nodes() < nodes / 2) {
    p.patience = 0;
    p.check_at = g.live_nodes() + p.limit;
  }
  const runtime::MemoryUsage now = runtime::fullest_device();
  p.check_at_share = now.share() + kMemoryShare / 8;
  if (many)
    runtime::log(1, fmt::format("realized automatically: of {} live nodes {} are left", nodes, g.live_nodes()));
  else
    runtime::log(
        1, fmt::format("realized automatically: pending values held {:.1f} MB of {}, more than half of the limit of "
                       "{:.1f} MB; {:.1f} MB are live now",
                       static_cast<double>(held) / 1e6, to_string(usage.device), static_cast<double>(usage.limit) / 1e6,
                       static_cast<double>(now.live) / 1e6));
}

}  // namespace

void auto_realize() {
  const TensorGraph& g = TensorGraph::get();
  PendingTracker& p = PendingTracker::get();
  // Memory fills by allocations only, and most calls follow none. Once a look found no gain, releases count too.
  const uint64_t allocations = runtime::counters().allocations.load(std::memory_order_relaxed);
  if (allocations == p.allocations && p.check_at_share == 0 && g.live_nodes() <= p.check_at / 2) return;
  const runtime::MemoryUsage usage = runtime::fullest_device();
  const double share = usage.share();
  p.tracking = g.live_nodes() > p.check_at / 2 || share > kMemoryShare / 2;
  if (share <= kMemoryShare) p.check_at_share = 0;
  const bool many = g.live_nodes() > p.check_at, much = share > std::max(kMemoryShare, p.check_at_share);
  if (!many && !much) {
    p.allocations = allocations;
    return;
  }
  if (g.depth() > 1) return;
  try {
    realize_unread(many, usage);
  } catch (const Error& error) {  // not this call's fault: reading the values reports it
    runtime::log(1, fmt::format("not realized automatically: {}", error.what()));
  }
}

}  // namespace sinter::tensor
