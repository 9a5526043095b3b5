#include "cudasim/device_memory.h"

#include <fmt/core.h>

namespace sinter::runtime::cuda::sim {
namespace {
constexpr uint64_t kAlign = 512, kGap = 1 << 20;
constexpr size_t kRemembered = 4096;
}  // namespace

MemoryRegion* DeviceMemory::allocate(uint64_t bytes) {
  const uint64_t rounded = (bytes + kAlign - 1) / kAlign * kAlign;
  if (rounded > total_ - std::min(total_, used_)) return nullptr;
  auto region = std::make_unique<MemoryRegion>(next_, bytes);
  next_ += rounded + kGap;
  used_ += rounded;
  return (live_[region->base] = std::move(region)).get();
}

bool DeviceMemory::free(uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  used_ -= (found->second->bytes + kAlign - 1) / kAlign * kAlign;
  freed_[address] = found->second->bytes;
  if (freed_.size() > kRemembered) freed_.erase(freed_.begin());
  live_.erase(found);
  return true;
}

MemoryRegion* DeviceMemory::find(uint64_t address) {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  MemoryRegion& region = *(--after)->second;
  return address - region.base < region.bytes ? &region : nullptr;
}

std::string DeviceMemory::describe(uint64_t address) const {
  const auto dead = freed_.upper_bound(address);
  if (dead != freed_.begin()) {
    const auto& [start, bytes] = *std::prev(dead);
    if (address - start < bytes)
      return fmt::format("{:#x} is byte {} of {} bytes at {:#x} that were freed: use after free", address,
                         address - start, bytes, start);
  }
  if (address < 4096) return fmt::format("{:#x} is a null pointer", address);
  const auto after = live_.upper_bound(address);
  if (after != live_.begin()) {
    const MemoryRegion& before = *std::prev(after)->second;
    const uint64_t past = address - before.base - before.bytes;
    if (past < kGap / 2)
      return fmt::format("{:#x} is {} bytes behind the end of {}: out of bounds", address, past, before.name());
  }
  if (after != live_.end() && after->first - address <= kGap)
    return fmt::format("{:#x} is {} bytes before {}: out of bounds", address, after->first - address,
                       after->second->name());
  return fmt::format("{:#x} belongs to no allocation: out of bounds", address);
}

}  // namespace sinter::runtime::cuda::sim
