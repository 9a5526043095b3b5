// A plan on its way from a claim to stored values (SEMANTICS H6, V6): what it holds, its run outside the graph's mutex,
// and the threads that wait for it.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "schedule/run/parametrise.h"
#include "sinter/inline_vector.h"
#include "tensor/index_fault.h"

namespace sinter::tensor {

/// A plan between its preparation and the moment when its values stand in their nodes. It holds what it reads and
/// stores, so that no other plan writes it in place. All but run() inside a GraphScope.
class Flight {
 public:
  /// Claims the nodes that the plan stores. `program` is bound, and outlives it.
  explicit Flight(const schedule::Parametrised& program);
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  /// The thread whose plan it is.
  std::thread::id thread() const { return thread_; }
  /// Without the graph's mutex. Errors are kept for land().
  void run() noexcept;
  /// Gives the nodes their storage; throws what the launch threw. If that left all memory as it was, the nodes are
  /// still to be computed.
  void land();

  /// For a thread that needs a claimed node: waits, without the graph's mutex, until some plan has landed.
  static void wait();

 private:
  IndexFault fault() const;
  /// What reads of the stored values will have to say.
  std::shared_ptr<ir::Notice> notice();
  void store(const std::shared_ptr<ir::Notice>& notice);

  ir::Storage* slot(int32_t number) const { return program_.plan.storages[static_cast<size_t>(number)].storage; }

  const schedule::Parametrised& program_;  ///< of its nodes only those that are stored are looked at after the claim
  struct Stored {
    ir::UOp node;
    int32_t value;  ///< which of the plan's
  };
  InlineVector<Stored, 4> stored_;
  NoticesRead read_;
  std::exception_ptr error_;
  const std::thread::id thread_ = std::this_thread::get_id();
  bool index_error_ = false;
  bool unchanged_ = false;  ///< the launch failed before it had any effect
};

}  // namespace sinter::tensor
