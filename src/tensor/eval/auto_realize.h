// Automatic realization. A program that only builds nodes must not fill the memory with a graph that nobody has asked
// for.
#pragma once

#include <cstddef>
#include <memory>

namespace sinter {
inline namespace v0 {
struct Cell;
}

namespace tensor {

/// With more live nodes than this, pending values are realized. Tests lower it.
inline constexpr size_t kPendingLimit = size_t{1} << 21;
void set_pending_limit(size_t nodes);

/// Records that a cell has a new value. Inside a GraphScope. Cheap unless a realization may be near.
void track_pending_value(const std::shared_ptr<Cell>& cell);

/// Called at the start of a public call, which holds no bare node yet, inside its GraphScope. Realizes the latest
/// values that nothing pending reads, if more than kPendingLimit nodes live, or if memory that only pending values hold
/// exceeds half of what a device may have. Throws nothing: if a launch fails, reading the values throws (SEMANTICS V6).
void auto_realize();

}  // namespace tensor
}  // namespace sinter
