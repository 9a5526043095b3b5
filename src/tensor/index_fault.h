// Which index was out of range, and what reads will say of it: found after the run, so that kernels only say that there
// was one (SEMANTICS F6).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "schedule/run/executable.h"
#include "uop/node.h"

namespace sinter::tensor {

/// Says which index tensor of what `values` are made from holds an index out of range: the index, what it may be, and
/// the call that used it. Evaluates the index tensors again, on memory of which `intact` says whether it still holds
/// what the run has read; where that is not enough the text is general. Inside a GraphScope, before the values let go
/// of their sources. Throws nothing but std::bad_alloc.
std::string index_fault(std::span<const ir::UOp> values, const std::function<bool(ir::UOp stored)>& intact);

/// The same where only the device knows whether it happened, when the graph is gone: names the calls that may be meant.
std::string late_index_fault(std::span<ir::Origin* const> calls);

/// The notices of what a run has read, to which its own is added.
class NoticesRead {
 public:
  /// Each notice counts once.
  void add(const ir::Storage& memory);
  /// What reads of the run's values will have to say; null if nothing. `text` is asked for where an index was out of
  /// range
  /// (`index_error`), or where the device knows later. Takes Execution::error. Throws what `text` throws.
  std::shared_ptr<ir::Notice> notice(schedule::Execution& run, bool index_error,
                                     const std::function<std::string()>& text) &&;

 private:
  std::vector<std::shared_ptr<ir::Notice>> notices_;
};

}  // namespace sinter::tensor
