// Cells, handles and call scopes.
#include "tensor/cell.h"

#include <fmt/core.h>

#include <unordered_map>

#include "runtime/log.h"
#include "tensor/realize.h"

namespace sinter {
namespace {

struct Frame {
  std::string_view name;
  Loc where;
};
thread_local Frame frame;
thread_local int depth = 0;

/// Leaf id to cell. Never destroyed: cells may die after main.
std::unordered_map<uint64_t, std::weak_ptr<Cell>>& leaves() {
  static auto* map = new std::unordered_map<uint64_t, std::weak_ptr<Cell>>;
  return *map;
}

}  // namespace

inline namespace v0 {

CallScope::CallScope(std::string_view name, Loc where) {
  if (depth++ == 0) frame = {name, where};
}
CallScope::~CallScope() { --depth; }

Cell::~Cell() {
  if (leaf_id) tensor::unregister_leaf(*this);
}

Arg::Arg(const Tensor& tensor, Loc where) : cell_(tensor.cell()), where_(where) {}
Arg::Arg(const Place& place, Loc where) : Arg(static_cast<Tensor>(place), where) {}

}  // namespace v0

namespace tensor {

void register_leaf(const std::shared_ptr<Cell>& cell) { leaves()[cell->leaf_id] = cell; }
void unregister_leaf(Cell& cell) {
  ir::GraphScope scope;
  leaves().erase(cell.leaf_id);
  cell.leaf_id = 0;
}
std::shared_ptr<Cell> cell_of_leaf(uint64_t id) {
  const auto found = leaves().find(id);
  return found == leaves().end() ? nullptr : found->second.lock();
}

void usage_error(const std::string& message) {
  throw UsageError(depth ? fmt::format("{}: {}", frame.name, message) : message, depth ? frame.where : Loc());
}

ir::UOp launch_argument(ir::Scalar value, DType dtype) {
  ir::TensorGraph& g = ir::TensorGraph::get();
  return g.make({ir::Op::Num, dtype, {}, {}, ir::NumAttr{g.fresh_id(), value}});
}

namespace {

/// Pending nodes and what was made last, once there are too many. Guarded by the graph's mutex.
struct Pending {
  size_t limit = kPendingLimit, at = kPendingLimit;
  std::weak_ptr<Cell> last;

  static Pending& get() {
    static auto* pending = new Pending;
    return *pending;
  }
};

}  // namespace

void set_pending_limit(size_t nodes) {
  const ir::GraphScope scope;
  Pending& p = Pending::get();
  p.limit = nodes;
  p.at = ir::TensorGraph::get().live_nodes() + nodes;
}

void relieve() {
  ir::TensorGraph& g = ir::TensorGraph::get();
  Pending& p = Pending::get();
  if (g.live_nodes() <= p.at || g.depth() > 1) return;
  const size_t before = g.live_nodes();
  p.at = before + p.limit;
  if (const std::shared_ptr<Cell> last = p.last.lock()) {
    const ir::UOp node = last->node.get();
    realize({&node, 1});
    p.at = g.live_nodes() + p.limit;
    runtime::log(1, fmt::format("realised by itself: {} pending nodes, {} are left", before, g.live_nodes()));
  }
}

Tensor wrap(ir::UOp node) {
  auto cell = std::make_shared<Cell>(node);
  if (Pending& p = Pending::get(); ir::TensorGraph::get().live_nodes() > p.at) p.last = cell;
  return Tensor(std::move(cell));
}

ir::UOp node_of(const Tensor& t) {
  if (!t.cell()) usage_error("the tensor is an empty handle; assign a value to it first");
  return t.cell()->node.get();
}

}  // namespace tensor
}  // namespace sinter
