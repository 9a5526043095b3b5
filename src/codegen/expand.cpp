// Loops and what stands in them; the statements themselves are accumulate.cpp's and access.cpp's, values values.cpp's.
#include "codegen/expand.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "codegen/accumulate.h"
#include "codegen/clip.h"
#include "codegen/fetched.h"
#include "codegen/gates.h"
#include "codegen/loop_note.h"
#include "codegen/memory_node.h"
#include "codegen/slots.h"
#include "codegen/stores.h"
#include "codegen/threads.h"
#include "codegen/values.h"
#include "sinter/error.h"
#include "uop/build.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;
using What = Item::What;

/// Bytes of tiles that lie on the stack, or in a block's shared memory; larger ones get scratch memory.
constexpr int64_t kStack = 64 << 10;
constexpr int64_t kExchange = 16 << 10;  ///< of shared memory that is left for threads to combine sums

class Expander {
 public:
  Expander(const Kernel& kernel, const runtime::Target& target, const Schedule& schedule, const Statements& statements,
           Ranges& ranges)
      : kernel_(kernel),
        near_(target.cuda() ? target.shared - kExchange : kStack),
        cpu_(!target.cuda()),
        shared_(cpu_ && target.threads > 1),
        schedule_(schedule),
        statements_(statements),
        ranges_(ranges),
        emit_(code_),
        values_(kernel, schedule, statements, ranges, emit_, cpu_, target.masks),
        accumulators_(statements, values_, emit_, schedule.threads),
        fetched_(statements, values_, emit_, schedule.threads) {}

  Instructions run(const std::vector<Item>& tree) {
    code_.args = kernel_.args;
    code_.vars = static_cast<int>(kernel_.vars.size());
    code_.threads = schedule_.threads;
    find_slots(kernel_, statements_.tiles, near_, code_);
    points(tree);
    if (!schedule_.nontemporal.empty()) emit_.here({Code::Fence, {}, {}});
    return std::move(code_);
  }

