#include "cudasim/requests.h"

#include <algorithm>

namespace sinter::runtime::cuda::sim {
namespace {
constexpr uint64_t kSectorBytes = 32, kBanks = 32, kBankBytes = 4, kPassBytes = kBanks * kBankBytes;
}  // namespace

void count_global(CostCounters& counters, const uint64_t* addresses, int count, uint64_t bytes) {
  uint64_t sectors[kLanes];
  bool ordered = true;
  for (int i = 0; i < count; ++i) {
    sectors[i] = addresses[i] / kSectorBytes;  // accesses are aligned, so none crosses a sector boundary
    ordered &= i == 0 || sectors[i] >= sectors[i - 1];
  }
  if (!ordered) std::sort(sectors, sectors + count);
  const auto touched = static_cast<uint64_t>(std::unique(sectors, sectors + count) - sectors);
  ++counters.global_requests;
  counters.global_lanes += static_cast<uint64_t>(count);
  counters.global_bytes += static_cast<uint64_t>(count) * bytes;
  counters.sectors += touched;
  counters.ideal_sectors += std::min(touched, (static_cast<uint64_t>(count) * bytes + kSectorBytes - 1) / kSectorBytes);
}

// A pass serves one 4-byte word per bank, shared by any number of lanes. Wider accesses are split into groups of lanes
// that fit in 128 bytes; each lane then uses as many adjacent banks as it has words.
void count_shared(CostCounters& counters, const uint64_t* addresses, int count, uint64_t bytes) {
  const uint64_t unit = std::max(bytes, kBankBytes), places = kPassBytes / unit;
  ++counters.shared_requests;
  for (int first = 0; first < count; first += static_cast<int>(places)) {
    uint64_t seen[kBanks][kLanes];
    uint8_t rows[kBanks] = {};
    uint64_t most = 0, distinct = 0;
    for (int i = first; i < std::min(count, first + static_cast<int>(places)); ++i) {
      const uint64_t row = addresses[i] / unit, place = row % places;
      uint64_t* const rows_end = seen[place] + rows[place];
      if (std::find(seen[place], rows_end, row) != rows_end) continue;
      *rows_end = row;
      most = std::max<uint64_t>(most, ++rows[place]);
      ++distinct;
    }
    counters.wavefronts += most;
    counters.ideal_wavefronts += (distinct * unit + kPassBytes - 1) / kPassBytes;
  }
}

}  // namespace sinter::runtime::cuda::sim
