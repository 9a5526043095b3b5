// Merges equal nodes.
#include "plan/canonicalize.h"

#include <algorithm>
#include <bit>

#include "ir/splat.h"

namespace sinter::plan {
namespace {

using ir::Op;
using ir::UOp;

class Canonicalizer {
 public:
  Canonicalizer(const Request& request, const Liveness& liveness) : request_(request), liveness_(liveness) {}

  CanonicalProgram run() {
    const size_t nodes = liveness_.order.size();
    out_.nodes.reserve(nodes);
    out_.position_of.reserve(nodes);
    out_.positions.reserve(nodes);
    out_.sources.reserve(nodes * 2);
    out_.lean = request_.lean;
    mark_constants();
    merge();
    add_roots_and_history();
    return std::move(out_);
  }

 private:
  void mark_constants() {
    constant_.resize(liveness_.order.size());
    for (size_t i = 0; i < liveness_.order.size(); ++i) {
      UOp n = liveness_.order[i];
      constant_[i] =
          !n->storage() &&
          (n->op == Op::Const || ((n->op == Op::Expand || n->op == Op::Reshape) && constant_[n->src[0]->position]));
    }
    for (UOp r : request_.roots) constant_[r->position] = false;
  }

  // -- equal nodes are one position
  void merge() {
    table_.resize(std::bit_ceil(liveness_.order.size() * 2 + 2));
    class_of_.assign(liveness_.order.size(), -1);
    for (UOp n : liveness_.order) {
      if (constant_[n->position]) continue;
      out_.nodes.push_back(n);
      int32_t c = n->op == Op::Detach && !n->storage() ? class_of_[n->src[0]->position] : -1;
      if (c < 0) c = position_for(n);
      class_of_[n->position] = c;
      out_.position_of.push_back(c);
      Position& p = out_.positions[c];
      const bool held = liveness_.held(n);
      p.outlives |= held;
      if (n->storage()) {
        ++out_.storages[p.slot].owners;
      } else if (n->has_history()) {
        p.backs_outside |= held;
      }
    }
  }

  /// The position of a node that is not a DETACH: that of an equal node, or a new one.
  int32_t position_for(UOp n) {
    scratch_.clear();
    if (n->storage()) return stored_position(n);
    if (n->op == Op::Custom)  // the others are there for the gradient: history, no part of the value
      scratch_.push_back(source(n->src[n->integer()]));
    else
      for (UOp s : n->src) scratch_.push_back(source(s));
    if (ir::has(n->op, ir::kUnique)) return add(n);
    const uint64_t h = hash(n);
    size_t at = h & (table_.size() - 1);
    for (; table_[at].position >= 0; at = (at + 1) & (table_.size() - 1))
      if (table_[at].hash == h && equal(out_.positions[table_[at].position], n)) {
        drop_constants();
        return table_[at].position;
      }
    table_[at] = {h, add(n)};
    return table_[at].position;
  }

  /// A storage has one position per shape in which it is read.
  int32_t stored_position(UOp n) {
    const int32_t slot = slot_of(n->storage(), n);
    auto& known = positions_of_slot_[slot];
    for (const int32_t c : known)
      if (out_.positions[c].node->shape == n->shape) return c;
    known.push_back(add(n));
    out_.positions.back().slot = slot;
    return known.back();
  }

  SourceRef source(UOp s) {
    if (!constant_[s->position]) return {class_of_[s->position]};
    out_.constants.push_back(s);
    return {~static_cast<int32_t>(out_.constants.size() - 1)};
  }
  void drop_constants() {
    for (SourceRef s : scratch_)
      if (s.constant()) out_.constants.pop_back();
  }

  int32_t add(UOp n) {
    Position p;
    p.node = n;
    p.first_source = static_cast<uint32_t>(out_.sources.size());
    p.source_count = static_cast<uint32_t>(scratch_.size());
    out_.sources.insert(out_.sources.end(), scratch_.begin(), scratch_.end());
    if (!n->storage() && n->state.home) p.home = slot_of(n->state.home, n);
    out_.positions.push_back(p);
    return static_cast<int32_t>(out_.positions.size() - 1);
  }

  int32_t slot_of(ir::Storage* storage, UOp n) {
    if (storage->mark != mark_) {
      storage->mark = mark_;
      storage->position = static_cast<uint32_t>(out_.storages.size());
      out_.storages.push_back({storage, n});
      positions_of_slot_.emplace_back();
    }
    return static_cast<int32_t>(storage->position);
  }

