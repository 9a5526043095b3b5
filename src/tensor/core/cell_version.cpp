// Making, installing and recording versions.
#include "tensor/core/cell_version.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "ir/build.h"
#include "sinter/gradient.h"

namespace sinter::tensor {
namespace {

/// The cells that one thread has assigned and not yet realized. Dead cells are dropped when the list has doubled.
struct AssignedCells {
  const uint64_t thread;
  std::vector<std::weak_ptr<Cell>> cells;
  size_t prune_at = 64;

  void prune() {
    std::erase_if(cells, [](const auto& c) { return c.expired(); });
    prune_at = 64 + 2 * cells.size();
  }
};

AssignedCells& assigned_cells() {
  static std::atomic<uint64_t> count{0};
  thread_local AssignedCells mine{++count, {}};
  return mine;
}

}  // namespace

UOp next_version(const Cell& cell, UOp value, const std::optional<Region>& box) {
  TensorGraph& g = TensorGraph::get();
  UOp old = cell.node.get();
  UOp n = box ? g.make({Op::After, old->dtype, old->shape, {old, value}, *box})
              : g.make({Op::After, value->dtype, old->shape, {value}});
  g.set_origin(n, *old->state.origin);
  Storage* home = old->storage() ? old->storage() : old->state.home;
  if (home && home->device() == n->device && old->dtype == n->dtype) g.set_home(n, home);
  if (cell.leaf_id) {
    n->state.requires_grad = n->state.leaf = true;
    n->state.leaf_id = cell.leaf_id;
  }
  return n;
}

UOp new_leaf(UOp n) {
  TensorGraph& graph = TensorGraph::get();
  const uint64_t id = graph.next_unique_id();
  const UOp leaf = graph.make({Op::Leaf, n->dtype, n->shape, {n}});
  leaf->state.requires_grad = leaf->state.leaf = true;
  leaf->state.leaf_id = id;
  if (Storage* storage = n->storage()) {
    graph.attach_storage(leaf, storage);
    graph.on_stored(leaf);
  }
  return leaf;
}

void install(const std::shared_ptr<Cell>& cell, UOp version) {
  cell->node = NodeRef(version);
  kHooks.on_value(cell);
  if (Observer* observer = Observer::current()) observer->on_assign(cell);
  AssignedCells& r = assigned_cells();
  if (std::exchange(cell->assigned_by, r.thread) == r.thread) return;
  if (r.cells.size() >= r.prune_at) r.prune();
  r.cells.push_back(cell);
}

void move_to_device(const std::shared_ptr<Cell>& cell, Device device) {
  const no_grad off;
  install(cell, next_version(*cell, copy(detach(cell->node.get()), device)));
  if (cell->grad) cell->grad->node = NodeRef(copy(cell->grad->node.get(), device));
}

void convert_dtype(const std::shared_ptr<Cell>& cell, DType dtype) {
  const no_grad off;
  install(cell, next_version(*cell, cast(detach(cell->node.get()), dtype)));
  if (cell->grad) cell->grad->node = NodeRef(cast(cell->grad->node.get(), dtype));
}

void forget_stored_versions() {
  AssignedCells& r = assigned_cells();
  std::erase_if(r.cells, [&](const std::weak_ptr<Cell>& c) {
    const std::shared_ptr<Cell> cell = c.lock();
    if (!cell) return true;
    if (!cell->node->storage()) return false;
    if (cell->assigned_by == r.thread) cell->assigned_by = 0;
    return true;
  });
}

std::vector<UOp> assigned_versions(const std::function<bool(const Cell&)>& skip) {
  forget_stored_versions();
  std::vector<UOp> out;
  for (const auto& c : assigned_cells().cells)
    if (const std::shared_ptr<Cell> cell = c.lock(); cell && !skip(*cell)) out.push_back(cell->node.get());
  return out;
}

void forget_assigned_versions() {
  AssignedCells& r = assigned_cells();
  for (const auto& c : r.cells)
    if (const auto cell = c.lock(); cell && cell->assigned_by == r.thread) cell->assigned_by = 0;
  r.cells.clear();
}

void drop_gradient(Cell& cell, const std::string& grad_taker) {
  cell.grad = nullptr;
  cell.grad_taker = grad_taker;
}

}  // namespace sinter::tensor
