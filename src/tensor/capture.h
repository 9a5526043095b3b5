// What jit() sees of a function while it runs: the tensors that it meets, what it assigns, where its random numbers
// come from; and the plan that this becomes. Inside a GraphScope.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/run/parametrise.h"
#include "sinter/random.h"
#include "tensor/cell.h"
#include "uop/apart.h"

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
  std::optional<uint64_t> grad = {};  ///< if the function asked for its gradient: Cell::number of that, 0 for none
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

/// Cell::number of the gradient; 0 for none.
inline uint64_t gradient_of(const Cell& cell) { return cell.grad ? cell.grad->number : 0; }

/// While alive, the calling thread's function is watched, and its nodes are its own: what others hold of equal ones, or
/// build meanwhile, says nothing of it.
class Capture {
 public:
  explicit Capture(std::span<const Tensor> inputs);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  /// That of the calling thread, or null.
  static Capture* current() { return current_; }

  /// The function makes a tensor.
  void made(const std::shared_ptr<Cell>& cell);
  /// It uses this one. Throws UsageError for data that it has made itself.
  void met(const std::shared_ptr<Cell>& cell);
  void assigned(const std::shared_ptr<Cell>& cell);
  /// It asks for the gradient of a tensor that it has met. Throws UsageError for one of an input.
  void asked_gradient(const std::shared_ptr<Cell>& cell);
  /// Throws UsageError: it would do this to a tensor that is not its own, once.
  void changes(const std::shared_ptr<Cell>& cell, std::string_view what) const;
  /// It draws numbers: the nodes that stand for them.
  void drawn(Generator& generator, uint64_t count, ir::UOp seed, ir::UOp first);
  /// Throws UsageError: it says where a generator stands, once.
  void seeds() const;
  /// Throws UsageError unless the function has returned: it is not to read or to compute anything.
  void reads(std::span<const ir::UOp> asked) const;
  /// It has returned these. Throws UsageError if it leaves anything behind beside them and what it assigned.
  void returned(std::span<const Tensor> results);
  /// The first of the `plans` plans that its results, and what it assigned, became. Before it runs. Throws UsageError
  /// if that cannot be repeated.
  void planned(const schedule::Parametrised& plan, size_t plans);

  /// Without an executable where another thread computed some of it, or had assigned what it uses: the results are
  /// right, and how they are made is not known.
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
  void refuse_what_stays(std::span<const Tensor> results) const;
  bool disturbed() const;
  /// A tensor that was not computed when the function met it, and reads such a node; null if none does.
  template <class Reads>
  ir::UOp waiting(Reads reads) const;
  void take_slots(const schedule::Parametrised& plan);
  void take_numbers(const schedule::Parametrised& plan);
  void take_targets(const schedule::Parametrised& plan);

  std::vector<std::shared_ptr<Cell>> inputs_;
  std::vector<long> input_handles_;        ///< to each, of its callers
  std::vector<std::weak_ptr<Cell>> made_;  ///< until it returned
  std::vector<std::shared_ptr<Cell>> results_;
  std::vector<Met> met_;
  std::vector<std::shared_ptr<Cell>> assigned_;
  std::vector<Drawn> drawn_;
  const uint64_t start_;  ///< Cell::number of the last that is older than the call
  const ir::Apart apart_;
  bool returned_ = false;
  bool waits_for_others_ = false;  ///< it uses what another thread has assigned and not yet computed
};

}  // namespace sinter::tensor
