// The one long-lived graph of the process (SEMANTICS H6): reference-counted nodes, guarded by one mutex. A node without
// handle, edge or cell is freed at once, without recursion, together with its memory.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/graph_mutex.h"

namespace sinter::ir {

class TensorGraph final : public Graph {
 public:
  /// Never destroyed: handles in static objects may die after main (SEMANTICS V7).
  static TensorGraph& get() {
    static TensorGraph& graph = construct();
    return graph;
  }

  /// Under no_grad, an operand with history is read through DETACH (SEMANTICS G6). Nodes that require grad, and kUnique
  /// ones, are never interned (H4).
  UOp make(NodeSpec&& spec) override;

  void retain(UOp n) { ++n->state.refs; }
  void release(UOp n);
  /// Keeps a node until the outermost scope closes.
  void hold_in_scope(UOp n) {
    retain(n);
    autorelease_pool_.push_back(n);
  }
  /// A number not handed out before. Unrelated to node ids.
  uint64_t next_unique_id() { return ++unique_id_; }

  /// Records that the node's value is in `storage`. The effect on its sources is on_stored()'s.
  void attach_storage(UOp n, Storage* storage);
  /// After a node got storage: releases its sources unless it has history (H3), and shares the storage with its DETACH
  /// (G6).
  void on_stored(UOp n);
  /// Drops sources, home and loss, and removes the node from the intern table.
  void drop_history(UOp n);
  /// Sets or clears the loss reference of a gradient.
  void set_loss(UOp n, UOp loss);
  void set_home(UOp n, Storage* home);
  /// Overrides the origin of a node. The default is the call that makes it.
  void set_origin(UOp n, NodeOrigin& origin);
  /// Releases the nodes that scopes hold since the outermost one opened. Reference counts are exact afterwards.
  void release_pool();
  /// Scopes open in the thread that holds the mutex.
  int depth() const { return depth_; }

  /// Around fork() (runtime/base/fork.h): locked before, unlocked in the parent, recreated in the child.
  void lock_before_fork() { mutex_.lock(); }
  void unlock_in_parent() { mutex_.unlock(); }
  void reset_in_child() { mutex_.reset(depth_); }

 private:
  friend class GraphScope;
  friend class GraphPause;
  friend class GraphTryLock;
  TensorGraph() = default;
  static TensorGraph& construct();  ///< out of line, so that get() is inlined
  void* allocate() override;
  void deallocate(void* memory) noexcept override;
  void destroy(Node* node) noexcept;
  void release_storage(Storage* storage, bool owner);

  /// Memory of a freed node, reused for the next one.
  struct FreeNode {
    FreeNode* next;
  };
  static constexpr size_t kMaxFreeNodes = 1 << 14;

  GraphMutex mutex_;
  std::vector<UOp>
      autorelease_pool_;  ///< nodes made since the outermost scope opened; each holds a reference until it closes
  FreeNode* free_list_ = nullptr;
  size_t free_count_ = 0;
  int depth_ = 0;
  uint64_t unique_id_ = 0;
};

/// Holds the graph's mutex, and keeps every node made inside alive until the thread's outermost scope closes. Every
/// public call that touches the graph opens one.
class GraphScope {
 public:
  GraphScope() : graph_(TensorGraph::get()) {
    graph_.mutex_.lock();
    ++graph_.depth_;
  }
  ~GraphScope() {
    if (graph_.depth_ == 1) graph_.release_pool();
    --graph_.depth_;
    graph_.mutex_.unlock();
  }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  TensorGraph& graph_;
};

/// Takes the graph's mutex only if it is free; never waits. For readers that may run where waiting for the graph is
/// forbidden (runtime/base/fork.h).
class GraphTryLock {
 public:
  GraphTryLock();
  ~GraphTryLock();
  GraphTryLock(const GraphTryLock&) = delete;
  GraphTryLock& operator=(const GraphTryLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_;
};

/// While alive, the calling thread's scopes are closed, so that other threads may use the graph, for example during a
/// compilation. Nodes made before stay alive.
class GraphPause {
 public:
  GraphPause();
  ~GraphPause();
  GraphPause(const GraphPause&) = delete;
  GraphPause& operator=(const GraphPause&) = delete;

 private:
  int depth_;
  std::vector<UOp> autorelease_pool_;
};

/// Whether new nodes record history. One switch per thread, set by `no_grad`.
bool grad_enabled();
void set_grad_enabled(bool on);

/// An owned node, for cells and anything else that outlives a scope. Copying and destruction take the graph's mutex.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(UOp n);
  NodeRef(const NodeRef& other) : NodeRef(other.node_) {}
  NodeRef(NodeRef&& other) noexcept : node_(other.node_) { other.node_ = {}; }
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef();
  UOp get() const { return node_; }
  Node* operator->() const { return node_.get(); }
  explicit operator bool() const { return static_cast<bool>(node_); }

 private:
  UOp node_;
};

}  // namespace sinter::ir
