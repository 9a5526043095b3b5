#include "cudasim/warp.h"

#include <fmt/core.h>

#include <algorithm>

#include "cudasim/launch.h"
#include "cudasim/warp_lanes.h"

namespace sinter::runtime::cuda::sim {

void save_lane_pcs(Warp& warp) {
  for_lanes(warp.active, [&](int lane) { warp.lane_pc[lane] = warp.pc; });
}

void select_active_lanes(Warp& warp) {
  const uint32_t ready = warp.alive & ~warp.parked;
  warp.pc = warp.other_pc = Warp::kNowhere;
  for_lanes(ready, [&](int lane) { warp.pc = std::min(warp.pc, warp.lane_pc[lane]); });
  warp.active = 0;
  for_lanes(ready, [&](int lane) {
    if (warp.lane_pc[lane] == warp.pc)
      warp.active |= 1u << lane;
    else
      warp.other_pc = std::min(warp.other_pc, warp.lane_pc[lane]);
  });
}

std::string place_of(const SimKernel& kernel, uint32_t instruction) {
  const PtxStatement& statement = kernel.statements[instruction];
  const size_t file = static_cast<size_t>(statement.place.file);
  if (!statement.place.line) return fmt::format("`{}`", statement.text);
  const std::string& name = file < kernel.files.size() && !kernel.files[file].empty() ? kernel.files[file] : "line";
  return fmt::format("{}:{} `{}`", name, statement.place.line, statement.text);
}

std::string thread_name(const SimBlock& block, uint32_t thread) {
  const auto& extent = block.shape.block;
  return fmt::format("({},{},{})", thread % extent[0], thread / extent[0] % extent[1], thread / extent[0] / extent[1]);
}

void fail(const Warp& warp, int lane, CudaResult code, const std::string& what) {
  const SimBlock& block = *warp.block;
  throw Fault(code, fmt::format("kernel {}, block ({},{},{}), thread {}, {}: {}", block.kernel.name, block.index[0],
                                block.index[1], block.index[2],
                                thread_name(block, warp.index * kLanes + static_cast<uint32_t>(lane)),
                                place_of(block.kernel, warp.at), what));
}

}  // namespace sinter::runtime::cuda::sim
