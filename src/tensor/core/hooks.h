// What the rooms above core are told: core calls, and knows none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "ir/node.h"

namespace sinter {
inline namespace v0 {
struct Cell;
class Generator;
}  // namespace v0
namespace plan {
struct PlanInstance;
}

namespace tensor {

/// Called from every thread, inside a GraphScope.
struct Hooks {
  /// A public call begins, which holds no bare node yet. Throws nothing.
  void (*on_call)();
  /// A cell has a new value.
  void (*on_value)(const std::shared_ptr<Cell>& cell);
  /// Gives back memory that is kept for speed alone; false if there is none.
  bool (*on_out_of_memory)();
};

/// Defined in tensor/jit/hooks.cpp, above everybody who is called.
extern const Hooks kHooks;

/// Watches a function of the program while it runs, as jit() does: what the calling thread does with tensors. Each may
/// throw a UsageError for what the function must not do.
class Observer {
 public:
  virtual ~Observer() = default;
  /// That of the calling thread, or null.
  static Observer* current() { return current_; }

  /// The function makes a tensor.
  virtual void on_make(const std::shared_ptr<Cell>& cell) = 0;
  /// It uses this one.
  virtual void on_use(const std::shared_ptr<Cell>& cell) = 0;
  virtual void on_assign(const std::shared_ptr<Cell>& cell) = 0;
  /// It asks for the gradient of a tensor that it uses.
  virtual void on_gradient(const std::shared_ptr<Cell>& cell) = 0;
  /// It does `what` to a tensor that may not be its own, once.
  virtual void on_change(const std::shared_ptr<Cell>& cell, std::string_view what) = 0;
  /// It draws numbers: the nodes that stand for them.
  virtual void on_draw(Generator& generator, uint64_t count, ir::UOp seed, ir::UOp first) = 0;
  /// It says where a generator stands, once.
  virtual void on_seed() = 0;
  /// It is about to read or to compute.
  virtual void on_read(std::span<const ir::UOp> asked) = 0;
  /// The first of the `plans` plans that what is realised became. Before it runs.
  virtual void on_plan(const plan::PlanInstance& plan, size_t plans) = 0;

 protected:
  static inline thread_local constinit Observer* current_ = nullptr;
};

}  // namespace tensor
}  // namespace sinter
