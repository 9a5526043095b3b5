// Random tiles that are copied.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "codegen/kernel/ranges.h"
#include "codegen/kernel/window.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "ir/walk.h"
#include "unit/codegen_support.h"

namespace codegen_test {

class TileGenerator {
 public:
  explicit TileGenerator(std::mt19937& stages) : stages_(stages) {}

  /// A tile for a load, an expression without sums or results, for random blocks; about one in three is legal.
  void add(const codegen::Kernel& kernel, bool gpu, std::vector<Opt>& list) {
    codegen::LoopSchedule plain;
    try {
      plain = codegen::make_loop_schedule(kernel, list);
    } catch (const codegen::IllegalOpt&) { return; }
    const std::vector<UOp> nodes = topological(kernel.sink);
    codegen::FreeRanges ranges;
    std::vector<codegen::TileCopy> candidates;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const bool results = nodes[i]->op == Op::Store;
      if (!(is_alu(nodes[i]->op) || codegen::is_access(nodes[i])) || nodes[i]->dtype == DType::Index ||
          nodes[i]->dtype == DType::Bool)
        continue;
      const std::vector<UOp> below = topological(nodes[i]);
      if (!results && std::any_of(below.begin(), below.end(), [](UOp n) { return codegen::has_accumulators(n); }))
        continue;
      codegen::TileCopy stage;
      stage.value = static_cast<int>(i);
      for (const codegen::LoopAxis& a : plain.axes)
        if (a.size > 1 && !(a.outer() && a.block == 1) && ranges.depends(nodes[i], a.range))
          stage.dims.push_back({codegen::range_id(a.range), pick_stage(-1, a.levels() - 2)});
      if (!stage.dims.empty()) candidates.push_back(stage);
    }
    if (candidates.empty()) return;
    codegen::TileCopy stage = candidates[static_cast<size_t>(pick_stage(0, static_cast<int>(candidates.size()) - 1))];
    const UOp value = nodes[static_cast<size_t>(stage.value)];
    if (pick_stage(0, 1)) join_window(value, plain, stage, ranges);
    std::shuffle(stage.dims.begin(), stage.dims.end(), stages_);
    if (codegen::is_access(value) && pick_stage(0, 1)) join_dims(value, plain, stage, ranges);
    codegen::TileCopy::CopyDim& lanes =
        stage.dims[static_cast<size_t>(pick_stage(0, static_cast<int>(stage.dims.size()) - 1))];
    if (pick_stage(0, 1)) lanes.lanes = 2 << pick_stage(0, 3);
    int stride = 1;
    for (codegen::TileCopy::CopyDim& d : stage.dims) {
      if (d.joined) {
        d.lanes = 1;
        continue;
      }
      if (pick_stage(0, 3) == 0) d.unroll = pick_stage(2, 4);
      if (!gpu || pick_stage(0, 2) == 0) continue;
      d.threads = 2 << pick_stage(0, 3);
      d.stride = stride;
      stride *= d.threads;
    }
    lay_out_rows(plain, stage);
    if (pick_stage(0, 2) == 0 && value->op != Op::Store) add_slot(plain, stage);
    list.push_back(stage);
  }

 private:
  /// One dim for two ranges that the value depends on as a window, if there are such.
  void join_window(UOp value, const codegen::LoopSchedule& plain, codegen::TileCopy& stage,
                   codegen::FreeRanges& ranges) {
    for (const codegen::LoopAxis& a : plain.axes)
      for (const codegen::LoopAxis& t : plain.axes) {
        if (!codegen::window_of(value, a.range, t.range, ranges)) continue;
        const int along = codegen::range_id(a.range), taps = codegen::range_id(t.range);
        std::erase_if(stage.dims, [&](const auto& d) { return d.range == along || d.range == taps; });
        return stage.dims.push_back({.range = along, .level = pick_stage(-1, a.levels() - 2), .taps = taps});
      }
  }
  /// Dims in the order of memory, joined where they lie one behind another.
  void join_dims(UOp access, const codegen::LoopSchedule& plain, codegen::TileCopy& stage,
                 codegen::FreeRanges& ranges) {
    const ir::LinearExpr offset = codegen::offset_of(access);
    const auto stride = [&](const codegen::TileCopy::CopyDim& d) {
      return codegen::stride_along(offset, axis_of(plain, d).range, ranges).value_or(0);
    };
    std::ranges::sort(stage.dims, [&](const auto& a, const auto& b) {
      return std::pair(-stride(a), a.range) < std::pair(-stride(b), b.range);
    });
    for (size_t i = 0; i + 1 < stage.dims.size(); ++i) {
      const codegen::TileCopy::CopyDim& next = stage.dims[i + 1];
      const codegen::LoopAxis a = axis_of(plain, next);
      const int64_t block = next.level >= 0 ? a.steps[static_cast<size_t>(next.level)] : a.outer() ? a.block : a.size;
      stage.dims[i].joined = next.taps < 0 && stage.dims[i].taps < 0 && stride(stage.dims[i]) == stride(next) * block;
    }
  }
  /// A second slot for the blocks of one loop, if there is one, each copied in one turn.
  void add_slot(const codegen::LoopSchedule& plain, codegen::TileCopy& stage) {
    std::vector<codegen::TileCopy::CopyDim*> split;
    for (codegen::TileCopy::CopyDim& d : stage.dims)
      if (axis_of(plain, d).levels() > 1) split.push_back(&d);
    if (split.empty()) return;
    codegen::TileCopy::CopyDim* turns = split[static_cast<size_t>(pick_stage(0, static_cast<int>(split.size()) - 1))];
    for (codegen::TileCopy::CopyDim& d : stage.dims) {
      d.level = &d == turns ? 0 : -1;
      const codegen::LoopAxis a = axis_of(plain, d);
      const int64_t all = d.level == 0 ? a.steps[0]
                          : a.outer()  ? a.block
                                       : a.size,
                    width = int64_t{1} * d.lanes * d.threads;
      d.unroll = static_cast<int>(std::min<int64_t>((all + width - 1) / width, 64));
    }
    stage.slots = 2;
  }
  static codegen::LoopAxis axis_of(const codegen::LoopSchedule& plain, const codegen::TileCopy::CopyDim& d) {
    return *std::find_if(plain.axes.begin(), plain.axes.end(),
                         [&](const codegen::LoopAxis& a) { return codegen::range_id(a.range) == d.range; });
  }
  void lay_out_rows(const codegen::LoopSchedule& plain, codegen::TileCopy& stage) {
    if (pick_stage(0, 2) == 0) {
      const codegen::TileCopy::CopyDim& last = stage.dims.back();
      const auto whole = static_cast<int>(
          std::lcm(last.lanes * last.unroll, axis_of(plain, last).width()));  // what the loops access together
      stage.panel = (pick_stage(0, 9) ? whole : 2) << pick_stage(whole > 1 ? 0 : 1, 3);
    } else if (stage.dims.size() < 2) {
      return;
    } else if (pick_stage(0, 2) == 0) {
      stage.pad = pick_stage(1, 8);
    } else if (pick_stage(0, 1)) {
      stage.swizzle_unit = stage.dims.back().lanes << pick_stage(0, 2);
      stage.swizzle_rows = pick_stage(1, 4);
    }
  }
  int pick_stage(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(stages_); }

  std::mt19937& stages_;
};

}  // namespace codegen_test
