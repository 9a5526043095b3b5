// A graph owns nodes and makes each only once. `Arena` frees all of its nodes together: plans and kernels are arenas,
// each of one thread at a time. The reference-counted graph of tensors is ir/tensor_graph.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/intern_table.h"
#include "ir/node.h"

namespace sinter::ir {

/// The description of a node, valid for one call of make(). Shape and attribute are borrowed, and copied only into a
/// new form. The device is that of the sources, if there are any.
struct NodeSpec {
  Op op;
  DType dtype;
  const Shape& shape;
  Sources src;
  const Attr& attr = no_attr();
  Device device = {};
};

/// Whether make() may reorder the sources. Max and Min of equal floats give the first one, and -0 equals 0, so there
/// the order matters.
inline bool commutes(Op op, DType dtype) {
  return has(op, kCommutative) && !((op == Op::Max || op == Op::Min) && is_float(dtype));
}

class Graph {
 public:
  virtual ~Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// The node of this description: an existing one or a new one. Orders commutative sources, never simplifies. Callers
  /// give correct shapes and types: the builders of ir/build.h do, and verify.h checks.
  virtual UOp make(NodeSpec&& spec);

  /// Starts a walk. Nodes whose mark equals the returned number have been visited. One walk at a time.
  uint64_t next_mark() { return ++mark_; }
  size_t live_nodes() const { return live_; }
  /// The id from which on nodes are younger than the latest storage of any node.
  uint64_t first_since_storage() const { return first_since_storage_; }

 protected:
  Graph() = default;
  static void canonicalize(NodeSpec& spec);
  const NodeForm& form_of(const NodeSpec& spec) {
    return forms_.of(spec.op, spec.dtype, spec.device, spec.shape, spec.attr);
  }
  static uint64_t intern_hash_of(const NodeForm& form, const Sources& src);
  UOp find(const NodeForm& form, const Sources& src, uint64_t intern_hash) const {
    return table_.find(intern_hash, [&](const Node& n) { return &n.form == &form && n.src == src; });
  }
  /// Interned unless `intern_hash` is 0.
  Node* create(const NodeForm& form, const Sources& src, uint64_t intern_hash);
  void unintern(Node* node) noexcept { table_.remove(node); }
  /// Memory for a node, which is constructed there at once.
  virtual void* allocate() = 0;
  /// Takes back memory in which no node was constructed. Memory from an arena is allocate()d again.
  virtual void deallocate(void*) noexcept {}
  /// A node got storage.
  void note_storage() { first_since_storage_ = next_id_; }

  size_t live_ = 0;
  uint64_t mark_ = 0;  ///< of the last walk; 64 bits never overflow

 private:
  FormTable forms_;
  InternTable<Node> table_;
  uint64_t next_id_ = 1;
  uint64_t first_since_storage_ = 1;
};

/// Nodes with a common lifetime.
class Arena final : public Graph {
 public:
  Arena() = default;
  ~Arena() override;

 private:
  struct NodeChunk {
    static constexpr size_t kNodes = 16;
    alignas(Node) std::byte nodes[kNodes][sizeof(Node)];
  };
  void* allocate() override;
  std::vector<std::unique_ptr<NodeChunk>> chunks_;
};

}  // namespace sinter::ir
