// The oracle of every backend: evaluates programs node by node, each in its own dtype, as
// ir/scalar_eval.h says. Graphs in, values out; kernels are run on given memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/exec/array.h"

namespace sinter::runtime {

/// The bit of the error word that an index out of range raises (SEMANTICS F6): its number, as a Check names it, and its
/// value.
inline constexpr int64_t kIndexErrorBit = 0;
inline constexpr uint32_t kIndexError = uint32_t{1} << kIndexErrorBit;
/// The position that an index means on an axis of this size, or -1. Negative ones count from the end.
int64_t position_of(ir::Scalar index, DType dtype, int64_t size);

/// What a graph reads. Everything is borrowed for the call.
struct GraphInputs {
  std::span<const Array> params = {};        ///< Param n
  std::span<const ir::Scalar> args = {};     ///< Arg n
  std::map<std::string, int64_t> vars = {};  ///< by name; a variable that is not here has the value its sizes carry
  std::function<Array(ir::UOp)> read =
      {};  ///< the value of a node that has storage; such a node's sources are not looked at
};

struct InterpretOptions {
  /// Reductions in the node's own dtype in the order of its ReductionTree, bit for bit what kernels must give.
  /// Otherwise floats are accumulated in double and rounded once.
  bool exact_tree = false;
};

/// The values of `roots` in a tensor graph or a plan graph. Intermediate values go after their last use.
/// An index out of range gives 0, or is skipped, and sets kIndexError in `error`, if that is given.
/// In a tensor graph the caller holds a GraphScope. Throws InternalError for what it cannot read and for kernel ops.
std::vector<Array> interpret(std::span<const ir::UOp> roots, const GraphInputs& inputs, InterpretOptions options = {},
                             uint32_t* error = nullptr);

/// Memory behind a Param of a kernel. Neighbouring axes of it may be one dim of a Param of fixed size.
struct KernelBuffer {
  std::span<std::byte> bytes;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

/// What a kernel runs on.
struct KernelInputs {
  std::span<const KernelBuffer> params;      ///< Param n
  std::map<std::string, int64_t> vars = {};  ///< by name
  std::span<const ir::Scalar> args = {};     ///< Arg n
  uint32_t* error = nullptr;                 ///< receives the bits of Checks
  /// Makes of what a combine computes what kernels compute for it, in the same graph; as it stands where this is empty.
  std::function<ir::UOp(ir::Graph&, ir::UOp)> lower_combine = {};
};

/// Runs kernel IR (the form that codegen/kernel/kernel.h states) exactly: points of the outer ranges in order, in each
/// the stores in the SINK's order over their inner ranges by ascending id; reductions in the order of their
/// ReductionTree. Throws InternalError when a load or store whose gate is open lies outside its Param.
void interpret_kernel(ir::UOp sink, const KernelInputs& inputs);

}  // namespace sinter::runtime
