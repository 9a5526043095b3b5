// What plan lookup hands to the scheduler: the program of one plan, with buffers as numbered slots and changing numbers
// as arguments. Nothing in it depends on which buffers or which values (SEMANTICS N4).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "sinter/shape.h"

namespace sinter::schedule {

/// Memory that exists before the plan runs: Param(slot) in the graph.
struct PlanSlot {
  DType dtype;
  Shape shape;
};

/// A value that the plan stores; no two outputs have one value. An After node is a version: stored whole, or, in its
/// home, only its box.
struct Output {
  ir::UOp value;
  int home = -1;  ///< slot that may take the value in place, or -1; at most one output names a slot
};

/// Leaves: Param (slots), Arg (launch arguments), Const, Arange, Var. No Data, Num, Leaf or Detach, and no After of a
/// whole tensor. Shrink, Pad and After have further sources, one Index Arg or Const per axis, where their begin changes
/// from call to call; the attribute's begin is then 0 and its end the box's size. Equal nodes are one node (N5). Sizes
/// that are symbolic stand at their bound. An output may be a leaf.
struct PlanGraph {
  std::shared_ptr<ir::Arena> graph;
  std::vector<PlanSlot> slots;
  std::vector<Output> outputs;  ///< sources first: an output may use those before it
  std::vector<Var> vars;        ///< symbolic sizes, in order of first use
  std::vector<DType> args;      ///< types of Arg 0 .. n-1; Index for offsets
  /// The positions of the program that nodes stand for, where that is known: no decision depends on it.
  std::unordered_map<const ir::Node*, int> positions = {};
};

/// The roots: what each output stores.
inline std::vector<ir::UOp> values_of(const PlanGraph& plan) {
  std::vector<ir::UOp> values;
  for (const Output& o : plan.outputs) values.push_back(o.value);
  return values;
}

/// What stands for a variable where it has this number: a name that says nothing else, and its bounds. So no plan and
/// no text depends on what users call their variables, and two of them never become one.
inline Var numbered(size_t number, const Var& var) { return Var("n" + std::to_string(number), var.min(), var.max()); }

}  // namespace sinter::schedule
