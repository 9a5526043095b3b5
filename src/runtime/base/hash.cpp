// The only file that includes xxhash for the runtime's keys.
#include "runtime/base/hash.h"

#include <fmt/core.h>
#include <xxhash.h>

namespace sinter::runtime {

Hash128 hash_bytes(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string to_hex(const Hash128& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

HashBuilder& HashBuilder::add(std::string_view field) {
  add(static_cast<uint64_t>(field.size()));
  bytes_ += field;
  return *this;
}

HashBuilder& HashBuilder::add(uint64_t field) {
  bytes_.append(reinterpret_cast<const char*>(&field), sizeof field);
  return *this;
}

}  // namespace sinter::runtime
