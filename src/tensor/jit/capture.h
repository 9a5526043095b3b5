// What jit() observes while a function runs: the tensors it uses, what it assigns, where its random numbers come from;
// and the resulting plan. Inside a GraphScope.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/private_interning.h"
#include "plan/plan_lookup.h"
#include "sinter/random.h"
#include "tensor/core/cell.h"
#include "tensor/core/host_step.h"
#include "tensor/jit/call_sizes.h"

namespace sinter::tensor {

/// Where a plan's slot gets its memory at each call.
struct SlotSource {
  bool input = false;   ///< an input of the call; else a tensor that the function uses besides
  uint32_t number = 0;  ///< index among the inputs, or in CapturedPlan::cells
  int alignment = 1;    ///< of the address, in bytes
  bool written = false;
  bool assigned = false;  ///< the function gives the tensor a new version, in this memory or another
  /// Whether only assignments outside the function change its contents.
  bool steady() const { return !input && !written && !assigned; }
  friend bool operator==(const SlotSource&, const SlotSource&) = default;
};

/// A tensor that the function uses besides its inputs.
struct UsedCell {
  std::weak_ptr<Cell> cell;
  uint64_t node = 0;  ///< id of the node that it must still hold; 0: a slot reads its value at each call
  DType dtype;
  CapturedShape shape;
  Device device;
  bool requires_grad = false, leaf = false;
  std::optional<uint64_t> grad = {};  ///< if the function asked for its gradient: Cell::number of that, or 0
  int same = -1;  ///< another used tensor that held the same node: equal constants are one. It must still hold it
};

/// A value of the plan, and where it goes.
struct CapturedTarget {
  std::vector<uint32_t> results;  ///< indices of results; among copies of a handle, the first one
  std::vector<uint32_t> cells;    ///< indices in CapturedPlan::cells; it becomes their next version
  DType dtype;
  CapturedShape shape;
  friend bool operator==(const CapturedTarget&, const CapturedTarget&) = default;
};

/// A draw from a generator: the indices of its numbers among the plan's arguments, -1 for unused.
struct RandomSource {
  std::weak_ptr<GeneratorState> generator;
  CapturedShape shape;  ///< it draws `each` numbers for every element
  uint64_t each = 1;
  int seed = -1, first = -1;
  friend bool operator==(const RandomSource& a, const RandomSource& b) {
    return a.generator.lock() == b.generator.lock() && a.shape == b.shape && a.each == b.each && a.seed == b.seed &&
           a.first == b.first;
  }
};

/// A step of an optimizer: where its numbers are among the plan's arguments, -1 for unused.
struct StepSource {
  struct Number {
    int arg;
    DType dtype;
    friend bool operator==(const Number&, const Number&) = default;
  };
  std::shared_ptr<HostStep> step;
  std::vector<Number> numbers;
  friend bool operator==(const StepSource& a, const StepSource& b) { return a.numbers == b.numbers; }
};

/// All that a replay needs instead of the function.
struct CapturedPlan {
  runtime::Hash128 key;
  std::shared_ptr<const plan::PlanEntry> entry;
  Device device;
  std::vector<ir::Scalar> numbers;  ///< of the plan key; 0 for those of generators
  std::vector<ir::Scalar> args;     ///< arguments of the plan
  std::vector<CapturedSize> vars;   ///< symbolic sizes of the plan
  std::vector<SlotSource> slots;
  std::vector<CapturedTarget> targets;
  std::vector<RandomSource> randoms;
  std::vector<StepSource> steps;
  std::vector<UsedCell> cells;
  std::vector<uint32_t> results;  ///< per result, the first result that is a copy of the same handle
};

/// Cell::number of the gradient; 0 for none.
inline uint64_t gradient_of(const Cell& cell) { return cell.grad ? cell.grad->number : 0; }

/// While alive, observes the function that the calling thread runs. The function's nodes are interned apart, so equal
/// nodes that others hold or build meanwhile do not matter.
class Capture final : public Observer {
 public:
  /// `sizes` are those of the call; they outlive this object.
  Capture(std::span<const Tensor> inputs, const CallSizes& sizes);
  ~Capture() override;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  void on_make(const std::shared_ptr<Cell>& cell) override;
  /// Throws UsageError for data that the function has made itself.
  void on_use(const std::shared_ptr<Cell>& cell) override;
  void on_assign(const std::shared_ptr<Cell>& cell) override;
  /// Throws UsageError for an input.
  void on_gradient(const std::shared_ptr<Cell>& cell) override;
  /// Throws UsageError if the tensor is not the function's own.
  void on_change(const std::shared_ptr<Cell>& cell, std::string_view what) override;
  /// Throws UsageError for a gradient from before the call.
  void on_gradient_change(const std::shared_ptr<Cell>& cell, std::string_view what) override;
  void on_step(std::shared_ptr<HostStep> step, std::span<const ir::UOp> numbers) override;
  /// The plan ran: what the steps counted stays.
  void keep_steps() { steps_stay_ = true; }
  void on_rule(ir::UOp node) override { rules_.emplace_back(node); }
  void on_draw(Generator& generator, const Shape& shape, uint64_t each, ir::UOp seed, ir::UOp first) override;
  /// Throws UsageError.
  void on_seed() override;
  /// Throws UsageError unless the function has returned.
  void on_read(std::span<const ir::UOp> asked) override;
  std::string_view one_program() const override { return "a jitted function is one program for all calls"; }
  /// The function returned `results`. Throws UsageError if anything else that it made survives, except what it
  /// assigned.
  void on_return(std::span<const Tensor> results);
  /// Throws UsageError for a plan that cannot be replayed.
  void on_plan(const plan::PlanInstance& instance, bool whole) override;

  /// Without an entry if another thread computed part of it, or had assigned what it uses. The results are right
  /// then, but how they were computed is unknown.
  CapturedPlan captured;

 private:
  struct CellUse {
    std::shared_ptr<Cell> cell;
    ir::Storage* storage = nullptr;  ///< at its first use; retained
  };
  struct RandomDraw {
    uint64_t seed, first;  ///< ids of the nodes
  };
  void reject_escapes(std::span<const Tensor> results) const;
  bool disturbed() const;
  /// A used tensor that had no storage at its first use, and depends on a node for which `reads` holds. Null if there
  /// is none.
  template <class Reads>
  ir::UOp find_pending(Reads reads) const;
  void capture_slots(const plan::PlanInstance& instance);
  void capture_numbers(const plan::PlanInstance& instance);
  void capture_targets(const plan::PlanInstance& instance);

  std::vector<std::shared_ptr<Cell>> inputs_;
  const CallSizes& sizes_;
  std::vector<long> input_handles_;        ///< per input: how many handles its callers have
  std::vector<std::weak_ptr<Cell>> made_;  ///< until the function returned
  std::vector<std::shared_ptr<Cell>> results_;
  std::vector<CellUse> uses_;
  std::vector<std::shared_ptr<Cell>> assigned_;
  std::vector<RandomDraw> draws_;
  std::vector<std::vector<uint64_t>> step_numbers_;  ///< ids of the nodes, per step
  std::vector<std::shared_ptr<Cell>> graded_;        ///< tensors whose gradients the function makes and takes
  bool steps_stay_ = false;
  std::vector<ir::NodeRef> rules_;  ///< nodes with rules of gradients: dropped when the function returned
  const uint64_t start_;            ///< Cell::number of the newest cell before the call
  const ir::PrivateInterning apart_;
  bool returned_ = false;
  bool waits_for_others_ = false;  ///< it uses a version that another thread assigned and has not computed
};

}  // namespace sinter::tensor
