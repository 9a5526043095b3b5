// Which index was out of range, or which matrix has no result, and what later reads report. It is found after the run;
// a kernel only raises a bit (SEMANTICS F6).
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

/// Called once the bits of the error word are known. Says what was wrong.
using ErrorReporter = std::function<std::string(uint32_t bits)>;

/// A reporter for the index tensors and matrices among the sources of `values`. It names the index and its valid range,
/// or the matrix, and the call that used it. It evaluates them again, on memory that it holds until then. `intact` says
/// whether a stored node's memory still has what the run read. If one cannot be evaluated, or would hold more than
/// `most_bytes`, the reporter names the calls that may be meant. Made inside a GraphScope, before the values release
/// their sources; called and destroyed inside one. Throws only std::bad_alloc.
ErrorReporter make_error_reporter(std::span<const ir::UOp> values, const std::function<bool(ir::UOp stored)>& intact,
                                  size_t most_bytes);

/// Call before a run overwrites this memory: ErrorReporters stop holding it. Inside a GraphScope.
void on_overwrite(const ir::Storage& memory);
/// Call when memory runs out: ErrorReporters hold none any more, and name calls only. False if none was held. Inside a
/// GraphScope.
bool release_held_memory();

/// Collects the deferred errors of what a run has read, and adds its own.
class DeferredErrorCollector {
 public:
  /// Each deferred error counts once.
  void add(const ir::Storage& memory);
  /// The deferred error of the run's values; null if there is none. Calls `make_reporter` if the run has raised `bits`,
  /// or if the device reports some later. Takes runtime::Execution::error. Throws what `make_reporter` throws.
  std::shared_ptr<ir::DeferredError> notice(runtime::Execution& execution, uint32_t bits,
                                            const std::function<ErrorReporter()>& make_reporter) &&;

 private:
  std::vector<std::shared_ptr<ir::DeferredError>> collected_;
};

}  // namespace sinter::tensor
