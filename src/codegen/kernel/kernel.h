// One kernel before it is written: what the scheduler hands over and every pass of codegen works on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "sinter/shape.h"

namespace sinter::codegen {

/// SINK of STOREs in an arena of its own. Form (checked by ir::verify_kernel):
///  - every node's shape is [] but a Param's; no movement, state or pick op survives;
///  - RANGE(bound) with bound of dtype Index. Outer ranges have ids 0 .. n-1, a Const or Var as bound, and are shared
///  by all stores: the
///    launch counts their points, flattened, from `begin` to `end`, in parallel, so no two points may write one
///    element, and nothing may depend on another point. Inner ranges run in order inside a point; their bounds may also
///    be expressions of outer ranges. A store runs over the inner ranges that are free in it, by ascending id; its
///    index depends on all of them, unless it adds. A REDUCE closes its own ranges. One inner range may belong to
///    several stores and be bound by several REDUCEs, also by one in the value of another: x[i, j] is one node in max
///    over j, in sum over j of exp(x - max), and in the store over j. The ids of a REDUCE's ranges ascend, above those
///    of the inner ranges that it depends on unless its ReductionTree is one chain, so no loop ever stands inside
///    itself;
///  - LOAD and STORE keep one index per dim of their Param (dtype Index), which is an axis of the buffer or several
///  neighbouring ones; predicates
///    are bool; what a LOAD reads was written before the launch, or by an earlier STORE of the SINK at the same index,
///    or is the Param that the STORE itself overwrites, read at the same element (or through an Add store);
///  - stores run in the SINK's order within one point of the outer ranges. A store that lacks an outer range runs at
///  its first index only.
/// Arguments reach the code as: bufs[0] the error word (uint32), bufs[1 + slot] the Params (those that it stores to at
/// a multiple of 64 bytes: Buffer::allocate), then scratch memory if there is any; vars[i] the value of `vars[i]`, then
/// vars[vars.size() + n] the bits of Arg n (floats as bits of their own type, zero-extended).
struct Kernel {
  std::string name;  ///< speaks of its shape and ops, e.g. "r_256_128_784"; no meaning
  std::shared_ptr<ir::Arena> graph;
  ir::UOp sink;
  std::vector<Var> vars;    ///< symbolic sizes that it uses
  std::vector<DType> args;  ///< types of Arg 0 .. n-1
  int params = 0;           ///< Params have slots 0 .. params-1
  std::vector<Dim> outer;   ///< bounds of the outer ranges by id; symbolic ones hold any value
  /// A second SINK without outer ranges, or null: runs after all points of `sink`.
  ir::UOp epilogue_sink = {};
};

}  // namespace sinter::codegen
