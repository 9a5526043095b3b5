// Values of a kernel's nodes as instructions, inside the currently open loops.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/emit/segments.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/shared_accumulator.h"
#include "codegen/nest/statement.h"
#include "codegen/ssa/block_writer.h"
#include "rewrite/linear.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// The part of a value to make if an open range on which it depends is a vector. kAllLanes: all lanes if they differ,
/// otherwise the scalar. Numbers from 0 name a lane.
inline constexpr int kAllLanes = -1;

/// How many elements of a range are left from the current base on, if fewer than a whole step.
struct LaneLimit {
  int64_t known = -1;
  Id count = kNone;     ///< if known at run time only
  bool whole = false;   ///< count is of whole vectors: each exists or does not
  bool padded = false;  ///< tiles have room for the others, which are computed from zeros
  bool none() const { return known < 0 && count == kNone; }
};

/// One unrolled copy of a range. All copies exist, unless the range has lanes.
struct UnrollCopy {
  UOp range;
  int number = 0;
  int count = 1;
};

/// Elements between unrolled copies: `near` each within `together` copies, then `far`.
struct CopyDistance {
  int64_t near = 1, far = 1;
  int together = 1;
  int64_t of(int copy) const { return copy % together * near + copy / together * far; }
};

class Values {
 public:
  /// `shuffles`: whether the target can shuffle the lanes of a vector.
  Values(const Kernel& kernel, const LoopSchedule& schedule, const Statements& statements, FreeRanges& ranges,
         BlockWriter& emit, bool shuffles, const runtime::Target& target)
      : kernel_(kernel),
        schedule_(schedule),
        statements_(statements),
        ranges_(ranges),
        emit_(emit),
        shuffles_(shuffles),
        target_(target),
        segments_(ranges) {}

  /// Level of the block that a task covers, next to the levels of loops.
  static constexpr int kTask = -1;
  /// Enters a loop over blocks of the range. The current block begins at `base`.
  void enter(UOp range, int number, Id base) {
    open_.push_back({range, number, base, kNone, 1, {}, 1, {}, false, false, emit_.scope()});
  }
  /// Binds the range to `base`, or with lanes > 1 to base, base + 1, ..., of which those below the limit exist. `base`
  /// is a multiple of `step` away from the start of the loop. Shadows an outer loop over the same range.
  void bind(UOp range, int number, Id base, int lanes, int64_t step, LaneLimit limit = {}) {
    open_.push_back({range,
                     number,
                     base,
                     kNone,
                     lanes,
                     {lanes, lanes},
                     step,
                     limit,
                     true,
                     binding(range) != nullptr,
                     emit_.scope()});
  }
  /// The same for one of several threads that share the loop. The thread is `thread_offset` elements past the loop's
  /// base, and its limit counts from there; `warp_offset` is that of its warp's tile of a tensor core. Or, by one
  /// thread, for one of the values between copies that are apart.
  void bind_thread(UOp range, int number, Id base, Id thread_offset, Id warp_offset, int lanes, CopyDistance copies,
                   LaneLimit limit) {
    open_.push_back({range, number, base, thread_offset, lanes, copies, 1, limit, true, binding(range) != nullptr,
                     emit_.scope(), warp_offset});
  }
  Id warp_offset(UOp range) const { return binding(range)->warp_offset; }
  /// Gives a range that threads share to them in another way, until leave().
  void rebind_thread(UOp range, Id thread_offset, int lanes);
  /// Moves all copies of a range by so many elements, until leave(). Not of a range whose end is known.
  void shift(UOp range, Id elements);
  bool can_shift(UOp range) const { return binding(range)->limit.known < 0; }
  CopyDistance copy_distance(UOp range) const { return binding(range)->copies; }
  void leave() { open_.pop_back(); }
  /// Selects an unrolled copy: each range is so many vectors past its base.
  void set_copy(std::vector<UnrollCopy> copy) { copy_ = std::move(copy); }
  const std::vector<UnrollCopy>& copy() const { return copy_; }
  /// Selects another copy of one range, which is unrolled.
  void set_copy(UOp range, int number);
  /// From now on loads see memory as `statement` does, and results of carried REDUCEs lie where those it depends on
  /// have stored them.
  void set_statement(const Statement& statement) {
    versions_ = &statement.versions;
    prefetches_ = &statement.prefetches;
    for (const Dependence& d : statement.deps)
      if (const auto known = homes_of_.find(d.on); d.reason == Dependence::Reason::Value && known != homes_of_.end())
        for (const auto& [reduce, home] : known->second) homes_[reduce] = home;
  }
  /// Current base of a range's loop, the same for all threads; kNone if the loop is not open.
  Id base(UOp range, int number) const;
  /// Where the current block of a range begins: of a loop's, or of the task's (-1). Of positions, where the windows of
  /// the block begin. kNone: at 0.
  Id block_base(UOp range, int level);

