// All that keep something are known, so that who needs memory finds it.
#include "tensor/jit/invariant_cache.h"

#include <vector>

#include "ir/tensor_graph.h"
#include "sinter/error.h"

namespace sinter::tensor {
namespace {

constexpr int kInVain = 4;   ///< runs that used nothing of what is kept
constexpr int kMissed = 16;  ///< runs that would have

/// Guarded by the graph's mutex.
std::vector<Repeated*>& keepers() {
  static auto* all = new std::vector<Repeated*>;  // never destroyed (SEMANTICS V7)
  return *all;
}

}  // namespace

Repeated::Repeated(const schedule::Executable& executable, const schedule::Steady& steady) : executable_(executable) {
  std::unique_ptr<schedule::Execution> runs = executable.runs_keeping(steady);
  keep_ = runs->keeps;
  (keep_ ? keeping_ : plain_) = std::move(runs);
  if (keep_) keepers().push_back(this);
}

Repeated::~Repeated() {
  if (!keeping_) return;
  const ir::GraphScope scope;  // functions end outside of one too
  std::erase(keepers(), this);
}

schedule::Execution& Repeated::bind(schedule::Bindings& bindings, const Versions& now) {
  for (size_t s = 0; s < now.size(); ++s)
    bindings.same.push_back(s < versions_.size() && now[s] == versions_[s] && now[s]);
  if (keeping_) decide(bindings.same);
  const auto bound = [&]() -> schedule::Execution& {
    schedule::Execution& run = chosen();
    try {
      run.bind(bindings);
    } catch (...) {
      run.let_go();
      throw;
    }
    bound_ = &run;
    return run;
  };
  for (;;) try {
      return bound();
    } catch (const OutOfMemory&) {
      if (keep_)
        give_up();
      else if (!give_up_kept())
        throw;
    }
}

void Repeated::let_go() {
  bound_->let_go();
  bound_ = nullptr;
}

void Repeated::decide(std::span<const uint8_t> same) {
  if (keeping_->spares(same) == keep_) {
    against_ = 0;
  } else if (++against_ >= (keep_ ? kInVain : kMissed)) {
    if (keep_) {
      give_up();
    } else {
      keep_ = true;
      against_ = 0;
    }
  }
}

bool Repeated::give_up() {
  keep_ = false;
  against_ = 0;
  return keeping_->forget();
}

schedule::Execution& Repeated::chosen() {
  if (keep_) return *keeping_;
  if (!plain_) plain_ = executable_.runs();
  return *plain_;
}

bool give_up_kept() {
  bool any = false;
  for (Repeated* r : keepers()) any |= r->keep_ && !r->bound_ && r->give_up();
  return any;
}

}  // namespace sinter::tensor
