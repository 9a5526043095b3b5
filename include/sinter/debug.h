// Looking behind the curtain: what the library has done and holds, and who runs its plans. For tests and the curious.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter {
inline namespace v0 {
/// What the library has done and holds, and who runs its plans.
namespace debug {

/// Who runs plans: generated kernels; the same with every tensor op its own kernel of plain loops (what SINTER_NOOPT
/// asks for); or the interpreter, slow and exact. All give the same numbers: bit for bit the first two, but for what
/// docs/semantics.md says under F3.
enum class Executor : uint8_t { Compiled, Unfused, Interpreter };
/// For all plans from now on, of all threads.
void set_executor(Executor executor);
Executor executor();  ///< the one of now

/// What was done since the start or the last reset, and what is held now.
struct Counters {
  uint64_t plans = 0;        ///< plans run
  uint64_t plan_misses = 0;  ///< of them, programs not seen before
  uint64_t plans_known =
      0;  ///< of them, programs that had run a moment ago in the same way: nothing was keyed or looked up
  uint64_t partition_runs = 0;     ///< runs of the pass that draws kernel boundaries
  uint64_t rewrite_runs = 0;       ///< runs of the rule driver
  uint64_t compiles = 0;           ///< kernels handed to a compiler
  uint64_t launches = 0;           ///< of one kernel, or of several side by side; of plans that ran to their end
  uint64_t bytes_moved = 0;        ///< bytes that the launched kernels read and wrote
  uint64_t nodes_interpreted = 0;  ///< nodes that interpreted plans evaluated
  uint64_t in_place = 0;           ///< versions written into the memory of the version before
  uint64_t moved = 0;              ///< versions that took new memory, because something still needs the one before
  size_t live_nodes = 0;           ///< of the tensor graph
  uint64_t live_buffers = 0;       ///< pieces of memory that tensors hold
  uint64_t live_bytes = 0;         ///< in them, as the allocator rounds them
  size_t plan_entries = 0;         ///< plans in the cache
};
Counters counters();  ///< as they stand now
/// Sets what was done to 0.
void reset_counters();
/// Forgets every plan.
void clear_plans();

}  // namespace debug
}  // namespace v0
}  // namespace sinter
