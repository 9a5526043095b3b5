// Realising by itself: a program that only ever builds must not fill the memory with a graph that nobody has asked for.
#pragma once

#include <cstddef>
#include <memory>

namespace sinter {
inline namespace v0 {
struct Cell;
}

namespace tensor {

/// Where more nodes than this live, none are left pending. Tests lower it.
inline constexpr size_t kPendingLimit = size_t{1} << 21;
void set_pending_limit(size_t nodes);

/// A cell has a new value. Inside a GraphScope; cheap while there is no need.
void track_pending_value(const std::shared_ptr<Cell>& cell);

/// Where a public call begins, which holds no bare node yet: realises the latest values that nothing pending reads if
/// more than kPendingLimit nodes live, or if what they alone hold is more than half of what a device may have. Inside
/// the call's GraphScope. Throws nothing: where a launch fails, reading the values throws (SEMANTICS V6).
void auto_realize();

}  // namespace tensor
}  // namespace sinter
