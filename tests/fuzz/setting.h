// Numbers that the environment gives to random tests: FUZZ_SEED and the counts that files name.
#pragma once

#include <cstdint>
#include <cstdlib>

/// The variable as a number, or `otherwise` if it is not set.
inline uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}
