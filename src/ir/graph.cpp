// Interning: equal descriptions give the same node.
#include "ir/graph.h"

#include <new>
#include <utility>

#include "ir/splat.h"

namespace sinter::ir {
namespace {

constexpr int kNear = 5;  ///< levels that commutative order sees, that of the operand included

/// What a node's order hash takes from that of source i. Each level shifts by 13 bits or more, so nothing is left of
/// sources kNear levels away: equal layers and steps have equal orders, whatever they are computed from.
uint64_t faded(uint64_t source, size_t i) { return source >> 13 ^ source >> (17 + 2 * i % 8); }

/// A node's own part, and what is seen of its sources.
template <class Visible>
uint64_t order_hash_of(const NodeForm& form, const Sources& src, Visible&& visible) {
  if (has(form.op, kUnique) || form.op == Op::Detach) return form.opaque_order_hash;
  uint64_t h = form.order_hash;
  for (size_t i = 0; i < src.size(); ++i) h ^= faded(visible(src[i]), i);
  return h;
}

/// What commutative order may see of a source. Of leaves, versions, DETACH and stored nodes that is type, shape and
/// device only. A node may be older than the storage of what it is computed from: the state that a loop carries, where
/// that is a view or a join of stored values. Its history no longer counts then; it would order the operands of each
/// iteration in another way. `budget`: nodes that may be visited for that.
uint64_t visible_order_hash(UOp s, int levels, int& budget) {
  if (s->storage()) return s->form.opaque_order_hash;
  if (s->id >= s->graph->first_since_storage() || budget == 0) return s->order_hash;
  if (levels == 0) return 0;
  --budget;
  return order_hash_of(s->form, s->src, [&](UOp u) { return visible_order_hash(u, levels - 1, budget); });
}
uint64_t visible_order_hash(UOp s) {
  int budget = 64;
  return visible_order_hash(s, kNear, budget);
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
    n = new (memory) Node(this, form, next_id_++, src, intern_hash,
                          order_hash_of(form, src, [](UOp u) { return visible_order_hash(u); }));
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
