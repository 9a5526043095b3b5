// Functions of the program that a call leads to: rules and hooks of gradients. They run as if called from outside.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tensor/core/cell.h"

namespace sinter::tensor {

/// While alive, call_program() by this thread restores the float environment that `floats` has replaced.
class MayCallProgram {
 public:
  explicit MayCallProgram(DefaultFloatEnv& floats) : before_(std::exchange(floats_, &floats)) {}
  ~MayCallProgram() { floats_ = before_; }
  MayCallProgram(const MayCallProgram&) = delete;
  MayCallProgram& operator=(const MayCallProgram&) = delete;
  static DefaultFloatEnv* floats() { return floats_; }

 private:
  static inline thread_local constinit DefaultFloatEnv* floats_ = nullptr;
  DefaultFloatEnv* const before_;
};

/// What `f` gives, called as if from outside: in the program's float environment, with no call open, so that errors
/// name the line in f.
template <class F>
auto call_program_in_scope(DefaultFloatEnv* floats, F&& f) {
  std::optional<DefaultFloatEnv::ProgramFloatEnv> lifted;
  if (floats) lifted.emplace(*floats);
  const ir::NoOpenCall outside;
  return f();
}

/// The same, and the calling thread's scopes are closed meanwhile: f may read and realize, and other threads may use
/// the graph. Nodes made before stay alive, walks do not stay valid.
template <class F>
auto call_program(F&& f) {
  const ir::GraphPause pause;
  return call_program_in_scope(MayCallProgram::floats(), std::forward<F>(f));
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
