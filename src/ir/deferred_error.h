// An index out of range that a plan has met: nothing stops, and the first host read of what the plan stored, or of what
// was made from that, says it once (SEMANTICS F6).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sinter::ir {

/// What a read may have to say. Shared by the storages of a plan; guarded by the tensor graph's mutex, as they are.
class DeferredError {
 public:
  /// `query` if only the device knows: waits for it, and returns the text, or nothing; called once at most, then let
  /// go. `before`: of what the plan read.
  DeferredError(std::string text, std::function<std::string()> query,
                std::vector<std::shared_ptr<DeferredError>> before);

  /// The text, or that of one before it; empty from the second time on, and if there is nothing to say. Throws what
  /// waiting for the device throws.
  std::string take();
  /// There is nothing to say, as far as is known without waiting.
  bool silent() const { return text_.empty() && !query_ && predecessors_.empty(); }

 private:
  void resolve();

  std::string text_;
  std::function<std::string()> query_;
  std::vector<std::shared_ptr<DeferredError>> predecessors_;
  size_t pending_ = 0;  ///< plans in a row, this one the last, of which only the device knows
};

}  // namespace sinter::ir
