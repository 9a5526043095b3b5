// Cells, handles and call scopes.
#include "tensor/cell.h"

#include <fmt/format.h>

namespace sinter {
inline namespace v0 {

Cell::~Cell() = default;

Arg::Arg(const Tensor& tensor, Loc where) : cell_(tensor.cell()), where_(where) {}
Arg::Arg(const Place& place, Loc where) : Arg(static_cast<Tensor>(place), where) {}

}  // namespace v0

namespace tensor {
namespace {

struct Frame {
  std::string_view name;
  Loc where;
};
thread_local Frame frame;
thread_local int depth = 0;

}  // namespace

Call::Call(std::string_view name, Loc where) : outermost_(depth++ == 0) {
  if (outermost_) frame = {name, where};
}
Call::~Call() { --depth; }

void usage_error(const std::string& message) {
  throw UsageError(depth ? fmt::format("{}: {}", frame.name, message) : message, depth ? frame.where : Loc());
}

Tensor wrap(ir::UOp node) { return Tensor(std::make_shared<Cell>(node)); }

ir::UOp node_of(const Tensor& t) {
  if (!t.cell()) usage_error("the tensor is an empty handle; assign a value to it first");
  return t.cell()->node.get();
}

}  // namespace tensor
}  // namespace sinter
