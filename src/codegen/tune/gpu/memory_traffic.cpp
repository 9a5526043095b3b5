#include "codegen/tune/gpu/memory_traffic.h"

#include <algorithm>
#include <cmath>

#include "codegen/kernel/ranges.h"
#include "ir/ceil_div.h"
#include "ir/contains.h"

namespace sinter::codegen {
namespace {

struct BlockDigit {
  UOp range;
  double count = 1;  ///< of blocks
};

/// How tasks count blocks, the fastest digit first (emit/task_order.h).
std::vector<BlockDigit> task_order(const LoopSchedule& schedule) {
  std::vector<BlockDigit> order;
  for (UOp r : schedule.outer)
    if (const LoopAxis& a = schedule.of(r); !a.whole())
      order.push_back({r, static_cast<double>(ceil_div(max_trip_count(r), a.block))});
  const auto band = std::ranges::find_if(order, [&](const BlockDigit& d) { return schedule.of(d.range).band > 1; });
  if (band != order.end()) {
    const BlockDigit inside{band->range, std::min(band->count, static_cast<double>(schedule.of(band->range).band))};
    band->count = std::ceil(band->count / inside.count);
    order.push_back(inside);
  }
  std::ranges::reverse(order);
  return order;
}

}  // namespace

double bytes_reread(const MemoryTraffic& traffic, const LoopSchedule& schedule, double blocks, double wave,
                    const runtime::Target& target) {
  const std::vector<BlockDigit> order = task_order(schedule);
  double again = 0, once = 0;
  for (const auto& [slot, t] : traffic) {
    double different = 1, passed = 1;  // blocks of a wave
    for (const BlockDigit& d : order) {
      if (ir::contains(t.outer, d.range)) different *= std::clamp(wave / passed, 1.0, d.count);
      passed *= d.count;
    }
    again += std::max(blocks / wave * different * t.block - t.once, 0.0);
    once += t.once;
  }
  return again * std::max(0.0, 1 - static_cast<double>(target.l2) / once);
}

}  // namespace sinter::codegen
