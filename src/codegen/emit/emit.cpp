// Loops and their contents. reduction_elements.cpp, stores.cpp and values.cpp have what stands in them.
#include "codegen/emit/emit.h"

#include <fmt/core.h>

#include <algorithm>

#include "codegen/emit/async_copy.h"
#include "codegen/emit/finite_factors.h"
#include "codegen/emit/live_loops.h"
#include "codegen/emit/loop_note.h"
#include "codegen/emit/memory_slots.h"
#include "codegen/emit/mma_body.h"
#include "codegen/emit/reduction_body.h"
#include "codegen/emit/reduction_elements.h"
#include "codegen/emit/staging_registers.h"
#include "codegen/emit/store_runs.h"
#include "codegen/emit/stores.h"
#include "codegen/emit/task_order.h"
#include "codegen/emit/thread_offset.h"
#include "codegen/emit/unrolled_copies.h"
#include "codegen/emit/values.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/ring.h"
#include "codegen/nest/thread_digits.h"
#include "ir/build.h"
#include "ir/ceil_div.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

using ItemKind = LoopItem::ItemKind;

/// Bytes of tiles on the stack. The rest goes to scratch memory. On a GPU shared memory takes the place of the stack.
constexpr int64_t kMaxStackTileBytes = 64 << 10;

class KernelEmitter {
 public:
  KernelEmitter(const Kernel& kernel, const runtime::Target& target, const LoopSchedule& schedule,
                const Statements& statements, FreeRanges& ranges)
      : kernel_(kernel),
        fast_bytes_(target.cuda() ? target.shared - (reduces_across_threads(statements) ? kReductionScratchBytes : 0)
                                  : kMaxStackTileBytes),
        cpu_(!target.cuda()),
        multithreaded_(cpu_ && target.threads > 1),
        schedule_(schedule),
        statements_(statements),
        emit_(code_),
        values_(kernel, schedule, statements, ranges, emit_, cpu_, target),
        accumulators_(statements, values_, emit_, schedule.threads),
        unrolled_copies_(values_, ranges),
        mma_(statements, values_, emit_, code_, accumulators_, unrolled_copies_),
        finite_factors_(schedule, statements, target, ranges, emit_),
        elements_(statements, values_, emit_, accumulators_, unrolled_copies_, ranges, finite_factors_, cpu_),
        staging_registers_(statements, values_, emit_, schedule.threads),
        live_loops_(schedule, values_, emit_),
        store_runs_(kernel, statements, values_, emit_, unrolled_copies_, ranges) {}

  Instructions run(const std::vector<LoopItem>& tree) {
    code_.args = kernel_.args;
    code_.vars = static_cast<int>(kernel_.vars.size());
    code_.threads = schedule_.threads;
    code_.occupancy = schedule_.occupancy;
    code_.last_block = schedule_.last_block;
    assign_slots(kernel_, statements_.tiles, fast_bytes_, code_);
    if (cpu_) finite_factors_.look_at_tensors();
    emit_task_loop(tree);
    if (!schedule_.nontemporal.empty()) emit_.insert_here({InstCode::Fence, {}, {}});
    return std::move(code_);
  }

 private:
  const Statement& at(int i) const { return statements_.list[i]; }

  // ---- tasks
  Id size(UOp range) { return values_.value(range->src[0]); }
  Id emit_ceil_div(Id x, int64_t step) {
    return emit_.divide_unsigned(Op::IDiv, emit_.index(Op::Add, x, emit_.number(step - 1)), emit_.number(step));
  }

