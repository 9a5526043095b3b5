// All that keep something are known, so that who needs memory finds it.
#include "tensor/repeated.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "sinter/error.h"

namespace sinter::tensor {
namespace {

constexpr int kInVain = 4;   ///< runs that used nothing of what is kept
constexpr int kMissed = 16;  ///< runs that would have

struct Keepers {
  std::mutex mutex;  // functions end outside a GraphScope too
  std::vector<Repeated*> all;

  static Keepers& get() {
    static auto* keepers = new Keepers;  // never destroyed (SEMANTICS V7)
    return *keepers;
  }
};

}  // namespace

Repeated::Repeated(const schedule::Executable& executable, const schedule::Steady& steady) : executable_(executable) {
  std::unique_ptr<schedule::Execution> runs = executable.runs_keeping(steady);
  keep_ = runs->keeps;
  (keep_ ? keeping_ : plain_) = std::move(runs);
  if (!keep_) return;
  const std::lock_guard lock(Keepers::get().mutex);
  Keepers::get().all.push_back(this);
}

Repeated::~Repeated() {
  if (!keeping_) return;
  const std::lock_guard lock(Keepers::get().mutex);
  std::erase(Keepers::get().all, this);
}

schedule::Execution& Repeated::bind(schedule::Bindings& bindings, const Versions& now) {
  for (size_t s = 0; s < now.size(); ++s) bindings.same.push_back(s < versions_.size() && now[s] == versions_[s] && now[s]);
  if (keeping_) decide(bindings.same);
  const auto bound = [&]() -> schedule::Execution& {
    schedule::Execution& run = chosen();
    try {
      run.bind(bindings);
    } catch (...) {
      run.let_go();
      throw;
    }
    return run;
  };
  try {
    return bound();
  } catch (const OutOfMemory&) {
    if (!give_up_kept() && !keep_) throw;
    keep_ = false;
    return bound();
  }
}

void Repeated::decide(std::span<const uint8_t> same) {
  if (keeping_->spares(same) == keep_) {
    against_ = 0;
  } else if (++against_ >= (keep_ ? kInVain : kMissed)) {
    against_ = 0;
    keep_ = !keep_;
    if (!keep_) keeping_->forget();
  }
}

schedule::Execution& Repeated::chosen() {
  if (keep_) return *keeping_;
  if (!plain_) plain_ = executable_.runs();
  return *plain_;
}

bool give_up_kept() {
  const std::lock_guard lock(Keepers::get().mutex);
  bool any = false;
  for (Repeated* r : Keepers::get().all) any |= r->keeping_->forget();
  return any;
}

}  // namespace sinter::tensor
