// Unrolled copies of open loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "codegen/emit/values.h"
#include "codegen/kernel/ranges.h"
#include "ir/contains.h"

namespace sinter::codegen {

class UnrolledCopies {
 public:
  UnrolledCopies(Values& values, FreeRanges& ranges) : values_(values), ranges_(ranges) {}

  /// Runs `body` with `count` unrolled copies of a range, which are vectors or not. A loop that fills a tile replaces
  /// an outer loop over the same range.
  template <class Body>
  void with(UOp range, int count, bool vectors, Body body) {
    std::vector<std::pair<UOp, int>> around = open_;
    const UOp outer_vectors = vectors_;
    std::erase_if(open_, [&](const auto& o) { return o.first == range; });
    if (count > 1) open_.emplace_back(range, count);
    if (vectors)
      vectors_ = range;
    else if (vectors_ == range)
      vectors_ = {};
    body();
    open_ = std::move(around);
    vectors_ = outer_vectors;
  }

  /// The same with the first `count` of the open copies of a range.
  template <class Body>
  void with_fewer(UOp range, int count, Body body) {
    const auto open = std::ranges::find_if(open_, [&](const auto& o) { return o.first == range; });
    const int all = std::exchange(open->second, count);
    body();
    open->second = all;
  }

  /// The open ranges with more than one copy.
  const std::vector<std::pair<UOp, int>>& open() const { return open_; }
  /// Open copies of a range.
  int count(UOp range) const {
    for (const auto& [open, count] : open_)
      if (open == range) return count;
    return 1;
  }

  /// Whether n differs between the open copies, of ranges other than `without`.
  bool differ(UOp n, const std::vector<UOp>& without = {}) const {
    return std::ranges::any_of(
        open_, [&](const auto& o) { return ranges_.depends(n, o.first) && !ir::contains(without, o.first); });
  }

  /// Runs `body` for each unrolled copy of the ranges that n, a REDUCE, closes: a step of the sum. Within it each of
  /// these ranges has the one copy.
  template <class Body>
  void for_each_step(UOp n, Body body) {
    const std::vector<UOp> closed = ranges_of(n);
    for (const auto& [range, count] : open_)
      if (ir::contains(closed, range)) step_.push_back({range, 0, count});
    while (true) {
      body();
      size_t i = step_.size();
      while (i > 0 && ++step_[i - 1].number == step_[i - 1].count) step_[--i].number = 0;
      if (i == 0) break;
    }
    step_.clear();
  }

  /// Runs `body` for each unrolled copy of the ranges on which n depends. `own`: also of those that n, a REDUCE,
  /// closes. These vary slowest: each element goes to all accumulators that take it before the next one is loaded. The
  /// range of vectors varies fastest: registers hold them while the elements of other copies pass.
  template <class Body>
  void for_each(UOp n, bool own, Body body) {
    std::vector<UnrollCopy> copy;
    std::vector<size_t> fastest;  // indices into `copy`, fastest-varying first
    const std::vector<UOp> closed = own ? ranges_of(n) : std::vector<UOp>{};
    size_t open = 0;
    for (const auto& [range, count] : open_) {
      if (const auto step = std::ranges::find_if(step_, [&](const auto& s) { return s.range == range; });
          step != step_.end()) {
        copy.push_back(*step);
        continue;
      }
      const bool closes = ir::contains(closed, range);
      const bool vectors_first = own && open > 0 && copy[fastest[0]].range == vectors_;
      fastest.insert(fastest.begin() + static_cast<std::ptrdiff_t>(closes ? open : vectors_first), copy.size());
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

 private:
  Values& values_;
  FreeRanges& ranges_;
  std::vector<std::pair<UOp, int>> open_;
  UOp vectors_;                   ///< the range whose copies are vectors; null: none
  std::vector<UnrollCopy> step_;  ///< of for_each_step()
};

}  // namespace sinter::codegen
