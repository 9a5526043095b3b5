// Which index was out of range, and what reads will say of it: found after the run, so that kernels only say that there
// was one (SEMANTICS F6).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/node.h"
#include "plan/executable.h"

namespace sinter::tensor {

/// Says, once it is known that some index was out of range, which one.
using IndexErrorReporter = std::function<std::string()>;

/// What will say which index tensor of what `values` are made from holds an index out of range: the index, what it may
/// be, and the call that used it. It evaluates the index tensors again, on memory that it holds until then, of which
/// `intact` says whether it still has what the run has read; where that is not enough, or would be more than
/// `most_bytes` for one of them, it names the calls that may be meant. Made inside a GraphScope, before the values let
/// go of their sources; called and destroyed inside one. Throws nothing but std::bad_alloc.
IndexErrorReporter make_index_error_reporter(std::span<const ir::UOp> values,
                                             const std::function<bool(ir::UOp stored)>& intact, size_t most_bytes);

/// Before a run overwrites this memory: what is held of it for an IndexErrorReporter is let go. Inside a GraphScope.
void on_overwrite(const ir::Storage& memory);

/// The notices of what a run has read, to which its own is added.
class DeferredErrorCollector {
 public:
  /// Each notice counts once.
  void add(const ir::Storage& memory);
  /// What reads of the run's values will have to say; null if nothing. `make_reporter` is asked for where an index was
  /// out of range (`index_error`), or where the device knows later. Takes Execution::error. Throws what `make_reporter`
  /// throws.
  std::shared_ptr<ir::DeferredError> notice(plan::Execution& run, bool index_error,
                                            const std::function<IndexErrorReporter()>& make_reporter) &&;

 private:
  std::vector<std::shared_ptr<ir::DeferredError>> collected_;
};

}  // namespace sinter::tensor
