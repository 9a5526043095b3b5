// Interning: equal descriptions are one node.
#include "ir/graph.h"

#include <new>
#include <utility>

#include "ir/splat.h"

namespace sinter::ir {
namespace {

/// What commutative order may see of a source: of leaves, versions, DETACH and stored nodes only type, shape and
/// device.
uint64_t look(UOp s) { return s->storage() ? s->form.veiled : s->likeness; }

uint64_t likeness_of(const Form& form, const Sources& src) {
  if (has(form.op, kFresh) || form.op == Op::Detach) return form.veiled;
  uint64_t h = form.likeness;
  for (UOp u : src) h = mix(h, look(u));
  return h;
}

/// Stands on the right.
bool constant(UOp u) { return static_cast<bool>(splat_const(u)); }

}  // namespace

uint64_t Graph::identity_of(const Form& form, const Sources& src) {
  uint64_t h = form.identity;
  for (UOp u : src) h = mix(h, u->id);
  return h | (h == 0);
}

void Graph::canonicalise(NodeSpec& s) {
  if (!s.src.empty() && s.op != Op::Copy) s.device = s.src[0]->device;
  if (!commutes(s.op, s.dtype)) return;
  bool left = constant(s.src[0]), right = constant(s.src[1]);
  if (left != right ? left : look(s.src[1]) < look(s.src[0])) std::swap(s.src[0], s.src[1]);
}

Node* Graph::create(const Form& form, const Sources& src, uint64_t identity) {
  if (identity && table_.full()) table_.grow();
  void* const memory = allocate();
  Node* n = nullptr;
  try {
    n = new (memory) Node(this, form, next_id_++, src, identity, likeness_of(form, src));
  } catch (...) {  // no memory for many sources
    give_back(memory);
    throw;
  }
  ++live_;
  if (identity) table_.add(n);
  return n;
}

UOp Graph::make(NodeSpec&& spec) {
  canonicalise(spec);
  const Form& form = form_of(spec);
  const uint64_t identity = identity_of(form, spec.src);
  if (UOp found = find(form, spec.src, identity)) return found;
  return create(form, spec.src, identity);
}

void* Arena::allocate() {
  const size_t place = live_ % Chunk::kNodes;
  if (live_ == chunks_.size() * Chunk::kNodes) chunks_.push_back(std::unique_ptr<Chunk>(new Chunk));  // not zeroed
  return chunks_.back()->nodes[place];
}

Arena::~Arena() {
  for (size_t i = 0; i < live_; ++i)
    std::launder(reinterpret_cast<Node*>(chunks_[i / Chunk::kNodes]->nodes[i % Chunk::kNodes]))->~Node();
}

}  // namespace sinter::ir
