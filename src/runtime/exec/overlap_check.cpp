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

std::vector<const OverlapCheck*>& running_launches() {
  static auto* all = new std::vector<const OverlapCheck*>;
  return *all;
}

bool clash(const OverlapCheck::MemoryRange& a, const OverlapCheck::MemoryRange& b) {
  return (a.written || b.written) && std::max(a.start, b.start) < std::min(a.start + a.bytes, b.start + b.bytes);
}

}  // namespace

OverlapCheck::OverlapCheck(std::string kernel, std::vector<MemoryRange> ranges)
    : kernel_(std::move(kernel)), ranges_(std::move(ranges)) {
  compare(*this);
  std::lock_guard lock(mutex());
  for (const OverlapCheck* other : running_launches()) compare(*other);
  running_launches().push_back(this);
}

OverlapCheck::~OverlapCheck() {
  std::lock_guard lock(mutex());
  std::erase(running_launches(), this);
}

void OverlapCheck::compare(const OverlapCheck& other) const {
  for (const MemoryRange& a : ranges_)
    for (const MemoryRange& b : other.ranges_)
      if (&a != &b && clash(a, b))
        throw InternalError(fmt::format(
            "launch of {}: {} bytes at {} overlap {} bytes at {} of {}, and one of the two is written", kernel_,
            a.bytes, static_cast<const void*>(a.start), b.bytes, static_cast<const void*>(b.start), other.kernel_));
}

}  // namespace sinter::runtime
