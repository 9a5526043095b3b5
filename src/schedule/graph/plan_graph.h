// The scheduler's input: the program of one plan. Buffers are numbered slots, changing numbers are arguments. Nothing
// in it depends on the actual buffers or values (SEMANTICS N4).
#pragma once

#include <fmt/core.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "sinter/shape.h"

namespace sinter::schedule {

// The names of the IR that all of the scheduler uses as its own.
using ir::Op;
using ir::UOp;

/// A buffer that exists before the plan runs: Param(slot) in the graph.
struct PlanSlot {
  DType dtype;
  Shape shape;
};

/// A value that the plan stores; outputs have distinct values. An After node is a version: stored whole, or, in its
/// home, only its box.
struct Output {
  UOp value;
  int home = -1;  ///< slot that may take the value in place, or -1; a slot is named by at most one output
};

/// Leaves: Param (slots), Arg (launch arguments), Const, Arange, Var. No Data, Num, Leaf, Detach or Custom, and no
/// After of a whole tensor. Shrink, Pad and After whose begin changes from call to call have further sources, one Index
/// Arg or Const per axis. Their attribute's begin is then 0 and its end the size of the box. Equal nodes are one node
/// (N5). Symbolic sizes stand at their bound. An output may be a leaf.
struct PlanGraph {
  std::shared_ptr<ir::Arena> graph;
  std::vector<PlanSlot> slots;
  std::vector<Output> outputs;  ///< sources first: an output may use earlier ones
  std::vector<Var> vars;        ///< symbolic sizes, in order of first use
  std::vector<DType> args;      ///< types of Arg 0 .. n-1; Index for offsets
  /// Program positions of the nodes, where known. No decision depends on them.
  std::unordered_map<const ir::Node*, int> positions = {};
};

/// The roots: what each output stores.
inline std::vector<UOp> values_of(const PlanGraph& plan) { return ir::mapped(plan.outputs, &Output::value); }

/// The variable number `number`: a canonical name, and the bounds of `var`. No plan and no text depends on the names
/// that users choose, and two variables never become one.
inline Var numbered(size_t number, const Var& var) { return Var(fmt::format("n{}", number), var.min(), var.max()); }

}  // namespace sinter::schedule
