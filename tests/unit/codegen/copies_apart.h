// A distance between the unrolled copies of a range.
#pragma once

#include <utility>
#include <vector>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/loop_tree.h"

namespace codegen_test {

/// Puts the copies of an outer range in `list` so many values apart, or fewer where its size asks for it; as they are
/// if that is not legal.
inline void put_copies_apart(const sinter::codegen::Kernel& kernel, const sinter::codegen::LoopAxis& a, int64_t most,
                             std::vector<sinter::codegen::Opt>& list) {
  std::vector<sinter::codegen::Opt> apart = list;
  const int range = sinter::codegen::range_id(a.range);
  auto* unroll = sinter::codegen::find_opt<sinter::codegen::Unroll>(apart, range);
  if (!unroll || a.size % unroll->count) return;
  unroll->distance = most;
  while (a.size / unroll->count % unroll->distance) --unroll->distance;
  if (auto* block = sinter::codegen::find_opt<sinter::codegen::TaskBlock>(apart, range))
    block->size *= unroll->distance;
  if (sinter::codegen::is_legal(kernel, apart)) list = std::move(apart);
}

}  // namespace codegen_test
