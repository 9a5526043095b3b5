// A graph owns nodes and makes each one once. `Arena` drops all of them together: plans and kernels are arenas, each
// confined to one thread. The counted graph of tensors is uop/tensor_graph.h.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

#include "uop/node.h"

namespace sinter::ir {

/// What make() needs to know of a node. The device is taken from the sources when there are any.
struct NodeSpec {
  Op op;
  DType dtype;
  Shape shape;
  std::vector<UOp> src;
  Attr attr = {};
  Device device = {};
};

/// Whether make() orders the sources. Of two equal floats Max and Min give the first, and -0 equals 0: there the order counts.
inline bool commutes(Op op, DType dtype) { return has(op, kCommutative) && !((op == Op::Max || op == Op::Min) && is_float(dtype)); }

class Graph {
 public:
  virtual ~Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// The node of this description: an existing one, or a new one. Orders commutative sources; never simplifies.
  /// Callers give right shapes and types: the builders of uop/build.h do, and verify.h checks.
  virtual UOp make(NodeSpec spec);

  /// Starts a walk: nodes whose mark equals the returned number have been met. One walk at a time.
  uint64_t next_mark() { return ++mark_; }
  size_t live_nodes() const { return live_; }

 protected:
  Graph() = default;
  static void canonicalise(NodeSpec& spec);
  UOp find(const NodeSpec& spec, uint64_t identity) const;
  Node* create(NodeSpec&& spec, uint64_t identity, bool intern);
  void forget(Node* node);  ///< takes it out of the intern table
  virtual Node* allocate(Node&& node) = 0;
  static uint64_t identity_of(const NodeSpec& spec);

  size_t live_ = 0;
  uint64_t mark_ = 0;  ///< of the last walk: 64 bits, which no process counts through

 private:
  struct Key { const NodeSpec* spec; uint64_t identity; };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Node* n) const { return n->identity; }
    size_t operator()(const Key& k) const { return k.identity; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Node* a, const Node* b) const { return a == b; }
    bool operator()(const Key& k, const Node* n) const;
    bool operator()(const Node* n, const Key& k) const { return (*this)(k, n); }
  };
  std::unordered_set<Node*, Hash, Equal> table_;
  uint64_t next_id_ = 1;
};

/// Nodes that live and die together.
class Arena final : public Graph {
 private:
  Node* allocate(Node&& node) override;
  std::deque<Node> nodes_;
};

}  // namespace sinter::ir
