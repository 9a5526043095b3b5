#include "instruction_edits.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "ir/scalar_eval.h"

namespace golden {

using namespace sinter;
using codegen::Id;
using codegen::Inst;
using codegen::InstCode;
using codegen::Instructions;
using codegen::kNone;

namespace {

Id add_first(Instructions& code, Inst inst) {
  code.insts.push_back(std::move(inst));
  const Id id = static_cast<Id>(code.insts.size()) - 1;
  code.blocks[0].insert(code.blocks[0].begin(), id);
  return id;
}
Id number(Instructions& code, DType dtype, ir::Scalar value) {
  Inst n{InstCode::Const, {dtype, 1}, {}};
  n.number = value;
  return add_first(code, std::move(n));
}
Id index(Instructions& code, int64_t v) { return number(code, DType::Index, ir::Scalar::of(DType::Index, v)); }

/// A value that no sum and no maximum begins with. A finite one would show in no sum that is scaled by 0 first.
Id elsewhere(Instructions& code, DType dtype) {
  return number(code, dtype, is_float(dtype) ? ir::Scalar::of(dtype, std::nan("")) : ir::Scalar::of(dtype, int64_t{3}));
}

std::optional<int64_t> constant(const Instructions& code, Id id) {
  const Inst& n = code[id];
  if (n.code != InstCode::Const || n.type.dtype != DType::Index) return {};
  return n.number.as_int();
}

/// Values at + k * step. step 0: one value.
struct Progression {
  int64_t at = 0, step = 1;
};
/// What an index may be, as far as it is known.
Progression progression_of(const Instructions& code, Id id) {
  const Inst& n = code[id];
  if (const std::optional<int64_t> c = constant(code, id)) return {*c, 0};
  if (n.code == InstCode::Loop) {
    const Progression first = progression_of(code, n.src[0]);
    return {first.at, std::gcd(first.step, n.imm)};
  }
  if (n.code != InstCode::Alu) return {};
  if (n.op == ir::Op::Add || n.op == ir::Op::Sub) {
    const Progression a = progression_of(code, n.src[0]), b = progression_of(code, n.src[1]);
    return {n.op == ir::Op::Add ? a.at + b.at : a.at - b.at, std::gcd(a.step, b.step)};
  }
  if (n.op == ir::Op::Mul)
    if (const std::optional<int64_t> by = constant(code, n.src[1])) {
      const Progression a = progression_of(code, n.src[0]);
      return {a.at * *by, a.step * *by};
    }
  return {};
}

/// The bound of `Lt` that lets one more value of the other side pass; nullopt if that is a single value.
std::optional<int64_t> wider(const Instructions& code, const Inst& less, size_t side) {
  const int64_t bound = *constant(code, less.src[side]);
  const auto [at, step] = progression_of(code, less.src[1 - side]);
  if (step == 0) return {};
  const int64_t past = ((bound - at) % step + step) % step;  // of the bound behind a value
  return side ? bound + (past ? step - past : 0) + 1 : bound - past - 1;
}

/// The instruction as an edit finds it: number `at` of block `block`.
struct Place {
  size_t block, at;
};

/// Whether every read of a variable stands in an If behind a write in an If on the same condition, next to each other
/// in one block: what the variable begins with is never read.
class FirstValues {
 public:
  explicit FirstValues(const Instructions& code) : code_(code), parents_(code.blocks.size(), {0, 0}) {
    for (size_t b = 0; b < code.blocks.size(); ++b)
      for (size_t at = 0; at < code.blocks[b].size(); ++at) {
        const Inst& n = code[code.blocks[b][at]];
        if (n.block >= 0) parents_[static_cast<size_t>(n.block)] = {b, at};
        if (n.code == InstCode::AccumulatorRead) reads_[n.src[0]].push_back({b, at});
        if (n.code == InstCode::AccumulatorWrite) writes_[n.src[0]].push_back({b, at});
      }
  }
  bool is_unread(Id accumulator) const {
    const auto reads = reads_.find(accumulator), writes = writes_.find(accumulator);
    if (reads == reads_.end() || writes == writes_.end()) return false;
    return std::ranges::all_of(reads->second, [&](const Place& read) {
      return std::ranges::any_of(writes->second, [&](const Place& write) { return is_behind(read, write); });
    });
  }

