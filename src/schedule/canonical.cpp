// Writing the canonical bytes.
#include "schedule/canonical.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <string>

#include "runtime/buffer.h"
#include "sinter/error.h"
#include "uop/splat.h"

namespace sinter::schedule {
namespace {

using ir::Op;
using ir::UOp;

/// Bytes in a row; the memory is kept for the next ones.
class Bytes {
 public:
  void clear() {
    if (memory_.size() > kLarge) memory_ = {};
    end_ = 0;
  }
  void add(const void* from, size_t bytes) {
    if (memory_.size() - end_ < bytes) memory_.resize(2 * memory_.size() + bytes + kLeast);
    std::memcpy(memory_.data() + end_, from, bytes);
    end_ += bytes;
  }
  std::string_view text() const { return {memory_.data(), end_}; }

 private:
  static constexpr size_t kLeast = 4096, kLarge = 1 << 20;
  std::vector<char> memory_;
  size_t end_ = 0;
};

class Writer {
 public:
  Writer(const Collected& plan, Canonical& out, Bytes& bytes) : plan_(plan), out_(out), bytes_(bytes) {}

  std::string_view write(std::string_view salt) {
    bytes_.clear();
    out_.first_number.reserve(plan_.positions.size());
    bytes_.add(salt.data(), salt.size());
    size_t edge = 0;
    for (size_t i = 0; i < plan_.positions.size(); ++i) {
      const Position& p = plan_.positions[i];
      out_.first_number.push_back(static_cast<uint32_t>(out_.numbers.size()));
      if (p.slot >= 0) {
        slot(p);
      } else {
        node(p);
        state(p);
        for (; edge < plan_.history.size() && plan_.history[edge].position == static_cast<int32_t>(i); ++edge) {
          number(plan_.history[edge].source);
          byte(static_cast<uint8_t>(plan_.history[edge].backing));
        }
      }
      byte(kEnd);
    }
    for (int32_t r : plan_.roots) number(r);
    byte(kEnd);
    for (const StorageUse& s : plan_.storages)
      byte(static_cast<uint8_t>(s.writable() << 7 | alignment_of(*s.storage)));
    return bytes_.text();
  }

 private:
  static constexpr uint8_t kEnd = 0xff, kSlot = 0xfe, kConstant = 0xfd, kSymbolic = 0xfc;

  void byte(uint8_t b) { bytes_.add(&b, 1); }
  template <class T>
  void number(T v) {
    bytes_.add(&v, sizeof v);
  }
  void dim(const Dim& d) {
    if (d.symbolic()) return variable(d.var(), d.value());
    number(d.value());
  }
  void variable(const Var& var, int64_t value) {
    size_t v = 0;
    while (v < out_.vars.size() && !(out_.vars[v].value == value && out_.vars[v].var == var)) ++v;
    byte(kSymbolic);
    number(static_cast<uint32_t>(v));
    if (v < out_.vars.size()) return;
    out_.vars.push_back({var, value});
    number(var.min());
    number(var.max());
  }
  void shape(const Shape& s) {
    byte(static_cast<uint8_t>(s.rank()));
    for (const Dim& d : s) dim(d);
  }
  void type(UOp n) {
    byte(static_cast<uint8_t>(n->dtype));
    number(n->device.id());
    shape(n->shape);
  }

  void slot(const Position& p) {
    byte(kSlot);
    number(p.slot);
    type(p.node);
    byte(p.outlives);
  }

  void node(const Position& p) {
    UOp n = p.node;
    byte(static_cast<uint8_t>(n->op));
    type(n);
    byte(p.outlives);
    byte(static_cast<uint8_t>(p.source_count));
    for (Operand s : plan_.sources_of(p)) {
      number(s.constant() ? -1 : s.index);
      if (!s.constant()) continue;
      UOp c = plan_.constants[s.number()];
      byte(kConstant);
      type(c);
      out_.numbers.push_back({ir::splat_const(c)->scalar(), c->dtype});
    }
    if (n->op == Op::Const)
      out_.numbers.push_back({n->scalar(), n->dtype});
    else if (n->op == Op::Expand || n->op == Op::Reshape)
      return;
    else
      attribute(n);
  }

  void attribute(UOp n) {
    byte(static_cast<uint8_t>(n->attr.index()));
    if (const auto* box = std::get_if<ir::Region>(&n->attr)) {
      if (n->op == Op::Var) return dim((*box)[0].end);
      for (const ir::Extent& e : *box)  // sizes follow from the shapes
        out_.numbers.push_back({ir::Scalar::of(DType::Index, e.begin.value()), DType::Index});
    } else if (const auto* num = std::get_if<ir::NumAttr>(&n->attr)) {
      out_.numbers.push_back({num->value, n->dtype, true});
    } else if (const auto* v = std::get_if<int64_t>(&n->attr)) {
      number(*v);
    } else if (const auto* list = std::get_if<ir::Ints>(&n->attr)) {
      ints(*list);
    } else if (const auto* w = std::get_if<ir::WindowAttr>(&n->attr)) {
      number(w->axis);
      number(w->step);
    } else if (const auto* r = std::get_if<ir::ReduceAttr>(&n->attr)) {
      byte(static_cast<uint8_t>(r->combine));
      ints(r->axes);
      number(r->tree.lanes);
      number(r->tree.block);
      number(r->result);
    } else if (!std::holds_alternative<std::monostate>(n->attr) && !std::holds_alternative<ir::Fresh>(n->attr)) {
      throw InternalError("writing a plan key: " + std::string(ir::info(n->op).name) +
                          " has an attribute that no tensor graph has");
    }
  }
  void ints(const ir::Ints& list) {
    number(static_cast<uint32_t>(list.size()));
    for (int64_t v : list) number(v);
  }

  void state(const Position& p) {
    byte(static_cast<uint8_t>(p.backs_outside | p.node->state.leaf << 1));
    number(p.home);
  }

  const Collected& plan_;
  Canonical& out_;
  Bytes& bytes_;
};

}  // namespace

int alignment_of(const ir::Storage& storage) {
  const auto address = reinterpret_cast<uintptr_t>(static_cast<const runtime::Buffer&>(storage).data());
  return address ? 1 << std::min(6, std::countr_zero(address)) : 64;
}

int Canonical::var_of(const Dim& d) const {
  if (!d.symbolic()) return -1;
  for (size_t v = 0; v < vars.size(); ++v)
    if (vars[v].value == d.value() && vars[v].var == d.var()) return static_cast<int>(v);
  throw InternalError("a plan does not know the size " + to_string(d));
}

Var numbered(size_t number, const Var& var) { return Var(fmt::format("n{}", number), var.min(), var.max()); }

Canonical canonicalise(const Collected& plan, std::string_view salt) {
  static Bytes& bytes = *new Bytes;  // guarded by the graph's mutex
  Canonical out;
  Writer writer(plan, out, bytes);
  out.key = runtime::hash_bytes(writer.write(salt));
  return out;
}

}  // namespace sinter::schedule
