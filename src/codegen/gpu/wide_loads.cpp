// Loads of neighbors, as unrolled copies of a loop make them, become one access. Compilers do not know that buffers are
// aligned. Only buffers that the kernel does not write: nothing stands between their loads.
#include <algorithm>
#include <map>
#include <utility>

#include "codegen/gpu/gpu_passes.h"
#include "codegen/gpu/index_alignment.h"

namespace sinter::codegen {
namespace {

/// An index as another one and a constant.
struct Offset {
  Id base = kNone;  ///< kNone: the constant alone
  int64_t constant = 0;
};

class LoadWidener {
 public:
  explicit LoadWidener(const Instructions& code) : code_(code), alignment_(code), out_(code) {}

  Instructions run() {
    for (size_t b = 0; b < code_.blocks.size(); ++b) widen(b);
    return std::move(out_);
  }

 private:
  struct Element {
    Id load = kNone;
    size_t place = 0;  ///< in its block
  };
  using Row = std::map<int64_t, Element>;  ///< by constant

  Offset offset_of(Id index) const {
    Offset o{index};
    while (o.base != kNone) {
      const Inst& n = code_[o.base];
      if (n.code == InstCode::Const) return {kNone, o.constant + n.number.as_int()};
      if (n.code != InstCode::Alu || n.op != Op::Add || code_[n.src[1]].code != InstCode::Const) break;
      o = {n.src[0], o.constant + code_[n.src[1]].number.as_int()};
    }
    return o;
  }
  bool may_widen(const Inst& n) const {
    return n.code == InstCode::Load && n.src.size() == 1 && n.type.lanes == 1 && n.imm < code_.params &&
           !code_.slots[n.imm].written;
  }

  void widen(size_t block) {
    std::map<std::pair<int64_t, Id>, Row> rows;  // by slot and base
    const std::vector<Id>& ids = code_.blocks[block];
    for (size_t place = 0; place < ids.size(); ++place) {
      const Inst& n = code_[ids[place]];
      if (!may_widen(n)) continue;
      const Offset at = offset_of(n.src[0]);
      rows[{n.imm, at.base}].try_emplace(at.constant, Element{ids[place], place});
    }
    std::multimap<size_t, Id> added;  // before which place
    for (const auto& [key, row] : rows) widen(key.second, row, added);
    if (added.empty()) return;
    std::vector<Id>& made = out_.blocks[block];
    made.clear();
    for (size_t place = 0; place < ids.size(); ++place) {
      for (auto [it, end] = added.equal_range(place); it != end; ++it) made.push_back(it->second);
      made.push_back(ids[place]);
    }
  }

  void widen(Id base, const Row& row, std::multimap<size_t, Id>& added) {
    for (auto first = row.begin(); first != row.end();) {
      const Inst& n = code_[first->second.load];
      const int64_t most = kAccessBytes / static_cast<int64_t>(size_of(n.type.dtype));
      const int64_t aligned = std::min(base == kNone ? IndexAlignment::kMost : alignment_.of(base),
                                       IndexAlignment::of_number(first->first));
      int64_t width = std::min(most, aligned);
      const auto all_there = [&] {
        auto next = first;
        for (int64_t i = 0; i < width; ++i, ++next)
          if (next == row.end() || next->first != first->first + i) return false;
        return true;
      };
      while (width > 1 && !all_there()) width /= 2;
      if (width <= 1) {
        ++first;
        continue;
      }
      size_t place = first->second.place;
      for (auto [it, i] = std::pair{first, int64_t{0}}; i < width; ++it, ++i) place = std::min(place, it->second.place);
      const Id vector = load(base, first->first, n, width, place, added);
      for (int64_t i = 0; i < width; ++i, ++first) out_[first->second.load] = {InstCode::Part, n.type, {vector}, i};
    }
  }

  Id load(Id base, int64_t constant, const Inst& n, int64_t width, size_t place, std::multimap<size_t, Id>& added) {
    const auto add = [&](Inst inst) {
      out_.insts.push_back(std::move(inst));
      const Id id = static_cast<Id>(out_.insts.size()) - 1;
      added.emplace(place, id);
      return id;
    };
    Id index = base;
    if (base == kNone || constant != 0) {
      index = add({InstCode::Const, {DType::Index, 1}, {}, 0, ir::Scalar::of(DType::Index, constant)});
      if (base != kNone)
        index = add({.code = InstCode::Alu, .type = {DType::Index, 1}, .src = {base, index}, .op = Op::Add});
    }
    return add({InstCode::Load, {n.type.dtype, static_cast<int>(width)}, {index}, n.imm});
  }

  const Instructions& code_;
  IndexAlignment alignment_;
  Instructions out_;
};

}  // namespace

Instructions widen_loads(const Instructions& code) { return LoadWidener(code).run(); }

}  // namespace sinter::codegen
