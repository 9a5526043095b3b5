// Unrolled copies of a loop load neighbors. They become one access here, since compilers do not know that buffers are
// aligned. The function does not write the buffer, so that no store stands between its loads. All of its accesses to
// the buffer become 16 bytes wide, or none: behind a wide one, NVRTC 13 reads single elements as 16 bytes too, which
// the buffer may not have.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "codegen/gpu/gpu_passes.h"
#include "codegen/gpu/index_alignment.h"

namespace sinter::codegen {
namespace {

/// Threads that must fit a multiprocessor at once. With more of them, each has fewer than 96 of its 64 Ki registers,
/// and NVRTC 13 spills what wide loads hold (80 registers, an LSTM cell's kernel).
constexpr int kMaxResidentThreads = 672;

/// An index as another one and a constant.
struct Offset {
  Id base = kNone;  ///< kNone: the constant alone
  int64_t constant = 0;
};

class LoadWidener {
 public:
  explicit LoadWidener(const Instructions& code) : code_(code), alignment_(code), out_(code) {}

  Instructions run() {
    for (size_t block = 0; block < code_.blocks.size(); ++block)
      for (size_t place = 0; place < code_.blocks[block].size(); ++place) collect(block, place);
    for (const auto& [key, row] : rows_)
      if (!is_whole(key, row)) narrow_.insert(key.slot);
    for (const auto& [key, row] : rows_)
      if (!narrow_.contains(key.slot)) widen(key, row);
    for (size_t block = 0; block < code_.blocks.size(); ++block) insert_added(block);
    return std::move(out_);
  }

 private:
  /// Loads of one block whose indices differ by constants.
  struct RowKey {
    size_t block = 0;
    int64_t slot = 0;
    Id base = kNone;
    auto operator<=>(const RowKey&) const = default;
  };
  struct Element {
    Id load = kNone;
    size_t place = 0;  ///< in its block
  };
  using Row = std::map<int64_t, Element>;  ///< by constant

  Offset offset_of(Id index) const {
    Offset o{index};
    while (true) {
      const Inst& n = code_[o.base];
      if (n.code == InstCode::Const) return {kNone, o.constant + n.number.as_int()};
      if (n.code != InstCode::Alu || n.op != Op::Add || code_[n.src[1]].code != InstCode::Const) return o;
      o = {n.src[0], o.constant + code_[n.src[1]].number.as_int()};
    }
  }
  int64_t width_of(DType dtype) const { return kAccessBytes / static_cast<int64_t>(size_of(dtype)); }

  void collect(size_t block, size_t place) {
    const Id id = code_.blocks[block][place];
    const Inst& n = code_[id];
    if (n.code != InstCode::Load || n.type.lanes == width_of(n.type.dtype)) return;
    const bool plain = n.src.size() == 1 && n.type.lanes == 1 && !code_.slots[n.imm].written;  // tiles are written
    const Offset at = offset_of(n.src[0]);
    if (!plain || !rows_[{block, n.imm, at.base}].try_emplace(at.constant, Element{id, place}).second)
      narrow_.insert(n.imm);
  }

  /// Whether the elements of a row are whole accesses, each aligned to its size.
  bool is_whole(const RowKey& key, const Row& row) {
    const int64_t width = width_of(code_.slots[key.slot].dtype);
    if (key.base != kNone && alignment_.of(key.base) < width) return false;
    int64_t next = 0, left = 0;  // of the access that is under way
    for (const auto& [constant, element] : row) {
      if (left == 0) {
        if (constant % width != 0) return false;
        next = constant, left = width;
      }
      if (constant != next) return false;
      ++next, --left;
    }
    return left == 0;
  }

  void widen(const RowKey& key, const Row& row) {
    const DType dtype = code_.slots[key.slot].dtype;
    const int64_t width = width_of(dtype);
    for (auto it = row.begin(); it != row.end();) {
      const int64_t constant = it->first;
      std::vector<Element> elements;
      for (int64_t i = 0; i < width; ++i, ++it) elements.push_back(it->second);
      const size_t place = std::ranges::min(elements, {}, &Element::place).place;
      const Id vector =
          add(key.block, place,
              {InstCode::Load, {dtype, static_cast<int>(width)}, {index(key, place, constant)}, key.slot});
      for (int64_t i = 0; i < width; ++i)
        out_[elements[static_cast<size_t>(i)].load] = {InstCode::Part, {dtype, 1}, {vector}, i};
    }
  }
  Id index(const RowKey& key, size_t place, int64_t constant) {
    if (key.base != kNone && constant == 0) return key.base;
    const Type type{DType::Index, 1};
    const Id number = add(key.block, place, {InstCode::Const, type, {}, 0, ir::Scalar::of(DType::Index, constant)});
    if (key.base == kNone) return number;
    return add(key.block, place, {.code = InstCode::Alu, .type = type, .src = {key.base, number}, .op = Op::Add});
  }

  Id add(size_t block, size_t place, Inst inst) {
    out_.insts.push_back(std::move(inst));
    const Id id = static_cast<Id>(out_.insts.size()) - 1;
    added_.emplace(std::pair(block, place), id);
    return id;
  }
  void insert_added(size_t block) {
    const std::vector<Id>& ids = code_.blocks[block];
    std::vector<Id> made;
    for (size_t place = 0; place < ids.size(); ++place) {
      for (auto [it, end] = added_.equal_range({block, place}); it != end; ++it) made.push_back(it->second);
      made.push_back(ids[place]);
    }
    out_.blocks[block] = std::move(made);
  }

  const Instructions& code_;
  IndexAlignment alignment_;
  Instructions out_;
  std::map<RowKey, Row> rows_;
  std::set<int64_t> narrow_;                            ///< slots that keep some narrower access
  std::multimap<std::pair<size_t, size_t>, Id> added_;  ///< before which place of which block
};

}  // namespace

Instructions widen_loads(const Instructions& code) {
  return std::max(code.occupancy, 1) * code.threads > kMaxResidentThreads ? code : LoadWidener(code).run();
}

}  // namespace sinter::codegen
