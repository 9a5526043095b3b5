// What jit() sees of a function while it runs: the tensors that it meets, what it assigns, where its random numbers
// come from; and the plan that this becomes. Inside a GraphScope.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schedule/run/parametrise.h"
#include "sinter/random.h"
#include "tensor/cell.h"

namespace sinter::tensor {

/// Where a plan's slot gets its memory from at each call.
struct SlotSource {
  bool input = false;   ///< of the call; else a tensor that the function uses beside them
  uint32_t number = 0;  ///< among the inputs, or among Replay::cells
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
};

/// A value of the plan, and where it goes.
struct ReplayTarget {
  std::vector<uint32_t> results;  ///< numbers of the function's results, of copies of a handle the first
  std::vector<uint32_t> cells;    ///< that it becomes the next version of, in Replay::cells
  DType dtype;
  Shape shape;
  friend bool operator==(const ReplayTarget&, const ReplayTarget&) = default;
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
struct Replay {
  runtime::Hash128 key;
  std::shared_ptr<const schedule::Executable> executable;
  Device device;
  std::vector<ir::Scalar> numbers;  ///< of the plan key; those of generators are 0
  std::vector<ir::Scalar> args;     ///< of the plan
  std::vector<int64_t> vars;
  std::vector<SlotSource> slots;
  std::vector<ReplayTarget> targets;
  std::vector<RandomSource> randoms;
  std::vector<UsedCell> cells;
  std::vector<uint32_t> results;  ///< per result the first that is a copy of the same handle
};

/// While alive, the calling thread's function is watched.
class Capture {
 public:
  explicit Capture(std::span<const Tensor> inputs);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  /// That of the calling thread, or null.
  static Capture* current() { return current_; }

  /// The function uses this tensor. Throws UsageError for data that it has made itself.
  void met(const std::shared_ptr<Cell>& cell);
  void assigned(const std::shared_ptr<Cell>& cell);
  /// It draws numbers: the nodes that stand for them.
  void drawn(Generator& generator, uint64_t count, ir::UOp seed, ir::UOp first);
  /// Throws UsageError unless the function has returned: it is not to compute anything.
  void computes() const;
  /// It has returned these.
  void returned(std::span<const Tensor> results);
  /// The first of the `plans` plans that its results, and what it assigned, became. Before it runs. Throws UsageError
  /// if that cannot be repeated.
  void planned(const schedule::Parametrised& plan, size_t plans);

  Replay replay;

 private:
  static inline thread_local constinit Capture* current_ = nullptr;

  struct Met {
    std::shared_ptr<Cell> cell;
    ir::Storage* storage = nullptr;  ///< when it was met first; kept
  };
  struct Drawn {
    uint64_t seed, first;  ///< ids of the nodes
  };
  void take_slots(const schedule::Parametrised& plan);
  void take_numbers(const schedule::Parametrised& plan);
  void take_targets(const schedule::Parametrised& plan);

  std::vector<std::shared_ptr<Cell>> inputs_;
  std::vector<std::shared_ptr<Cell>> results_;
  std::vector<Met> met_;
  std::vector<std::shared_ptr<Cell>> assigned_;
  std::vector<Drawn> drawn_;
  const uint64_t start_;  ///< Cell::number of the last that is older than the call
  bool returned_ = false;
};

}  // namespace sinter::tensor
