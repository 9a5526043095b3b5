// Each Opt is checked as it is applied, and all of them together at the end. refuse() throws IllegalOpt.
#include "codegen/loopschedule/loop_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "codegen/kernel/offset.h"
#include "codegen/kernel/ranges.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

constexpr int kMaxThreads = 1024;  // CUDA's limit
constexpr int kMaxBlocks = 32;     // of a multiprocessor
constexpr int64_t kMaxBand = 1024;
/// Limit for steps and blocks of a range. A range has at most as many values as a tensor has elements, so arithmetic on
/// such numbers does not overflow.
constexpr int64_t kMaxValues = 2 * Shape::kMaxElements;

bool power_of_two(int64_t n) { return n > 1 && (n & (n - 1)) == 0; }

class LoopScheduleBuilder {
 public:
  explicit LoopScheduleBuilder(const Kernel& kernel) : kernel_(kernel) {
    std::map<int, UOp> by_id;
    for (UOp n : ir::topological(kernel.sink)) {
      if (n->op != Op::Range) continue;
      add(n);
      if (range_kind(n) == AxisKind::Outer) by_id[range_id(n)] = n;
    }
    for (size_t id = 0; id < kernel.outer.size(); ++id) {
      UOp& range = by_id[static_cast<int>(id)];
      if (!range) {
        const Dim& bound = kernel.outer[id];
        UOp size = bound.symbolic() ? ir::variable(*kernel.graph, bound.var(), DType::Index)
                                    : ir::constant(*kernel.graph, DType::Index, bound.value());
        add(range = ir::range(size, static_cast<int>(id), AxisKind::Outer));
      }
      schedule_.outer.push_back(range);
    }
    std::ranges::sort(schedule_.axes,
                      [](const LoopAxis& a, const LoopAxis& b) { return range_id(a.range) < range_id(b.range); });
  }

  LoopSchedule run(const std::vector<Opt>& opts) {
    for (const Opt& opt : opts) {
      opt_text_ = to_string(opt);
      std::visit([this](const auto& o) { apply(o); }, opt);
    }
    opt_text_ = to_string(opts);
    for (LoopAxis& a : schedule_.axes) check_axis(a);
    check_threads();
    schedule_.axes.insert(schedule_.axes.end(), windows_.begin(), windows_.end());
    return std::move(schedule_);
  }

 private:
  void require(bool ok, const std::string& why) const {
    if (!ok) refuse(opt_text_, why);
  }
  void add(UOp range) {
    UOp bound = range->src[0];
    schedule_.axes.push_back({range, bound->op == Op::Const ? bound->scalar().as_int() : 0, {}});
  }
  LoopAxis& axis(int range) {
    LoopAxis* found = nullptr;
    for (LoopAxis& a : schedule_.axes)
      if (range_id(a.range) == range) {
        require(!found, "several ranges of the kernel have that id");
        found = &a;
      }
    require(found, "the kernel has no range of that id");
    return *found;
  }