  bool swapped(UOp n) const {
    return ir::has(n->op, ir::kCommutative) && !scratch_[0].constant() && !scratch_[1].constant();
  }
  /// Ignores the order of commutative operands: DETACH hides from make() which are equal, so it may order them
  /// differently.
  uint64_t hash(UOp n) const {
    uint64_t h = n->form.intern_hash;
    if (swapped(n)) {
      const auto [a, b] = std::minmax(scratch_[0].index, scratch_[1].index);
      return ir::mix(ir::mix(h, static_cast<uint64_t>(a)), static_cast<uint64_t>(b));
    }
    for (SourceRef s : scratch_)
      h = ir::mix(h, s.constant() ? ir::splat_const(out_.constants[s.number()])->scalar().bits()
                                  : static_cast<uint64_t>(s.index));
    return h;
  }
  bool equal(const Position& p, UOp n) const {
    UOp m = p.node;
    if (&m->form != &n->form || p.source_count != scratch_.size()) return false;
    const std::span<const SourceRef> theirs = out_.sources_of(p);
    if (std::equal(theirs.begin(), theirs.end(), scratch_.begin(),
                   [&](SourceRef a, SourceRef b) { return same(a, b); }))
      return true;
    return swapped(n) && theirs[0] == scratch_[1] && theirs[1] == scratch_[0];
  }
  bool same(SourceRef a, SourceRef b) const {
    if (a.constant() != b.constant()) return false;
    if (!a.constant()) return a == b;
    UOp x = out_.constants[a.number()], y = out_.constants[b.number()];
    return x == y || (x->dtype == y->dtype && x->shape == y->shape &&
                      ir::splat_const(x)->scalar() == ir::splat_const(y)->scalar());
  }

  void add_roots_and_history() {
    for (UOp r : request_.roots) {
      const int32_t c = class_of_[r->position];
      Position& p = out_.positions[c];
      if (!p.root) out_.roots.push_back(c);
      p.root = true;
    }
    for (size_t i = 0; i < out_.nodes.size(); ++i) {
      UOp n = out_.nodes[i];
      if (n->storage() || !n->has_history()) continue;
      for (UOp s : n->src) {
        const int32_t c = class_of_[s->position];
        if (c < 0) continue;  // a constant
        const Backing backing = s->has_history()                           ? Backing::History
                                : !s->state.requires_grad || s->state.leaf ? Backing::Value
                                                                           : Backing::None;
        out_.history.push_back({out_.position_of[i], c, backing});
      }
    }
    std::ranges::sort(out_.history);
    out_.history.erase(std::unique(out_.history.begin(), out_.history.end()), out_.history.end());
  }

  const Request& request_;
  const Liveness& liveness_;
  const uint64_t mark_ = ir::TensorGraph::get().next_mark();  ///< of the storages visited
  CanonicalProgram out_;
  std::vector<uint8_t> constant_;  ///< per visited node, like class_of_
  struct ClassEntry {
    uint64_t hash = 0;
    int32_t position = -1;
  };
  std::vector<ClassEntry> table_;
  std::vector<int32_t> class_of_;
  std::vector<InlineVector<int32_t, 1>> positions_of_slot_;
  std::vector<SourceRef> scratch_;
};

}  // namespace

int32_t CanonicalProgram::box_of_updates(const Position& version) const {
  const auto source = [&](const Position& p, uint32_t number) {
    const SourceRef s = p.slot >= 0 || number >= p.source_count ? SourceRef{-1} : sources_of(p)[number];
    return s.constant() ? nullptr : &positions[s.position()];
  };
  const auto unshaped = [&](const Position* p) {
    while (p && p->node->op == Op::Reshape) p = source(*p, 0);
    return p;
  };
  if (version.node->op != Op::After || version.source_count < 2) return -1;
  const Position* updated = unshaped(source(version, 1));
  if (!updated || updated->slot >= 0 || updated->node->op != Op::Scatter) return -1;
  const Position* box = unshaped(source(*updated, 0));
  const bool same = box && box->slot < 0 && box->node->op == Op::Shrink && source(*box, 0) &&
                    source(*box, 0) == source(version, 0) && box->node->region() == version.node->region();
  return same ? static_cast<int32_t>(box - positions.data()) : -1;
}

bool StorageUse::writable() const { return owners == storage->owners && !storage->foreign() && storage->error.empty(); }

uint64_t bytes_freed(const CanonicalProgram& plan, Device device) {
  std::vector<uint8_t> stays(plan.positions.size()), held(plan.storages.size());
  for (const HistoryEdge& edge : plan.history) stays[edge.source] = 1;
  for (size_t i = plan.positions.size(); i-- > 0;) {
    const Position& p = plan.positions[i];
    if (p.slot >= 0) held[p.slot] |= p.outlives | stays[i];
    if (!stays[i]) continue;
    for (const SourceRef s : plan.sources_of(p))
      if (!s.constant()) stays[s.position()] = 1;
  }
  uint64_t bytes = 0;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const StorageUse& use = plan.storages[i];
    if (!held[i] && use.owners && use.owners == use.storage->owners && !use.storage->foreign() &&
        use.storage->device() == device)
      bytes += use.storage->bytes();
  }
  return bytes;
}

CanonicalProgram canonicalize(const Request& request, const Liveness& liveness) {
  return Canonicalizer(request, liveness).run();
}

}  // namespace sinter::plan
