#include "runtime/cuda/sim/requests.h"

#include <algorithm>

namespace sinter::runtime::cuda::sim {
namespace {
constexpr uint64_t kSectorBytes = 32, kBanks = 32, kBankBytes = 4, kPassBytes = kBanks * kBankBytes;
}  // namespace

void count_global(Counters& counters, const uint64_t* addresses, int count, uint64_t bytes) {
  uint64_t sectors[kLanes];
  bool ordered = true;
  for (int i = 0; i < count; ++i) {
    sectors[i] = addresses[i] / kSectorBytes;  // accesses are aligned: none crosses into the next sector
    ordered &= i == 0 || sectors[i] >= sectors[i - 1];
  }
  if (!ordered) std::sort(sectors, sectors + count);
  const auto touched = static_cast<uint64_t>(std::unique(sectors, sectors + count) - sectors);
  ++counters.global_requests;
  counters.sectors += touched;
  counters.ideal_sectors += std::min(touched, (static_cast<uint64_t>(count) * bytes + kSectorBytes - 1) / kSectorBytes);
}

// A pass gives each bank one word of 4 bytes, which any number of lanes may share. Wider accesses are made by as many
// lanes at a time as 128 bytes serve.
void count_shared(Counters& counters, const uint64_t* addresses, int count, uint64_t bytes) {
  const int together = static_cast<int>(kLanes * kBankBytes / std::max(bytes, kBankBytes));
  ++counters.shared_requests;
  for (int first = 0; first < count; first += together) {
    uint64_t words[kLanes * 4];
    int n = 0;
    for (int i = first; i < std::min(count, first + together); ++i)
      for (uint64_t at = addresses[i] / kBankBytes; at < (addresses[i] + bytes + kBankBytes - 1) / kBankBytes; ++at)
        words[n++] = at;
    std::sort(words, words + n);
    const auto distinct = std::unique(words, words + n) - words;
    uint64_t per_bank[kBanks] = {}, most = 0;
    for (ptrdiff_t i = 0; i < distinct; ++i) most = std::max(most, ++per_bank[words[i] % kBanks]);
    counters.wavefronts += most;
    counters.ideal_wavefronts += (static_cast<uint64_t>(distinct) * kBankBytes + kPassBytes - 1) / kPassBytes;
  }
}

}  // namespace sinter::runtime::cuda::sim
