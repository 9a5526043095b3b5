// Provenance. For errors: the outermost public call of a thread. For the memory report: the call sites that made what
// is alive. Kept beside the nodes, never part of their identity.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::ir {

/// A public call: its name and the caller's source location.
struct Caller {
  std::string_view name;
  std::source_location where;
};

/// Opens and closes a public call of this thread. Of nested calls the outermost counts.
void enter_call(std::string_view name, const std::source_location& where);
void leave_call();
/// The outermost open call of this thread, or null.
const Caller* caller();

/// While alive, no call of this thread is open: functions of the program that a call runs are called from outside.
class NoOpenCall {
 public:
  NoOpenCall();
  ~NoOpenCall();
  NoOpenCall(const NoOpenCall&) = delete;
  NoOpenCall& operator=(const NoOpenCall&) = delete;

 private:
  Caller caller_;
  int depth_;
};

/// A call site, and counts of what it made that is still alive. The counts are guarded by the tensor graph's mutex.
struct NodeOrigin {
  std::string call, file, function;  ///< all empty for what was made outside of calls
  uint32_t line = 0;
  uint64_t nodes = 0, buffers = 0, bytes = 0;
  uint64_t tensors = 0;  ///< cells behind handles
};

/// The call site of caller(). One object per call site of the program text, never destroyed. Requires a GraphScope.
NodeOrigin& current_origin();
/// While alive in a thread that traces gradients, what it makes is of "the gradient of" the call that made this node's
/// origin. Requires a GraphScope.
class GradientOrigin {
 public:
  explicit GradientOrigin(const NodeOrigin* of);
  ~GradientOrigin();
  GradientOrigin(const GradientOrigin&) = delete;
  GradientOrigin& operator=(const GradientOrigin&) = delete;

 private:
  NodeOrigin* before_;
};
bool traces_gradients();
void trace_gradients(bool on);
/// The call whose gradient it is of; empty if it is of none.
std::string_view differentiated_call(const NodeOrigin& origin);
/// All call sites so far. Requires a GraphScope.
std::vector<const NodeOrigin*> origins();

}  // namespace sinter::ir
