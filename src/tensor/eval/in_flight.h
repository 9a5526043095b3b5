// A plan on its way from a claim to stored values (SEMANTICS H6, V6): what it holds, its run outside the graph's mutex,
// and the threads that wait for it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plan/plan_lookup.h"
#include "sinter/inline_vector.h"
#include "tensor/eval/index_error.h"

namespace sinter::tensor {

/// A plan between its preparation and the moment when its values stand in their nodes. It holds what it reads and
/// stores, so that no other plan writes it in place. All but run() inside a GraphScope.
class InFlightPlan {
 public:
  /// A node that the plan stores, and which of the plan's values that is.
  struct StoredNode {
    ir::UOp node;
    int32_t value;
  };
  using Nodes = InlineVector<StoredNode, 4>;

  virtual ~InFlightPlan() = default;
  InFlightPlan(const InFlightPlan&) = delete;
  InFlightPlan& operator=(const InFlightPlan&) = delete;

  /// The thread whose plan it is.
  std::thread::id thread() const { return thread_; }
  /// Without the graph's mutex, if others are to use the graph meanwhile. Errors are kept for complete().
  void run() noexcept;
  /// Gives the nodes their storage; throws what the launch threw. If that left all memory as it was (OutOfMemory), the
  /// nodes are still to be computed.
  void complete();

  /// For a thread that needs a claimed node, or memory that a plan holds: waits, without the graph's mutex, until some
  /// plan has completed, or threads have gone on that had waited for one.
  static void wait();
  /// Whether there are such threads, which hold what they waited for.
  static bool waiters_waking();
  /// Plans that hold this memory: so many of its owners are none for long.
  static int count_holders(const ir::Storage& memory);

 protected:
  /// Of a `run` that is bound; it and `targets` outlive this. The constructors of derived classes say what it holds,
  /// what it reads and what it claims, then register_in_flight().
  InFlightPlan(plan::Execution& run, const std::vector<plan::StoreTarget>& targets) : run_(run), targets_(targets) {}
  /// The memory of the next slot.
  void hold(ir::Storage& memory);
  /// Notes that the plan reads what this memory held.
  void read(const ir::Storage& memory) { read_.add(memory); }
  void claim(ir::UOp node, int32_t value);
  void register_in_flight();

  const Nodes& stored() const { return stored_; }
  const std::vector<plan::StoreTarget>& targets() const { return targets_; }
  ir::Storage* slot(int32_t number) const { return slots_[static_cast<size_t>(number)]; }
  bool index_error() const { return index_error_; }

 private:
  /// Which index was out of range. Before the nodes let go of their sources.
  virtual IndexErrorReporter index_error_reporter() const = 0;
  void store(const std::shared_ptr<ir::DeferredError>& notice);

  plan::Execution& run_;
  const std::vector<plan::StoreTarget>& targets_;
  InlineVector<ir::Storage*, 8> slots_;
  Nodes stored_;
  DeferredErrorCollector read_;
  std::exception_ptr error_;
  const std::thread::id thread_ = std::this_thread::get_id();
  bool index_error_ = false;
  bool unchanged_ = false;  ///< the launch failed before it had any effect
};

/// That of a program whose nodes were walked.
class InFlightRealization final : public InFlightPlan {
 public:
  /// `program` is bound, and outlives it; of its nodes only those that are stored are looked at from now on.
  explicit InFlightRealization(const plan::PlanInstance& program);

 private:
  IndexErrorReporter index_error_reporter() const override;
};

}  // namespace sinter::tensor
