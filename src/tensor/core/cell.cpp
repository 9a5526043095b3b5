// Cells, handles and call scopes.
#include "tensor/core/cell.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/user_rule.h"

namespace sinter {
namespace {

/// Leaf id to cell. Never destroyed: cells may die after main.
std::unordered_map<uint64_t, std::weak_ptr<Cell>>& leaves() {
  static auto* map = new std::unordered_map<uint64_t, std::weak_ptr<Cell>>;
  return *map;
}

}  // namespace

inline namespace v0 {

using namespace tensor;

CallScope::CallScope(std::string_view name, Loc where) { enter_call(name, where); }
CallScope::~CallScope() { leave_call(); }

Cell::~Cell() {
  const GraphScope scope;
  --origin.tensors;
  if (leaf_id) unregister_leaf(*this);
  node = {};
}

Arg::Arg(const Tensor& tensor, Loc where) : cell_(tensor.cell()), where_(where) {}
Arg::Arg(const Place& place, Loc where) : Arg(static_cast<Tensor>(place), where) {}
Arg::Arg(const Dim& size, Loc where) : where_(where), kind_(size.symbolic() ? Kind::Size : Kind::Integer) {
  if (size.symbolic())
    cell_ = Tensor(size, where).cell();
  else
    number_.integer = size.value();
}
double Arg::as_double(float value) {
  return runtime::cpu::with_default_float_env([&] { return static_cast<double>(value); });
}
double Arg::as_double(long double value) {
  return runtime::cpu::with_default_float_env([&] { return static_cast<double>(value); });
}

}  // namespace v0

namespace tensor {

void register_leaf(const std::shared_ptr<Cell>& cell) { leaves()[cell->leaf_id] = cell; }
void unregister_leaf(Cell& cell) {
  GraphScope scope;
  leaves().erase(cell.leaf_id);
  forget_leaf_hooks(cell.leaf_id);
  cell.leaf_id = 0;
}
std::shared_ptr<Cell> cell_of_leaf(uint64_t id) {
  const auto found = leaves().find(id);
  return found == leaves().end() ? nullptr : found->second.lock();
}

std::vector<UOp> pending_leaves() {
  std::vector<std::shared_ptr<Cell>> cells;  // one may end here, which changes the map
  for (const auto& [id, weak] : leaves())
    if (std::shared_ptr<Cell> cell = weak.lock()) cells.push_back(std::move(cell));
  std::erase_if(cells, [](const std::shared_ptr<Cell>& cell) { return cell->node->storage() != nullptr; });
  std::ranges::sort(cells, {}, &Cell::number);
  std::vector<UOp> pending;
  for (const std::shared_ptr<Cell>& cell : cells) {
    pending.push_back(cell->node.get());
    TensorGraph::get().hold_in_scope(pending.back());  // its cell may end here
  }
  return pending;
}

void usage_error(const std::string& message) {
  const ir::Caller* caller = ir::caller();
  throw UsageError(caller ? fmt::format("{}: {}", caller->name, message) : message, caller ? caller->where : Loc());
}

UOp launch_argument(Scalar value, DType dtype, Device device) {
  TensorGraph& g = TensorGraph::get();
  return g.make({Op::Num, dtype, {}, {}, value, device});
}

Tensor wrap(UOp node) {
  auto cell = std::make_shared<Cell>(node);
  kHooks.on_value(cell);
  if (Observer* observer = Observer::current()) observer->on_make(cell);
  return Tensor(std::move(cell));
}

UOp node_of(const std::shared_ptr<Cell>& cell) {
  if (!cell) usage_error("the tensor is an empty handle; assign a value to it first");
  if (Observer* observer = Observer::current()) observer->on_use(cell);
  return cell->node.get();
}

Tensor another_handle(const Tensor& t) {
  const GraphScope scope;
  return wrap(node_of(t));
}

}  // namespace tensor
}  // namespace sinter
