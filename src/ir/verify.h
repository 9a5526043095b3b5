// Well-formed programs, level by level: vocabulary (head of ops.def), arity, attributes, types, shapes, devices. Each
// function throws InternalError with the pass, the node, the violation, and a dump of the node with its sources.
#pragma once

#include <span>
#include <string_view>

#include "ir/graph.h"

namespace sinter::ir {

/// The graph that tensors build. Nodes with storage are leaves here.
void verify_tensor(std::span<const UOp> roots, std::string_view pass);
/// The input of the scheduler (schedule/graph/plan_graph.h).
void verify_plan(std::span<const UOp> roots, std::string_view pass);
/// A kernel in the form of codegen/kernel/kernel.h: loops instead of axes, loads and stores instead of shapes.
void verify_kernel(UOp sink, std::string_view pass);

}  // namespace sinter::ir
