// A loop qualifies if its only effects are accumulator updates and its shuffles read only memory that the kernel does
// not write. The columns are then loop-carried, in accumulators of their own. Multiplications are ordered by the column
// they use, so that each column's register is freed early for the next iteration.
#include "codegen/cpu/cpu_passes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace sinter::codegen {
namespace {

constexpr size_t kFewestColumns = 4;
constexpr size_t kSpare = 4;  ///< registers for a multiplication operand and for rows in transit

class Pipeliner {
 public:
  Pipeliner(const Instructions& code, int registers) : out_(code), registers_(static_cast<size_t>(registers)) {}

  Instructions run() {
    for (size_t b = 0; b < out_.blocks.size(); ++b)
      for (size_t i = 0; i < out_.blocks[b].size(); ++i)
        if (const Id loop = out_.blocks[b][i]; out_[loop].code == InstCode::Loop && qualifies(loop)) {
          const std::vector<Id> before = rewrite(loop);
          out_.blocks[b].insert(out_.blocks[b].begin() + static_cast<long>(i), before.begin(), before.end());
          i += before.size();
        }
    return std::move(out_);
  }

 private:
  std::vector<Id>& body(Id loop) { return out_.blocks[out_[loop].block]; }
  bool inside(Id id) const { return at_.contains(id); }
  bool is_number(Id id) const { return out_[id].code == InstCode::Const; }
  int64_t number(Id id) const { return out_[id].number.as_int(); }

  // ---- analysis
  bool qualifies(Id loop) {
    const Inst& l = out_[loop];
    if (!is_number(l.src[0]) || !is_number(l.src[1]) || number(l.src[0]) + l.imm >= number(l.src[1])) return false;
    at_.clear(), users_.clear();
    for (Id id : body(loop)) {
      at_.emplace(id, at_.size());
      for (Id s : out_[id].src) users_[s].push_back(id);
    }
    return find_moved(body(loop)) && columns_.size() >= kFewestColumns && find_updates(body(loop)) &&
           updates_.size() > sums_.size() && sums_.size() + columns_.size() + kSpare <= registers_;
  }

  static bool is_pure(InstCode c) {
    return c == InstCode::Alu || c == InstCode::Splat || c == InstCode::Pack || c == InstCode::Interleave ||
           c == InstCode::Load || c == InstCode::Const;
  }
  /// Finds what moves one iteration ahead: the shuffles that depend on the loop variable only, and what only they use.
  /// True if everything they need from the loop body moves with them.
  bool find_moved(const std::vector<Id>& body) {
    pure_.clear(), moved_.clear(), columns_.clear();
    for (Id id : body) {
      const Inst& n = out_[id];
      if (is_pure(n.code) && !(n.code == InstCode::Load && out_.slots[n.imm].written) &&
          std::ranges::all_of(n.src, [&](Id s) { return !inside(s) || pure_.contains(s); }))
        pure_.insert(id);
    }
    for (size_t i = body.size(); i-- > 0;) {
      const Id id = body[i];
      const std::vector<Id>& users = users_[id];
      const bool all = std::ranges::all_of(users, [&](Id user) { return moved_.contains(user); });
      if (!pure_.contains(id) || users.empty() || !(all || out_[id].code == InstCode::Interleave)) continue;
      moved_.insert(id);
      if (!all) columns_.push_back(id);
    }
    std::ranges::reverse(columns_);
    return std::ranges::all_of(body, [&](Id id) {
      const std::vector<Id>& s = out_[id].src;
      return !moved_.contains(id) || out_[id].code != InstCode::Interleave ||
             std::ranges::all_of(s, [&](Id x) { return !inside(x) || moved_.contains(x); });
    });
  }

  /// Finds the accumulator updates. Each written value must have no other use, and must be the only use of its
  /// accumulator's old value. True if the loop does nothing else.
  bool find_updates(const std::vector<Id>& body) {
    updates_.clear(), sums_.clear();
    for (Id id : body) {
      const Inst& n = out_[id];
      if (pure_.contains(id)) continue;
      if (n.code == InstCode::AccumulatorRead ? n.src.size() != 1 || users_[id].size() != 1
          : n.code == InstCode::Alu           ? users_[id].size() != 1
                                              : n.code != InstCode::AccumulatorWrite)
        return false;
      if (n.code != InstCode::AccumulatorWrite) continue;
      if (n.src.size() != 2 || !updates_its_own(n)) return false;
      updates_.push_back({sums_[n.src[0]]++, first_operand(n.src[1]), id});
    }
    return true;
  }
  bool updates_its_own(const Inst& assign) const {
    const Inst& value = out_[assign.src[1]];
    if (!inside(assign.src[1]) || value.code != InstCode::Alu) return false;
    return std::ranges::all_of(value.src, [&](Id s) {
      return !inside(s) || pure_.contains(s) ||
             (out_[s].code == InstCode::AccumulatorRead && out_[s].src[0] == assign.src[0]);
    });
  }
  /// Position of the first operand that is no column. Updates that share it are placed side by side.
  size_t first_operand(Id value) const {
    size_t first = at_.size();
    for (Id s : out_[value].src)
      if (inside(s) && !moved_.contains(s) && out_[s].code != InstCode::AccumulatorRead)
        first = std::min(first, at_.at(s));
    return first;
  }

