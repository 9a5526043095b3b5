// Division and multiples, rounded up. Counts must not be negative, divisors must be positive.
#pragma once

#include <cstdint>

namespace sinter {

inline int64_t ceil_div(int64_t n, int64_t by) { return (n + by - 1) / by; }
inline int64_t round_up(int64_t n, int64_t multiple) { return ceil_div(n, multiple) * multiple; }

}  // namespace sinter
