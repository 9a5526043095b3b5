// Keeps a list of all caches, so that they can be released when memory runs out.
#include "tensor/jit/invariant_cache.h"

#include <vector>

#include "ir/tensor_graph.h"
#include "sinter/error.h"
#include "tensor/core/hooks.h"

namespace sinter::tensor {
namespace {

constexpr int kUnusedRuns = 4;   ///< runs that used nothing cached, before caching is disabled
constexpr int kMissedRuns = 16;  ///< runs that would have used it, before it is enabled

/// Guarded by the graph's mutex.
std::vector<InvariantCache*>& caches() {
  static auto* all = new std::vector<InvariantCache*>;  // never destroyed (SEMANTICS V7)
  return *all;
}

}  // namespace

InvariantCache::InvariantCache(const runtime::Executable& executable, const runtime::InvariantInputs& steady)
    : executable_(executable), hoisted_(executable.hoist_invariants(steady)), cache_enabled_(hoisted_ != nullptr) {
  if (!hoisted_) return;
  caching_ = hoisted_->make_execution();
  caches().push_back(this);
}

InvariantCache::~InvariantCache() {
  if (!caching_) return;
  const ir::GraphScope scope;  // functions may be destroyed outside of one
  std::erase(caches(), this);
}

runtime::Execution& InvariantCache::bind(runtime::Bindings& bindings, const Versions& now) {
  for (size_t s = 0; s < now.size(); ++s)
    bindings.unchanged_slots.push_back(s < versions_.size() && now[s] == versions_[s] && now[s]);
  if (caching_) update_policy(bindings.unchanged_slots);
  const auto bound = [&]() -> runtime::Execution& {
    runtime::Execution& run = execution();
    try {
      run.bind(bindings);
    } catch (...) {
      run.unbind();
      throw;
    }
    bound_ = &run;
    return run;
  };
  for (;;) try {
      return bound();
    } catch (const OutOfMemory&) {
      if (cache_enabled_)
        release();
      else if (!kHooks.on_out_of_memory())
        throw;
    }
}

void InvariantCache::let_go() {
  bound_->unbind();
  bound_ = nullptr;
}

void InvariantCache::update_policy(std::span<const uint8_t> same) {
  if (caching_->skips_invariants(same) == cache_enabled_) {
    contrary_runs_ = 0;
  } else if (++contrary_runs_ >= (cache_enabled_ ? kUnusedRuns : kMissedRuns)) {
    if (cache_enabled_) {
      release();
    } else {
      cache_enabled_ = true;
      contrary_runs_ = 0;
    }
  }
}

bool InvariantCache::release() {
  cache_enabled_ = false;
  contrary_runs_ = 0;
  return caching_->drop_invariants();
}

runtime::Execution& InvariantCache::execution() {
  if (cache_enabled_) return *caching_;
  if (!plain_) plain_ = executable_.make_execution();
  return *plain_;
}

bool release_invariants() {
  bool any = false;
  for (InvariantCache* r : caches()) any |= r->cache_enabled_ && !r->bound_ && r->release();
  return any;
}

}  // namespace sinter::tensor