  /// The loop over tasks. A task is one block of every outer range. The last range varies fastest, unless there is a
  /// band; on several threads ragged ranges vary faster still. Threads start with equal numbers of consecutive tasks.
  /// If a ragged range varied slowest, its small blocks would all go to one thread.
  void emit_task_loop(const std::vector<LoopItem>& tree) {
    std::vector<const LoopAxis*> counted;
    for (const bool ragged : {false, true})
      for (UOp r : schedule_.outer)
        if (const LoopAxis& a = schedule_.of(r); !a.whole() && (multithreaded_ && a.ragged()) == ragged)
          counted.push_back(&a);
    std::vector<Id> counts;
    for (const LoopAxis* a : counted) counts.push_back(emit_ceil_div(size(a->range), a->block));
    if (!counted.empty()) {
      std::string note = "task";
      for (const LoopAxis* a : counted) note += fmt::format(", {} of range {}", a->block, range_id(a->range));
      const Id begin = emit_.value({InstCode::Begin, {DType::Index, 1}, {}});
      const Id task = emit_.open_loop(begin, emit_.value({InstCode::End, {DType::Index, 1}, {}}), 1, std::move(note));
      const std::vector<Id> numbers = blocks_of_task(emit_, task, counted, counts);
      for (size_t i = counted.size(); i-- > 0;)
        enter_block(*counted[i], emit_.index(Op::Mul, numbers[i], emit_.number(counted[i]->block)));
    }
    for (UOp r : schedule_.outer)
      if (const LoopAxis& a = schedule_.of(r); a.whole()) enter_block(a, emit_.number(0));
    emit_items(tree);
    if (!counted.empty()) emit_.close();
  }
  void enter_block(const LoopAxis& axis, Id base) {
    if (axis.single())
      values_.bind(axis.range, 0, base, 1, 1);
    else
      values_.enter(axis.range, Values::kTask, base);
  }

  /// A store that lacks outer ranges runs where their blocks begin at 0. kNone: everywhere.
  Id guard_condition(int number) {
    if (number < 0) return kNone;
    Id ok = kNone;
    for (UOp range : statements_.guards[number]) {
      if (schedule_.of(range).whole()) continue;
      const int first = schedule_.of(range).single() ? 0 : Values::kTask;
      ok = emit_.both(ok, emit_.alu(Op::Eq, {DType::Bool, 1}, {values_.base(range, first), emit_.number(0)}));
    }
    return ok;
  }

  // ---- items
  void emit_items(const std::vector<LoopItem>& items) {
    for (size_t i = 0; i < items.size(); ++i) {
      const LoopItem& item = items[i];
      if (item.has_body()) {
        const Id guard = item.kind == ItemKind::FillNext ? kNone : guard_condition(item.level.guard);
        const bool fill = cpu_ && finite_factors_.begin(item, guard != kNone);
        if (guard != kNone) emit_.open_if(guard);
        item.kind == ItemKind::Loop ? emit_loop(item) : emit_ring_fill(item);
        if (guard != kNone) emit_.close();
        if (fill) finite_factors_.end();
        continue;
      }
      if (item.kind == ItemKind::Barrier) {
        emit_.insert_here({InstCode::Barrier, {}, {}});
        continue;
      }
      if (item.kind == ItemKind::Store && !cpu_) {
        const size_t run = store_runs_.length(items, i);
        store_runs_.emit(std::span(items).subspan(i, run), [this](const Statement& s) { emit_guarded_store(s); });
        i += run - 1;
        continue;
      }
      const Statement& s = at(item.statement);
      if (item.kind == ItemKind::Wait) {
        emit_.insert_here({InstCode::WaitCopies, {}, {}, ring_tile_filled_by(s, statements_)->tile_copy->slots - 2});
        continue;
      }
      values_.set_statement(s);
      if (item.kind == ItemKind::Init) {
        init_accumulators(item.statement);
        if (i + 1 < items.size() && only_reduce(items[i + 1].body) == item.statement && items[i + 1].level.guard < 0 &&
            elements_.add_beside_finite(item.statement, [&] { emit_loop(items[i + 1]); }))
          ++i;
        continue;
      }
      if (item.kind == ItemKind::Update) {
        if (s.is_reduce() && s.node->reduction().tree.mma)
          mma_.add(item.statement);
        else
          elements_.add(item.statement);
        continue;
      }
      unrolled_copies_.for_each(s.node, false, [&] {
        switch (item.kind) {
          case ItemKind::Finish: return accumulators_.finish(item.statement);
          case ItemKind::Store: return emit_guarded_store(s);
          case ItemKind::Fetch: return staging_registers_.fetch(item.statement);
          case ItemKind::Put: return staging_registers_.put(item.statement);
          case ItemKind::Copy: return emit_async_copy(values_, emit_, s, statements_, code_);
          default: return;
        }
      });
      if (item.kind == ItemKind::Finish && (i + 1 == items.size() || items[i + 1].kind != ItemKind::Finish))
        accumulators_.join_threads();
    }
  }

