// Who holds the memory: the text for an OutOfMemory message.
#pragma once

#include <cstdint>
#include <string>

namespace sinter::runtime {

/// "917 bytes", "31457280 bytes (30.0 MiB)".
std::string readable_bytes(uint64_t bytes);

/// One line for each of the few call sites whose tensors hold the most memory, over all devices. Each line begins with
/// a newline. Empty if no tensor holds memory, or if another thread holds the tensor graph.
std::string oom_report();

}  // namespace sinter::runtime
