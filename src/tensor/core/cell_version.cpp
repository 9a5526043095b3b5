// Making, installing and recording versions.
#include "tensor/core/cell_version.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "ir/build.h"
#include "sinter/gradient.h"

namespace sinter::tensor {
namespace {

using ir::UOp;

/// What one thread has assigned and not yet realised. Cells that died are dropped when the list has doubled.
struct Records {
  const uint64_t thread;
  std::vector<std::weak_ptr<Cell>> cells;
  size_t prune_at = 64;

  void prune() {
    std::erase_if(cells, [](const auto& c) { return c.expired(); });
    prune_at = 64 + 2 * cells.size();
  }
};

Records& records() {
  static std::atomic<uint64_t> count{0};
  thread_local Records mine{++count, {}};
  return mine;
}

}  // namespace

UOp next_version(const Cell& cell, UOp value, const std::optional<ir::Region>& box) {
  ir::TensorGraph& g = ir::TensorGraph::get();
  UOp old = cell.node.get();
  UOp n = box ? g.make({ir::Op::After, old->dtype, old->shape, {old, value}, *box})
              : g.make({ir::Op::After, old->dtype, old->shape, {value}});
  g.set_origin(n, *old->state.origin);
  ir::Storage* home = old->storage() ? old->storage() : old->state.home;
  if (home && home->device() == n->device) g.set_home(n, home);
  if (cell.leaf_id) {
    n->state.requires_grad = n->state.leaf = true;
    n->state.leaf_id = cell.leaf_id;
  }
  return n;
}

void install(const std::shared_ptr<Cell>& cell, UOp version) {
  cell->node = ir::Hold(version);
  kHooks.on_value(cell);
  if (Observer* observer = Observer::current()) observer->on_assign(cell);
  Records& r = records();
  if (std::exchange(cell->recorded_by, r.thread) == r.thread) return;
  if (r.cells.size() >= r.prune_at) r.prune();
  r.cells.push_back(cell);
}

void move(const std::shared_ptr<Cell>& cell, Device device) {
  const no_grad off;
  install(cell, next_version(*cell, ir::copy(ir::detach(cell->node.get()), device)));
  if (cell->grad) cell->grad->node = ir::Hold(ir::copy(cell->grad->node.get(), device));
}

void forget_stored() {
  Records& r = records();
  std::erase_if(r.cells, [&](const std::weak_ptr<Cell>& c) {
    const std::shared_ptr<Cell> cell = c.lock();
    if (!cell) return true;
    if (!cell->node->storage()) return false;
    if (cell->recorded_by == r.thread) cell->recorded_by = 0;
    return true;
  });
}

std::vector<UOp> recorded(const std::function<bool(const Cell&)>& skip) {
  forget_stored();
  std::vector<UOp> out;
  for (const auto& c : records().cells)
    if (const std::shared_ptr<Cell> cell = c.lock(); cell && !skip(*cell)) out.push_back(cell->node.get());
  return out;
}

void strike_off() {
  Records& r = records();
  for (const auto& c : r.cells)
    if (const auto cell = c.lock(); cell && cell->recorded_by == r.thread) cell->recorded_by = 0;
  r.cells.clear();
}

void part_gradient(Cell& cell, const std::string& taker) {
  cell.grad = nullptr;
  cell.taker = taker;
}

}  // namespace sinter::tensor
