// Introspection: what the library has done and holds, and which executor runs its plans. For tests and the curious.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::inline v0 {
/// What the library has done and holds, and which executor runs its plans.
namespace debug {

/// How plans run: as generated kernels; as one kernel of plain loops per tensor op (as with SINTER_NOOPT); or in the
/// interpreter, slow and exact. All give the same numbers; the first two agree bit for bit, except as docs/semantics.md
/// says under F3.
enum class Executor : uint8_t { Compiled, Unfused, Interpreter };
/// Sets the executor of all later plans, in all threads.
void set_executor(Executor executor);
Executor executor();  ///< the present one

/// What was done since the start or the last reset, and what is held now.
struct Counters {
  uint64_t plans = 0;              ///< plans run
  uint64_t plan_misses = 0;        ///< of these, programs not seen before
  uint64_t plans_known = 0;        ///< of these, programs repeated recently without any change: no key, no lookup
  uint64_t partition_runs = 0;     ///< runs of the pass that decides kernel boundaries
  uint64_t rewrite_runs = 0;       ///< runs of the rewriter
  uint64_t compiles = 0;           ///< kernels passed to a compiler
  uint64_t launches = 0;           ///< of one kernel, or of several side by side, in plans that completed
  uint64_t bytes_moved = 0;        ///< bytes that the launched kernels read and wrote
  uint64_t nodes_interpreted = 0;  ///< nodes that interpreted plans evaluated
  uint64_t in_place = 0;           ///< versions written into the memory of the previous version
  uint64_t moved = 0;              ///< versions in new memory, as the previous version is still needed
  size_t live_nodes = 0;           ///< nodes of the tensor graph
  uint64_t live_buffers = 0;       ///< pieces of memory that tensors hold
  uint64_t live_bytes = 0;         ///< their bytes, as the allocator rounds them
  size_t plan_entries = 0;         ///< plans in the cache
};
Counters counters();  ///< their present values
/// Resets the counts of what was done to 0.
void reset_counters();
/// Drops all plans.
void clear_plans();

/// While alive, what the calling thread computes is searched for NaNs and infinities: what it asks for or assigns, with
/// the losses behind gradients. The first one throws an AnomalyError, which names the op where it appeared: of operands
/// without a NaN, or finite ones. What lies in data or constants has not appeared, and neither has what no result
/// depends on, such as the branch that where() does not take. Ops of a gradient are named by the call that they are a
/// gradient of, if the gradient was built meanwhile. The values are stored all the same. Jitted functions run without
/// their plans. It costs a search of all results, and copies of what a plan overwrites; the op is found by interpreting
/// the program again.
/// @snippet debugging.cpp anomaly
class detect_anomaly {
 public:
  explicit detect_anomaly(bool on = true);  ///< enables or disables the search in this thread
  ~detect_anomaly();                        ///< restores what was before
  detect_anomaly(const detect_anomaly&) = delete;
  detect_anomaly& operator=(const detect_anomaly&) = delete;
  static bool enabled();  ///< whether the calling thread's results are searched

 private:
  bool before_;
};

}  // namespace debug
}  // namespace sinter::inline v0
