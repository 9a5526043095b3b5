// Successive runs of a jitted function's plan, and whether the invariants that some of its kernels compute are kept
// between runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/exec/execution.h"
#include "sinter/inline_vector.h"

namespace sinter::tensor {

/// Caching costs memory, and it splits kernels that one launch could have run. So it is disabled after some runs in a
/// row that used nothing cached, or when memory ran out. It is enabled again after many runs in a row that would have
/// used it. Inside a GraphScope, except the destructor.
class InvariantCache {
 public:
  using Versions = InlineVector<uint64_t, 8>;

  /// `executable` outlives this object.
  InvariantCache(const runtime::Executable& executable, const runtime::InvariantInputs& steady);
  ~InvariantCache();
  InvariantCache(const InvariantCache&) = delete;
  InvariantCache& operator=(const InvariantCache&) = delete;

  /// If false, bind() needs no versions.
  bool may_cache() const { return caching_ != nullptr; }
  /// The execution for the next run, bound to `bindings`. Fills Bindings::unchanged_slots from `now`: per slot a number
  /// that identifies the tensor's value, or 0 if its contents may change at any time. If memory does not suffice, this
  /// function's invariants are released first, then all that the hook releases. Throws OutOfMemory if that does not
  /// help.
  runtime::Execution& bind(runtime::Bindings& bindings, const Versions& now);
  /// Call after the run, which may be outside the GraphScope. Releases what nobody has taken.
  void let_go();
  /// Call if the last run did not throw.
  void record_run(const Versions& now) { versions_ = now; }

 private:
  friend bool release_invariants();

  void update_policy(std::span<const uint8_t> same);
  /// False if there was nothing to release.
  bool release();
  runtime::Execution& execution();

  const runtime::Executable& executable_;
  const std::unique_ptr<const runtime::Executable> hoisted_;  ///< of which caching_ is; null: no invariants
  std::unique_ptr<runtime::Execution> caching_, plain_;  ///< caching_ null: no invariants; plain_ null: not used so far
  runtime::Execution* bound_ = nullptr;                  ///< between bind() and let_go()
  bool cache_enabled_ = false;                           ///< the next run uses caching_
  int contrary_runs_ = 0;                                ///< consecutive runs that speak against cache_enabled_
  Versions versions_;                                    ///< of the last run
};

/// Releases the invariants of all jitted functions that are not running; false if there are none. Inside a GraphScope.
bool release_invariants();

}  // namespace sinter::tensor