 private:
  bool is_behind(const Place& read, const Place& write) const {
    if (read.block == write.block) return read.at > write.at;
    const Place a = parents_[write.block], b = parents_[read.block];
    const Inst &first = at(a), &second = at(b);
    return a.block == b.block && a.at < b.at && first.code == InstCode::If && second.code == InstCode::If &&
           same(first.src[0], second.src[0]);
  }
  const Inst& at(const Place& p) const { return code_[code_.blocks[p.block][p.at]]; }
  /// Whether two conditions are written alike.
  bool same(Id a, Id b) const {
    if (a == b) return true;
    const Inst &x = code_[a], &y = code_[b];
    if (x.code != y.code || x.op != y.op || x.imm != y.imm || x.src.size() != y.src.size()) return false;
    if (x.code == InstCode::Const)
      return x.type == y.type && ir::to_bits(x.type.dtype, x.number) == ir::to_bits(y.type.dtype, y.number);
    if (x.code != InstCode::Alu) return false;
    return std::ranges::equal(x.src, y.src, [&](Id p, Id q) { return same(p, q); });
  }

  const Instructions& code_;
  std::vector<Place> parents_;  ///< of each block: the Loop or If
  std::map<Id, std::vector<Place>> reads_, writes_;
};

/// Which tiles are accessed on both sides of a barrier that all threads pass once.
class Barriers {
 public:
  explicit Barriers(const Instructions& code) : code_(code) {
    for (const Id id : code.blocks[0]) visit(id, false);
  }
  /// Whether the next barrier orders all that this one does: no tile is accessed both before it and between the two.
  bool is_redundant(const Place& barrier) const {
    const Id id = code_.blocks[barrier.block][barrier.at];
    const auto here = std::ranges::find_if(order_, [&](const Event& e) { return e.barrier == id; });
    if (here->in_loop) return false;
    const auto next = std::find_if(here + 1, order_.end(), [](const Event& e) { return e.barrier != kNone; });
    return std::none_of(order_.begin(), here, [&](const Event& before) {
      return std::any_of(here + 1, next, [&](const Event& e) { return e.slot == before.slot && e.slot >= 0; });
    });
  }

 private:
  /// A barrier, or an access to a tile.
  struct Event {
    Id barrier = kNone;
    int64_t slot = -1;
    bool in_loop = false;
  };
  void visit(Id id, bool in_loop) {
    const Inst& n = code_[id];
    const bool access = n.code == InstCode::Load || n.code == InstCode::Store || n.code == InstCode::LoadMatrices ||
                        n.code == InstCode::CopyAsync;
    if (n.code == InstCode::Barrier) order_.push_back({id, -1, in_loop});
    if (access && n.imm >= code_.params) order_.push_back({kNone, n.imm, in_loop});
    if (n.block < 0) return;
    const bool loops = n.code == InstCode::Loop && code_[n.src[0]].code != InstCode::Begin;
    for (const Id inner : code_.blocks[static_cast<size_t>(n.block)]) visit(inner, in_loop || loops);
  }

  const Instructions& code_;
  std::vector<Event> order_;  ///< as the text has them
};

class Edits {
 public:
  explicit Edits(const Instructions& code) : code_(code), first_values_(code), barriers_(code) {}

  std::vector<InstructionEdit> all() {
    for (size_t b = 0; b < code_.blocks.size(); ++b)
      for (size_t at = 0; at < code_.blocks[b].size(); ++at) {
        const Place place{b, at};
        const Id id = code_.blocks[b][at];
        switch (code_[id].code) {
          case InstCode::Barrier:
            if (!barriers_.is_redundant(place)) drop("barrier", place);
            break;
          case InstCode::CommitCopies: drop("commit", place); break;
          case InstCode::Loop: loop(id); break;
          case InstCode::Alu:
            if (!opens_closed_copies(id)) bound(id);
            break;
          case InstCode::Accumulator: first_value(id); break;
          case InstCode::Load:
          case InstCode::Store:
            if (code_[id].imm >= code_.params)
              move_on("shared index", place, 0, std::max(code_[id].type.lanes, code_[code_[id].src.back()].type.lanes));
            break;
          case InstCode::CopyAsync: copy(place); break;
          case InstCode::WaitCopies:
            drop("wait", place);
            edit(fmt::format("wait {} for a group less", id), [&](Instructions& c) { ++c[id].imm; });
            break;
          case InstCode::LoadMatrices:
            move_on("rows of matrices", place, 0, 8);
            edit(fmt::format("matrices {} transposed", id), [&](Instructions& c) {
              c[id].number = ir::Scalar::of(DType::Index, int64_t{c[id].number.as_int() == 0});
            });
            break;
          case InstCode::Mma: tile(id); break;
          default: break;
        }
      }
    return std::move(all_);
  }

 private:
  template <class Change>
  void edit(std::string what, const Change& change) {
    InstructionEdit e{std::move(what), code_};
    change(e.code);
    all_.push_back(std::move(e));
  }
  static void erase(Instructions& c, const Place& p) {
    auto& block = c.blocks[p.block];
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(p.at));
  }
  Id id_at(const Place& p) const { return code_.blocks[p.block][p.at]; }

