// Where things come from: the outermost public call of a thread, for errors, and the call sites at which what lives was
// made, for the report of memory. Beside the nodes, never in their identity.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::ir {

/// A public call: its name, and the place of its caller.
struct Caller {
  std::string_view name;
  std::source_location where;
};

/// Opens and closes a public call of this thread. Of nested ones the outermost counts.
void enter_call(std::string_view name, const std::source_location& where);
void leave_call();
/// The outermost call that is open in this thread, or null.
const Caller* caller();

/// A call site, and what lives that was made there. Counts are guarded by the tensor graph's mutex.
struct NodeOrigin {
  std::string call, file, function;  ///< all empty for what was made outside of calls
  uint32_t line = 0;
  uint64_t nodes = 0, buffers = 0, bytes = 0;
  uint64_t tensors = 0;  ///< cells behind handles
};

/// The call site of caller(). There is one per call site of the program text; they are never destroyed. Inside a
/// GraphScope.
NodeOrigin& current_origin();
/// All call sites so far. Inside a GraphScope.
std::vector<const NodeOrigin*> origins();

}  // namespace sinter::ir
