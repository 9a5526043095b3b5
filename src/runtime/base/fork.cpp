// One pthread_atfork for everything. Locks in this order: the tensor graph, work in progress, then short-held mutexes.
#include "runtime/base/fork.h"

#include <pthread.h>

#include <atomic>
#include <vector>

namespace sinter::runtime {
namespace {

/// Never destroyed (SEMANTICS V7). fork() holds the mutex and those in `held`.
struct ForkState {
  std::atomic<int> active_scopes{0};  ///< one per thread in a scope

  std::mutex mutex;  // guards both lists
  std::vector<std::mutex*> held;
  std::vector<void (*)()> child_calls;

  static ForkState& get();
};
thread_local int own_scopes = 0;

void before_fork() {
  ir::TensorGraph::get().lock_before_fork();
  ForkState& f = ForkState::get();
  for (int n = f.active_scopes; n != own_scopes; n = f.active_scopes) f.active_scopes.wait(n);
  f.mutex.lock();
  for (std::mutex* m : f.held) m->lock();
}
void unlock_all(ForkState& f) {
  for (std::mutex* m : f.held) m->unlock();
  f.mutex.unlock();
}
void in_parent() {
  unlock_all(ForkState::get());
  ir::TensorGraph::get().unlock_in_parent();
}
void in_child() {
  ForkState& f = ForkState::get();
  unlock_all(f);
  ir::TensorGraph::get().reset_in_child();
  for (size_t i = 0; i < f.child_calls.size(); ++i) f.child_calls[i]();
}

ForkState& ForkState::get() {
  static auto* all = new ForkState;
  static const int once = pthread_atfork(before_fork, in_parent, in_child);
  (void)once;
  return *all;
}

}  // namespace

void hold_at_fork(std::mutex& mutex) {
  ForkState& f = ForkState::get();
  const std::lock_guard lock(f.mutex);
  f.held.push_back(&mutex);
}

void call_in_child(void (*function)()) {
  ForkState& f = ForkState::get();
  const std::lock_guard lock(f.mutex);
  f.child_calls.push_back(function);
}

GraphUnlockedScope::ActiveCount::ActiveCount() {
  ++ForkState::get().active_scopes;
  ++own_scopes;
}
GraphUnlockedScope::GraphUnlockedScope() = default;
GraphUnlockedScope::~GraphUnlockedScope() {
  ForkState& f = ForkState::get();
  --own_scopes;
  --f.active_scopes;
  f.active_scopes.notify_all();
}

}  // namespace sinter::runtime