 private:
  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }

  // ---- points of the launch
  Id size(UOp range) { return values_.value(range->src[0]); }
  Id ceiling(Id x, int64_t step) {
    return emit_.divide(Op::IDiv, emit_.index(Op::Add, x, emit_.number(step - 1)), emit_.number(step));
  }

  /// The loop over points; each names a block of every outer range, the last range's counting fastest, but for ragged ones. Threads begin
  /// with the same number of points that follow each other: small blocks last would be one thread's.
  void points(const std::vector<Item>& tree) {
    std::vector<const Axis*> counted;
    for (const bool ragged : {false, true})
      for (UOp r : schedule_.outer)
        if (const Axis& a = schedule_.of(r); !a.whole() && (shared_ && a.ragged()) == ragged) counted.push_back(&a);
    std::vector<Id> counts;
    for (const Axis* a : counted) counts.push_back(ceiling(size(a->range), a->block));
    if (!counted.empty()) {
      std::string note = "point";
      for (const Axis* a : counted) note += fmt::format(", {} of range {}", a->block, range_id(a->range));
      const Id begin = emit_.value({Code::Begin, {DType::Index, 1}, {}});
      Id left = emit_.open_loop(begin, emit_.value({Code::End, {DType::Index, 1}, {}}), 1, std::move(note));
      for (size_t i = counted.size(); i-- > 0;) {
        const Id at = i == 0 ? left : emit_.divide(Op::Mod, left, counts[i]);
        if (i > 0) left = emit_.divide(Op::IDiv, left, counts[i]);
        point(*counted[i], emit_.index(Op::Mul, at, emit_.number(counted[i]->block)));
      }
    }
    for (UOp r : schedule_.outer)
      if (const Axis& a = schedule_.of(r); a.whole()) point(a, emit_.number(0));
    block(tree);
    if (!counted.empty()) emit_.close();
  }
  void point(const Axis& axis, Id base) {
    if (axis.block == 1)
      values_.bind(axis.range, 0, base, 1, 1);
    else
      values_.enter(axis.range, Values::kPoint, base);
  }

  /// A store that lacks an outer range runs where that one's block begins at 0; kNone: everywhere.
  Id turn(int number) {
    if (number < 0) return kNone;
    Id ok = kNone;
    for (UOp range : statements_.turns[static_cast<size_t>(number)]) {
      if (schedule_.of(range).whole()) continue;
      const int first = schedule_.of(range).block == 1 ? 0 : Values::kPoint;
      ok = emit_.both(ok, emit_.alu(Op::Eq, {DType::Bool, 1}, {values_.base(range, first), emit_.number(0)}));
    }
    return ok;
  }

  // ---- items
  void block(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.has_body()) {
        const Id guard = item.what == What::Next ? kNone : turn(item.level.turn);
        if (guard != kNone) emit_.open_if(guard);
        item.what == What::Loop ? loop(item) : ahead(item);
        if (guard != kNone) emit_.close();
        continue;
      }
      if (item.what == What::Barrier) {
        emit_.here({Code::Barrier, {}, {}});
        continue;
      }
      const Statement& s = at(item.statement);
      values_.set_statement(s);
      if (item.what == What::Init) {
        begin(item.statement);
        continue;
      }
      if (item.what == What::Update && update_in_cases(item.statement)) continue;
      const bool gated = item.what == What::Update && open_gate(item.statement);
      for_each_copy(s.node, item.what == What::Update, [&] {
        switch (item.what) {
          case What::Update: return accumulators_.update(item.statement);
          case What::Finish: return accumulators_.finish(item.statement);
          case What::Store: return store(s);
          case What::Fetch: return fetched_.take(item.statement);
          case What::Put: return fetched_.put(item.statement);
          default: return;
        }
      });
      if (gated) {
        values_.end_assumption();
        emit_.close();
      }
    }
  }

  /// Accumulators are all loaded under one condition: were each under its own, compilers would keep some in memory.
  void begin(int statement) {
    const UOp n = at(statement).node;
    for_each_copy(n, false, [&] { accumulators_.init(statement); });
    const Id later = accumulators_.goes_on(statement);
    if (later == kNone) return;
    emit_.open_if(later);
    for_each_copy(n, false, [&] { accumulators_.resume(statement); });
    emit_.close();
  }

  // ---- elements of a sum that change nothing
  /// Of one in a single chain.
  static UOp gate_of_chain(UOp n) { return n->op == Op::Reduce && n->reduction().tree.lanes == 1 ? common_gate(n) : UOp(); }
  bool copied(UOp n) {
    return std::any_of(unrolled_.begin(), unrolled_.end(), [&](const auto& u) { return ranges_.depends(n, u.first); });
  }
  bool differs(UOp n) { return values_.varies(n) || copied(n); }
  /// Skips them, if all lanes and copies agree on which. Says whether a block was opened.
  bool open_gate(int statement) {
    const UOp gate = gate_of_chain(at(statement).node);
    if (!gate) return false;
    std::vector<UOp> left = ir::operands_of(gate, Op::And);
    std::erase_if(left, [&](UOp c) { return std::find(clipped_.begin(), clipped_.end(), c) != clipped_.end(); });
    if (std::any_of(left.begin(), left.end(), [&](UOp c) { return differs(c); })) return false;
    if (left.empty()) {
      emit_.open_memory();
    } else {
      const Id open = values_.value(std::accumulate(left.begin() + 1, left.end(), left[0], std::bit_and<>()));
      add_skipped(statement, emit_.alu(Op::Not, {DType::Bool, 1}, {open}));
      emit_.open_if(open);
    }
    values_.assume(gate);
    return true;
  }
  /// One element of a sum of vectors, in two cases: where what all copies of a scalar load have in common of its gate is open, and where it is
  /// closed. Asked for in each copy it would take the place of two multiplications. Sums that skip what a gate closes need none of it.
  bool update_in_cases(int statement) {
    const UOp n = at(statement).node;
    if (!cpu_ || n->op != Op::Reduce || gate_of_chain(n) || !values_.varies(n)) return false;
    std::vector<UOp> common, loads;
    for (UOp load : gated_loads(n)) {
      if (!copied(load) || values_.varies(load)) continue;
      std::vector<UOp> conditions = ir::operands_of(gate_of(load), Op::And);
      std::erase_if(conditions, [&](UOp c) { return differs(c); });
      if (loads.empty()) common = conditions;
      if (!conditions.empty() && conditions == common) loads.push_back(load);
    }
    if (loads.empty()) return false;
    const UOp all = std::accumulate(common.begin() + 1, common.end(), common[0], std::bit_and<>());
    const Id open = values_.value(all);
    if (emit_.always(open) || emit_.never(open)) return false;
    emit_.open_if(open);
    values_.assume(all);
    for_each_copy(n, true, [&] { accumulators_.update(statement); });
    values_.end_assumption();
    emit_.close();
    emit_.open_if(emit_.alu(Op::Not, {DType::Bool, 1}, {open}));
    values_.begin_assumption();
    for_each_copy(n, true, [&] {
      for (UOp load : loads) values_.close_gate(load);
      accumulators_.update(statement);
    });
    values_.end_assumption();
    emit_.close();
    return true;
  }
  /// A loop that goes through a range, or a block of it, one by one.
  struct Turning {
    UOp range;
    Id at, end;
  };
  /// They add 0, however many there are: that makes +0 of an accumulator that underflow left at -0. Where each turn of a loop of the sum would
  /// skip the same, the last one adds for all: before, a lost +0 changes no more than the sign of a zero, which that then makes good. (No
  /// range of a sum bounds another, so that the last turn skips as much; loops of other ranges begin new accumulators.)
  void add_skipped(int statement, Id condition) {
    const UOp sum = at(statement).node, gate = gate_of_chain(sum);
    const std::vector<UOp> own = ranges_of(sum);
    for (const Turning& t : turning_)
      if (std::find(own.begin(), own.end(), t.range) != own.end() && !ranges_.depends(gate, t.range))
        condition = emit_.both(condition, emit_.alu(Op::Eq, {DType::Bool, 1}, {emit_.index(Op::Add, t.at, emit_.number(1)), t.end}));
    emit_.open_if(condition);
    for_each_copy(sum, false, [&] { accumulators_.add_zero(statement); });
    emit_.close();
  }

  /// What the gate of the sum leaves of a loop that only it stands in.
  Clip clip_of(const Item& loop, int sum) {
    const UOp gate = sum < 0 ? UOp() : gate_of_chain(at(sum).node);
    if (!gate) return {};
    const std::vector<UOp> inside = ranges_of(loop);
    return clip(gate, loop.level.range, [&](UOp n) {
      return !differs(n) && std::none_of(inside.begin(), inside.end(), [&](UOp r) { return ranges_.depends(n, r); });
    });
  }
  template <class Body>
  void clipped_turns(int sum, const Clip& cut, Id begin, Id end, const std::string& note, Body body) {
    Id from = begin, to = end;
    for (UOp x : cut.from) from = emit_.index(Op::Max, from, values_.value(x));
    for (UOp x : cut.to) to = emit_.index(Op::Min, to, values_.value(x));
    auto below = [this](Id a, Id b) { return emit_.alu(Op::Lt, {DType::Bool, 1}, {a, b}); };
    if (from != begin) add_skipped(sum, below(begin, from));
    const size_t outside = clipped_.size();
    clipped_.insert(clipped_.end(), cut.conditions.begin(), cut.conditions.end());
    const bool guarded = cut.empty && (from != begin || to != end);
    if (guarded) emit_.open_if(below(from, to));  // nothing is loaded ahead of a loop that makes no turn
    turns(from, to, 1, note, body);
    if (guarded) emit_.close();
    clipped_.resize(outside);
    if (to != end) add_skipped(sum, below(to, end));
  }

  /// Runs `body` for each register copy of the unrolled ranges on which n depends; `own`: also of those that n, a
  /// REDUCE, closes. Those turn slowest: each element goes to all accumulators that take it before the next one is loaded.
  void for_each_copy(UOp n, bool own, const std::function<void()>& body) {
    std::vector<Copy> copy;
    std::vector<size_t> fastest;  // the places in `copy`, that which turns fastest first
    const std::vector<UOp> closed = own ? ranges_of(n) : std::vector<UOp>{};
    size_t open = 0;
    for (const auto& [range, count] : unrolled_) {
      const bool closes = std::find(closed.begin(), closed.end(), range) != closed.end();
      fastest.insert(fastest.begin() + static_cast<std::ptrdiff_t>(closes ? open : 0), copy.size());
      open += !closes;
      copy.push_back({range, 0, closes || ranges_.depends(n, range) ? count : 1});
    }
    while (true) {
      values_.set_copy(copy);
      body();
      size_t i = 0;
      while (i < fastest.size() && ++copy[fastest[i]].number == copy[fastest[i]].count) copy[fastest[i++]].number = 0;
      if (i == fastest.size()) break;
    }
    values_.set_copy({});
  }

  void store(const Statement& s) {
    const Id guard = s.loops.empty() ? turn(s.turn) : kNone;
    if (guard != kNone) emit_.open_if(guard);
    const Id v = put(values_, emit_, s, statements_, schedule_.threads, seldom_);
    if (guard != kNone)
      emit_.close();
    else if (!gate_of(s.node) && s.node->integer() == 0)
      values_.forward(s.node, v);
  }

  // ---- blocks that are copied one turn ahead
  /// What stands in it runs as in the first turn of a loop, or as in the next one, if there is one.
  void ahead(const Item& item) {
    const Level& level = item.level;
    const Axis& axis = schedule_.of(level.range);
    const bool first = item.what == What::First;
    const Turns turns = turns_of(axis, level);
    const Id at = first ? turns.begin : emit_.index(Op::Add, values_.base(level.range, level.number), emit_.number(turns.step));
    int64_t from = 0, end = 0;
    const bool known = emit_.known(at, from) && emit_.known(turns.end, end);
    if (at == turns.end || (known && from >= end)) return;
    fetched_.make(item.body);
    if (known)
      emit_.open_memory();
    else
      emit_.open_if(emit_.alu(Op::Lt, {DType::Bool, 1}, {at, turns.end}));
    values_.enter(level.range, level.number, at);
    block(item.body);
    values_.leave();
    emit_.close();
  }

  // ---- loops
  /// The first value of a loop with `outside` around it, and the one behind the last: kNone in `block_end` if only the range's
  /// size ends it.
  struct Bounds {
    Id begin, block_end;
  };
  Bounds bounds(const Axis& axis, int outside) {
    static_assert(Values::kPoint == -1, "the point stands around the loops that no other one stands around");
    const Id around = values_.base(axis.range, outside);
    const int64_t step = block_of(axis, outside);
    if (around == kNone) return {emit_.number(0), kNone};
    if (axis.size && step >= axis.size) return {around, kNone};
    return {around, emit_.index(Op::Add, around, emit_.number(step))};
  }
  /// The turns of a loop that has loops of its range inside.
  struct Turns {
    Id begin, end;
    int64_t step;
  };
  Turns turns_of(const Axis& axis, const Level& level) {
    const auto [begin, block_end] = bounds(axis, level.around());
    const Id end = ends_with_block(axis, level.around(), block_end) ? block_end : earlier(block_end, size(level.range));
    return {begin, end, axis.steps[static_cast<size_t>(level.number)]};
  }
  Id earlier(Id block_end, Id end) { return block_end == kNone ? end : emit_.index(Op::Min, block_end, end); }

  void loop(const Item& item) {
    const Level& level = item.level;
    const Axis& axis = schedule_.of(level.range);
    if (level.number + 1 == axis.levels()) {
      const auto [begin, block_end] = bounds(axis, level.around());
      return steps(item, axis, begin, block_end);
    }
    const auto [begin, end, step] = turns_of(axis, level);
    turns(begin, end, step, loop_note(axis, level, fmt::format("blocks of {}", step)), [&](Id at) {
      values_.enter(level.range, level.number, at);
      block(item.body);
      values_.leave();
    });
  }

  /// The innermost loop of a range: whole steps, then once more what is left.
  void steps(const Item& item, const Axis& axis, Id begin, Id block_end) {
    const Level& level = item.level;
    const int64_t width = level.width();
    const Id all = size(level.range);
    if (const int64_t block = block_of(axis, level.around()); block % width != 0 && (!axis.size || block < axis.size))
      throw InternalError(fmt::format("a loop of range {} steps by {} through blocks of {}", range_id(level.range), width, block));
    auto body = [&](Id base, int lanes, int copies, Limit limit) {
      std::vector<std::pair<UOp, int>> around = unrolled_;  // a loop that fills a tile takes the place of one around it
      std::erase_if(unrolled_, [&](const auto& u) { return u.first == level.range; });
      if (level.threads > 1) {
        const Id behind = emit_.index(Op::Mul, digit(emit_, level.thread_stride, level.threads), emit_.number(lanes));
        if (limit.count != kNone) limit.count = emit_.index(Op::Sub, limit.count, behind);
        values_.bind_thread(level.range, level.number, base, behind, lanes, level.threads, limit);
      } else {
        values_.bind(level.range, level.number, base, lanes, copies == 1 && lanes == 1 ? 1 : width, limit);
      }
      if (copies > 1) unrolled_.emplace_back(level.range, copies);
      block(item.body);
      unrolled_ = std::move(around);
      values_.leave();
    };
    if (width == 1) {
      const Id end = ends_with_block(axis, level.around(), block_end) ? block_end : earlier(block_end, all);
      const int sum = only_update(item.body);
      Clip cut = clip_of(item, sum);
      cut.empty |= block_end != kNone;  // of one block
      return clipped_turns(sum, cut, begin, end, loop_note(axis, level, ""), [&](Id at) {
        turning_.push_back({level.range, at, end});
        body(at, 1, 1, {});
        turning_.pop_back();
      });
    }
    int64_t rest = axis.size % width;
    Id whole = axis.size ? emit_.number(axis.size - rest)
                         : emit_.index(Op::Sub, all, emit_.divide(Op::Mod, all, emit_.number(width)));
    const Id end = rest == 0 && ends_with_block(axis, level.around(), block_end) ? block_end : earlier(block_end, whole);
    auto whole_step = [&](Id at) { body(at, level.lanes, level.unroll, {}); };
    if (end != block_end && block_end != kNone && ends_after(begin, block_end, width)) {
      emit_.open_if(emit_.alu(Op::Lt, {DType::Bool, 1}, {begin, whole}));
      whole_step(begin);
      emit_.close();
    } else {
      turns(begin, end, width, loop_note(axis, level, step_text(level)), whole_step);
    }
    if (axis.size && rest == 0) return;
    tail(level, {begin, block_end}, whole, all, rest, body);
  }

  /// Whether the last of the blocks around a loop ends where the range does.
  static bool ends_with_block(const Axis& axis, int outside, Id block_end) {
    return block_end != kNone && axis.size && axis.size % block_of(axis, outside) == 0;
  }
  /// Values of a range in one turn of a loop, or in one point; 0: all.
  static int64_t block_of(const Axis& axis, int loop) {
    return loop >= 0 ? axis.steps[static_cast<size_t>(loop)] : axis.outer() ? axis.block : 0;
  }

  /// `rest` elements from `whole` on, if the block is the one that reaches there; 0: as many as there are.
  template <class Body>
  void tail(const Level& level, Bounds bounds, Id whole, Id all, int64_t rest, Body body) {
    const auto [begin, block_end] = bounds;
    Id here = block_end == kNone ? kNone : emit_.alu(Op::Lt, {DType::Bool, 1}, {whole, block_end});
    const int64_t span = int64_t{1} * level.lanes * level.threads;  // of one copy
    if (rest == 0 && span == 1) {  // scalars: one by one
      const Id from = block_end == kNone ? whole : emit_.index(Op::Max, begin, whole);
      return turns(from, earlier(block_end, all), 1, "what no whole step covers", [&](Id at) { body(at, 1, 1, {}); });
    }
    const Id count = rest ? kNone : emit_.index(Op::Sub, all, whole);
    if (rest == 0) here = emit_.both(here, emit_.alu(Op::Lt, {DType::Bool, 1}, {emit_.number(0), count}));
    if (here != kNone)
      emit_.open_if(here);
    else
      emit_.open_memory();
    const int copies = rest ? static_cast<int>((rest + span - 1) / span) : level.unroll;
    Limit limit{-1, count};
    if (rest % span) limit = level.threads > 1 ? Limit{-1, emit_.number(rest), rest % level.lanes == 0} : Limit{rest, kNone};
    const bool around = std::exchange(seldom_, seldom_ || (rest && schedule_.of(level.range).size >= kSeldom * level.width()));
    body(whole, level.lanes, copies, limit);
    seldom_ = around;
    emit_.close();
  }

  /// `body` for each value from begin below end; no loop where there is one at most.
  template <class Body>
  void turns(Id begin, Id end, int64_t step, const std::string& note, Body body) {
    int64_t b = 0, e = 0;
    const bool known = emit_.known(begin, b) && emit_.known(end, e);
    if (begin == end || (known && b >= e)) return;
    if ((known && e - b <= step) || ends_after(begin, end, step)) {
      emit_.open_memory();
      body(begin);
    } else {
      body(emit_.open_loop(begin, end, step, note));
    }
    emit_.close();
  }
  /// Whether end is begin + step.
  bool ends_after(Id begin, Id end, int64_t step) const {
    const Inst& n = code_[end];
    return n.code == Code::Alu && n.op == Op::Add && n.src.size() == 2 && n.src[0] == begin &&
           emit_.is_number(n.src[1], step);
  }

  const Kernel& kernel_;
  const int64_t near_;  ///< bytes of tiles that need no scratch memory
  const bool cpu_;
  const bool shared_;    ///< points go to several threads, each of which begins with its part of them
  const Schedule& schedule_;
  const Statements& statements_;
  Ranges& ranges_;
  Instructions code_;
  Emitter emit_;
  Values values_;
  Accumulators accumulators_;
  Fetched fetched_;
  static constexpr int64_t kSeldom = 8;  ///< whole steps of a range, beside which its remainder is little work
  bool seldom_ = false;                  ///< inside such a remainder
  std::vector<std::pair<UOp, int>> unrolled_;
  std::vector<Turning> turning_;  ///< the open ones
  std::vector<UOp> clipped_;      ///< conditions that the ends of the open loops see to
};

}  // namespace

Instructions expand(const Kernel& kernel, const runtime::Target& target, const Schedule& schedule,
                    const Statements& statements, const std::vector<Item>& tree, Ranges& ranges) {
  return Expander(kernel, target, schedule, statements, ranges).run(tree);
}

}  // namespace sinter::codegen
