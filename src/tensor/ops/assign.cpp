// State: assignment to a tensor or a part of it, clone, detach (SEMANTICS V1, V5, H5).
#include "tensor/core/cell_version.h"
#include "tensor/core/operands.h"
#include "tensor/ops/index.h"
#include "tensor/ops/masked.h"
#include "tensor/ops/pick.h"

namespace sinter::inline v0 {
namespace {

using ir::UOp;
using tensor::Call;
using tensor::OuterCall;
using tensor::usage_error;

constexpr const char* kKinds[] = {"a bool", "an integer", "a float"};
/// What makes a tensor of each kind.
constexpr const char* kMakers[] = {"", "Tensor(0) or .to(int64)", "Tensor(0.0) or .to(float32)"};

/// UsageError for a value of a higher kind than the target's.
void require_kind(const Arg& value, UOp target) {
  const DType meant = value.is_tensor() ? tensor::operand(value)->dtype : tensor::default_type(value.kind());
  if (tensor::kind_of(meant) > tensor::kind_of(target->dtype))
    usage_error(
        "{} value ({}) does not fit {} tensor ({}); make the tensor {} one first, by {}, or convert the value with "
        ".to({})",
        kKinds[tensor::kind_of(meant)], tensor::describe(value), kKinds[tensor::kind_of(target->dtype)],
        tensor::describe(target), kKinds[tensor::kind_of(meant)], kMakers[tensor::kind_of(meant)],
        name_of(target->dtype));
}

/// The value as the target stores it: in its dtype and in the shape of the part that is written.
UOp convert_to_part(const Arg& value, UOp target, const Shape& part) {
  require_kind(value, target);
  return tensor::broadcast_to_part(tensor::operand(value, target->dtype), target, part);
}

void require_assignable(const Cell& cell) {
  if (cell.leaf_id && ir::grad_enabled())
    usage_error(
        "the tensor requires grad and is a leaf: assigning it would cut its gradient off; do it under no_grad, or "
        "assign a clone");
}

/// The next version of a cell whose value is x, with v, of the part's shape, in a part of it.
UOp with_part(const Cell& cell, UOp x, const tensor::BasicIndex& part, UOp v) {
  if (!part.box()) return tensor::next_version(cell, tensor::overwrite(x, part, v));
  const ir::Region box = part.region();
  Shape sizes;
  for (const auto& slice : part.slices) sizes.push_back(slice.count);
  const bool whole = box == ir::full_region(x->shape);
  return tensor::next_version(cell, ir::reshape(v, sizes), whole ? std::optional<ir::Region>() : box);
}

/// `value` scattered to the elements of the part that the items' integer tensors name; of several values for one
/// element the last stays. `target` is the tensor that is written, for errors.
UOp scattered_part(UOp part, const tensor::AdvancedIndex& to, UOp target, const Arg& value) {
  const Shape shape = tensor::picked_shape(part, to.axes, to.index, to.place);
  const UOp v = convert_to_part(value, target, shape);
  return tensor::put(part, to.axes, to.index, to.place, v, ir::ScatterMode::Set);
}

/// Makes a version with the value where the mask is true; false for no mask.
bool write_masked(const Tensor& target, const tensor::MaskedValue& to) {
  if (!to.mask) return false;
  const Cell& cell = *target.cell();
  require_assignable(cell);
  const UOp old = tensor::node_of(target), made = ir::where(to.mask, to.value, tensor::read(old, to.part));
  tensor::install(target.cell(), with_part(cell, old, to.part, made));
  return true;
}

/// The same with op(element, value); the elements are not read to the host. False if they must be.
bool update_masked(const Tensor& target, std::span<const Index> items, const Arg& value, Tensor (*op)(Arg, Arg)) {
  if (!tensor::has_mask(items)) return false;
  const Call call("at", value.where());
  const UOp old = tensor::node_of(target);
  tensor::MaskedValue to = tensor::masked_value(old, items, tensor::operand(value));
  if (!to.mask) return false;
  const Tensor part = tensor::wrap(tensor::read(old, to.part));
  const Tensor made = value.is_tensor() ? op(part, tensor::wrap(to.value)) : op(part, value);
  to.value = convert_to_part(made, old, to.part.shape);
  return write_masked(target, to);
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
Tensor& Tensor::operator&=(Arg value) & {
  const Call call("operator&=", value.where());
  return assign(*this & value);
}
Tensor& Tensor::operator|=(Arg value) & {
  const Call call("operator|=", value.where());
  return assign(*this | value);
}
Tensor& Tensor::operator^=(Arg value) & {
  const Call call("operator^=", value.where());
  return assign(*this ^ value);
}

Place Tensor::at(std::vector<Index> items, Loc where) & { return Place(*this, std::move(items), where); }

Place::Place(Tensor target, std::vector<Index> items, Loc where)
    : target_(std::move(target)), items_(std::make_shared<const std::vector<Index>>(std::move(items))), where_(where) {}

Place& Place::assign(Arg value) {
  const OuterCall outer("at", where_);
  tensor::UnmaskedIndex to{{}, *items_};
  if (tensor::has_mask(*items_)) {
    const bool written = [&] {
      const Call call("at", where_);
      const UOp old = tensor::node_of(target_);
      require_kind(value, old);
      return write_masked(target_, tensor::masked_value(old, *items_, tensor::operand(value, old->dtype)));
    }();
    if (written) return *this;
    to = tensor::unmask(target_, *items_);  // a host read: no node lives across it
  }
  const Call call("at", where_);
  const Cell& cell = *target_.cell();
  const UOp old = tensor::node_of(target_);
  UOp next;
  if (!tensor::has_tensor(to.items)) {
    const tensor::BasicIndex part = tensor::resolve(old, to.items);
    require_assignable(cell);
    next = with_part(cell, old, part, convert_to_part(value, old, part.shape));
  } else {
    const bool masked = tensor::has_mask(*items_);
    const UOp x = masked ? ir::reshape(old, to.shape) : old;
    const tensor::AdvancedIndex advanced = tensor::resolve_advanced(x, to.items);
    const tensor::BasicIndex part = tensor::resolve(x, advanced.basic);
    require_assignable(cell);
    const UOp v = scattered_part(tensor::read(x, part), advanced, old, value);
    const bool whole = part.box() && part.region() == ir::full_region(x->shape);
    next = !masked ? with_part(cell, x, part, v)
                   : tensor::next_version(cell, ir::reshape(whole ? v : tensor::overwrite(x, part, v), old->shape));
  }
  tensor::install(target_.cell(), next);
  return *this;
}

Place& Place::operator+=(Arg value) {
  const OuterCall outer("operator+=", value.where());
  if (update_masked(target_, *items_, value, operator+)) return *this;
  return assign(static_cast<Tensor>(*this) + value);
}
Place& Place::operator-=(Arg value) {
  const OuterCall outer("operator-=", value.where());
  if (update_masked(target_, *items_, value, operator-)) return *this;
  return assign(static_cast<Tensor>(*this) - value);
}
Place& Place::operator*=(Arg value) {
  const OuterCall outer("operator*=", value.where());
  if (update_masked(target_, *items_, value, operator*)) return *this;
  return assign(static_cast<Tensor>(*this) * value);
}
Place& Place::operator/=(Arg value) {
  const OuterCall outer("operator/=", value.where());
  if (update_masked(target_, *items_, value, operator/)) return *this;
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

}  // namespace sinter::inline v0
