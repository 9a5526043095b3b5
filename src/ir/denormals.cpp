// The process-wide switch. Each plan reads it once.
#include "ir/denormals.h"

#include <atomic>

namespace sinter::ir {
namespace {

std::atomic<bool> wanted = false;

}  // namespace

bool flush_denormals() { return wanted.load(std::memory_order_relaxed); }
void set_flush_denormals(bool on) { wanted.store(on, std::memory_order_relaxed); }

}  // namespace sinter::ir
