// Interning: equal descriptions are one node.
#include "uop/graph.h"

#include <new>
#include <type_traits>
#include <utility>

#include "uop/splat.h"

namespace sinter::ir {
namespace {

uint64_t kind_of(Op op, DType dtype) { return mix(static_cast<uint64_t>(op), static_cast<uint64_t>(dtype)); }

/// What commutative order may see of a source: of leaves, versions, DETACH and stored nodes only type, shape and device.
uint64_t plain_likeness(DType dtype, const Shape& shape, Device device) {
  return mix(mix(0x5eed, static_cast<uint64_t>(dtype)), mix(likeness_of(shape), device.id()));
}
uint64_t look(UOp s) { return s->storage() ? plain_likeness(s->dtype, s->shape, s->device) : s->likeness; }

/// Stands on the right.
bool constant(UOp u) { return static_cast<bool>(splat_const(u)); }

bool describes(const NodeSpec& s, const Node& n) {
  return n.op == s.op && n.dtype == s.dtype && n.device == s.device && n.src == s.src && n.shape == s.shape && n.attr == s.attr;
}

}  // namespace

Graph::Hashes::Hashes(const NodeSpec& s)
    : kind(mix(kind_of(s.op, s.dtype), mix(hash_of(s.shape), s.device.id()))), attr(hash_of(s.attr)), form(mix(kind, attr)) {}

uint64_t Graph::Hashes::identity(const NodeSpec& s) const {
  uint64_t h = form;
  for (UOp u : s.src) h = mix(h, u->id);
  return h | (h == 0);
}

/// Where sizes are fixed, likeness and identity of shapes and most attributes are the same.
uint64_t Graph::Hashes::likeness(const NodeSpec& s) const {
  if (has(s.op, kFresh) || s.op == Op::Detach) return plain_likeness(s.dtype, s.shape, s.device);
  uint64_t h = s.shape.symbolic() ? mix(kind_of(s.op, s.dtype), mix(likeness_of(s.shape), s.device.id())) : kind;
  if (s.op != Op::Const) h = mix(h, std::holds_alternative<Region>(s.attr) ? likeness_of(s.attr) : attr);
  for (UOp u : s.src) h = mix(h, look(u));
  return h;
}

void Graph::canonicalise(NodeSpec& s) {
  if (!s.src.empty() && s.op != Op::Copy) s.device = s.src[0]->device;
  if (!commutes(s.op, s.dtype)) return;
  bool left = constant(s.src[0]), right = constant(s.src[1]);
  if (left != right ? left : look(s.src[1]) < look(s.src[0])) std::swap(s.src[0], s.src[1]);
}

UOp Graph::find(const NodeSpec& spec, uint64_t identity) const {
  return table_.find(identity, [&](const Node& n) { return describes(spec, n); });
}

Node* Graph::create(const NodeSpec& s, const Hashes& hashes, uint64_t identity) {
  const uint64_t likeness = hashes.likeness(s);
  if (identity) table_.make_room();
  void* const memory = allocate();
  Node* n = nullptr;
  try {
    n = new (memory) Node(this, s.op, s.dtype, s.device, next_id_++, s.shape, s.attr, s.src, hashes.form, identity, likeness);
  } catch (...) {  // no memory for a long shape or attribute
    give_back(memory);
    throw;
  }
  ++live_;
  if (identity) table_.add(n);
  return n;
}

UOp Graph::make(NodeSpec&& spec) {
  canonicalise(spec);
  const Hashes hashes(spec);
  const uint64_t identity = hashes.identity(spec);
  if (UOp found = find(spec, identity)) return found;
  return create(spec, hashes, identity);
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
