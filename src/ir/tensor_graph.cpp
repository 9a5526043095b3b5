// Reference counting, release without recursion, and what happens when a node gets storage.
#include "ir/tensor_graph.h"

#include <new>
#include <utility>

#include "ir/private_interning.h"
#include "ir/sanitizer_build.h"
#include "ir/user_rule.h"

namespace sinter::ir {
namespace {

thread_local bool grad_mode = true;
thread_local uint64_t private_interning_id = 0;  ///< of the PrivateInterning that is alive, or 0

}  // namespace

bool grad_enabled() { return grad_mode; }
void set_grad_enabled(bool on) { grad_mode = on; }

PrivateInterning::PrivateInterning()
    : before_(std::exchange(private_interning_id, TensorGraph::get().next_unique_id())) {}
PrivateInterning::~PrivateInterning() { private_interning_id = before_; }

TensorGraph& TensorGraph::construct() { return *new TensorGraph; }

UOp TensorGraph::make(NodeSpec&& spec) {
  bool keeps_history = grad_mode && spec.op != Op::Detach && is_float(spec.dtype);
  bool requires_grad = false;
  if (keeps_history) {
    for (UOp s : spec.src) requires_grad |= s->state.requires_grad;
  } else if (spec.op != Op::Detach) {
    for (UOp& s : spec.src)
      if (s->state.requires_grad && !s->state.leaf) s = make({Op::Detach, s->dtype, s->shape, {s}});
  }
  canonicalize(spec);
  const NodeForm& form = form_of(spec);
  const bool interned = !has(spec.op, kUnique) && !requires_grad;
  uint64_t intern_hash = interned ? intern_hash_of(form, spec.src) : 0;
  if (interned && private_interning_id && spec.op != Op::Detach)
    intern_hash = mix(intern_hash, private_interning_id);  // a node has one DETACH (SEMANTICS G6)
  if (interned)
    if (UOp found = find(form, spec.src, intern_hash)) return found;
  Node* n = create(form, spec.src, intern_hash);
  for (UOp s : n->src) retain(s);
  n->state.requires_grad = requires_grad;
  n->state.refs = 1;
  autorelease_pool_.push_back(n);
  set_origin(n, n->op == Op::Detach ? *n->src[0]->state.origin : current_origin());
  if (n->op == Op::Detach) {
    n->src[0]->state.detached = n;
    on_stored(n->src[0]);
  }
  return n;
}

void* TensorGraph::allocate() {
  if (!free_list_) return ::operator new(sizeof(Node));
  --free_count_;
  return std::exchange(free_list_, free_list_->next);
}

/// A sanitizer must see uses of a freed node, so under one every node has its own allocation.
void TensorGraph::deallocate(void* memory) noexcept {
  if (kSanitizer != Sanitizer::None || free_count_ == kMaxFreeNodes) return ::operator delete(memory);
  ++free_count_;
  free_list_ = new (memory) FreeNode{free_list_};
}

void TensorGraph::destroy(Node* n) noexcept {
  n->~Node();
  --live_;
  deallocate(n);
}

void TensorGraph::attach_storage(UOp n, Storage* storage) {
  storage->retain();
  ++storage->owners;
  storage->record_origin(*n->state.origin);
  n->state.storage = storage;
  note_storage();
}

void TensorGraph::release_storage(Storage* storage, bool owner) {
  if (owner) --storage->owners;
  storage->release();
}

void TensorGraph::set_home(UOp n, Storage* home) {
  home->retain();
  n->state.home = home;
}

void TensorGraph::set_origin(UOp n, NodeOrigin& origin) {
  if (n->state.origin) --n->state.origin->nodes;
  n->state.origin = &origin;
  ++origin.nodes;
}

void TensorGraph::set_loss(UOp n, UOp loss) {
  if (loss) retain(loss);
  UOp old = std::exchange(n->state.loss, loss.get());
  if (old) release(old);
}

void TensorGraph::drop_history(UOp n) {
  unintern(n.get());
  const Sources sources = std::move(n->src);
  if (n->op == Op::Detach && !sources.empty() && sources[0]->state.detached == n.get())
    sources[0]->state.detached = nullptr;
  if (Storage* home = std::exchange(n->state.home, nullptr)) release_storage(home, false);
  set_loss(n, {});
  if (any_user_rules()) forget_user_rules(n.get());
  for (UOp s : sources) release(s);
  if (user_rule_counts.dropped) drain_user_rules();
}

void TensorGraph::on_stored(UOp n) {
  if (!n->storage()) return;
  retain(n);
  if (Node* d = n->state.detached; d && !d->state.storage) {
    attach_storage(d, n->storage());
    drop_history(d);
  }
  if (!n->has_history()) drop_history(n);
  release(n);
}

void TensorGraph::release(UOp first) {
  if (--first->state.refs) return;
  Node* dead = nullptr;  // linked through `next`; they have left the intern table
  const auto enqueue_dead = [&](Node* n) {
    unintern(n);
    n->next = std::exchange(dead, n);
  };
  enqueue_dead(first.get());
  while (dead) {
    Node* n = std::exchange(dead, dead->next);
    if (n->op == Op::Detach && !n->src.empty() && n->src[0]->state.detached == n) n->src[0]->state.detached = nullptr;
    for (UOp s : n->src)
      if (--s->state.refs == 0) enqueue_dead(s.get());
    if (Node* loss = n->state.loss; loss && --loss->state.refs == 0) enqueue_dead(loss);
    if (n->state.home) release_storage(n->state.home, false);
    if (n->state.storage) release_storage(n->state.storage, true);
    if (any_user_rules()) forget_user_rules(n);
    --n->state.origin->nodes;
    destroy(n);
  }
  if (user_rule_counts.dropped) drain_user_rules();
}

void TensorGraph::release_pool() {
  while (!autorelease_pool_.empty()) {  // freeing a foreign buffer may call a function that makes nodes
    const UOp n = autorelease_pool_.back();
    autorelease_pool_.pop_back();
    release(n);
  }
  if (autorelease_pool_.capacity() > kMaxFreeNodes) autorelease_pool_ = {};
}

GraphTryLock::GraphTryLock() : held_(TensorGraph::get().mutex_.try_lock()) {}
GraphTryLock::~GraphTryLock() {
  if (held_) TensorGraph::get().mutex_.unlock();
}

GraphPause::GraphPause() {
  TensorGraph& g = TensorGraph::get();
  depth_ = std::exchange(g.depth_, 0);
  autorelease_pool_ = std::exchange(g.autorelease_pool_, {});
  for (int i = 0; i < depth_; ++i) g.mutex_.unlock();
}
GraphPause::~GraphPause() {
  TensorGraph& g = TensorGraph::get();
  for (int i = 0; i < depth_; ++i) g.mutex_.lock();
  g.depth_ = depth_;
  g.autorelease_pool_ = std::move(autorelease_pool_);
}

NodeRef::NodeRef(UOp n) : node_(n) {
  if (!n) return;
  GraphScope scope;
  TensorGraph::get().retain(n);
}
NodeRef::~NodeRef() {
  if (!node_) return;
  GraphScope scope;
  TensorGraph::get().release(node_);
}

}  // namespace sinter::ir
