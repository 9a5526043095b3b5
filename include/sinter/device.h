// Where a tensor's numbers live.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace sinter {
inline namespace v0 {

/// A device is one small id. Today every kind but the CPU is refused with a UsageError where it is used.
class Device {
 public:
  /// What computes.
  enum class Kind : uint8_t { Cpu, Cuda };
  constexpr Device() = default;             ///< the CPU
  /// The device of that number among those of its kind, from 0.
  constexpr Device(Kind kind, int index) : kind_(kind), index_(static_cast<uint8_t>(index)) {}
  static constexpr Device cpu() { return {}; }  ///< the CPU

  constexpr Kind kind() const { return kind_; }    ///< what computes
  constexpr int index() const { return index_; }  ///< its number
  /// The id under which a device stands in keys and hashes.
  constexpr uint16_t id() const { return static_cast<uint16_t>(static_cast<int>(kind_) << 8 | index_); }
  /// The same device.
  friend constexpr bool operator==(Device a, Device b) { return a.id() == b.id(); }

 private:
  Kind kind_ = Kind::Cpu;
  uint8_t index_ = 0;
};

/// "cpu", "cuda:0".
std::string to_string(Device device);
std::ostream& operator<<(std::ostream& os, Device device);  ///< to_string(device)

}  // namespace v0
}  // namespace sinter
