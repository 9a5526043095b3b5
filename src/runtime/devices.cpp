// Asks the CPU's and CUDA's sides.
#include "runtime/devices.h"

#include <fmt/core.h>

#include <cstring>

namespace sinter::runtime {

std::string missing(Device device) {
  if (device.kind() == Device::Kind::Cpu) {
    if (device.index() == 0) return "";
    return fmt::format("there is no cpu:{}; the CPU is one device, Device::cpu()", device.index());
  }
  return fmt::format("there is no {}: this build has the device cpu only", to_string(device));
}

void copy(Device, void* to, Device, const void* from, size_t bytes) {
  if (bytes) std::memcpy(to, from, bytes);
}

}  // namespace sinter::runtime
