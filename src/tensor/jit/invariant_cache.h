// Runs of a jitted function's plan, one after the other, and whether what some of its kernels make is kept from one to
// the next.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "plan/executable.h"
#include "sinter/inline_vector.h"

namespace sinter::tensor {

/// Keeping costs memory, and kernels apart that one launch could have run: where nothing of it is used in some runs in
/// a row, or somebody needed the memory, the next runs go without, until it would have been used many times. Inside a
/// GraphScope, but for the destructor.
class InvariantCache {
 public:
  using Versions = InlineVector<uint64_t, 8>;

  /// `executable` outlives it.
  InvariantCache(const plan::Executable& executable, const plan::InvariantInputs& steady);
  ~InvariantCache();
  InvariantCache(const InvariantCache&) = delete;
  InvariantCache& operator=(const InvariantCache&) = delete;

  /// Versions are asked for only then.
  bool may_cache() const { return caching_ != nullptr; }
  /// The execution that is to run, bound to `bindings`, with Bindings::same by `now`: per slot a number that no other
  /// value of its tensor has, 0 for what may hold another one at any time. Without memory this function keeps nothing,
  /// and then no other one does; throws OutOfMemory if that was in vain.
  plan::Execution& bind(plan::Bindings& bindings, const Versions& now);
  /// After the run, which may be outside of the GraphScope: gives back what nobody has taken.
  void let_go();
  /// The last run did not throw.
  void record_run(const Versions& now) { versions_ = now; }

 private:
  friend bool release_invariants();

  void update_policy(std::span<const uint8_t> same);
  /// False if there was nothing to give back.
  bool release();
  plan::Execution& execution();

  const plan::Executable& executable_;
  std::unique_ptr<plan::Execution> caching_, plain_;  ///< null: nothing can be kept; not needed so far
  plan::Execution* bound_ = nullptr;                  ///< what is kept is in use until it is let go
  bool cache_enabled_ = false;                        ///< the next run does
  int contrary_runs_ = 0;                             ///< runs in a row that say otherwise
  Versions versions_;                                 ///< of the last run
};

/// Gives back what all jitted functions keep; false if that is nothing. Inside a GraphScope.
bool release_invariants();

}  // namespace sinter::tensor