  /// All accumulators are loaded under one condition. With a condition each, compilers keep some of them in memory.
  void init_accumulators(int statement) {
    const UOp n = at(statement).node;
    unrolled_copies_.for_each(n, false, [&] { accumulators_.init(statement); });
    const Id later = accumulators_.resume_condition(statement);
    if (later == kNone) return;
    emit_.open_if(later);
    unrolled_copies_.for_each(n, false, [&] { accumulators_.resume(statement); });
    emit_.close();
  }

  void emit_guarded_store(const Statement& s) {
    const Id guard = s.loops.empty() ? guard_condition(s.guard) : kNone;
    if (guard != kNone) emit_.open_if(guard);
    const Id v = emit_store(values_, emit_, s, statements_, schedule_.threads, cold_);
    finite_factors_.add(s, v);
    if (guard != kNone)
      emit_.close();
    else if (!predicate_of(s.node) && s.node->integer() == 0)
      values_.forward(s.node, v);
  }

  // ---- ring fills, some iterations ahead
  /// The slots that asynchronous copies of a fill rotate through; 0 if it has none.
  int async_slots(const std::vector<LoopItem>& items) const {
    for (const LoopItem& item : items) {
      if (item.kind == ItemKind::Copy) return ring_tile_filled_by(at(item.statement), statements_)->tile_copy->slots;
      if (const int slots = async_slots(item.body)) return slots;
    }
    return 0;
  }
  void emit_ring_fill(const LoopItem& item) {
    const bool first = item.kind == ItemKind::FillFirst;
    const int slots = async_slots(item.body);
    if (slots == 0) return emit_ring_fill(item, first ? 0 : 1);
    for (int ahead = first ? 0 : slots - 1; ahead < slots - 1 + !first; ++ahead) {
      emit_ring_fill(item, ahead);
      emit_.insert_here({InstCode::CommitCopies, {}, {}});  // without copies too, so that Wait can count
    }
  }
  /// Emits the body as in the iteration `ahead` of the first one, or of the current one, if there is that one.
  void emit_ring_fill(const LoopItem& item, int ahead) {
    const LoopLevel& level = item.level;
    const LoopAxis& axis = schedule_.of(level.range);
    const IterationBounds bounds = iteration_bounds(axis, level);
    const Id now = item.kind == ItemKind::FillFirst ? bounds.begin : values_.base(level.range, level.number);
    const Id at = emit_.index(Op::Add, now, emit_.number(ahead * bounds.step));
    int64_t from = 0, end = 0;
    const bool known = emit_.known(at, from) && emit_.known(bounds.end, end);
    if (at == bounds.end || (known && from >= end)) return;
    staging_registers_.allocate(item.body);
    if (known)
      emit_.open_memo_scope();
    else
      emit_.open_if(emit_.alu(Op::Lt, {DType::Bool, 1}, {at, bounds.end}));
    values_.enter(level.range, level.number, at);
    emit_items(item.body);
    values_.leave();
    emit_.close();
  }

  // ---- loops
  /// The first value of a loop at level `outside` of its range, and the end of the enclosing block. `block_end` is
  /// kNone if only the range's size ends the loop.
  struct BlockBounds {
    Id begin, block_end;
  };
  BlockBounds block_bounds(const LoopAxis& axis, int outside) {
    static_assert(Values::kTask == -1, "the task is the outermost loop of every range");
    const int64_t step = block_of(axis, outside);
    const Id around = values_.block_base(axis.range, outside);
    if (around == kNone) return {emit_.number(0), kNone};
    if (axis.size && step >= axis.size) return {around, kNone};
    return {around, emit_.index(Op::Add, around, emit_.number(step))};
  }
  /// Bounds of a loop that contains other loops over its range.
  struct IterationBounds {
    Id begin, end;
    int64_t step;
    Id left_out;
  };
  IterationBounds iteration_bounds(const LoopAxis& axis, const LoopLevel& level) {
    const auto [begin, block_end] = block_bounds(axis, level.enclosing());
    const Id end =
        ends_with_block(axis, level.enclosing(), block_end) ? block_end : min_end(block_end, size(level.range));
    const int64_t step = axis.steps[level.number];
    const LiveLoops::Part part = live_loops_.part_of(level, step, begin, end);
    return {part.begin, part.end, step, part.left_out};
  }
  Id min_end(Id block_end, Id end) { return block_end == kNone ? end : emit_.index(Op::Min, block_end, end); }

