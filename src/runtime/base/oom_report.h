// Who holds the memory: what the message of an OutOfMemory tells of it.
#pragma once

#include <cstdint>
#include <string>

namespace sinter::runtime {

/// "917 bytes", "31457280 bytes (30.0 MiB)".
std::string readable_bytes(uint64_t bytes);

/// A line for each of the few call sites whose tensors hold most memory, on all devices, each beginning with a newline;
/// empty if none holds any, or if another thread uses the tensor graph just now.
std::string oom_report();

}  // namespace sinter::runtime
