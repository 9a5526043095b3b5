// What a list of Opts achieves in a kernel, read from its loop schedule. Tests of the heuristic ask for this, not for
// the text of a list. choice_test.cpp shows that a kernel without Opts has none of it.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "unit/codegen_support.h"

namespace codegen_test {

/// Names ranges by their ids, and fails for one that the kernel does not have.
class Choice {
 public:
  /// What the heuristic asks for.
  explicit Choice(const KernelHarness& b, const runtime::Target& target = runtime::reference_target())
      : Choice(b, chosen(b, target), target) {}
  Choice(const KernelHarness& b, std::vector<Opt> list, const runtime::Target& target = runtime::reference_target())
      : target_(target),
        kernel_(codegen::normalize(b.kernel).main),
        opts_(std::move(list)),
        loops_(codegen::make_loop_schedule(kernel_, opts_)) {
    const codegen::KernelAnalysis analysis(kernel_);
    for (const codegen::StatementAnalysis& s : analysis.statements())
      if (s.is_reduce() && s.node->reduction().combine == Combine::Dot) products_.push_back(s);
  }

  const std::vector<Opt>& opts() const { return opts_; }
  const codegen::LoopSchedule& loops() const { return loops_; }

  int lanes(int range) const { return of(range).lanes; }
  int copies(int range) const { return of(range).unroll; }
  /// Whether the range has the lanes, whole vectors of float32.
  bool has_lanes(int range) const { return lanes(range) * 4 == target_.vector_bytes; }
  int64_t width(int range) const { return of(range).width(); }

  /// Vectors that the first product sums at once, and multiply-adds of each that follow one another without a branch.
  int64_t accumulators() const { return products_.empty() ? 1 : copies(products_[0].result_ranges); }
  int64_t steps() const { return products_.empty() ? 1 : copies(products_[0].reduced_ranges); }
  /// Whether the accumulators take most of the vector registers, and leave one for each vector of the range with lanes
  /// and one for what it is multiplied with.
  bool has_full_tile(int range) const {
    const int64_t registers = target_.vector_registers;
    return has_lanes(range) && accumulators() >= registers * 5 / 8 && accumulators() + copies(range) + 1 <= registers;
  }

  /// Values of an outer range that a task covers; tasks along the range; whether one task covers all of it.
  int64_t block(int range) const { return of(range).block; }
  int64_t tasks(int range) const { return (of(range).size + block(range) - 1) / block(range); }
  bool is_whole(int range) const { return of(range).outer() && of(range).whole(); }
  /// Whether each thread has one block of the range; the last one may cover a rest besides.
  bool is_shared(int range) const { return !is_whole(range) && of(range).size / block(range) == target_.threads; }
  /// Whether a TaskBlock says what a task covers.
  bool is_blocked(int range) const { return codegen::find_opt<codegen::TaskBlock>(opts_, range) != nullptr; }

  bool is_split(int range) const { return !of(range).steps.empty(); }
  bool is_split() const {
    return std::any_of(loops_.axes.begin(), loops_.axes.end(), [](const auto& a) { return !a.steps.empty(); });
  }
  /// Values of a range between two turns of the loop around its innermost one; all, if there is none.
  int64_t depth(int range) const { return is_split(range) ? of(range).steps.back() : of(range).size; }
  /// Whether the blocks of a range go by outside of another range's loop.
  bool is_outside(int range, int other) const {
    const int mine = loops_.order_position(of(range).range, 0), its = loops_.order_position(of(other).range, 0);
    return is_split(range) && mine >= 0 && mine < its;
  }
  bool is_cut(int range) const { return !of(range).cuts.empty(); }
  /// Whether the steps at both ends are numbers: they are cut off, or there is one step.
  bool is_peeled(int range) const { return is_cut(range) || (is_whole(range) && width(range) == of(range).size); }

  /// Tiles that operands are copied to; the bytes of a float32 one; whether its copy goes along two ranges as vectors
  /// and so many copies that are transposed in registers.
  size_t packs() const { return loops_.tile_copies.size(); }
  int64_t packed_bytes(size_t tile = 0) const {
    int64_t bytes = packs() > tile ? 4 : 0;
    if (bytes)
      for (const auto& d : loops_.tile_copies[tile].dims) {
        const codegen::LoopAxis& a = of(d.range);
        bytes *= d.level >= 0 ? a.steps[static_cast<size_t>(d.level)] : a.whole() ? a.size : a.block;
      }
    return bytes;
  }
  bool is_packed_transposed(size_t tile = 0) const {
    bool vectors = false, rows = false;
    if (packs() > tile)
      for (const auto& d : loops_.tile_copies[tile].dims) {
        vectors |= d.lanes > 1;
        rows |= d.lanes == 1 && d.unroll * 4 == target_.vector_bytes;
      }
    return vectors && rows;
  }
  /// Columns that lie side by side in a tile.
  int panel(size_t tile = 0) const { return packs() > tile ? loops_.tile_copies[tile].panel : 0; }

  size_t materialized() const { return loops_.materializations.size(); }
  size_t prefetches() const { return loops_.prefetches.size(); }
  bool stores_past_caches() const { return !loops_.nontemporal.empty(); }

 private:
  const codegen::LoopAxis& of(int range) const {
    for (const codegen::LoopAxis& a : loops_.axes)
      if (codegen::range_id(a.range) == range) return a;
    FAIL("the kernel has no range " << range);
    throw std::logic_error("unreachable");
  }
  int64_t copies(const std::vector<UOp>& ranges) const {
    int64_t n = 1;
    for (UOp r : ranges) n *= copies(codegen::range_id(r));
    return n;
  }

  runtime::Target target_;
  codegen::Kernel kernel_;
  std::vector<Opt> opts_;
  codegen::LoopSchedule loops_;
  std::vector<codegen::StatementAnalysis> products_;
};

}  // namespace codegen_test