  /// A range that is opened after this call has only the values of [from, to), until leave_segment().
  void enter_segment(UOp range, int64_t from, int64_t to) { segments_.enter(range, from, to); }
  void leave_segment() { segments_.leave(); }

  Id value(UOp n, int lane = kAllLanes);
  /// Until end_assumption() values are remembered in the innermost open block only.
  void begin_assumption() { assumed_ = emit_.scope(); }
  void end_assumption() { assumed_ = 0; }
  /// Begins the assumption that a condition holds.
  void assume(UOp condition) {
    begin_assumption();
    assume_here(condition);
    for (UOp part : ir::operands_of(condition, Op::And)) assume_here(part);
  }
  /// Within the innermost open block: a condition holds at the current copy.
  void assume_here(UOp condition) { emit_.remember(key(condition, kAllLanes), emit_.truth(true), emit_.scope()); }
  /// From now on a condition is true, on a range that is opened after this call and is closed before the next one.
  /// Returns the condition that was; null: none.
  UOp suppose(UOp condition) { return std::exchange(supposed_, condition); }
  /// Within the innermost open assumption: the load's predicate is false at the current copy, so its value is
  /// other_of(load).
  void assume_false(UOp load) { emit_.remember(key(load, kAllLanes), value(other_of(load)), emit_.scope()); }
  /// The result of a REDUCE for the current copy.
  void set_result(UOp reduce, Id result) { remember(key(reduce, kAllLanes), reduce, result); }
  /// A carried REDUCE, computed by the statement of this number, is complete: those that depend on the statement load
  /// the result from `home`. Others may compute the same REDUCE with elements in other threads.
  void set_home(int statement, UOp reduce, UOp home) {
    homes_of_[statement][reduce.get()] = homes_[reduce.get()] = home;
  }
  /// Store-to-load forwarding: loads from the element of `store` give v, until the next store there.
  void forward(UOp store, Id v);

  bool depends(UOp n, UOp range) { return ranges_.depends(n, range); }
  /// codegen/nest/shared_accumulator.h
  UOp shared(const Statement& reduce, size_t accumulator) { return followed_source(reduce, accumulator, ranges_); }
  /// The current unrolled copy of a range.
  int copy_of(UOp range) const;
  /// Lanes of n over all of its unrolled copies.
  int unrolled_lanes(UOp n) const;
  /// Whether n differs between the lanes of an open range.
  bool varies(UOp n) const { return vector_of(n) != nullptr; }
  int lanes(UOp n) const;
  /// Which of the lanes of n exist, for the current copy.
  LaneLimit limit(UOp n);
  /// Whether a lane of n, or n as a scalar, exists: an instruction, or kNone if it always does. kAllLanes: whether any
  /// lane may.
  Id exists(UOp n, int lane);
  /// Mask of the lanes [from, from + width) of n that exist, for the current copy; kNone: all do.
  Id existing_lanes(UOp n, int from, int width);

  /// Lanes of an access in memory: contiguous (stride 1), all at one element (0), strided, or irregular.
  struct LaneLayout {
    bool regular = true;
    int64_t stride = 0;
  };
  LaneLayout lane_layout(UOp access);
  /// Unrolled copies of a range without lanes that are contiguous in memory while the lanes are not, as a register
  /// transpose takes them. Their count is the stride of the lanes if that is small, or a power of two, at most the
  /// lanes or `widest`, whichever is more. The current copy is one of them. Count 1: no group.
  struct TransposeGroup {
    size_t range = 0;  ///< index into the current copies
    int first = 0;
    int count = 1;
  };
  TransposeGroup transpose_group(UOp access, int widest = 1);
  /// Whether all lanes of the group are one piece of memory: each lane's row ends where the next one begins.
  bool is_contiguous_group(UOp access, const TransposeGroup& group) {
    return shuffles_ && group.count > 1 && lane_layout(access).stride == group.count;
  }
  int copy_of(const TransposeGroup& group) const { return copy_[group.range].number; }
  /// Calls `body` with each copy of the group as the current one.
  template <class Body>
  void for_each(const TransposeGroup& group, Body body) {
    const int present = copy_[group.range].number;
    for (int i = 0; i < group.count; ++i) {
      copy_[group.range].number = group.first + i;
      body();
    }
    copy_[group.range].number = present;
  }
  /// Offset of the element that a lane accesses; kAllLanes: that of the first lane.
  Id address(UOp access, int lane);
  /// Identifies the unrolled copies that n depends on; the second, only those of ranges that are not among `apart`.
  uint64_t copy_key(UOp n) { return copy_key(n, {}); }
  uint64_t copy_key(UOp n, const std::vector<UOp>& apart);
  /// How many elements of a piece of memory exist from element `from` on. Each lane stands for `stride` elements, the
  /// last lane for `last`. kNone: a whole vector of `lanes` exists.
  Id remaining_elements(LaneLimit limit, int lanes, int64_t stride, int64_t last, int64_t from);
  /// The count of a limit, as an instruction.
  Id count(LaneLimit limit) { return limit.known >= 0 ? emit_.number(limit.known) : limit.count; }

