// What jit() sees of a function while it runs: the tensors that it meets, what it assigns, where its random numbers
// come from; and the plan that this becomes. Inside a GraphScope.
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

namespace sinter::tensor {

/// Where a plan's slot gets its memory from at each call.
struct SlotSource {
  bool input = false;   ///< of the call; else a tensor that the function uses beside them
  uint32_t number = 0;  ///< among the inputs, or among CapturedPlan::cells
  int alignment = 1;    ///< of the address
  bool written = false;
  bool assigned = false;  ///< the function gives the tensor a new version, in this memory or another
  /// Whether only assignments from outside change what it holds.
  bool steady() const { return !input && !written && !assigned; }
  friend bool operator==(const SlotSource&, const SlotSource&) = default;
};

/// A tensor that the function uses beside its inputs.
struct UsedCell {
  std::weak_ptr<Cell> cell;
  uint64_t node = 0;  ///< id of the node that it has to hold still; 0: a slot reads what it holds then
  DType dtype;
  Shape shape;
  Device device;
  bool requires_grad = false, leaf = false;
  std::optional<uint64_t> grad = {};  ///< if the function asked for its gradient: Cell::number of that, 0 for none
};

/// A value of the plan, and where it goes.
struct CapturedTarget {
  std::vector<uint32_t> results;  ///< numbers of the function's results, of copies of a handle the first
  std::vector<uint32_t> cells;    ///< that it becomes the next version of, in CapturedPlan::cells
  DType dtype;
  Shape shape;
  friend bool operator==(const CapturedTarget&, const CapturedTarget&) = default;
};

/// Numbers that a call of a generator gives: where they go among the plan's arguments, -1 for nowhere.
struct RandomSource {
  std::weak_ptr<GeneratorState> generator;
  uint64_t count = 0;
  int seed = -1, first = -1;
  friend bool operator==(const RandomSource& a, const RandomSource& b) {
    return a.generator.lock() == b.generator.lock() && a.count == b.count && a.seed == b.seed && a.first == b.first;
  }
};

/// All that a later call needs instead of the function.
struct CapturedPlan {
  runtime::Hash128 key;
  std::shared_ptr<const plan::Executable> executable;
  Device device;
  std::vector<ir::Scalar> numbers;  ///< of the plan key; those of generators are 0
  std::vector<ir::Scalar> args;     ///< of the plan
  std::vector<int64_t> vars;
  std::vector<SlotSource> slots;
  std::vector<CapturedTarget> targets;
  std::vector<RandomSource> randoms;
  std::vector<UsedCell> cells;
  std::vector<uint32_t> results;  ///< per result the first that is a copy of the same handle
};

/// Cell::number of the gradient; 0 for none.
inline uint64_t gradient_of(const Cell& cell) { return cell.grad ? cell.grad->number : 0; }

/// While alive, the calling thread's function is watched, and its nodes are its own: what others hold of equal ones, or
/// build meanwhile, says nothing of it.
class Capture final : public Observer {
 public:
  explicit Capture(std::span<const Tensor> inputs);
  ~Capture() override;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  void on_make(const std::shared_ptr<Cell>& cell) override;
  /// Throws UsageError for data that the function has made itself.
  void on_use(const std::shared_ptr<Cell>& cell) override;
  void on_assign(const std::shared_ptr<Cell>& cell) override;
  /// Throws UsageError for an input.
  void on_gradient(const std::shared_ptr<Cell>& cell) override;
  /// Throws UsageError where the tensor is not the function's own.
  void on_change(const std::shared_ptr<Cell>& cell, std::string_view what) override;
  void on_draw(Generator& generator, uint64_t count, ir::UOp seed, ir::UOp first) override;
  /// Throws UsageError.
  void on_seed() override;
  /// Throws UsageError unless the function has returned.
  void on_read(std::span<const ir::UOp> asked) override;
  /// It has returned these. Throws UsageError if it leaves anything behind beside them and what it assigned.
  void on_return(std::span<const Tensor> results);
  /// Throws UsageError for a plan that cannot be repeated.
  void on_plan(const plan::PlanInstance& plan, size_t plans) override;

  /// Without an executable where another thread computed some of it, or had assigned what it uses: the results are
  /// right, and how they are made is not known.
  CapturedPlan captured;

 private:
  struct CellUse {
    std::shared_ptr<Cell> cell;
    ir::Storage* storage = nullptr;  ///< when it was met first; kept
  };
  struct RandomDraw {
    uint64_t seed, first;  ///< ids of the nodes
  };
  void reject_escapes(std::span<const Tensor> results) const;
  bool disturbed() const;
  /// A tensor that was not computed when the function met it, and reads such a node; null if none does.
  template <class Reads>
  ir::UOp find_pending(Reads reads) const;
  void capture_slots(const plan::PlanInstance& plan);
  void capture_numbers(const plan::PlanInstance& plan);
  void capture_targets(const plan::PlanInstance& plan);

  std::vector<std::shared_ptr<Cell>> inputs_;
  std::vector<long> input_handles_;        ///< to each, of its callers
  std::vector<std::weak_ptr<Cell>> made_;  ///< until it returned
  std::vector<std::shared_ptr<Cell>> results_;
  std::vector<CellUse> uses_;
  std::vector<std::shared_ptr<Cell>> assigned_;
  std::vector<RandomDraw> draws_;
  const uint64_t start_;  ///< Cell::number of the last that is older than the call
  const ir::PrivateInterning apart_;
  bool returned_ = false;
  bool waits_for_others_ = false;  ///< it uses what another thread has assigned and not yet computed
};

}  // namespace sinter::tensor
