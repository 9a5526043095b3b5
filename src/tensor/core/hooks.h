// What core tells `eval` and `jit`. Core calls these hooks and includes neither folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "ir/node.h"
#include "sinter/shape.h"

namespace sinter {
inline namespace v0 {
struct Cell;
class Generator;
}  // namespace v0
namespace plan {
struct PlanInstance;
}

namespace tensor {

class HostStep;

/// Called from every thread, inside a GraphScope.
struct Hooks {
  /// A public call begins; it holds no bare node yet. Throws nothing.
  void (*on_call)();
  /// A cell has a new value.
  void (*on_value)(const std::shared_ptr<Cell>& cell);
  /// Releases memory that is kept only for speed or for the text of an error; false if there is none.
  bool (*on_out_of_memory)();
};

/// Defined in tensor/jit/hooks.cpp, which may include all implementations.
extern const Hooks kHooks;

/// Watches what the calling thread does with tensors while a function of the program runs, as jit() does. Every
/// callback may throw a UsageError for what the function must not do.
class Observer {
 public:
  virtual ~Observer() = default;
  /// The calling thread's observer, or null.
  static Observer* current() { return current_; }

  /// The function makes a tensor.
  virtual void on_make(const std::shared_ptr<Cell>& cell) = 0;
  /// The function uses this tensor.
  virtual void on_use(const std::shared_ptr<Cell>& cell) = 0;
  virtual void on_assign(const std::shared_ptr<Cell>& cell) = 0;
  /// The function asks for the gradient of a tensor that it uses.
  virtual void on_gradient(const std::shared_ptr<Cell>& cell) = 0;
  /// The function does `what` to a tensor that may not be its own. The plan does not repeat it.
  virtual void on_change(const std::shared_ptr<Cell>& cell, std::string_view what) = 0;
  /// The function gives this node's gradient a rule or a hook, which may hold tensors.
  virtual void on_rule(ir::UOp node) = 0;
  /// The function creates, replaces or takes the gradient that a tensor has collected.
  virtual void on_gradient_change(const std::shared_ptr<Cell>& cell, std::string_view what) = 0;
  /// The function makes a step whose numbers `numbers` stand for, in order. It has not been counted yet.
  virtual void on_step(std::shared_ptr<HostStep> step, std::span<const ir::UOp> numbers) = 0;
  /// The function draws random numbers, `each` for every element of a shape. `seed` and `first` are the nodes that
  /// stand for the generator's numbers.
  virtual void on_draw(Generator& generator, const Shape& shape, uint64_t each, ir::UOp seed, ir::UOp first) = 0;
  /// The function sets the state of a generator. The plan does not repeat it.
  virtual void on_seed() = 0;
  /// The function is about to read or compute values.
  virtual void on_read(std::span<const ir::UOp> asked) = 0;
  /// Whether the function is called for one element of a batch, as by vmap().
  virtual bool of_one_element() const { return false; }
  /// What the calls of the function have in common, which is why the data may choose no size: "a jitted function is one
  /// program for all calls".
  virtual std::string_view one_program() const = 0;
  /// Called before plans run, with the first of them. `whole`: it is the only one and computes all that is asked for.
  virtual void on_plan(const plan::PlanInstance& instance, bool whole) = 0;

 protected:
  static inline thread_local constinit Observer* current_ = nullptr;
};

}  // namespace tensor
}  // namespace sinter