 private:
  struct OpenRange {
    UOp range;
    int number;
    Id base;
    Id thread_offset;  ///< offset of this thread, or of what is bound apart, from the base; kNone: 0
    int lanes;
    CopyDistance copies;
    int64_t step;  ///< of the loop
    LaneLimit limit;
    bool bound;    ///< innermost loop of its range: gives it a value
    bool rebinds;  ///< an outer loop gives the range a value already
    size_t scope;  ///< the scope in which it was opened
    Id warp_offset = kNone;
  };
  const OpenRange* binding(UOp range) const;
  bool gives_value(const OpenRange& open, UOp n) const;
  /// Offset of an element along one dim of a tile, as a sum.
  struct OffsetSum {
    std::vector<Id> parts = {};
    int64_t constant = 0;
  };
  Id sum_of(std::vector<Id> parts, int64_t constant);
  Id ring_slot(const Tile& tile);
  Id swizzle(const Tile& tile, OffsetSum column, OffsetSum row, int64_t& constant);
  void add_panel_offset(const Tile& tile, const OpenRange& open, Id behind, int64_t offset, std::vector<Id>& parts,
                        int64_t& constant);
  const OpenRange* vector_of(UOp n) const;
  bool has_room(UOp n, const OpenRange& open) const;
  const Tile* tile_of(UOp access) const;
  int64_t offset(const OpenRange& open, int lane) const;
  Id first(const OpenRange& open) const;
  MemoKey key(UOp n, int lane);
  uint64_t loop_key(UOp n) const;
  uint64_t version_key(UOp n);
  void remember(const MemoKey& key, UOp n, Id id);
  Id use(UOp n, int lane);
  Id make(UOp n, int lane);
  Id make_range(UOp n, int lane);
  Id make_load(UOp n, int lane);
  Id make_rows(UOp n, const TransposeGroup& group);
  Id load_dense_group(UOp n, const TransposeGroup& group, int64_t stride);
  Id make_strided(UOp n, int64_t stride);
  bool is_strided(UOp n, const LaneLayout& place);
  std::vector<Id> load_dense(UOp n, int64_t stride, int64_t last);
  bool is_read_only(UOp load) const;
  Id emit_load(Inst inst, UOp n);
  int repeats_of(UOp n);
  Id make_repeated(UOp n, int repeats);
  bool selects_load(UOp select);
  Id make_selected_load(UOp select);
  bool has_masked_load(UOp load);
  bool is_gathered(UOp n);
  Id make_gathered(UOp n);
  Id lane_mask(UOp n, Id open, Id in_range);
  Id emit_masked_load(Inst inst, UOp n, Id open, Id in_range, Id offsets = kNone);
  void prefetch(const Inst& load, UOp n, int64_t ahead);
  Id make_check(UOp n, int lane);
  Id make_alu(UOp n, int lane);
  Id pack(UOp n);
  bool use_address(UOp access, int lane);
  bool use_load(UOp load, int address_lane, int lane = kAllLanes);
  Inst load_if(UOp load, int lanes, Id address, Id open, int lane = kAllLanes);
  const ir::LinearExpr& offset_of(UOp access);
  Type type_of(UOp n, int lane) { return {n->dtype, lane == kAllLanes && varies(n) ? lanes(n) : 1}; }

  const Kernel& kernel_;
  const LoopSchedule& schedule_;
  const Statements& statements_;
  FreeRanges& ranges_;
  BlockWriter& emit_;
  const bool shuffles_;
  const runtime::Target& target_;
  Segments segments_;
  std::vector<OpenRange> open_;
  std::vector<UnrollCopy> copy_;
  UOp supposed_;
  size_t assumed_ = 0;  ///< scope of the open assumption; 0: none
  const std::vector<int>* versions_ = nullptr;
  const std::vector<UOp>* prefetches_ = nullptr;
  std::vector<std::pair<UOp, int>> missing_;
  std::unordered_map<ir::Node*, ir::LinearExpr> offsets_;
  std::unordered_map<ir::Node*, uint64_t> read_write_masks_;
  std::map<int, std::map<ir::Node*, UOp>> homes_of_;  ///< by statement
  std::unordered_map<ir::Node*, UOp> homes_;          ///< of the present statement
};

}  // namespace sinter::codegen
