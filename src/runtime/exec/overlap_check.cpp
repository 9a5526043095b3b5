// The list of running launches.
#include "runtime/exec/overlap_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

#include "sinter/error.h"

namespace sinter::runtime {
namespace {

std::mutex& mutex() {
  static auto* one = new std::mutex;
  return *one;
}

std::vector<const MemoryUse*>& running() {
  static auto* all = new std::vector<const MemoryUse*>;
  return *all;
}

bool clash(const MemoryUse::Range& a, const MemoryUse::Range& b) {
  return (a.written || b.written) && std::max(a.start, b.start) < std::min(a.start + a.bytes, b.start + b.bytes);
}

}  // namespace

MemoryUse::MemoryUse(std::string kernel, std::vector<Range> ranges)
    : kernel_(std::move(kernel)), ranges_(std::move(ranges)) {
  compare(*this);
  std::lock_guard lock(mutex());
  for (const MemoryUse* other : running()) compare(*other);
  running().push_back(this);
}

MemoryUse::~MemoryUse() {
  std::lock_guard lock(mutex());
  std::erase(running(), this);
}

void MemoryUse::compare(const MemoryUse& other) const {
  for (const Range& a : ranges_)
    for (const Range& b : other.ranges_)
      if (&a != &b && clash(a, b))
        throw InternalError(fmt::format(
            "launch of {}: {} bytes at {} overlap {} bytes at {} of {}, and one of the two is written", kernel_,
            a.bytes, static_cast<const void*>(a.start), b.bytes, static_cast<const void*>(b.start), other.kernel_));
}

}  // namespace sinter::runtime
