// Devices: where a tensor is stored and computed.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <source_location>
#include <string>
#include <string_view>

namespace sinter::inline v0 {

/// A device by kind and number. It is only a name: whether the machine has it is checked where it is used. There, a
/// device that does not exist is a UsageError that says how many there are, or why there is none.
class Device {
 public:
  /// The kind of processor.
  enum class Kind : uint8_t { Cpu, Cuda };
  constexpr Device() = default;  ///< the CPU
  /// The device of that number among those of its kind, counted from 0.
  constexpr Device(Kind kind, int index) : kind_(kind), index_(index) {}
  static constexpr Device cpu() { return {}; }                                 ///< the CPU
  static constexpr Device cuda(int index = 0) { return {Kind::Cuda, index}; }  ///< an NVIDIA GPU
  /// "cpu", "cuda" (the first), "cuda:1". UsageError for another text.
  static Device parse(std::string_view text, std::source_location where = std::source_location::current());

  constexpr Kind kind() const { return kind_; }   ///< the kind of processor
  constexpr int index() const { return index_; }  ///< its number
  /// The id of a device in keys and hashes.
  constexpr uint64_t id() const { return static_cast<uint64_t>(kind_) << 32 | static_cast<uint32_t>(index_); }
  /// Whether both are the same device.
  friend constexpr bool operator==(Device a, Device b) = default;

 private:
  Kind kind_ = Kind::Cpu;
  int32_t index_ = 0;
};

/// "cpu", "cuda:0".
std::string to_string(Device device);
std::ostream& operator<<(std::ostream& os, Device device);  ///< to_string(device)

/// The device of tensors from calls that name none: SINTER_DEVICE, or the CPU, until set_default_device().
Device default_device();
/// For later calls, of all threads; existing tensors stay where they are. UsageError for a device that does not exist.
void set_default_device(Device device, std::source_location where = std::source_location::current());

}  // namespace sinter::inline v0
