// An index out of range that a plan has met. Nothing stops; the first host read of anything the plan stored, or of
// anything derived from it, reports the error once (SEMANTICS F6).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sinter::ir {

/// What a read may have to report. Shared by the storages of a plan and, like them, guarded by the tensor graph's
/// mutex.
class DeferredError {
 public:
  /// `query`, if only the device knows: waits for it and returns the text, empty for none. Called at most once, then
  /// released. `before`: the deferred errors of what the plan read.
  DeferredError(std::string text, std::function<std::string()> query,
                std::vector<std::shared_ptr<DeferredError>> before);

  /// The text, or that of a predecessor. Empty if there is nothing to report, and from the second call on. Throws what
  /// waiting for the device throws.
  std::string take();
  /// Nothing to report, as far as is known without waiting.
  bool silent() const { return text_.empty() && !query_ && predecessors_.empty(); }

 private:
  void resolve();

  std::string text_;
  std::function<std::string()> query_;
  std::vector<std::shared_ptr<DeferredError>> predecessors_;
  size_t pending_ = 0;  ///< consecutive plans, up to and including this one, whose outcome only the device knows
};

}  // namespace sinter::ir
