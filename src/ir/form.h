// What a node is besides its sources. Nodes that agree in it share one form, which is copied once and compared by
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
  const uint64_t intern_hash;        ///< hash of all of the above
  const uint64_t order_hash;         ///< the node's own part of Node::order_hash; blind to constants and slots
  const uint64_t opaque_order_hash;  ///< the same for a node whose op and sources do not count: type, shape and device
  mutable uint32_t users = 0;        ///< nodes, and FormRefs
  bool interned = false;
  NodeForm* next = nullptr;  ///< in the intern table: next of the bucket
};

/// A reference to a form beside those of nodes. The graph must outlive it. Retain and release a form only where the
/// graph may be used.
struct FormReleaser {
  void operator()(const NodeForm* form) const { --form->users; }
};
using FormRef = std::unique_ptr<const NodeForm, FormReleaser>;
inline FormRef retain_form(const NodeForm& form) {
  ++form.users;
  return FormRef(&form);
}

/// The forms of a graph. An unused form stays for the next equal node until the table is full.
class FormTable {
 public:
  FormTable() = default;
  ~FormTable();
  FormTable(const FormTable&) = delete;
  FormTable& operator=(const FormTable&) = delete;

  /// The form of this description. It has no users yet: the next call may evict it.
  const NodeForm& of(Op op, DType dtype, Device device, const Shape& shape, const Attr& attr);

 private:
  InternTable<NodeForm> table_;
};

}  // namespace sinter::ir
