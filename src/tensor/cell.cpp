// Cells, handles and call scopes.
#include "tensor/cell.h"

#include <fmt/format.h>

namespace sinter {
namespace {

struct Frame {
  std::string_view name;
  Loc where;
};
thread_local Frame frame;
thread_local int depth = 0;

}  // namespace

inline namespace v0 {

CallScope::CallScope(std::string_view name, Loc where) {
  if (depth++ == 0) frame = {name, where};
}
CallScope::~CallScope() { --depth; }

Cell::~Cell() = default;

Arg::Arg(const Tensor& tensor, Loc where) : cell_(tensor.cell()), where_(where) {}
Arg::Arg(const Place& place, Loc where) : Arg(static_cast<Tensor>(place), where) {}

}  // namespace v0

namespace tensor {
void usage_error(const std::string& message) {
  throw UsageError(depth ? fmt::format("{}: {}", frame.name, message) : message, depth ? frame.where : Loc());
}

Tensor number(double value, DType dtype) {
  ir::TensorGraph& g = ir::TensorGraph::get();
  ir::GraphScope scope;
  return wrap(g.make({ir::Op::Num, dtype, {}, {}, ir::NumAttr{g.fresh_id(), ir::Scalar::of(dtype, value)}}));
}

Tensor number(uint64_t value) {
  ir::TensorGraph& g = ir::TensorGraph::get();
  ir::GraphScope scope;
  return wrap(g.make({ir::Op::Num, DType::U64, {}, {}, ir::NumAttr{g.fresh_id(), ir::Scalar::of(DType::U64, static_cast<int64_t>(value))}}));
}

Tensor wrap(ir::UOp node) { return Tensor(std::make_shared<Cell>(node)); }

ir::UOp node_of(const Tensor& t) {
  if (!t.cell()) usage_error("the tensor is an empty handle; assign a value to it first");
  return t.cell()->node.get();
}

}  // namespace tensor
}  // namespace sinter
