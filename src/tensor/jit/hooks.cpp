// The implementations behind the hooks of core.
#include "tensor/core/hooks.h"

#include "tensor/eval/auto_realize.h"
#include "tensor/jit/invariant_cache.h"

namespace sinter::tensor {

constinit const Hooks kHooks = {
    .on_call = auto_realize, .on_value = track_pending_value, .on_out_of_memory = release_invariants};

}  // namespace sinter::tensor
