// The implementations behind the hooks of core.
#include "tensor/core/hooks.h"

#include "tensor/eval/auto_realize.h"
#include "tensor/eval/run_error.h"
#include "tensor/jit/invariant_cache.h"

namespace sinter::tensor {
namespace {

bool release_spare_memory() {
  const bool invariants = release_invariants(), held = release_held_memory();
  return invariants || held;
}

}  // namespace

constinit const Hooks kHooks = {
    .on_call = auto_realize, .on_value = track_pending_value, .on_out_of_memory = release_spare_memory};

}  // namespace sinter::tensor
