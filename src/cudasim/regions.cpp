#include "cudasim/regions.h"

#include <fmt/core.h>

namespace sinter::runtime::cuda::sim {

std::string MemoryRegion::name() const { return fmt::format("the {} bytes at {:#x}", bytes, base); }

void prepare_cells(MemoryRegion& region, uint64_t bytes) {
  if (region.shift && bytes < 4) {  // from now on, neighboring bytes within four have different histories
    ZeroedArray<ShadowCell> fine = make_zeroed<ShadowCell>(region.bytes + 16);
    for (uint64_t i = 0; region.cells && i < region.bytes; ++i) fine[i] = region.cells[i >> 2];
    region.cells = std::move(fine);
    region.shift = 0;
  }
  if (!region.cells) region.cells = make_zeroed<ShadowCell>((region.bytes >> region.shift) + 16);
}

}  // namespace sinter::runtime::cuda::sim
