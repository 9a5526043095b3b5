// What a node is beside its sources. Nodes that agree in it share one form: it is copied once, and compared by its
// address.
#pragma once

#include <cstdint>
#include <memory>

#include "ir/attr.h"
#include "ir/intern_table.h"
#include "ir/op.h"
#include "sinter/device.h"

namespace sinter::ir {

struct NodeForm {
  NodeForm(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr, uint64_t intern_hash);

  const Op op;
  const DType dtype;
  const Device device;
  const Shape shape;
  const Attr attr;
  const uint64_t intern_hash;  ///< hash of all that
  const uint64_t order_hash;  ///< what commutative order sees of a node, but for its sources: nothing of constants (N4)
  const uint64_t opaque_order_hash;  ///< what it sees of one whose sources and op do not count: type, shape and device
  mutable uint32_t users = 0;        ///< nodes, and whoever keeps it besides
  bool interned = false;
  NodeForm* next = nullptr;  ///< in the table, of one bucket
};

/// A form that somebody keeps beside the nodes. The graph outlives him, and is his to use whenever he takes or leaves
/// one.
struct FormReleaser {
  void operator()(const NodeForm* form) const { --form->users; }
};
using FormRef = std::unique_ptr<const NodeForm, FormReleaser>;
inline FormRef retain_form(const NodeForm& form) {
  ++form.users;
  return FormRef(&form);
}

/// The forms of a graph. One that nobody uses any more stays for the next node like the last, until the table is full.
class FormTable {
 public:
  FormTable() = default;
  ~FormTable();
  FormTable(const FormTable&) = delete;
  FormTable& operator=(const FormTable&) = delete;

  /// The one form of this description. Of no use yet: the next call may drop it.
  const NodeForm& of(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr);

 private:
  InternTable<NodeForm> table_;
};

}  // namespace sinter::ir
