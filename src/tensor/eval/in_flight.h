// A plan between its claim and its stored values (SEMANTICS H6, V6): what it holds, its run outside the graph's mutex,
// and the threads that wait for it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "plan/plan_lookup.h"
#include "sinter/inline_vector.h"
#include "tensor/eval/run_error.h"

namespace sinter::tensor {

/// A plan between its preparation and the storing of its values. It holds the memory that it reads and stores, so no
/// other plan writes that memory in place. Inside a GraphScope, except run().
class InFlightPlan {
 public:
  /// A node that the plan stores, and the index of its value among the plan's values.
  struct StoredNode {
    ir::UOp node;
    int32_t value;
  };
  using Nodes = InlineVector<StoredNode, 4>;

  virtual ~InFlightPlan() = default;
  InFlightPlan(const InFlightPlan&) = delete;
  InFlightPlan& operator=(const InFlightPlan&) = delete;

  /// The thread that runs the plan.
  std::thread::id thread() const { return thread_; }
  /// Runs without the graph's mutex if others are to use the graph meanwhile. Errors are kept for complete().
  void run() noexcept;
  /// Gives the nodes their storage. Throws what the launch threw. After an error that left all memory unchanged
  /// (OutOfMemory), the nodes remain to be computed.
  void complete();

  /// For a thread that needs a claimed node, or memory that a plan holds. Waits, without the graph's mutex, until some
  /// plan has completed. If earlier waiters were woken and have not resumed, only yields to them.
  static void wait();
  /// Whether woken waiters have not resumed yet. They still hold nodes or memory.
  static bool waiters_waking();
  /// How many slots of plans in flight hold this memory. That many of its owners are temporary.
  static int count_holders(const ir::Storage& memory);

 protected:
  /// `execution` of `entry` is bound; both outlive this object. Constructors of derived classes call hold(), read() and
  /// claim(), then register_in_flight().
  InFlightPlan(runtime::Execution& execution, const plan::PlanEntry& entry) : execution_(execution), entry_(entry) {}
  /// Holds the memory of the next slot.
  void hold(ir::Storage& memory);
  /// Records that the plan reads this memory's previous contents.
  void read(const ir::Storage& memory) { read_.add(memory); }
  void claim(ir::UOp node, int32_t value);
  void register_in_flight();

  const Nodes& stored() const { return stored_; }
  const std::vector<plan::StoreTarget>& targets() const { return entry_.targets; }
  ir::Storage* slot(int32_t number) const { return slots_[static_cast<size_t>(number)]; }
  bool raised_errors() const { return error_bits_ != 0; }

 private:
  /// Reports which index was out of range. Called before the nodes release their sources.
  virtual ErrorReporter error_reporter() const = 0;
  void store(const std::shared_ptr<ir::DeferredError>& notice);

  runtime::Execution& execution_;
  const plan::PlanEntry& entry_;
  InlineVector<ir::Storage*, 8> slots_;
  Nodes stored_;
  DeferredErrorCollector read_;
  std::exception_ptr error_;
  const std::thread::id thread_ = std::this_thread::get_id();
  uint32_t error_bits_ = 0;
  bool unchanged_ = false;  ///< the launch failed before it had any effect
};

/// A plan of a program whose nodes were walked.
class InFlightRealization final : public InFlightPlan {
 public:
  /// `program` is bound and outlives this object. From now on only those of its nodes that are stored are used.
  explicit InFlightRealization(const plan::PlanInstance& instance);

 private:
  ErrorReporter error_reporter() const override;
};

}  // namespace sinter::tensor
