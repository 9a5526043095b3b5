// Making and dropping forms.
#include "ir/form.h"

namespace sinter::ir {
namespace {

uint64_t place_of(const Shape& shape, Device device) { return mix(likeness_of(shape), device.id()); }

/// Of every node that is made: one multiplication per size, and most have no attribute.
uint64_t hash(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
  uint64_t h = device.id() << 16 ^ static_cast<uint64_t>(op) << 8 ^ static_cast<uint64_t>(dtype);
  for (const Dim& d : shape) h = (h ^ static_cast<uint64_t>(d.value())) * kSpread;
  if (attr.index()) h ^= hash_of(attr);
  return mix(h, shape.rank());
}
bool same(const Attr& a, const Attr& b) { return a.index() == b.index() && (!a.index() || a == b); }

uint64_t likeness(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr) {
  const uint64_t h = mix(mix(static_cast<uint64_t>(op), static_cast<uint64_t>(dtype)), place_of(shape, device));
  return op == Op::Const ? h : mix(h, likeness_of(attr));
}

}  // namespace

Form::Form(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr, uint64_t identity)
    : op(op),
      dtype(dtype),
      device(device),
      shape(shape),
      attr(attr),
      identity(identity),
      likeness(ir::likeness(op, dtype, device, shape, attr)),
      veiled(mix(mix(0x5eed, static_cast<uint64_t>(dtype)), place_of(shape, device))) {}

const Form& FormTable::of(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr) {
  const uint64_t identity = hash(op, dtype, device, shape, attr);
  const Form* known = table_.find(identity, [&](const Form& f) {
    return f.op == op && f.dtype == dtype && f.device == device && f.shape == shape && same(f.attr, attr);
  });
  if (known) return *known;
  if (table_.full()) {
    table_.drop([](const Form& f) { return f.users == 0; });
    if (table_.half_full()) table_.grow();
  }
  auto* form = new Form(op, dtype, device, shape, attr, identity);
  table_.add(form);
  return *form;
}

FormTable::~FormTable() {
  table_.drop([](const Form&) { return true; });
}

}  // namespace sinter::ir
