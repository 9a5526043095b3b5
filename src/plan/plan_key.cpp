// Writes the canonical words.
#include "plan/plan_key.h"

#include <fmt/core.h>

#include <bit>
#include <concepts>
#include <string>

#include "ir/splat.h"
#include "runtime/exec/buffer.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

using ir::Op;
using ir::UOp;

/// A prefix-free sequence of 64-bit words: each part determines how to read the next. Sizes and offsets take a word,
/// small fields share one.
class PlanKeyWriter {
 public:
  PlanKeyWriter(const CanonicalProgram& plan, PlanKey& out, std::vector<uint64_t>& words)
      : plan_(plan), out_(out), words_(words) {}

  void write(const runtime::Hash128& salt) {
    words_.clear();
    out_.first_number.reserve(plan_.positions.size());
    word(salt.low);
    word(salt.high);
    size_t edge = 0;
    for (size_t i = 0; i < plan_.positions.size(); ++i) {
      const Position& p = plan_.positions[i];
      out_.first_number.push_back(static_cast<uint32_t>(out_.numbers.size()));
      if (p.slot >= 0) {
        type(p.node, kSlot | uint64_t{p.outlives} << 8, static_cast<uint32_t>(p.slot));
      } else {
        node(p);
        state(p);
        for (; edge < plan_.history.size() && plan_.history[edge].position == static_cast<int32_t>(i); ++edge)
          word(static_cast<uint32_t>(plan_.history[edge].source) | static_cast<uint64_t>(plan_.history[edge].backing)
                                                                       << 32);
      }
      word(kEnd);
    }
    for (int32_t r : plan_.roots) word(r);
    word(kEnd);
    for (const StorageUse& s : plan_.storages)
      word(uint64_t{s.writable()} << 7 | static_cast<uint64_t>(alignment_of(*s.storage)));
  }

 private:
  static constexpr uint64_t kEnd = ~uint64_t{0};
  static constexpr uint64_t kSymbolic = uint64_t{1} << 63;  ///< no size is so large
  static constexpr uint64_t kSameBox = uint64_t{1} << 62;   ///< the index of an attribute is not so large
  static constexpr uint64_t kSlot = 0xfe, kConstant = 0xfd;
  static constexpr uint32_t kNoPosition =
      uint32_t{1} << 31;  ///< in the upper half of a word: a constant instead of a source's position

  template <std::integral T>
  void word(T v) {
    words_.push_back(static_cast<uint64_t>(v));
  }

  void dim(const Dim& d) {
    if (d.symbolic())
      variable(d.var(), d.value());
    else
      word(d.value());
  }
  void variable(const Var& var, int64_t value) {
    size_t v = 0;
    while (v < out_.vars.size() && !(out_.vars[v].value == value && out_.vars[v].var == var)) ++v;
    word(kSymbolic | v);
    if (v < out_.vars.size()) return;
    out_.vars.push_back({var, value});
    word(var.min());
    word(var.max());
  }
  /// `head`: 16 bits that identify the kind of node; `number`: kind-dependent.
  void type(UOp n, uint64_t head, uint32_t number) {
    word(head | static_cast<uint64_t>(n->dtype) << 16 | uint64_t{n->shape.rank()} << 24 | uint64_t{number} << 32);
    word(n->device.id());
    for (const Dim& d : n->shape) dim(d);
  }

  void node(const Position& p) {
    UOp n = p.node;
    type(n, static_cast<uint64_t>(n->op) | uint64_t{p.outlives} << 8, p.source_count);
    for (SourceRef s : plan_.sources_of(p)) {
      if (!s.constant()) {
        word(s.index);
        continue;
      }
      UOp c = plan_.constants[s.number()];
      type(c, kConstant, kNoPosition);
      out_.numbers.push_back({ir::splat_const(c)->scalar(), c->dtype});
    }
    if (n->op == Op::Const)
      out_.numbers.push_back({n->scalar(), n->dtype});
    else if (const int32_t box = plan_.box_of_updates(p); box >= 0)
      word(kSameBox | static_cast<uint64_t>(box));
    else if (n->op != Op::Reshape)
      attribute(n);
  }

  void attribute(UOp n) {
    word(n->attr.index());
    if (const auto* box = std::get_if<ir::Region>(&n->attr)) {
      if (n->op == Op::Var) return dim((*box)[0].end);
      for (const ir::Extent& e : *box)  // sizes follow from the shapes
        out_.numbers.push_back({ir::Scalar::of(DType::Index, e.begin.value()), DType::Index});
    } else if (n->op == Op::Num) {
      out_.numbers.push_back({n->scalar(), n->dtype, true});
    } else if (const auto* v = std::get_if<int64_t>(&n->attr)) {
      word(*v);
    } else if (const auto* list = std::get_if<ir::Ints>(&n->attr)) {
      ints(*list);
    } else if (const auto* w = std::get_if<ir::WindowAttr>(&n->attr)) {
      word(w->axis);
      word(w->step);
    } else if (const auto* s = std::get_if<ir::ScatterAttr>(&n->attr)) {
      word(static_cast<uint64_t>(s->axis) << 8 | static_cast<uint64_t>(s->mode));
    } else if (const auto* r = std::get_if<ir::ReduceAttr>(&n->attr)) {
      word(static_cast<uint64_t>(r->combine) | static_cast<uint64_t>(r->result) << 8 |
           static_cast<uint64_t>(r->tree.mma) << 16 | static_cast<uint64_t>(r->tree.lanes) << 32);
      word(r->tree.block);
      word(r->tree.group);
      ints(r->axes);
    } else if (!std::holds_alternative<std::monostate>(n->attr)) {
      throw InternalError("writing a plan key: " + std::string(ir::info(n->op).name) +
                          " has an attribute that no tensor graph has");
    }
  }
  void ints(const ir::Ints& list) {
    word(list.size());
    for (int64_t v : list) word(v);
  }

  void state(const Position& p) {
    word(uint64_t{p.backs_outside} | uint64_t{p.node->state.leaf} << 1 | uint64_t{static_cast<uint32_t>(p.home)} << 32);
  }

  const CanonicalProgram& plan_;
  PlanKey& out_;
  std::vector<uint64_t>& words_;
};

}  // namespace

int alignment_of(const ir::Storage& storage) {
  const auto address = reinterpret_cast<uintptr_t>(static_cast<const runtime::Buffer&>(storage).data());
  return address ? 1 << std::min(6, std::countr_zero(address)) : 64;
}

int PlanKey::var_of(const Dim& d) const {
  if (!d.symbolic()) return -1;
  for (size_t v = 0; v < vars.size(); ++v)
    if (vars[v].value == d.value() && vars[v].var == d.var()) return static_cast<int>(v);
  throw InternalError("a plan does not know the size " + to_string(d));
}

PlanKey make_plan_key(const CanonicalProgram& plan, const runtime::Hash128& salt) {
  constexpr size_t kLarge = 1 << 17;
  static auto& words = *new std::vector<uint64_t>;  // guarded by the graph's mutex; keeps its memory for the next key
  PlanKey out;
  PlanKeyWriter(plan, out, words).write(salt);
  out.hash = runtime::hash_bytes({reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t)});
  if (words.capacity() > kLarge) words = {};
  return out;
}

}  // namespace sinter::plan
