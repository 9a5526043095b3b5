// State: assignment to a tensor or a part of it, clone, detach (SEMANTICS V1, V5, H5).
#include "sinter/for_each.h"
#include "tensor/core/cell_version.h"
#include "tensor/core/operands.h"
#include "tensor/ops/index.h"
#include "tensor/ops/masked.h"
#include "tensor/ops/pick.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

constexpr const char* kKinds[] = {"a bool", "an integer", "a float"};
/// What makes a tensor of each kind.
constexpr const char* kMakers[] = {"", "Tensor(0) or .to(int64)", "Tensor(0.0) or .to(float32)"};

/// UsageError for a value of a higher kind than the target's.
void require_kind(const Arg& value, UOp target) {
  const DType meant = value.is_tensor() ? operand(value)->dtype : default_type(value.kind());
  if (kind_of(meant) > kind_of(target->dtype))
    usage_error(
        "{} value ({}) does not fit {} tensor ({}); make the tensor {} one first, by {}, or convert the value with "
        ".to({})",
        kKinds[kind_of(meant)], describe(value), kKinds[kind_of(target->dtype)], describe(target),
        kKinds[kind_of(meant)], kMakers[kind_of(meant)], name_of(target->dtype));
}

/// The value as the target stores it: in its dtype and in the shape of the part that is written.
UOp convert_to_part(const Arg& value, UOp target, const Shape& part) {
  require_kind(value, target);
  return broadcast_to_part(operand(value, target->dtype), target, part);
}

void require_assignable(const Cell& cell) {
  if (cell.leaf_id && grad_enabled())
    usage_error(
        "the tensor requires grad and is a leaf: assigning it would cut its gradient off; do it under no_grad, or "
        "assign a clone");
}

/// The next version of a cell whose value is x, with v, of the part's shape, in a part of it.
UOp with_part(const Cell& cell, UOp x, const BasicIndex& part, UOp v) {
  if (!part.box()) return next_version(cell, overwrite(x, part, v));
  const Region box = part.region();
  auto sizes = mapped<Shape>(part.slices, [](const auto& slice) { return slice.count; });
  const bool whole = box == full_region(x->shape);
  return next_version(cell, reshape(v, sizes), whole ? std::optional<Region>() : box);
}

/// `value` scattered to the elements of the part that the items' integer tensors name. `target` is the tensor that is
/// written, for errors.
UOp scattered_part(UOp part, const AdvancedIndex& to, UOp target, const Arg& value, ScatterMode mode) {
  const Shape shape = picked_shape(part, to.axes, to.index, to.place);
  const UOp v = convert_to_part(value, target, shape);
  return tensor::put(part, to.axes, to.index, to.place, v, mode);
}

/// Writes the value to the part that the items name. A mask among them is read to the host.
void write(const Tensor& target, std::span<const Index> items, const Arg& value, Loc where, ScatterMode mode) {
  UnmaskedIndex to{{}, {items.begin(), items.end()}};
  const bool masked = has_mask(items);
  if (masked) to = unmask(target, items);  // a host read: no node lives across it
  const Call call("at", where);
  const UOp old = node_of(target);  // throws for an empty handle
  const Cell& cell = *target.cell();
  UOp next;
  if (!has_tensor(to.items)) {
    const BasicIndex part = resolve(old, to.items);
    require_assignable(cell);
    next = with_part(cell, old, part, convert_to_part(value, old, part.shape));
  } else {
    const UOp x = masked ? reshape(old, to.shape) : old;
    const AdvancedIndex advanced = resolve_advanced(x, to.items);
    const BasicIndex part = resolve(x, advanced.basic);
    require_assignable(cell);
    const UOp v = scattered_part(read(x, part), advanced, old, value, mode);
    const bool whole = part.box() && part.region() == full_region(x->shape);
    next = !masked ? with_part(cell, x, part, v)
                   : next_version(cell, reshape(whole ? v : overwrite(x, part, v), old->shape));
  }
  install(target.cell(), next);
}