  // ---- rewriting
  Id add(Inst inst) {
    out_.insts.push_back(std::move(inst));
    return static_cast<Id>(out_.insts.size()) - 1;
  }
  Id index(Op op, Id a, Id b) { return add({.code = InstCode::Alu, .type = out_[a].type, .src = {a, b}, .op = op}); }
  Id constant(Type type, int64_t v) { return add({InstCode::Const, type, {}, 0, ir::Scalar::of(type.dtype, v)}); }

  /// Rewrites the loop body. Returns the prologue.
  std::vector<Id> rewrite(Id loop) {
    const Inst l = out_[loop];
    std::vector<Id> before;
    std::map<Id, Id> first{{loop, l.src[0]}}, next;
    const Id step = constant(l.type, l.imm),
             last = constant(l.type, number(l.src[1]) - 1 - (number(l.src[1]) - number(l.src[0]) - 1) % l.imm);
    before = {step, last};
    const Id behind = index(Op::Add, loop, step);
    next[loop] = index(Op::Min, behind, last);
    std::vector<Id> made{behind, next[loop]}, ahead = schedule_moved(body(loop)), exchanges;
    for (Id id : ahead) copy(id, first, before);
    for (Id id : ahead) copy(id, next, exchanges);
    std::map<Id, Id> present;
    std::vector<Id> assigned;
    for (Id c : columns_) {
      before.push_back(add({InstCode::Accumulator, out_[c].type, {first.at(c)}, 1}));
      made.push_back(present[c] = add({InstCode::AccumulatorRead, out_[c].type, {before.back()}}));
      assigned.push_back(add({InstCode::AccumulatorWrite, {}, {before.back(), next.at(c)}}));
    }
    for (Id user : body(loop))
      if (!moved_.contains(user))
        for (Id& s : out_[user].src)
          if (const auto it = present.find(s); it != present.end()) s = it->second;

    std::ranges::sort(updates_);
    const auto independent =
        static_cast<size_t>(std::ranges::count_if(updates_, [](const AccumulatorUpdate& u) { return u.ordinal == 0; }));
    placed_.clear();
    for (size_t i = 0, done = 0; i < updates_.size(); ++i) {
      place(updates_[i].assign, made);
      for (const size_t to =
               i < independent ? 0 : exchanges.size() * (i + 1 - independent) / (updates_.size() - independent);
           done < to; ++done)
        made.push_back(exchanges[done]);
    }
    made.insert(made.end(), assigned.begin(), assigned.end());
    body(loop) = std::move(made);
    return before;
  }

  /// Order of the moved instructions: rows in source order, and each shuffle as soon as both of its operands are
  /// available. This keeps register pressure low. copy() emits the sources of a packed row just before the row.
  std::vector<Id> schedule_moved(const std::vector<Id>& body) const {
    std::vector<Id> order;
    std::set<Id> there;
    const auto ready = [&](Id id) {
      return out_[id].code == InstCode::Interleave && moved_.contains(id) && !there.contains(id) &&
             std::ranges::all_of(out_[id].src, [&](Id s) { return !moved_.contains(s) || there.contains(s); });
    };
    for (Id id : body) {
      if (!moved_.contains(id) || out_[id].code == InstCode::Interleave) continue;
      const std::vector<Id>& users = users_.at(id);
      if (std::ranges::none_of(users, [&](Id u) { return out_[u].code == InstCode::Interleave; })) continue;
      order.push_back(id), there.insert(id);
      for (Id x : body)
        if (ready(x)) order.push_back(x), there.insert(x);
    }
    return order;
  }

  /// Appends a copy of `id` and its sources in the loop to `to`, for another iteration. `made` maps the loop variable
  /// to that iteration, and each copied instruction to its copy.
  Id copy(Id id, std::map<Id, Id>& made, std::vector<Id>& to) {
    if (const auto it = made.find(id); it != made.end()) return it->second;
    if (!inside(id)) return id;
    Inst n = out_[id];
    for (Id& s : n.src) s = copy(s, made, to);
    to.push_back(made[id] = add(std::move(n)));
    return made[id];
  }

  void place(Id id, std::vector<Id>& made) {
    if (!inside(id) || !placed_.insert(id).second) return;
    for (Id s : out_[id].src) place(s, made);
    made.push_back(id);
  }

  struct AccumulatorUpdate {
    int ordinal;    ///< number of earlier updates of the same accumulator
    size_t shared;  ///< first_operand()
    Id assign;
    friend auto operator<=>(const AccumulatorUpdate&, const AccumulatorUpdate&) = default;
  };
  Instructions out_;
  const size_t registers_;
  // State of the current loop.
  std::map<Id, size_t> at_;  ///< positions in its body
  std::map<Id, std::vector<Id>> users_;
  std::set<Id> pure_, moved_, placed_;
  std::vector<Id> columns_;  ///< moved values that unmoved instructions use
  std::vector<AccumulatorUpdate> updates_;
  std::map<Id, int> sums_;  ///< number of updates per accumulator
};

}  // namespace

Instructions software_pipeline(const Instructions& code, int registers) { return Pipeliner(code, registers).run(); }

}  // namespace sinter::codegen
