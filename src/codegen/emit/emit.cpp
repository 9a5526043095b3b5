// Loops and what stands in them; sums are reduction_body.cpp's and reduction_elements.cpp's, stores stores.cpp's,
// values values.cpp's.
#include "codegen/emit/emit.h"

#include <fmt/core.h>

#include <algorithm>

#include "codegen/emit/loop_bounds.h"
#include "codegen/emit/loop_note.h"
#include "codegen/emit/memory_slots.h"
#include "codegen/emit/reduction_body.h"
#include "codegen/emit/reduction_elements.h"
#include "codegen/emit/staging_registers.h"
#include "codegen/emit/stores.h"
#include "codegen/emit/unrolled_copies.h"
#include "codegen/emit/values.h"
#include "codegen/kernel/access.h"
#include "codegen/kernel/ceil_div.h"
#include "codegen/nest/thread_digits.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "sinter/error.h"

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
        emit_(code_),
        values_(kernel, schedule, statements, ranges, emit_, cpu_, target),
        accumulators_(statements, values_, emit_, schedule.threads),
        copies_(values_, ranges),
        elements_(statements, values_, emit_, accumulators_, copies_, ranges, cpu_),
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

  /// The loop over points; each names a block of every outer range, the last range's counting fastest, but for ragged
  /// ones. Threads begin with the same number of points that follow each other: small blocks last would be one
  /// thread's.
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
      if (item.what == What::Update) {
        elements_.add(item.statement);
        continue;
      }
      copies_.for_each(s.node, false, [&] {
        switch (item.what) {
          case What::Finish: return accumulators_.finish(item.statement);
          case What::Store: return store(s);
          case What::Fetch: return fetched_.take(item.statement);
          case What::Put: return fetched_.put(item.statement);
          default: return;
        }
      });
    }
  }

  /// Accumulators are all loaded under one condition: were each under its own, compilers would keep some in memory.
  void begin(int statement) {
    const UOp n = at(statement).node;
    copies_.for_each(n, false, [&] { accumulators_.init(statement); });
    const Id later = accumulators_.goes_on(statement);
    if (later == kNone) return;
    emit_.open_if(later);
    copies_.for_each(n, false, [&] { accumulators_.resume(statement); });
    emit_.close();
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
    const TurnBounds turns = turns_of(axis, level);
    const Id at =
        first ? turns.begin : emit_.index(Op::Add, values_.base(level.range, level.number), emit_.number(turns.step));
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
  /// The first value of a loop with `outside` around it, and the one behind the last: kNone in `block_end` if only the
  /// range's size ends it.
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
  struct TurnBounds {
    Id begin, end;
    int64_t step;
  };
  TurnBounds turns_of(const Axis& axis, const Level& level) {
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
      throw InternalError(
          fmt::format("a loop of range {} steps by {} through blocks of {}", range_id(level.range), width, block));
    auto body = [&](Id base, int lanes, int copies, Limit limit) {
      if (level.threads > 1) {
        const Id behind = emit_.index(Op::Mul, digit(emit_, level.thread_stride, level.threads), emit_.number(lanes));
        if (limit.count != kNone) limit.count = emit_.index(Op::Sub, limit.count, behind);
        values_.bind_thread(level.range, level.number, base, behind, lanes, level.threads, limit);
      } else {
        values_.bind(level.range, level.number, base, lanes, copies == 1 && lanes == 1 ? 1 : width, limit);
      }
      copies_.with(level.range, copies, [&] { block(item.body); });
      values_.leave();
    };
    if (width == 1) {
      const Id end = ends_with_block(axis, level.around(), block_end) ? block_end : earlier(block_end, all);
      const int sum = only_update(item.body);
      Clip cut = elements_.clip_of(item, sum);
      cut.empty |= block_end != kNone;  // of one block
      return elements_.clipped(sum, cut, begin, end, [&](Id from, Id to) {
        turns(from, to, 1, loop_note(axis, level, ""), [&](Id at) {
          elements_.begin_turn(level.range, at, end);
          body(at, 1, 1, {});
          elements_.end_turn();
        });
      });
    }
    int64_t rest = axis.size % width;
    Id whole = axis.size ? emit_.number(axis.size - rest)
                         : emit_.index(Op::Sub, all, emit_.divide(Op::Mod, all, emit_.number(width)));
    const Id end =
        rest == 0 && ends_with_block(axis, level.around(), block_end) ? block_end : earlier(block_end, whole);
    auto whole_step = [&](Id at) { body(at, level.lanes, level.unroll, {}); };
    if (axis.peeled() && !level.fills &&
        width == axis.width()) {  // a statement may have copies of its own, which stay together
      // The launch's point and the loop hold the whole range, whose ends are numbers.
      const int64_t first = axis.first * width, last = axis.size - rest - axis.last * width;
      const std::string note = loop_note(axis, level, step_text(level));
      for (int64_t at = 0; at < first; at += width)
        turns(emit_.number(at), emit_.number(at + width), width, note, whole_step);
      turns(emit_.number(first), emit_.number(last), width, note, whole_step);
      for (int64_t at = last; at < axis.size - rest; at += width)
        turns(emit_.number(at), emit_.number(at + width), width, note, whole_step);
    } else if (end != block_end && block_end != kNone && ends_after(begin, block_end, width)) {
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
    if (rest == 0 && span == 1) {                                   // scalars: one by one
      const Id from = block_end == kNone ? whole : emit_.index(Op::Max, begin, whole);
      return turns(from, earlier(block_end, all), 1, "what no whole step covers", [&](Id at) { body(at, 1, 1, {}); });
    }
    const Id count = rest ? kNone : emit_.index(Op::Sub, all, whole);
    if (rest == 0) here = emit_.both(here, emit_.alu(Op::Lt, {DType::Bool, 1}, {emit_.number(0), count}));
    if (here != kNone)
      emit_.open_if(here);
    else
      emit_.open_memory();
    const int copies = rest ? static_cast<int>(ceil_div(rest, span)) : level.unroll;
    Limit limit{-1, count};
    if (rest % span)
      limit = level.threads > 1 ? Limit{-1, emit_.number(rest), rest % level.lanes == 0} : Limit{rest, kNone};
    const bool around =
        std::exchange(seldom_, seldom_ || (rest && schedule_.of(level.range).size >= kSeldom * level.width()));
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
  const bool shared_;  ///< points go to several threads, each of which begins with its part of them
  const Schedule& schedule_;
  const Statements& statements_;
  Instructions code_;
  Emitter emit_;
  Values values_;
  Accumulators accumulators_;
  RegisterCopies copies_;
  Elements elements_;
  Fetched fetched_;
  static constexpr int64_t kSeldom = 8;  ///< whole steps of a range, beside which its remainder is little work
  bool seldom_ = false;                  ///< inside such a remainder
};

}  // namespace

Instructions expand(const Kernel& kernel, const runtime::Target& target, const Schedule& schedule,
                    const Statements& statements, const std::vector<Item>& tree, Ranges& ranges) {
  return Expander(kernel, target, schedule, statements, ranges).run(tree);
}

}  // namespace sinter::codegen