  void emit_loop(const LoopItem& item) {
    const LoopLevel& level = item.level;
    const LoopAxis& axis = schedule_.of(level.range);
    if (level.number + 1 == axis.levels()) {
      const auto [begin, block_end] = block_bounds(axis, level.enclosing());
      return emit_innermost_loop(item, axis, begin, block_end);
    }
    const auto [begin, end, step, left_out] = iteration_bounds(axis, level);
    emit_live(item, step, left_out, [&, first = begin, last = end, by = step] {
      emit_iterations(first, last, by, loop_note(axis, level, fmt::format("blocks of {}", by)), [&](Id at) {
        values_.enter(level.range, level.number, at);
        emit_items(item.body);
        values_.leave();
      });
    });
  }
  /// Emits a loop by `body`, and then the +0 of the iterations that it leaves out.
  template <class Body>
  void emit_live(const LoopItem& loop, int64_t step, Id left_out, Body body) {
    const bool all = live_loops_.counts_for_all(loop.level, step);
    const UOp before = all ? values_.suppose(loop.level.live) : UOp();
    body();
    if (all) values_.suppose(before);
    if (left_out == kNone) return;
    const std::vector<int> sums = sums_over(loop.level.range, loop.body, statements_);
    if (sums.empty()) return;
    emit_.open_if(left_out);
    for (int sum : sums) unrolled_copies_.for_each(at(sum).node, false, [&] { accumulators_.add_zero(sum); });
    emit_.close();
  }
  /// The innermost loop of a range: whole steps, then the tail.
  void emit_innermost_loop(const LoopItem& item, const LoopAxis& axis, Id begin, Id block_end) {
    const LoopLevel& level = item.level;
    const int64_t width = level.width();
    const Id all = size(level.range);
    if (const int64_t block = block_of(axis, level.enclosing());
        !level.joined_values && block % width != 0 && (!axis.size || block < axis.size))
      throw InternalError(
          fmt::format("a loop of range {} steps by {} through blocks of {}", range_id(level.range), width, block));
    const auto inside = [&](int lanes, int copies) {
      unrolled_copies_.with(level.range, copies, cpu_ && lanes > 1, [&] { emit_items(item.body); });
      values_.leave();
    };
    auto body = [&](Id base, int lanes, int copies, LaneLimit limit) {
      if (level.threaded()) {
        const Id thread_offset = codegen::thread_offset(emit_, level, lanes);
        if (limit.count != kNone) limit.count = emit_.index(Op::Sub, limit.count, thread_offset);
        values_.bind_thread(level.range, level.number, base, thread_offset, warp_offset(emit_, level, lanes), lanes,
                            copy_distance(level, lanes), limit);
      } else {
        values_.bind(level.range, level.number, base, lanes, copies == 1 && lanes == 1 ? 1 : width, limit);
      }
      inside(lanes, copies);
    };
    const auto between_copies = [&](Id at) {
      emit_iterations(emit_.number(0), emit_.number(level.distance), 1, "values between copies", [&](Id from) {
        values_.bind_thread(level.range, level.number, at, from, kNone, 1, copy_distance(level, 1), {});
        inside(1, level.unroll);
      });
    };
    auto whole_step = [&](Id at) {
      if (level.distance > 1) return between_copies(at);
      body(at, level.lanes, level.unroll, {});
    };
    if (const int64_t values = level.joined_values) {
      const Id whole = emit_.index(Op::Add, begin, emit_.number(values - values % width));
      emit_iterations(begin, whole, width, loop_note(axis, level, step_text(level)), whole_step);
      if (values % width) emit_tail(level, {begin, kNone}, whole, all, values % width, body);
      return;
    }
    if (axis.pads_blocks()) {
      const Id padded_end = emit_.index(Op::Add, begin, emit_.number(axis.block));
      return emit_iterations(begin, padded_end, width, loop_note(axis, level, step_text(level)), [&](Id at) {
        const bool whole = axis.size && axis.size % level.lanes == 0;
        body(at, level.lanes, level.unroll, {-1, emit_.index(Op::Sub, all, at), whole, true});
      });
    }
    const bool cut = !axis.cuts.empty() && !level.fills && width == axis.width();
    if (width == 1) {
      const Id end = ends_with_block(axis, level.enclosing(), block_end) ? block_end : min_end(block_end, all);
      const LiveLoops::Part live = live_loops_.part_of(level, 1, begin, end);
      const int sum = only_reduce(item.body);
      if (cut && sum < 0 && !level.live)
        return emit_segments(axis, begin, end, 1, loop_note(axis, level, ""), [&](Id at) { body(at, 1, 1, {}); });
      LoopBounds bounds = elements_.bounds_of(item, sum);
      bounds.empty |= block_end != kNone;  // a block may have no iterations
      return emit_live(item, 1, live.left_out, [&] {
        elements_.emit_within_bounds(sum, bounds, live.begin, live.end, [&](Id from, Id to) {
          emit_iterations(from, to, 1, loop_note(axis, level, ""), [&](Id at) {
            elements_.enter_loop(level.range, at, live.end);
            body(at, 1, 1, {});
            elements_.leave_loop();
          });
        });
      });
    }
    const bool ends = ends_with_block(axis, level.enclosing(), block_end);
    int64_t rest = ends && axis.window ? 0 : axis.size % width;  // blocks of windows begin anywhere, with whole steps
    Id whole = axis.size ? emit_.number(axis.size - rest)
                         : emit_.index(Op::Sub, all, emit_.divide_unsigned(Op::Mod, all, emit_.number(width)));
    const Id end = rest == 0 && ends ? block_end : min_end(block_end, whole);
    if (cut) {
      emit_segments(axis, begin, end, width, loop_note(axis, level, step_text(level)), whole_step);
    } else if (end != block_end && block_end != kNone && ends_after(begin, block_end, width)) {
      emit_.open_if(emit_.alu(Op::Lt, {DType::Bool, 1}, {begin, whole}));
      whole_step(begin);
      emit_.close();
    } else {
      emit_iterations(begin, end, width, loop_note(axis, level, step_text(level)), whole_step);
    }
    if (axis.size && rest == 0) return;
    if (cut) values_.enter_segment(axis.range, axis.size - rest, axis.size);
    emit_tail(level, {begin, block_end}, whole, all, rest, body);
    if (cut) values_.leave_segment();
  }

