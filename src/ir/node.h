// A node of a program: op, type, shape, attribute and sources, immutable but for storage, and sources that a stored
// node drops (SEMANTICS H2).
// Everything else refers to nodes by `UOp`: a borrowed pointer with operators (ir/build.h).
#pragma once

#include <cstdint>
#include <functional>

#include "ir/form.h"
#include "ir/storage.h"
#include "sinter/device.h"
#include "sinter/inline_vector.h"

namespace sinter::ir {

class Graph;
struct Node;

/// A borrowed node. Valid while something owns the node: its arena, or, in the tensor graph, a handle, an edge, or the
/// GraphScope in which it was made.
class UOp {
 public:
  UOp() = default;
  UOp(Node* node) : node_(node) {}  // NOLINT
  Node* operator->() const { return node_; }
  Node& operator*() const { return *node_; }
  Node* get() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(UOp a, UOp b) { return a.node_ == b.node_; }

 private:
  Node* node_ = nullptr;
};

using Sources = InlineVector<UOp, 3>;

/// What the tensor graph knows of a node beyond its meaning. Guarded by that graph's mutex, unused in arenas.
struct NodeState {
  uint32_t refs = 0;  ///< edges, cells, scopes and plans in flight
  bool requires_grad = false;
  bool leaf = false;             ///< a LEAF or a version of one: gradients stop here
  bool consumed = false;         ///< a backward() has visited it (SEMANTICS G2)
  bool claimed = false;          ///< a plan in flight will store it (SEMANTICS H6)
  uint64_t leaf_id = 0;          ///< of a leaf: key of the cell that collects the gradient
  Storage* storage = nullptr;    ///< memory of the value; counted
  Storage* home = nullptr;       ///< of a version: the storage that it may overwrite; counted
  Node* detached = nullptr;      ///< the DETACH of this node, if alive; not counted
  Node* loss = nullptr;          ///< of a gradient: its loss; counted, but no reason to store it (SEMANTICS V4)
  NodeOrigin* origin = nullptr;  ///< the call that made it, or made the first version
};

struct Node {
  /// Not an aggregate: compilers would zero all of its bytes first, for every node of every step.
  Node(Graph* graph, const NodeForm& form, uint64_t id, const Sources& src, uint64_t intern_hash, uint64_t order_hash)
      : graph(graph),
        form(form),
        op(form.op),
        dtype(form.dtype),
        device(form.device),
        id(id),
        shape(form.shape),
        attr(form.attr),
        src(src),
        intern_hash(intern_hash),
        order_hash(order_hash) {
    ++form.users;
  }
  ~Node() { --form.users; }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  Graph* const graph;
  const NodeForm& form;
  const Op op;
  const DType dtype;
  const Device device;
  const uint64_t id;           ///< creation number within its graph: an order free of addresses
  const Shape& shape;          ///< of the form
  const Attr& attr;            ///< of the form
  Sources src;                 ///< emptied when a stored node drops its history
  const uint64_t intern_hash;  ///< of form and sources; 0 if the node is never interned
  const uint64_t order_hash;   ///< orders commutative operands; blind to ids, constants and what is far or stored (N4)
  bool interned = false;
  Node* next = nullptr;   ///< in the intern table: next of the bucket
  uint64_t mark = 0;      ///< set by the graph's latest walk to reach it
  uint32_t position = 0;  ///< scratch for the walk that set the mark
  NodeState state = {};

  template <class T>
  const T& get() const {
    return std::get<T>(attr);
  }
  int64_t integer() const { return std::get<int64_t>(attr); }
  const Ints& ints() const { return std::get<Ints>(attr); }
  const Region& region() const { return std::get<Region>(attr); }
  /// The axis of a GATHER or SCATTER.
  int64_t pick_axis() const { return std::holds_alternative<ScatterAttr>(attr) ? scatter().axis : integer(); }
  const ScatterAttr& scatter() const { return std::get<ScatterAttr>(attr); }
  const ReduceAttr& reduction() const { return std::get<ReduceAttr>(attr); }
  const Scalar& scalar() const { return std::get<Scalar>(attr); }
  size_t rank() const { return shape.rank(); }

  Storage* storage() const { return state.storage; }
  /// Has history that a gradient may walk even though the value is stored (SEMANTICS H3).
  bool has_history() const { return state.requires_grad && !state.leaf && !state.consumed; }
};

}  // namespace sinter::ir

template <>
struct std::hash<sinter::ir::UOp> {
  size_t operator()(sinter::ir::UOp u) const noexcept { return std::hash<sinter::ir::Node*>{}(u.get()); }
};
