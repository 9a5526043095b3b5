// Interning: equal descriptions give the same node.
#include "ir/graph.h"

#include <new>
#include <utility>

#include "ir/splat.h"

namespace sinter::ir {
namespace {

/// What commutative order may see of a source. Of leaves, versions, DETACH and stored nodes that is type, shape and
/// device only.
uint64_t visible_order_hash(UOp s) { return s->storage() ? s->form.opaque_order_hash : s->order_hash; }

uint64_t order_hash_of(const NodeForm& form, const Sources& src) {
  if (has(form.op, kUnique) || form.op == Op::Detach) return form.opaque_order_hash;
  uint64_t h = form.order_hash;
  for (UOp u : src) h = mix(h, visible_order_hash(u));
  return h;
}

/// Constants go to the right.
bool constant(UOp u) { return static_cast<bool>(splat_const(u)); }

}  // namespace

uint64_t Graph::intern_hash_of(const NodeForm& form, const Sources& src) {
  uint64_t h = form.intern_hash;
  for (UOp u : src) h = mix(h, u->id);
  return h | (h == 0);
}

void Graph::canonicalize(NodeSpec& s) {
  if (!s.src.empty() && s.op != Op::Copy) s.device = s.src[0]->device;
  if (!commutes(s.op, s.dtype)) return;
  bool left = constant(s.src[0]), right = constant(s.src[1]);
  if (left != right ? left : visible_order_hash(s.src[1]) < visible_order_hash(s.src[0])) std::swap(s.src[0], s.src[1]);
}

Node* Graph::create(const NodeForm& form, const Sources& src, uint64_t intern_hash) {
  if (intern_hash && table_.full()) table_.grow();
  void* const memory = allocate();
  Node* n = nullptr;
  try {
    n = new (memory) Node(this, form, next_id_++, src, intern_hash, order_hash_of(form, src));
  } catch (...) {  // out of memory for a long source list
    deallocate(memory);
    throw;
  }
  ++live_;
  if (intern_hash) table_.add(n);
  return n;
}

UOp Graph::make(NodeSpec&& spec) {
  canonicalize(spec);
  const NodeForm& form = form_of(spec);
  const uint64_t intern_hash = intern_hash_of(form, spec.src);
  if (UOp found = find(form, spec.src, intern_hash)) return found;
  return create(form, spec.src, intern_hash);
}

void* Arena::allocate() {
  const size_t place = live_ % NodeChunk::kNodes;
  if (live_ == chunks_.size() * NodeChunk::kNodes)
    chunks_.push_back(std::unique_ptr<NodeChunk>(new NodeChunk));  // not zeroed
  return chunks_.back()->nodes[place];
}

Arena::~Arena() {
  for (size_t i = 0; i < live_; ++i)
    std::launder(reinterpret_cast<Node*>(chunks_[i / NodeChunk::kNodes]->nodes[i % NodeChunk::kNodes]))->~Node();
}

}  // namespace sinter::ir