  /// A loop over the part of [begin, end) in each segment of a cut range. `end` is not behind the last whole step.
  template <class Body>
  void emit_segments(const LoopAxis& axis, Id begin, Id end, int64_t step, const std::string& note, Body body) {
    const int64_t whole = axis.size - axis.size % step;
    std::vector<int64_t> ends = axis.cuts;
    if (ends.back() < whole) ends.push_back(whole);
    int64_t from = 0;
    for (const int64_t to : ends) {
      values_.enter_segment(axis.range, from, to);
      emit_iterations(from == 0 ? begin : emit_.index(Op::Max, begin, emit_.number(from)),
                      to == whole ? end : emit_.index(Op::Min, end, emit_.number(to)), step, note, body);
      values_.leave_segment();
      from = to;
    }
  }

  /// Whether the last enclosing block ends where the range does.
  bool ends_with_block(const LoopAxis& axis, int outside, Id block_end) const {
    const LoopAxis& blocks = axis.window ? schedule_.of(axis.window->along) : axis;
    return block_end != kNone && axis.size && blocks.size % block_of(blocks, outside) == 0;
  }
  /// Values of a range in one iteration of a loop, or in a task (-1); 0: all.
  int64_t block_of(const LoopAxis& axis, int loop) const {
    if (axis.window) {
      const int64_t values = block_of(schedule_.of(axis.window->along), loop);
      return values ? std::min(axis.window->extent(values), axis.size) : axis.size;
    }
    return loop >= 0 ? axis.steps[loop] : axis.outer() ? axis.block : 0;
  }

