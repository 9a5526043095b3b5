// Which index was out of range, and what later reads report. It is found after the run; a kernel only reports that
// there was one (SEMANTICS F6).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/node.h"
#include "runtime/exec/execution.h"

namespace sinter::tensor {

/// Called once it is known that some index was out of range. Says which one.
using IndexErrorReporter = std::function<std::string()>;

/// A reporter for the index tensors among the sources of `values`. It names the index, its valid range, and the call
/// that used it. It evaluates the index tensors again, on memory that it holds until then. `intact` says whether a
/// stored node's memory still has what the run read. If an index tensor cannot be evaluated, or would hold more than
/// `most_bytes`, the reporter names the calls that may be meant. Made inside a GraphScope, before the values release
/// their sources; called and destroyed inside one. Throws only std::bad_alloc.
IndexErrorReporter make_index_error_reporter(std::span<const ir::UOp> values,
                                             const std::function<bool(ir::UOp stored)>& intact, size_t most_bytes);

/// Call before a run overwrites this memory: IndexErrorReporters stop holding it. Inside a GraphScope.
void on_overwrite(const ir::Storage& memory);

/// Collects the deferred errors of what a run has read, and adds its own.
class DeferredErrorCollector {
 public:
  /// Each deferred error counts once.
  void add(const ir::Storage& memory);
  /// The deferred error of the run's values; null if there is none. Calls `make_reporter` if an index was out of range
  /// (`index_error`), or if the device reports that later. Takes runtime::Execution::error. Throws what `make_reporter`
  /// throws.
  std::shared_ptr<ir::DeferredError> notice(runtime::Execution& execution, bool index_error,
                                            const std::function<IndexErrorReporter()>& make_reporter) &&;

 private:
  std::vector<std::shared_ptr<ir::DeferredError>> collected_;
};

}  // namespace sinter::tensor
