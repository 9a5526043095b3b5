// 128-bit hashes of bytes: the keys of programs, plans and cache entries.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sinter::runtime {

struct Hash128 {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

/// XXH3_128bits of the bytes. The same on every machine; not collision-resistant against attackers.
Hash128 hash_bytes(std::string_view bytes);

/// 32 hex digits.
std::string to_hex(const Hash128& hash);

/// Concatenates fields for one hash. Each field is prefixed with its length, so different lists never give equal bytes.
class HashBuilder {
 public:
  HashBuilder& add(std::string_view field);
  HashBuilder& add(uint64_t field);
  Hash128 hash() const { return hash_bytes(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace sinter::runtime

template <>
struct std::hash<sinter::runtime::Hash128> {
  size_t operator()(const sinter::runtime::Hash128& hash) const noexcept { return hash.low; }
};
