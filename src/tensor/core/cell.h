// The shared cell behind tensor handles (SEMANTICS H1), and the conversions between tensors and nodes.
#pragma once

#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ir/tensor_graph.h"
#include "runtime/cpu/float_control.h"
#include "sinter/call.h"
#include "sinter/tensor.h"
#include "tensor/core/autocast.h"
#include "tensor/core/hooks.h"

namespace sinter {
inline namespace v0 {

/// The state shared by copies of a handle. Guarded by the tensor graph's mutex; handles count on the shared_ptr.
struct Cell {
  explicit Cell(ir::UOp node)
      : node(node), origin(*node->state.origin), number(ir::TensorGraph::get().next_unique_id()) {
    ++origin.tensors;
  }
  ~Cell();
  ir::NodeRef node;
  ir::NodeOrigin& origin;      ///< where the tensor was made
  const uint64_t number;       ///< larger than the number of every older cell
  std::shared_ptr<Cell> grad;  ///< accumulated gradient
  uint64_t leaf_id = 0;        ///< id as a leaf of requires_grad(); 0: no leaf
  std::string grad_taker;      ///< the call that took the gradient, for the error message
  uint64_t assigned_by = 0;    ///< the thread in whose list of assigned cells it is (SEMANTICS V2)
};

}  // namespace v0

namespace tensor {

using namespace ir;

/// A new handle to a new cell. Inside a GraphScope.
Tensor wrap(ir::UOp node);
/// The node of a handle's cell; UsageError when the handle is empty.
ir::UOp node_of(const std::shared_ptr<Cell>& cell);
inline ir::UOp node_of(const Tensor& t) { return node_of(t.cell()); }
/// A handle to a cell of its own, with the value that t has now.
Tensor another_handle(const Tensor& t);

using runtime::cpu::DefaultFloatEnv;

/// Opens a public call: default float environment, the graph's scope, and the name and call site that errors report.
class Call {
 public:
  Call(std::string_view name, Loc where) : names_(name, where), autocast_(name) { kHooks.on_call(); }

 private:
  DefaultFloatEnv floats_;
  CallScope names_;
  AutocastCall autocast_;
  ir::GraphScope scope_;
};

/// Opens a public call that consists of others, such as a layer's. It does not hold the graph between them.
class OuterCall {
 public:
  OuterCall(std::string_view name, Loc where) : names_(name, where) {}

 private:
  DefaultFloatEnv floats_;
  CallScope names_;
};

/// A launch argument (SEMANTICS N1): a scalar node whose number changes between steps without changing the program.
ir::UOp launch_argument(ir::Scalar value, DType dtype, Device device);

/// Makes a leaf's cell findable by its id while the cell lives. Both calls inside a GraphScope.
void register_leaf(const std::shared_ptr<Cell>& cell);
void unregister_leaf(Cell& cell);
/// The cell that accumulates the gradient of this leaf; null if it is gone.
std::shared_ptr<Cell> cell_of_leaf(uint64_t id);
/// All leaves that wait to be computed, such as parameters of a new model, in the order in which they were made. Inside
/// a GraphScope, which holds the nodes.
std::vector<ir::UOp> pending_leaves();

/// Throws UsageError "name: message" at the outermost call's site.
[[noreturn]] void usage_error(const std::string& message);
/// The same of a message with arguments.
template <class... Args>
  requires(sizeof...(Args) > 0)
[[noreturn]] void usage_error(fmt::format_string<Args...> message, Args&&... args) {
  usage_error(fmt::format(message, std::forward<Args>(args)...));
}
/// Throws UsageError at that place, where no call is open: the message names the call itself.
template <class... Args>
[[noreturn]] void usage_error_at(Loc where, fmt::format_string<Args...> message, Args&&... args) {
  throw UsageError(fmt::format(message, std::forward<Args>(args)...), where);
}

}  // namespace tensor
}  // namespace sinter
