// When to look is decided by two counts that cost nothing; what to realise by one walk over what was made last.
#include "tensor/eval/auto_realize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "plan/canonicalize.h"
#include "runtime/base/log.h"
#include "runtime/exec/devices.h"
#include "sinter/error.h"
#include "tensor/core/cell.h"
#include "tensor/eval/realize.h"

namespace sinter::tensor {
namespace {

using ir::UOp;

/// Guarded by the graph's mutex.
struct Pending {
  size_t limit = kPendingLimit, look_at = kPendingLimit, patience = 0;  ///< nodes
  bool noting = false;                                                  ///< it may soon be time to look
  double look_at_share =
      0;  ///< no look before so much of a device's memory is live: the last one found nothing to gain
  std::array<std::weak_ptr<Cell>, 64> made;  ///< the latest values, in a circle
  size_t next = 0;

  static Pending& get() {
    static auto* pending = new Pending;  // never destroyed (SEMANTICS V7)
    return *pending;
  }
  /// Those that are still waiting.
  std::vector<UOp> waiting() const {
    std::vector<UOp> out;
    for (const std::weak_ptr<Cell>& made_one : made)
      if (const auto cell = made_one.lock(); cell && !cell->node->storage()) out.push_back(cell->node.get());
    std::sort(out.begin(), out.end(), [](UOp a, UOp b) { return a->id < b->id; });
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
};

constexpr double kMuch = 0.5;  ///< of the memory that a device may have

/// Of the roots those that no other node of the walk reads.
std::vector<UOp> tops(const schedule::Collected& walk) {
  std::vector<uint8_t> read(walk.positions.size());
  for (const schedule::Operand s : walk.sources)
    if (!s.constant()) read[s.position()] = 1;
  std::vector<UOp> out;
  for (const int32_t root : walk.roots)
    if (!read[static_cast<size_t>(root)]) out.push_back(walk.positions[static_cast<size_t>(root)].node);
  return out;
}

}  // namespace

void set_pending_limit(size_t nodes) {
  const ir::GraphScope scope;
  Pending& p = Pending::get();
  p.limit = nodes;
  p.look_at = ir::TensorGraph::get().live_nodes() + nodes;
  p.patience = 0;
}

void note_value(const std::shared_ptr<Cell>& cell) {
  Pending& p = Pending::get();
  if (!p.noting) return;
  p.made[p.next++ % p.made.size()] = cell;
}

namespace {

/// What stands in note_value()'s circle, if it is worth it.
void look(bool many, const runtime::Fill& fill) {
  ir::TensorGraph& g = ir::TensorGraph::get();
  Pending& p = Pending::get();
  g.drain();
  const size_t nodes = g.live_nodes();
  if (many) p.look_at = nodes + (p.patience = std::clamp<size_t>(p.patience * 2, p.limit / 64 + 1, p.limit));
  p.look_at_share = fill.share() + kMuch / 8;
  const std::vector<UOp> waiting = p.waiting();
  if (waiting.empty()) return;
  const schedule::Request request{.roots = waiting, .ending = {}, .kept = {}};
  schedule::Reach reached;
  schedule::reach(request, reached);
  if (reached.claimed) return;
  const schedule::Collected plan = reached.mixed ? schedule::Collected() : schedule::collect(request, reached);
  const uint64_t held = schedule::bytes_let_go(plan, fill.device);
  if (!many && static_cast<double>(held) <= kMuch * static_cast<double>(fill.limit)) return;
  realize(reached.mixed ? waiting : tops(plan));
  if (g.live_nodes() < nodes / 2) {
    p.patience = 0;
    p.look_at = g.live_nodes() + p.limit;
  }
  const runtime::Fill now = runtime::fullest();
  p.look_at_share = now.share() + kMuch / 8;
  if (many)
    runtime::log(1, fmt::format("realised by itself: of {} live nodes {} are left", nodes, g.live_nodes()));
  else
    runtime::log(
        1, fmt::format("realised by itself: pending values held {:.1f} MB of {}, more than half of the limit of "
                       "{:.1f} MB; {:.1f} MB are live now",
                       static_cast<double>(held) / 1e6, to_string(fill.device), static_cast<double>(fill.limit) / 1e6,
                       static_cast<double>(now.live) / 1e6));
}

}  // namespace

void relieve() {
  const ir::TensorGraph& g = ir::TensorGraph::get();
  Pending& p = Pending::get();
  const runtime::Fill fill = runtime::fullest();
  const double share = fill.live > fill.limit / 8 ? fill.share() : 0;  // nearly every call is spared the division
  p.noting = g.live_nodes() > p.look_at / 2 || share > kMuch / 2;
  if (share <= kMuch) p.look_at_share = 0;
  const bool many = g.live_nodes() > p.look_at, much = share > std::max(kMuch, p.look_at_share);
  if ((!many && !much) || g.depth() > 1) return;
  try {
    look(many, fill);
  } catch (const Error& error) {  // no fault of this call: who reads the values is told
    runtime::log(1, fmt::format("not realised by itself: {}", error.what()));
  }
}

}  // namespace sinter::tensor
