// The oracle of all backends: evaluates programs node by node, each in its own dtype, as defined by ir/scalar_eval.h.
// Graphs return values; kernels run on given memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/base/error_word.h"
#include "runtime/exec/array.h"

namespace sinter::runtime {

/// The position that an index selects on an axis of this size, or -1. Negative indices count from the end.
int64_t position_of(ir::Scalar index, DType dtype, int64_t size);

/// The inputs of a graph. Everything is borrowed for the call.
struct GraphInputs {
  std::span<const Array> params = {};        ///< Param n
  std::span<const ir::Scalar> args = {};     ///< Arg n
  std::map<std::string, int64_t> vars = {};  ///< by name; the default is the value that the sizes carry
  std::function<Array(ir::UOp)> read = {};   ///< value of a node with storage, whose sources are then ignored
};

struct InterpretOptions {
  /// Reductions compute in the node's own dtype, in the order of its ReductionTree: bit for bit what kernels must give.
  /// Otherwise floats accumulate in double and are rounded once.
  bool exact_tree = false;
};

/// The values of `roots` in a tensor graph or a plan graph. Intermediate values are freed after their last use. An
/// index out of range reads 0 or skips the write, and sets kIndexError in `error`, if given; a routine of LAPACK that
/// fails gives NaN and sets kMatrixError. For a tensor graph the caller holds a GraphScope. Throws InternalError for
/// nodes that it cannot read and for kernel ops.
std::vector<Array> interpret(std::span<const ir::UOp> roots, const GraphInputs& inputs, InterpretOptions options = {},
                             uint32_t* error = nullptr);

/// The memory of a kernel's Param. Adjacent axes of it may be one dim of a Param of fixed size.
struct KernelBuffer {
  std::span<std::byte> bytes;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

/// The inputs of a kernel.
struct KernelInputs {
  std::span<const KernelBuffer> params;      ///< Param n
  std::map<std::string, int64_t> vars = {};  ///< by name
  std::span<const ir::Scalar> args = {};     ///< Arg n
  uint32_t* error = nullptr;                 ///< collects the bits of failed Checks
  /// Lowers the result of a combine, in its graph, to the ops that kernels compute. Empty: no lowering.
  std::function<ir::UOp(ir::Graph&, ir::UOp)> lower_combine = {};
};

/// Runs kernel IR (the form defined by codegen/kernel/kernel.h) exactly. Iterations of the outer ranges run in order.
/// In each, the stores run in the SINK's order over their inner ranges by ascending id. Reductions follow their
/// ReductionTree. Throws InternalError if a load or store whose predicate is true is outside its Param.
void interpret_kernel(ir::UOp sink, const KernelInputs& inputs);

}  // namespace sinter::runtime
