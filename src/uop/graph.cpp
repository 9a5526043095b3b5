// Interning: equal descriptions are one node.
#include "uop/graph.h"

#include <utility>

#include "uop/splat.h"

namespace sinter::ir {
namespace {

/// What commutative order may see of a source: of leaves, versions, DETACH and stored nodes only type, shape and device.
uint64_t plain_likeness(DType dtype, const Shape& shape, Device device) {
  return mix(mix(0x5eed, static_cast<uint64_t>(dtype)), mix(likeness_of(shape), device.id()));
}
uint64_t look(UOp s) { return s->storage() ? plain_likeness(s->dtype, s->shape, s->device) : s->likeness; }

uint64_t likeness_of_node(const NodeSpec& s) {
  if (has(s.op, kFresh) || s.op == Op::Detach) return plain_likeness(s.dtype, s.shape, s.device);
  uint64_t h = mix(mix(static_cast<uint64_t>(s.op), static_cast<uint64_t>(s.dtype)), mix(likeness_of(s.shape), s.device.id()));
  if (s.op != Op::Const) h = mix(h, likeness_of(s.attr));
  for (UOp u : s.src) h = mix(h, look(u));
  return h;
}

/// Stands on the right.
bool constant(UOp u) { return static_cast<bool>(splat_const(u)); }

}  // namespace

bool Graph::Equal::operator()(const Key& k, const Node* n) const {
  const NodeSpec& s = *k.spec;
  return n->identity == k.identity && n->op == s.op && n->dtype == s.dtype && n->device == s.device && n->src == s.src &&
         n->shape == s.shape && n->attr == s.attr;
}

uint64_t Graph::identity_of(const NodeSpec& s) {
  uint64_t h = mix(mix(static_cast<uint64_t>(s.op), static_cast<uint64_t>(s.dtype)), mix(hash_of(s.shape), s.device.id()));
  h = mix(h, hash_of(s.attr));
  for (UOp u : s.src) h = mix(h, u->id);
  return h;
}

void Graph::canonicalise(NodeSpec& s) {
  if (!s.src.empty() && s.op != Op::Copy) s.device = s.src[0]->device;
  if (!commutes(s.op, s.dtype)) return;
  bool left = constant(s.src[0]), right = constant(s.src[1]);
  if (left != right ? left : look(s.src[1]) < look(s.src[0])) std::swap(s.src[0], s.src[1]);
}

UOp Graph::find(const NodeSpec& spec, uint64_t identity) const {
  auto it = table_.find(Key{&spec, identity});
  return it == table_.end() ? UOp() : UOp(*it);
}

Node* Graph::create(NodeSpec&& s, uint64_t identity, bool intern) {
  uint64_t likeness = likeness_of_node(s);
  Node* n = allocate(Node{this, s.op, s.dtype, s.device, next_id_++, std::move(s.shape), std::move(s.attr), std::move(s.src),
                          identity, likeness});
  ++live_;
  if ((n->interned = intern)) table_.insert(n);
  return n;
}

void Graph::forget(Node* node) {
  if (!node->interned) return;
  table_.erase(node);
  node->interned = false;
}

UOp Graph::make(NodeSpec spec) {
  canonicalise(spec);
  uint64_t identity = identity_of(spec);
  if (UOp found = find(spec, identity)) return found;
  return create(std::move(spec), identity, true);
}

Node* Arena::allocate(Node&& node) { return &nodes_.emplace_back(std::move(node)); }

}  // namespace sinter::ir