  void apply(const Lanes& o) {
    LoopAxis& a = axis(o.range);
    require(power_of_two(o.count) && o.count <= 256, "a vector has 2, 4, 8, ... 256 elements");
    require(a.lanes == 1 && a.warp == WarpDigits{}, "the range has lanes already");
    a.lanes = o.count;
  }
  void apply(const Unroll& o) {
    LoopAxis& a = axis(o.range);
    require(o.count >= 2 && o.count <= Unroll::kMax, "a loop is unrolled by 2 to 64");
    require(a.unroll == 1, "the range is unrolled already");
    require(o.distance >= 1, "copies are at least one value apart");
    a.unroll = o.count;
    a.distance = o.distance;
  }
  void apply(const Cut& o) {
    LoopAxis& a = axis(o.range);
    require(!o.at.empty() && o.at.size() <= Cut::kMax, "a loop is cut at 1 to 64 values");
    require(std::ranges::adjacent_find(o.at, std::greater_equal<>()) == o.at.end(), "the values do not ascend");
    require(a.cuts.empty(), "the range is cut already");
    a.cuts = o.at;
  }
  void apply(const Split& o) {
    LoopAxis& a = axis(o.range);
    require(o.step > 0 && o.step <= kMaxValues, "a block has 1 to 2^57 values");
    require(a.steps.empty() || a.steps.back() % o.step == 0, "the step does not divide the one above it");
    a.steps.push_back(o.step);
  }
  void apply(const TaskBlock& o) {
    LoopAxis& a = axis(o.range);
    require(a.outer(), "a task covers values of outer ranges only");
    require(o.size > 0 && o.size <= kMaxValues, "a block has 1 to 2^57 values");
    a.block = o.size;
    blocks_.push_back(o.range);
  }
  void apply(const TaskBand& o) {
    LoopAxis& a = axis(o.range);
    require(a.outer(), "tasks go through blocks of outer ranges only");
    require(o.blocks >= 2 && o.blocks <= kMaxBand, "a band has 2 to 1024 blocks");
    require(std::ranges::all_of(schedule_.axes, [](const LoopAxis& other) { return other.band == 1; }),
            "there is a band already");
    a.band = o.blocks;
  }
  void apply(const ThreadBind& o) {
    LoopAxis& a = axis(o.range);
    require(a.threads == 1, "the range is bound to threads already");
    require(o.threads >= 2 && o.threads <= kMaxThreads && o.stride >= 1 && o.stride <= kMaxThreads,
            "a range is bound to 2 to 1024 threads with a stride of 1 to 1024");
    a.threads = o.threads;
    a.thread_stride = o.stride;
  }
  void apply(const Mma& o) {
    require(o.rows != o.columns, "a tile has rows along one range and columns along another");
    const LoopSchedule::MmaRanges tile{axis(o.rows).range, axis(o.columns).range};
    require(!ir::contains(schedule_.mma, tile), "these ranges are a tile already");
    give_tile(axis(o.rows), kMmaRows);
    give_tile(axis(o.columns), kMmaColumns);
    schedule_.mma.push_back(tile);
  }
  void give_tile(LoopAxis& a, const MmaDim& dim) {
    if (a.lanes == dim.lanes && a.warp == dim.warp) return;  // as in the tiles of another product
    require(a.lanes == 1 && a.warp == WarpDigits{}, "the range has lanes, or is part of a tile, already");
    a.lanes = dim.lanes;
    a.warp = dim.warp;
  }
  void apply(const LoopOrder& o) {
    require(schedule_.order.empty(), "there is an order already");
    for (size_t i = 0; i < o.loops.size(); ++i) {
      const LoopAxis& a = axis(o.loops[i].range);
      require(o.loops[i].level >= 0 && o.loops[i].level < a.levels(), "a range has no such loop");
      for (size_t k = 0; k < i; ++k)
        require(o.loops[k].range != o.loops[i].range || o.loops[k].level < o.loops[i].level,
                "loops of one range go from the largest blocks to the smallest");
    }
    schedule_.order = o.loops;
  }
  void apply(const Materialize& o) {
    for (int r : o.ranges) require(!axis(r).outer(), "a tile lies along inner ranges");
    require(o.pad >= 0, "the padding is negative");
    schedule_.materializations.push_back(o);
  }
  void apply(const NonTemporal& o) {
    require(o.store >= 0 && static_cast<size_t>(o.store) < kernel_.sink->src.size(), "the kernel has no such store");
    require(!ir::contains(schedule_.nontemporal, o), "the store is nontemporal already");
    schedule_.nontemporal.push_back(o);
  }
  void apply(const Prefetch& o) {
    const std::vector<UOp> nodes = ir::topological(kernel_.sink);
    require(o.load >= 0 && static_cast<size_t>(o.load) < nodes.size() && nodes[o.load]->op == Op::Load,
            "that is no load");
    const UOp load = nodes[o.load], range = axis(o.range).range;
    const std::optional<int64_t> stride = stride_along(offset_of(load), range, ranges_);
    require(stride.has_value(), "the load has no constant stride along the range");
    require(*stride != 0 && o.distance != 0, "the stride or the distance is 0");
    int64_t ahead = 0;
    require(!__builtin_mul_overflow(*stride, o.distance, &ahead) && std::abs(ahead) <= kMaxValues,
            "the distance is too large");
    require(o.loop >= -1, "loops are counted from 0");
    require(schedule_.prefetches.emplace(load.get(), LoopSchedule::PrefetchOffset{ahead, o.loop}).second,
            "the load has a prefetch already");
  }