  /// Emits `rest` elements from `whole` on, if the current block reaches there. 0: the number is known at run time
  /// only.
  template <class Body>
  void emit_tail(const LoopLevel& level, BlockBounds bounds, Id whole, Id all, int64_t rest, Body body) {
    const auto [begin, block_end] = bounds;
    Id here = block_end == kNone ? kNone : emit_.alu(Op::Lt, {DType::Bool, 1}, {whole, block_end});
    const int64_t span = copy_distance(level, level.lanes).far;  // elements per copy, or per tile of tensor cores
    if (rest == 0 && span == 1) {                                // scalars: one by one
      const Id from = block_end == kNone ? whole : emit_.index(Op::Max, begin, whole);
      return emit_iterations(from, min_end(block_end, all), 1, "what no whole step covers",
                             [&](Id at) { body(at, 1, 1, {}); });
    }
    const Id count = rest ? kNone : emit_.index(Op::Sub, all, whole);
    if (rest == 0) here = emit_.both(here, emit_.alu(Op::Lt, {DType::Bool, 1}, {emit_.number(0), count}));
    if (here != kNone)
      emit_.open_if(here);
    else
      emit_.open_memo_scope();
    const int copies = rest ? static_cast<int>(ceil_div(rest, span)) * level.warp.copies : level.unroll;
    LaneLimit limit{-1, count};
    if (rest % span)
      limit = level.threaded() ? LaneLimit{-1, emit_.number(rest), rest % level.lanes == 0} : LaneLimit{rest, kNone};
    const bool around =
        std::exchange(cold_, cold_ || (rest && schedule_.of(level.range).size >= kColdRatio * level.width()));
    body(whole, level.lanes, copies, limit);
    cold_ = around;
    emit_.close();
  }

  /// Emits `body` for each step from begin below end; without a loop if there is at most one.
  template <class Body>
  void emit_iterations(Id begin, Id end, int64_t step, const std::string& note, Body body) {
    int64_t b = 0, e = 0;
    const bool known = emit_.known(begin, b) && emit_.known(end, e);
    if (begin == end || (known && b >= e)) return;
    if ((known && e - b <= step) || ends_after(begin, end, step)) {
      emit_.open_memo_scope();
      body(begin);
    } else {
      body(emit_.open_loop(begin, end, step, note));
    }
    emit_.close();
  }
  /// Whether end is begin + step.
  bool ends_after(Id begin, Id end, int64_t step) const {
    const Inst& n = code_[end];
    return n.code == InstCode::Alu && n.op == Op::Add && n.src.size() == 2 && n.src[0] == begin &&
           emit_.is_number(n.src[1], step);
  }

  const Kernel& kernel_;
  const int64_t fast_bytes_;  ///< bytes of tiles outside of scratch memory
  const bool cpu_;
  const bool multithreaded_;  ///< tasks are split over several threads, which start with a part each
  const LoopSchedule& schedule_;
  const Statements& statements_;
  Instructions code_;
  BlockWriter emit_;
  Values values_;
  Accumulators accumulators_;
  UnrolledCopies unrolled_copies_;
  MmaBody mma_;
  FiniteFactors finite_factors_;
  ReductionElements elements_;
  StagingRegisters staging_registers_;
  LiveLoops live_loops_;
  StoreRuns store_runs_;
  static constexpr int64_t kColdRatio = 8;  ///< ranges of this many whole steps have a cold tail
  bool cold_ = false;                       ///< inside a cold tail
};

}  // namespace

Instructions emit_kernel(const Kernel& kernel, const runtime::Target& target, const LoopSchedule& schedule,
                         const Statements& statements, const std::vector<LoopItem>& tree, FreeRanges& ranges) {
  return KernelEmitter(kernel, target, schedule, statements, ranges).run(tree);
}

}  // namespace sinter::codegen
