// Asking the device, no later than after a bounded number of plans that nobody read from.
#include "ir/deferred_error.h"

#include <algorithm>
#include <utility>

namespace sinter::ir {
namespace {

/// A loop that reads nothing makes a chain of notices; it waits for the device once in so many plans.
constexpr size_t kMostUnknown = 64;

}  // namespace

Notice::Notice(std::string text, std::function<std::string()> late, std::vector<std::shared_ptr<Notice>> before)
    : text_(std::move(text)), late_(std::move(late)), before_(std::move(before)) {
  for (const auto& b : before_) {
    if (b->unknown_ >= kMostUnknown) b->ask();
    unknown_ = std::max(unknown_, b->unknown_);
  }
  const auto speaks = [](const std::shared_ptr<Notice>& b) { return !b->silent(); };
  for (std::shared_ptr<Notice>& b :
       before_)  // for one that only stands for others one of them, so that chains get no longer
    if (!b->unknown_ && b->text_.empty())
      if (const auto other = std::find_if(b->before_.begin(), b->before_.end(), speaks); other != b->before_.end())
        b = std::shared_ptr<Notice>(*other);
  std::erase_if(before_, [&](const auto& b) { return !speaks(b); });
  if (late_)
    ++unknown_;
  else if (!text_.empty())
    before_.clear();  // who reads this hears of the latest
  else if (const auto sure = std::find_if(before_.begin(), before_.end(), [](const auto& b) { return !b->unknown_; });
           sure != before_.end())
    before_ = {std::shared_ptr<Notice>(*sure)}, unknown_ = 0;  // one is said, and this one has to be
}

void Notice::ask() {
  if (!unknown_) return;
  unknown_ = 0;
  for (const auto& b : before_) b->ask();
  std::erase_if(before_, [](const auto& b) { return b->silent(); });
  if (!late_) return;
  text_ = std::exchange(late_, nullptr)();
  if (!text_.empty()) before_.clear();
}

std::string Notice::take() {
  ask();
  std::string text = std::exchange(text_, {});
  for (const auto& b : std::exchange(before_, {}))
    if (text.empty()) text = b->take();
  return text;
}

}  // namespace sinter::ir