  void apply(const Occupancy& o) {
    require(o.blocks >= 1 && o.blocks <= kMaxBlocks, "a multiprocessor holds 1 to 32 blocks");
    require(schedule_.occupancy == 0, "the occupancy is set already");
    schedule_.occupancy = o.blocks;
  }

  void apply(const LastBlock& o) {
    require(o.threads >= 1 && o.threads <= kMaxThreads, "a block has 1 to 1024 threads");
    require(!schedule_.last_block, "the threads of the last block are set already");
    schedule_.last_block = true;
    last_block_threads_ = o.threads;
  }

  /// Checks that concern the tile itself are in codegen/nest/tile.h.
  void apply(const TileCopy& o) {
    std::vector<int> named;
    for (const TileCopy::CopyDim& d : o.dims) {
      for (const int r : {d.range, d.taps}) {
        require(r < 0 || !ir::contains(named, r), "a range is in two dims of the tile");
        named.push_back(r);
      }
      const LoopAxis& a = axis(d.range);
      require(d.level >= -1 && d.level < a.levels() - 1, "a tile covers a block of a loop that has loops inside");
      require(d.lanes == 1 || (power_of_two(d.lanes) && d.lanes <= 256), "a vector has 2, 4, 8, ... 256 elements");
      require(d.unroll >= 1 && d.unroll <= Unroll::kMax, "a loop is unrolled by 2 to 64");
      require(!d.joined || (&d != &o.dims.back() && d.lanes * d.unroll * d.threads == 1),
              "the last of joined dims has the lanes, unrolled copies and threads");
      if (d.taps >= 0) add_window(o.value, a.range, axis(d.taps).range);
      require(d.threads >= 1 && d.threads <= kMaxThreads && d.stride >= 1 && d.stride <= kMaxThreads,
              "a dim is bound to 1 to 1024 threads with a stride of 1 to 1024");
    }
    schedule_.tile_copies.push_back(o);
  }

  /// Adds a range of the positions of a window, if there is none yet.
  void add_window(int value, UOp along, UOp taps) {
    const std::vector<UOp> nodes = ir::topological(kernel_.sink);
    require(value >= 0 && static_cast<size_t>(value) < nodes.size(), "the kernel has no such value");
    const std::optional<Window> window = window_of(nodes[value], along, taps, ranges_);
    require(window.has_value(), fmt::format("the value does not depend on ranges {} and {} through a sum alone",
                                            range_id(along), range_id(taps)));
    for (const LoopAxis& a : windows_) {
      if (a.window == window) return;
      require(!(a.window->along == along && a.window->taps == taps), "another value has another sum of both ranges");
    }
    const int64_t positions = window->extent(axis(range_id(along)).size);
    const int id = range_id(schedule_.axes.back().range) + 1 + static_cast<int>(windows_.size());
    LoopAxis made{ir::range(ir::constant(*kernel_.graph, DType::Index, positions), id, AxisKind::Inner), positions, {}};
    made.window = window;
    windows_.push_back(std::move(made));
  }

  /// Constraints between the Opts of one axis.
  void check_axis(LoopAxis& a) {
    check_distance(a);
    if (a.outer() && !ir::contains(blocks_, range_id(a.range))) a.block = a.steps.empty() ? a.width() : a.steps[0];
    const std::string which = fmt::format("range {}: ", range_id(a.range));
    for (int64_t step : a.steps)
      require(step % a.width() == 0, which + "the step is not a multiple of threads x lanes x unroll");
    if (!a.whole())
      require(a.block % (a.steps.empty() ? a.width() : a.steps[0]) == 0,
              which + "the block is not a multiple of its steps");
    if (!a.cuts.empty()) {
      require(a.threads == 1 && a.warp == WarpDigits{}, which + "only a loop without threads can be cut");
      require(a.cuts.front() > 0 && a.cuts.back() < a.size, which + "it is cut inside of its known size");
      for (int64_t at : a.cuts) require(at % a.width() == 0, which + "it is cut at multiples of lanes x unroll");
    }
    if (a.width() == 1) return;
    for (const LoopAxis& b : schedule_.axes)
      require(!ranges_.depends(b.range->src[0], a.range), which + "the bound of another range depends on it");
  }

