// Chains of deferred errors, bounded in length.
#include "ir/deferred_error.h"

#include <algorithm>
#include <utility>

namespace sinter::ir {
namespace {

/// A loop without reads makes a chain of deferred errors. It waits for the device once per this many plans.
constexpr size_t kMaxPending = 64;

}  // namespace

DeferredError::DeferredError(std::string text, std::function<std::string()> query,
                             std::vector<std::shared_ptr<DeferredError>> before)
    : text_(std::move(text)), query_(std::move(query)), predecessors_(std::move(before)) {
  for (const auto& b : predecessors_) {
    if (b->pending_ >= kMaxPending) b->resolve();
    pending_ = std::max(pending_, b->pending_);
  }
  const auto speaks = [](const std::shared_ptr<DeferredError>& b) { return !b->silent(); };
  for (std::shared_ptr<DeferredError>& b :
       predecessors_)  // a mere relay becomes one of its predecessors: chains stay short
    if (!b->pending_ && b->text_.empty())
      if (const auto other = std::ranges::find_if(b->predecessors_, speaks); other != b->predecessors_.end())
        b = std::shared_ptr<DeferredError>(*other);
  std::erase_if(predecessors_, [&](const auto& b) { return !speaks(b); });
  if (query_)
    ++pending_;
  else if (!text_.empty())
    predecessors_.clear();  // a reader of this one hears of the latest error
  else if (const auto sure = std::ranges::find_if(predecessors_, [](const auto& b) { return !b->pending_; });
           sure != predecessors_.end())
    predecessors_ = {std::shared_ptr<DeferredError>(*sure)}, pending_ = 0;  // one error is certain: no need to wait
}

void DeferredError::resolve() {
  if (!pending_) return;
  pending_ = 0;
  for (const auto& b : predecessors_) b->resolve();
  std::erase_if(predecessors_, [](const auto& b) { return b->silent(); });
  if (!query_) return;
  text_ = std::exchange(query_, nullptr)();
  if (!text_.empty()) predecessors_.clear();
}

std::string DeferredError::take() {
  resolve();
  std::string text = std::exchange(text_, {});
  for (const auto& b : std::exchange(predecessors_, {}))
    if (text.empty()) text = b->take();
  return text;
}

}  // namespace sinter::ir
