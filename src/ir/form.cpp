// Creating and evicting forms.
#include "ir/form.h"

namespace sinter::ir {
namespace {

uint64_t place_of(const Shape& shape, Device device) { return mix(order_hash_of(shape), device.id()); }

/// Runs for every node that is made: one multiplication per size. Most nodes have no attribute.
uint64_t hash(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
  uint64_t h = device.id() << 16 ^ static_cast<uint64_t>(op) << 8 ^ static_cast<uint64_t>(dtype);
  for (const Dim& d : shape) h = (h ^ static_cast<uint64_t>(d.value())) * kSpread;
  if (attr.index()) h ^= hash_of(attr);
  return mix(h, shape.rank());
}
bool same(const Attr& a, const Attr& b) { return a.index() == b.index() && (!a.index() || a == b); }

uint64_t order_hash(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr) {
  const uint64_t h = mix(mix(static_cast<uint64_t>(op), static_cast<uint64_t>(dtype)), place_of(shape, device));
  return op == Op::Const || op == Op::Param || op == Op::Arg ? h : mix(h, order_hash_of(attr));
}

}  // namespace

NodeForm::NodeForm(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr, uint64_t intern_hash)
    : op(op),
      dtype(dtype),
      device(device),
      shape(shape),
      attr(attr),
      intern_hash(intern_hash),
      order_hash(ir::order_hash(op, dtype, device, shape, attr)),
      opaque_order_hash(mix(mix(0x5eed, static_cast<uint64_t>(dtype)), place_of(shape, device))) {}

const NodeForm& FormTable::of(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr) {
  const uint64_t intern_hash = hash(op, dtype, device, shape, attr);
  const NodeForm* known = table_.find(intern_hash, [&](const NodeForm& f) {
    return f.op == op && f.dtype == dtype && f.device == device && f.shape == shape && same(f.attr, attr);
  });
  if (known) return *known;
  if (table_.full()) {
    table_.erase_if([](const NodeForm& f) { return f.users == 0; });
    if (table_.half_full()) table_.grow();
  }
  auto* form = new NodeForm(op, dtype, device, shape, attr, intern_hash);
  table_.add(form);
  return *form;
}

FormTable::~FormTable() {
  table_.erase_if([](const NodeForm&) { return true; });
}

}  // namespace sinter::ir