  void check_distance(const LoopAxis& a) {
    if (a.distance == 1) return;
    const int range = range_id(a.range);
    const std::string which = fmt::format("range {}: ", range);
    require(a.lanes == 1 && a.threads == 1 && a.warp == WarpDigits{} && a.cuts.empty(),
            which + "with a distance between copies it has neither lanes nor threads nor cuts");
    require(a.outer() && a.distance <= a.size / a.unroll && a.size % (a.unroll * a.distance) == 0,
            which + "copies with a distance cover an outer range of known size in whole steps");
    for (const TileCopy& copy : schedule_.tile_copies)
      require(std::ranges::none_of(copy.dims, [&](const auto& d) { return d.range == range || d.taps == range; }),
              which + "with a distance between copies it is no dim of a tile");
  }

  /// Every digit must take all its values within a block.
  void check_threads() {
    for (const LoopAxis& a : schedule_.axes)
      if (a.threads > 1) schedule_.threads = std::max(schedule_.threads, a.threads * a.thread_stride);
    if (!schedule_.mma.empty()) schedule_.threads = std::max(schedule_.threads, kWarp);
    if (schedule_.last_block) {
      require(schedule_.threads <= last_block_threads_, "the digits of its ranges need more threads");
      schedule_.threads = last_block_threads_;
      require(std::ranges::all_of(schedule_.axes, [](const LoopAxis& a) { return a.whole(); }),
              "one task of the last block does not cover all outer ranges");
      require(schedule_.occupancy == 0, "a last block has the occupancy of its main kernel");
    }
    for (const TileCopy& s : schedule_.tile_copies)
      for (const TileCopy::CopyDim& d : s.dims)
        require(d.threads == 1 || schedule_.threads % (d.threads * d.stride) == 0,
                fmt::format("range {}: its threads x stride do not divide the {} threads of a block", d.range,
                            schedule_.threads));
    require(schedule_.threads <= kMaxThreads, "a block has at most 1024 threads");
    require(schedule_.occupancy <= 1 || schedule_.occupancy * schedule_.threads <= 2 * kMaxThreads,
            "a multiprocessor holds at most 2048 threads");
    for (const LoopAxis& a : schedule_.axes)
      require(schedule_.mma.empty() || a.threads == 1 || a.thread_stride % kWarp == 0,
              fmt::format("range {}: tiles of tensor cores take whole warps", range_id(a.range)));
    for (const LoopAxis& a : schedule_.axes)
      require(a.threads == 1 || schedule_.threads % (a.threads * a.thread_stride) == 0,
              fmt::format("range {}: its threads x stride do not divide the {} threads of a block", range_id(a.range),
                          schedule_.threads));
  }

  const Kernel& kernel_;
  LoopSchedule schedule_;
  FreeRanges ranges_;
  std::vector<int> blocks_;
  int last_block_threads_ = 1;
  std::vector<LoopAxis> windows_;
  std::string opt_text_;
};

}  // namespace

bool LoopAxis::outer() const { return range_kind(range) == AxisKind::Outer; }

const LoopAxis& LoopSchedule::of(UOp range) const {
  auto it = std::ranges::find_if(axes, [range](const LoopAxis& a) { return a.range == range; });
  if (it == axes.end()) throw InternalError(fmt::format("codegen: range {} has no axis", range_id(range)));
  return *it;
}

const LoopAxis& LoopSchedule::of(const TileCopy::CopyDim& dim) const {
  return *std::ranges::find_if(axes, [&](const LoopAxis& a) {
    if (dim.taps < 0) return range_id(a.range) == dim.range;
    return a.window && range_id(a.window->along) == dim.range && range_id(a.window->taps) == dim.taps;
  });
}

int LoopSchedule::order_position(UOp range, int level) const {
  const LoopOrder::Loop loop{range_id(range), level};
  auto it = std::ranges::find(order, loop);
  return it == order.end() ? -1 : static_cast<int>(it - order.begin());
}

void refuse(const std::string& opt, const std::string& why) {
  throw IllegalOpt(fmt::format("codegen: {} is not legal: {}", opt, why));
}

LoopSchedule make_loop_schedule(const Kernel& kernel, const std::vector<Opt>& opts) {
  return LoopScheduleBuilder(kernel).run(opts);
}

}  // namespace sinter::codegen
