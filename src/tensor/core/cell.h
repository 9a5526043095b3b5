// The shared cell behind tensor handles (SEMANTICS H1), and how the library's own code gets from tensors to nodes and
// back.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ir/tensor_graph.h"
#include "runtime/cpu/float_control.h"
#include "sinter/call.h"
#include "sinter/tensor.h"
#include "tensor/core/hooks.h"

namespace sinter {
inline namespace v0 {

/// What copies of a handle share. Guarded by the tensor graph's mutex; the handles count on the shared_ptr.
struct Cell {
  explicit Cell(ir::UOp node)
      : node(node), origin(*node->state.origin), number(ir::TensorGraph::get().next_unique_id()) {
    ++origin.tensors;
  }
  ~Cell();
  ir::NodeRef node;
  ir::NodeOrigin& origin;      ///< where the tensor was made
  const uint64_t number;       ///< larger than that of cells made before
  std::shared_ptr<Cell> grad;  ///< collected gradient
  uint64_t leaf_id = 0;        ///< not 0: requires_grad() made it a leaf with this id
  std::string grad_taker;      ///< who took the gradient, for the error that says so
  uint64_t assigned_by = 0;    ///< the thread in whose list of assigned cells it stands (SEMANTICS V2)
};

}  // namespace v0

namespace tensor {

/// A new handle to a new cell. Inside a GraphScope.
Tensor wrap(ir::UOp node);
/// The node of a handle's cell; UsageError when the handle is empty.
ir::UOp node_of(const std::shared_ptr<Cell>& cell);
inline ir::UOp node_of(const Tensor& t) { return node_of(t.cell()); }

using runtime::cpu::DefaultFloatEnv;

/// Opens a public call: default floats, the graph's scope, and the name and place that errors report.
class Call {
 public:
  Call(std::string_view name, Loc where) : names_(name, where) { kHooks.on_call(); }

  /// Lifted while functions of the program run.
  DefaultFloatEnv& floats() { return floats_; }

 private:
  DefaultFloatEnv floats_;
  CallScope names_;
  ir::GraphScope scope_;
};

/// Opens a public call that is made of others, such as a layer's: it leaves the graph alone between them.
class OuterCall {
 public:
  OuterCall(std::string_view name, Loc where) : names_(name, where) {}

 private:
  DefaultFloatEnv floats_;
  CallScope names_;
};

/// A launch argument (SEMANTICS N1): a scalar node whose number changes from step to step without changing the program.
ir::UOp launch_argument(ir::Scalar value, DType dtype, Device device);

/// Finds the cell of a leaf from now on, while it lives. Inside a GraphScope, as the next.
void register_leaf(const std::shared_ptr<Cell>& cell);
void unregister_leaf(Cell& cell);
/// The cell that collects the gradient of this leaf; null when it is gone.
std::shared_ptr<Cell> cell_of_leaf(uint64_t id);

/// Throws UsageError "name: message" at the outermost call's place.
[[noreturn]] void usage_error(const std::string& message);

}  // namespace tensor
}  // namespace sinter
