// Which CPU this is, as a key of what was measured on it.
#pragma once

#include <string>

namespace sinter::runtime::cpu {

/// Identifies the CPU model: the lines of /proc/cpuinfo that all CPUs of a model share.
const std::string& cpu_model();

}  // namespace sinter::runtime::cpu
