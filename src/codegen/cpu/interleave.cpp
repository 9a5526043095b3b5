// A block is cut into regions at every instruction other than values, stores and accumulator accesses. Within a region
// each effect ends a group: the instructions first needed by that effect. Long adjacent groups are interleaved.
// Dependences are kept across groups.
#include "codegen/cpu/cpu_passes.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace sinter::codegen {
namespace {

constexpr size_t kLong = 12;     ///< vector operations from which a group is latency-bound
constexpr int kDivision = 3;     ///< latency of a division or square root, in additions
constexpr size_t kTogether = 4;  ///< groups interleaved at once: enough to cover the latency of one step

bool is_effect(InstCode c) { return c == InstCode::Store || c == InstCode::Stream || c == InstCode::AccumulatorWrite; }

/// Whether the instruction may be reordered with instructions that it does not depend on.
bool may_move(InstCode c) {
  switch (c) {
    case InstCode::Fence:
    case InstCode::Raise:
    case InstCode::Accumulator:
    case InstCode::Shuffle:
    case InstCode::Barrier:
    case InstCode::Loop:
    case InstCode::If: return false;
    default: return true;
  }
}

class Interleaver {
 public:
  explicit Interleaver(const Instructions& code)
      : code_(code),
        before_(code.insts.size()),
        distance_to_effect_(code.insts.size()),
        unplaced_(code.insts.size()),
        out_(code) {}

  Instructions run() {
    for (std::vector<Id>& block : out_.blocks) {
      std::vector<Id> made;
      for (size_t from = 0; from < block.size();) {
        size_t to = from;
        while (to < block.size() && may_move(code_[block[to]].code)) ++to;
        region(std::span(block).subspan(from, to - from), made);
        if (to < block.size()) made.push_back(block[to++]);
        from = to;
      }
      block = std::move(made);
    }
    return std::move(out_);
  }

 private:
  using EffectGroup = std::span<const Id>;

  void region(EffectGroup all, std::vector<Id>& made) {
    find_dependences(all);
    std::vector<EffectGroup> groups;
    for (size_t from = 0, i = 0; i < all.size(); ++i)
      if (is_effect(code_[all[i]].code) || i + 1 == all.size()) {
        groups.push_back(all.subspan(from, i + 1 - from));
        from = i + 1;
      }
    for (size_t g = 0; g < groups.size();) {
      size_t end = g + 1;
      while (end < groups.size() && end - g < kTogether && is_long(groups[g]) && is_long(groups[end])) ++end;
      interleave_groups(std::span(groups).subspan(g, end - g), made);
      g = end;
    }
  }

  bool is_long(EffectGroup group) const {
    return static_cast<size_t>(std::ranges::count_if(
               group, [&](Id id) { return code_[id].code == InstCode::Alu && code_[id].type.lanes > 1; })) >= kLong;
  }

  /// Interleaves step by step. In long groups, instructions farthest from their effect come first (critical path),
  /// which interleaves the chains within a group too.
  void interleave_groups(std::span<const EffectGroup> groups, std::vector<Id>& made) {
    size_t longest = 0;
    for (EffectGroup g : groups) longest = std::max(longest, g.size());
    std::vector<Id> interleaved;
    for (size_t i = 0; i < longest; ++i)
      for (EffectGroup g : groups)
        if (i < g.size()) interleaved.push_back(g[i]);
    if (is_long(groups[0])) sort_by_distance(groups, interleaved);
    for (Id id : interleaved) place(id, made);
  }
  void sort_by_distance(std::span<const EffectGroup> groups, std::vector<Id>& interleaved) {
    for (size_t g = groups.size(); g-- > 0;)
      for (size_t i = groups[g].size(); i-- > 0;) {
        const Id id = groups[g][i];
        for (Id b : before_[id])
          distance_to_effect(b) = std::max(distance_to_effect(b), distance_to_effect(id) + steps(b));
      }
    std::vector<std::pair<int, size_t>> order;  // farthest first, stable
    for (size_t i = 0; i < interleaved.size(); ++i) order.emplace_back(-distance_to_effect(interleaved[i]), i);
    std::ranges::sort(order);
    std::vector<Id> sorted;
    for (const auto& [distance, i] : order) sorted.push_back(interleaved[i]);
    interleaved = std::move(sorted);
  }
  int& distance_to_effect(Id id) { return distance_to_effect_[id]; }
  int steps(Id id) const { return code_[id].op == Op::Div || code_[id].op == Op::Sqrt ? kDivision : 1; }
  /// Places `last` after everything it depends on.
  void place(Id last, std::vector<Id>& made) {
    std::vector<Id> stack{last};
    while (!stack.empty()) {
      const Id id = stack.back();
      const std::vector<Id>& before = before_[id];
      const auto open = std::ranges::find_if(before, [&](Id b) { return unplaced_[b]; });
      if (open != before.end()) {
        stack.push_back(*open);
        continue;
      }
      stack.pop_back();
      if (!unplaced_[id]) continue;
      unplaced_[id] = false;
      made.push_back(id);
    }
  }

  /// Dependences within the region: sources, and earlier accesses to the same memory or accumulator if one of the two
  /// is a write.
  void find_dependences(EffectGroup all) {
    struct LastAccess {
      Id changed = kNone;
      std::vector<Id> read;
    };
    std::map<std::pair<InstCode, int64_t>, LastAccess> last_access;
    for (Id id : all) unplaced_[id] = true;
    for (Id id : all) {
      const Inst& n = code_[id];
      std::vector<Id>& before = before_[id];
      for (Id s : n.src)
        if (unplaced_[s]) before.push_back(s);
      LastAccess* t = nullptr;
      if (n.code == InstCode::AccumulatorWrite || n.code == InstCode::AccumulatorRead)
        t = &last_access[{InstCode::Accumulator, n.src[0]}];
      if (n.code == InstCode::Store || n.code == InstCode::Stream) t = &last_access[{InstCode::Store, n.imm}];
      if (n.code == InstCode::Load && code_.slots[n.imm].written) t = &last_access[{InstCode::Store, n.imm}];
      if (!t) continue;
      if (t->changed != kNone) before.push_back(t->changed);
      if (!is_effect(n.code)) {
        t->read.push_back(id);
        continue;
      }
      before.insert(before.end(), t->read.begin(), t->read.end());
      *t = {id, {}};
    }
  }

  const Instructions& code_;
  std::vector<std::vector<Id>> before_;
  std::vector<int> distance_to_effect_;  ///< longest path, in steps, from an instruction to an effect that needs it
  std::vector<bool> unplaced_;           ///< instructions of the current region that are not placed yet
  Instructions out_;
};

}  // namespace

Instructions interleave(const Instructions& code) { return Interleaver(code).run(); }

}  // namespace sinter::codegen
