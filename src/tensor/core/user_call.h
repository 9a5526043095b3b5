// Functions of the program that a call leads to: those that a jit or a transform is given, rules and hooks of
// gradients, closures. They run as if called from outside.
#pragma once

#include <utility>
#include <vector>

#include "tensor/core/cell.h"

namespace sinter::tensor {

/// What `f` gives, called as if from outside: in the program's float environment, with no call open, so that errors
/// name the line in f.
template <class F>
auto call_program_in_scope(F&& f) {
  const DefaultFloatEnv::ProgramFloatEnv floats;
  const ir::NoOpenCall outside;
  return f();
}

/// The same, and the calling thread's scopes are closed meanwhile: f may read and realize, and other threads may use
/// the graph. Nodes made before stay alive, walks do not stay valid.
template <class F>
auto call_program(F&& f) {
  const ir::GraphPause pause;
  return call_program_in_scope(std::forward<F>(f));
}

/// Nodes that live until the outermost scope closes; null for an empty handle.
inline std::vector<ir::UOp> held_nodes(const std::vector<Tensor>& tensors) {
  std::vector<ir::UOp> out;
  for (const Tensor& t : tensors) {
    out.push_back(t.defined() ? node_of(t) : ir::UOp());
    if (out.back()) ir::TensorGraph::get().hold_in_scope(out.back());
  }
  return out;
}

}  // namespace sinter::tensor