  void drop(const char* name, const Place& p) {
    edit(fmt::format("{} {} dropped", name, id_at(p)), [&](Instructions& c) { erase(c, p); });
  }
  static Id insert_before(Instructions& c, Id id, Inst inst) {
    c.insts.push_back(std::move(inst));
    for (auto& block : c.blocks)
      if (const auto at = std::ranges::find(block, id); at != block.end())
        return *block.insert(at, static_cast<Id>(c.insts.size()) - 1);
    return kNone;
  }
  /// Source `source` is larger by `by`.
  void move_on(const char* name, const Place& p, size_t source, int64_t by) {
    const Id id = id_at(p);
    edit(fmt::format("{} of {} moved on", name, id), [&](Instructions& c) {
      const Id step = index(c, by);
      c[id].src[source] = insert_before(
          c, id,
          {.code = InstCode::Alu, .type = {DType::Index, 1}, .src = {c[id].src[source], step}, .op = ir::Op::Add});
    });
  }

  void loop(Id id) {
    const Inst& n = code_[id];
    if (const std::optional<int64_t> end = constant(code_, n.src[1]))
      edit(fmt::format("loop {} one turn longer", id), [&](Instructions& c) { c[id].src[1] = index(c, *end + n.imm); });
  }
  /// Whether all that a condition opens are copies with conditions of their own: a block behind the last one of a range
  /// that ends inside a block has no element, so each of its copies is closed.
  bool opens_closed_copies(Id condition) const {
    bool opens = false;
    for (const Inst& n : code_.insts) {
      if (n.code != InstCode::If || n.src[0] != condition) continue;
      for (const Id id : code_.blocks[static_cast<size_t>(n.block)]) {
        const Inst& inner = code_[id];
        if (inner.code == InstCode::CopyAsync && inner.src.size() < 3) return false;
        opens |= inner.code == InstCode::CopyAsync;
        if (inner.block >= 0 || inner.code == InstCode::Store) return false;
      }
    }
    return opens;
  }
  void bound(Id id) {
    const Inst& n = code_[id];
    if (n.op != ir::Op::Lt) return;
    for (size_t side = 0; side < 2; ++side)
      if (constant(code_, n.src[side]))
        if (const std::optional<int64_t> to = wider(code_, n, side))
          edit(fmt::format("bound {} wider", id), [&](Instructions& c) { c[id].src[side] = index(c, *to); });
  }
  void first_value(Id id) {
    const Inst& n = code_[id];
    if (code_[n.src[0]].code != InstCode::Const || first_values_.is_unread(id)) return;
    edit(fmt::format("accumulator {} begins elsewhere", id),
         [&](Instructions& c) { c[id].src[0] = elsewhere(c, n.type.dtype); });
  }
  void copy(const Place& p) {
    const Id id = id_at(p);
    drop("copy", p);
    move_on("destination", p, 0, code_[id].type.lanes);
    move_on("source", p, 1, code_[id].type.lanes);
    if (code_[id].src.size() > 2)
      edit(fmt::format("copy {} where it should not be", id), [&](Instructions& c) {
        const Inst condition{.code = InstCode::Alu,
                             .type = c[c[id].src[2]].type,
                             .src = {c[id].src[2], number(c, DType::Bool, ir::Scalar::of(DType::Bool, int64_t{0}))},
                             .op = ir::Op::Eq};
        c[id].src[2] = insert_before(c, id, condition);
      });
  }
  /// Sources are 4 sums, 4 words of one factor and 2 of the other; results are Parts.
  void tile(Id id) {
    const Inst& n = code_[id];
    edit(fmt::format("tile {} left out", id), [&](Instructions& c) {
      for (size_t part = 0; part < c.insts.size(); ++part)
        if (c.insts[part].code == InstCode::Part && c.insts[part].src[0] == id)
          for (Inst& user : c.insts)
            std::ranges::replace(user.src, static_cast<Id>(part), n.src[static_cast<size_t>(c.insts[part].imm)]);
    });
    edit(fmt::format("tile {} begins elsewhere", id),
         [&](Instructions& c) { std::fill_n(c[id].src.begin(), 4, elsewhere(c, n.type.dtype)); });
    edit(fmt::format("tile {} with other rows", id), [&](Instructions& c) { std::swap(c[id].src[4], c[id].src[5]); });
    edit(fmt::format("tile {} with other steps", id), [&](Instructions& c) { std::swap(c[id].src[8], c[id].src[9]); });
  }

  const Instructions& code_;
  const FirstValues first_values_;
  const Barriers barriers_;
  std::vector<InstructionEdit> all_;
};

}  // namespace

std::vector<InstructionEdit> instruction_edits(const Instructions& code) { return Edits(code).all(); }

}  // namespace golden
