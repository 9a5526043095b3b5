// Double buffering with two chunks of pinned memory.
#include "runtime/cuda/pinned_staging.h"

#include <algorithm>
#include <cstring>

#include "runtime/cuda/context.h"

namespace sinter::runtime::cuda {

void PinnedStaging::prepare() {
  const DriverApi& driver = context_.driver();
  for (PinnedChunk& c : chunks_) {
    if (c.memory) continue;
    if (!c.done) context_.check(driver.event_create(&c.done, kEventDisableTiming), "making an event");
    void* memory = nullptr;
    context_.check(driver.mem_host_alloc(&memory, kChunk, kHostAllocPortable), "allocating pinned memory of the host");
    c.memory = static_cast<std::byte*>(memory);
  }
}

void PinnedStaging::to_device(DevicePointer to, const void* from, size_t bytes) {
  const DriverApi& driver = context_.driver();
  std::lock_guard lock(mutex_);
  if (bytes) prepare();
  for (size_t at = 0; at < bytes;) {
    if (used_ == kChunk) {
      context_.check(driver.event_record(chunks_[current_].done, context_.stream()), "recording an event");
      current_ ^= 1;
      used_ = 0;
      context_.check(driver.event_synchronize(chunks_[current_].done), "waiting for a copy");
    }
    std::byte* const memory = chunks_[current_].memory + used_;
    const size_t piece = std::min(bytes - at, kChunk - used_);
    std::memcpy(memory, static_cast<const std::byte*>(from) + at, piece);
    context_.check(driver.memcpy_htod_async(to + at, memory, piece, context_.stream()), "copying to the device");
    used_ = std::min(kChunk, (used_ + piece + kAlignment - 1) / kAlignment * kAlignment);
    at += piece;
  }
}

void PinnedStaging::to_host(void* to, DevicePointer from, size_t bytes) {
  const DriverApi& driver = context_.driver();
  std::lock_guard lock(mutex_);
  if (bytes) prepare();
  const size_t pieces = (bytes + kChunk - 1) / kChunk;
  const auto size = [&](size_t i) { return std::min(kChunk, bytes - i * kChunk); };
  for (size_t i = 0; i < pieces + 1; ++i) {
    if (i < pieces) {
      const PinnedChunk& c = chunks_[i % 2];
      context_.check(driver.memcpy_dtoh_async(c.memory, from + i * kChunk, size(i), context_.stream()),
                     "copying to the host");
      context_.check(driver.event_record(c.done, context_.stream()), "recording an event");
    }
    if (i == 0) continue;
    const PinnedChunk& c = chunks_[(i - 1) % 2];
    context_.check(driver.event_synchronize(c.done), "waiting for the device");
    std::memcpy(static_cast<std::byte*>(to) + (i - 1) * kChunk, c.memory, size(i - 1));
  }
  if (bytes) used_ = 0;  // earlier copies to the device have completed
}

void PinnedStaging::release() {
  for (PinnedChunk& c : chunks_) {
    if (c.memory) context_.driver().mem_free_host(c.memory);
    if (c.done) context_.driver().event_destroy(c.done);
    c = {};
  }
}

}  // namespace sinter::runtime::cuda
