// State: assignment to a tensor or a part of it, clone, detach (SEMANTICS V1, V5, H5).
#include <fmt/core.h>

#include "tensor/core/cell_version.h"
#include "tensor/core/operands.h"
#include "tensor/ops/index.h"

namespace sinter {
inline namespace v0 {
namespace {

using ir::UOp;
using tensor::Call;
using tensor::usage_error;

constexpr const char* kKinds[] = {"a bool", "an integer", "a float"};

/// The value as the target stores it: in its dtype and in the shape of the part that is written.
UOp convert_to_part(const Arg& value, UOp target, const Shape& part) {
  const DType meant = value.is_tensor() ? tensor::operand(value)->dtype : tensor::default_type(value.kind());
  if (tensor::kind_of(meant) > tensor::kind_of(target->dtype))
    usage_error(fmt::format("{} value ({}) does not fit {} tensor ({}); convert it with .to({})",
                            kKinds[tensor::kind_of(meant)], tensor::describe(value),
                            kKinds[tensor::kind_of(target->dtype)], tensor::describe(target), name_of(target->dtype)));
  return tensor::broadcast_to_part(tensor::operand(value, target->dtype), target, part);
}

void require_assignable(const Cell& cell) {
  if (cell.leaf_id && ir::grad_enabled())
    usage_error(
        "the tensor requires grad and is a leaf: assigning it would cut its gradient off; do it under no_grad, or "
        "assign a clone");
}

}  // namespace

Tensor& Tensor::assign(Arg value, Loc where) & {
  const Call call("assign", where);
  UOp old = tensor::node_of(*this);
  require_assignable(*cell_);
  tensor::install(cell_, tensor::next_version(*cell_, convert_to_part(value, old, old->shape)));
  return *this;
}

Tensor& Tensor::operator+=(Arg value) & {
  const Call call("operator+=", value.where());
  return assign(*this + value);
}
Tensor& Tensor::operator-=(Arg value) & {
  const Call call("operator-=", value.where());
  return assign(*this - value);
}
Tensor& Tensor::operator*=(Arg value) & {
  const Call call("operator*=", value.where());
  return assign(*this * value);
}
Tensor& Tensor::operator/=(Arg value) & {
  const Call call("operator/=", value.where());
  return assign(*this / value);
}

Place Tensor::at(std::vector<Index> items, Loc where) & { return Place(*this, std::move(items), where); }

Place::Place(Tensor target, std::vector<Index> items, Loc where)
    : target_(std::move(target)), items_(std::make_shared<const std::vector<Index>>(std::move(items))), where_(where) {}

Place& Place::assign(Arg value) {
  const Call call("at", where_);
  UOp old = tensor::node_of(target_);
  const tensor::BasicIndex part = tensor::resolve(old, *items_);
  require_assignable(*target_.cell());
  if (!part.box()) {
    tensor::install(
        target_.cell(),
        tensor::next_version(*target_.cell(), tensor::overwrite(old, part, convert_to_part(value, old, part.shape))));
    return *this;
  }
  const ir::Region box = part.region();
  Shape sizes;
  for (const auto& slice : part.slices) sizes.push_back(slice.count);
  UOp v = ir::reshape(convert_to_part(value, old, part.shape), sizes);
  const bool whole = box == ir::full_region(old->shape);
  tensor::install(target_.cell(), tensor::next_version(*target_.cell(), v, whole ? std::optional<ir::Region>() : box));
  return *this;
}

Place& Place::operator+=(Arg value) {
  const Call call("operator+=", value.where());
  return assign(static_cast<Tensor>(*this) + value);
}
Place& Place::operator-=(Arg value) {
  const Call call("operator-=", value.where());
  return assign(static_cast<Tensor>(*this) - value);
}
Place& Place::operator*=(Arg value) {
  const Call call("operator*=", value.where());
  return assign(static_cast<Tensor>(*this) * value);
}
Place& Place::operator/=(Arg value) {
  const Call call("operator/=", value.where());
  return assign(static_cast<Tensor>(*this) / value);
}

/// A version without a home: never merged with its source, and stored in memory of its own if it is realized.
Tensor Tensor::clone(Loc where) const {
  const tensor::Call call("clone", where);
  const UOp n = tensor::node_of(*this);
  return tensor::wrap(ir::TensorGraph::get().make({ir::Op::After, n->dtype, n->shape, {n}}));
}

Tensor Tensor::detach(Loc where) const {
  const tensor::Call call("detach", where);
  return tensor::wrap(ir::detach(tensor::node_of(*this)));
}

}  // namespace v0
}  // namespace sinter
