// Where a tensor's numbers live.
#pragma once

#include <cstdint>
#include <string>

namespace sinter {
inline namespace v0 {

/// A device is one small id. Today every kind but the CPU is refused with a UsageError where it is used.
class Device {
 public:
  enum class Kind : uint8_t { Cpu, Cuda };
  constexpr Device() = default;
  constexpr Device(Kind kind, int index) : kind_(kind), index_(static_cast<uint8_t>(index)) {}
  static constexpr Device cpu() { return {}; }

  constexpr Kind kind() const { return kind_; }
  constexpr int index() const { return index_; }
  /// The id under which a device stands in keys and hashes.
  constexpr uint16_t id() const { return static_cast<uint16_t>(static_cast<int>(kind_) << 8 | index_); }
  friend constexpr bool operator==(Device a, Device b) { return a.id() == b.id(); }

 private:
  Kind kind_ = Kind::Cpu;
  uint8_t index_ = 0;
};

/// "cpu", "cuda:0".
std::string to_string(Device device);

}  // namespace v0
}  // namespace sinter
