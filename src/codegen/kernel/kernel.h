// The kernel form: what the scheduler hands over and every codegen pass works on.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "codegen/kernel/ir.h"
#include "sinter/shape.h"

namespace sinter::codegen {

/// A SINK of STOREs in its own arena. Form, checked by ir::verify_kernel:
///  - Nodes: every node but a Param has shape []. No movement, state or pick op is left.
///  - Ranges: RANGE(bound), bound of dtype Index.
///    - Outer ranges have ids 0 .. n-1 and a Const or Var as bound, and are shared by all stores. The launch flattens
///      them into tasks `begin` to `end` and runs these in parallel. No two tasks may write the same element, and no
///      task may depend on another.
///    - Inner ranges are sequential loops inside a task. Their bounds may also be expressions of outer ranges.
///    - A store runs over its free inner ranges, in order of ascending id. Its index depends on all of them, unless the
///      store adds.
///    - A REDUCE binds its own ranges. One inner range may belong to several stores and be bound by several REDUCEs,
///      even nested ones: x[i, j] is one node in max over j, in sum over j of exp(x - max), and in the store over j.
///    - The ids of a REDUCE's ranges ascend. They are above the ids of the inner ranges that the REDUCE depends on,
///      unless its ReductionTree is one chain. So no loop is ever nested in itself.
///  - Accesses: LOAD and STORE have one index (dtype Index) per dim of their Param. A dim is one axis of the buffer or
///    several adjacent ones. Predicates are bool. A LOAD reads what was written before the launch, or by an earlier
///    STORE of the SINK at the same index, or the Param that its own STORE overwrites, at the same element (or through
///    an Add store).
///  - Order: within one task stores run in the SINK's order. A store that lacks an outer range runs at the range's
///    first index only.
///
/// ABI: bufs[0] is the error word (uint32). bufs[1 + slot] are the Params; those that the kernel stores to are aligned
/// to 64 bytes (Buffer::allocate). Scratch memory follows, if there is any. vars[i] is the value of `vars[i]`;
/// vars[vars.size() + n] holds the bits of Arg n (floats as the bits of their own type, zero-extended).
struct Kernel {
  std::string name;  ///< hints at shape and ops, e.g. "r_256_128_784"; for readers only
  std::shared_ptr<ir::Arena> graph;
  UOp sink;
  std::vector<Var> vars;    ///< symbolic sizes in use
  std::vector<DType> args;  ///< types of Arg 0 .. n-1
  int params = 0;           ///< Params have slots 0 .. params-1
  std::vector<Dim> outer;   ///< bounds of the outer ranges by id; symbolic ones hold any value
  /// Second SINK, without outer ranges, that runs after all tasks of `sink`; or null.
  UOp epilogue_sink = {};
};

/// Whether a launch of the kernel has a task, whatever its sizes are.
inline bool always_has_tasks(const Kernel& kernel) {
  return std::ranges::all_of(kernel.outer,
                             [](const Dim& d) { return d.symbolic() ? d.var().min() > 0 : d.value() > 0; });
}

}  // namespace sinter::codegen