/// Makes a version with the value where the mask is true; false for no mask.
bool write_masked(const Tensor& target, const MaskedValue& to) {
  if (!to.mask) return false;
  const Cell& cell = *target.cell();
  require_assignable(cell);
  const UOp old = node_of(target), made = where(to.mask, to.value, read(old, to.part));
  install(target.cell(), with_part(cell, old, to.part, made));
  return true;
}

/// The same with op(element, value); the elements are not read to the host. False if they must be.
bool update_masked(const Tensor& target, std::span<const Index> items, const Arg& value, Tensor (*op)(Arg, Arg)) {
  if (!has_mask(items)) return false;
  const Call call("at", value.where());
  const UOp old = node_of(target);
  MaskedValue to = masked_value(old, items, operand(value));
  if (!to.mask) return false;
  const Tensor part = wrap(read(old, to.part));
  const Tensor made = value.is_tensor() ? op(part, wrap(to.value)) : op(part, value);
  to.value = convert_to_part(made, old, to.part.shape);
  return write_masked(target, to);
}

}  // namespace

Tensor& Tensor::assign(Arg value, Loc where) & {
  const Call call("assign", where);
  UOp old = node_of(*this);
  require_assignable(*cell_);
  install(cell_, next_version(*cell_, convert_to_part(value, old, old->shape)));
  return *this;
}

#define SINTER_ASSIGN(op)                               \
  Tensor& Tensor::operator op##=(Arg value)& {          \
    const Call call("operator" #op "=", value.where()); \
    return assign(*this op value);                      \
  }
SINTER_FOR_EACH(SINTER_ASSIGN, +, -, *, /, &, |, ^)
#undef SINTER_ASSIGN

Place Tensor::at(std::vector<Index> items, Loc where) & { return Place(*this, std::move(items), where); }

Place::Place(Tensor target, std::vector<Index> items, Loc where)
    : target_(std::move(target)), items_(std::make_shared<const std::vector<Index>>(std::move(items))), where_(where) {}

Place& Place::assign(Arg value) {
  const OuterCall outer("at", where_);
  const bool written = has_mask(*items_) && [&] {
    const Call call("at", where_);
    const UOp old = node_of(target_);
    require_kind(value, old);
    return write_masked(target_, masked_value(old, *items_, operand(value, old->dtype)));
  }();
  if (!written) write(target_, *items_, value, where_, ScatterMode::Set);
  return *this;
}

Place& Place::accumulate(Arg value) {
  const OuterCall outer("at", where_);
  const Arg cast = [&] {
    const Call call("at", where_);
    const UOp old = node_of(target_);
    require_kind(value, old);
    return value.is_tensor() ? Arg(wrap(operand(value, old->dtype)), where_) : value;
  }();
  if (!has_tensor(*items_)) return *this += cast;
  if (!update_masked(target_, *items_, cast, operator+)) write(target_, *items_, cast, where_, ScatterMode::Add);
  return *this;
}

#define SINTER_ASSIGN_PART(op)                                             \
  Place& Place::operator op##=(Arg value) {                                \
    const OuterCall outer("operator" #op "=", value.where());              \
    if (update_masked(target_, *items_, value, operator op)) return *this; \
    return assign(static_cast<Tensor>(*this) op value);                    \
  }
SINTER_FOR_EACH(SINTER_ASSIGN_PART, +, -, *, /)
#undef SINTER_ASSIGN_PART

/// A version without a home: never merged with its source, and stored in memory of its own if it is realized.
Tensor Tensor::clone(Loc where) const {
  const Call call("clone", where);
  const UOp n = node_of(*this);
  return wrap(TensorGraph::get().make({Op::After, n->dtype, n->shape, {n}}));
}

Tensor Tensor::detach(Loc where) const {
  const Call call("detach", where);
  return wrap(ir::detach(node_of(*this)));
}

}  // namespace sinter::inline v0
