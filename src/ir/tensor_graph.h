// The one long-lived graph of the process (SEMANTICS H6): counted nodes, guarded by one mutex. What no handle, edge or
// cell refers to goes at once and without recursion, and its memory with it.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/graph_mutex.h"

namespace sinter::ir {

class TensorGraph final : public Graph {
 public:
  /// Never destroyed: handles in static objects may die after main (SEMANTICS V7).
  static TensorGraph& get() {
    static TensorGraph* const graph = new TensorGraph;
    return *graph;
  }

  /// Under no_grad an operand with history is read through DETACH (SEMANTICS G6). A node that requires grad, and a
  /// fresh one, is never interned (H4).
  UOp make(NodeSpec&& spec) override;

  void retain(UOp n) { ++n->state.refs; }
  void release(UOp n);
  /// A number that it has given to nobody yet; nodes have numbers of their own.
  uint64_t next_unique_id() { return ++unique_id_; }

  /// Gives the node a value that lies in `storage`. What it does to the sources is on_stored()'s.
  void attach_storage(UOp n, Storage* storage);
  /// After a node got storage: lets its sources go unless it has history (H3), and gives the storage to its DETACH
  /// (G6).
  void on_stored(UOp n);
  /// Drops sources, home and loss, and leaves the intern table.
  void drop_history(UOp n);
  /// Drops the loss reference of a gradient or sets it.
  void set_loss(UOp n, UOp loss);
  void set_home(UOp n, Storage* home);
  /// Says where a node comes from; the call that makes it, otherwise.
  void set_origin(UOp n, NodeOrigin& origin);
  /// Lets go what scopes have held since the outermost one opened: counts are exact then. What nothing else holds goes.
  void drain();
  /// Scopes open in the thread that holds the mutex.
  int depth() const { return depth_; }

  /// Around fork() (runtime/base/fork.h): the mutex is taken; then given back in the parent, made anew in the child.
  void lock_before_fork() { mutex_.lock(); }
  void unlock_in_parent() { mutex_.unlock(); }
  void reset_in_child() { mutex_.reset(depth_); }

 private:
  friend class GraphScope;
  friend class GraphPause;
  friend class GraphTryLock;
  TensorGraph() = default;
  void* allocate() override;
  void deallocate(void* memory) noexcept override;
  void destroy(Node* node) noexcept;
  void release_storage(Storage* storage, bool owner);

  /// Memory of a node that is gone, for the next one.
  struct FreeNode {
    FreeNode* next;
  };
  static constexpr size_t kMaxFreeNodes = 1 << 14;

  GraphMutex mutex_;
  std::vector<UOp> pool_;  ///< nodes made since the outermost scope opened: each holds a reference until it closes
  FreeNode* free_list_ = nullptr;
  size_t free_count_ = 0;
  int depth_ = 0;
  uint64_t unique_id_ = 0;
};

/// Holds the graph's mutex, and keeps every node made inside alive until the outermost scope of the thread closes.
/// Every public call that touches the graph opens one.
class GraphScope {
 public:
  GraphScope() : graph_(TensorGraph::get()) {
    graph_.mutex_.lock();
    ++graph_.depth_;
  }
  ~GraphScope() {
    if (graph_.depth_ == 1) graph_.drain();
    --graph_.depth_;
    graph_.mutex_.unlock();
  }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  TensorGraph& graph_;
};

/// Holds the graph's mutex if no other thread does, and never waits: for those who only read, and may be called from
/// where waiting for the graph is forbidden (runtime/base/fork.h).
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

/// While alive the calling thread's scopes are closed: others may use the graph, as during a compilation. What was
/// made so far stays alive.
class GraphPause {
 public:
  GraphPause();
  ~GraphPause();
  GraphPause(const GraphPause&) = delete;
  GraphPause& operator=(const GraphPause&) = delete;

 private:
  int depth_;
  std::vector<UOp> pool_;
};

/// Whether new nodes record history; one switch per thread, as `no_grad` sets it.
bool grad_enabled();
void set_grad_enabled(bool on);

/// An owned node, for cells and for everything that outlives a scope. Copies and destruction take the graph's mutex.
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
