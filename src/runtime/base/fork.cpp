// One pthread_atfork for everything: the tensor graph, then the work under way, then mutexes that are held for moments.
#include "runtime/base/fork.h"

#include <pthread.h>

#include <atomic>
#include <vector>

namespace sinter::runtime {
namespace {

/// Never destroyed (SEMANTICS V7). The mutex is held during fork(), as are those of the list.
struct Forks {
  std::atomic<int> at_work{0};  ///< threads

  std::mutex mutex;  // of the lists
  std::vector<std::mutex*> held;
  std::vector<void (*)()> child_calls;

  static Forks& get();
};
thread_local int own_work = 0;

void before_fork() {
  ir::TensorGraph::get().hold_at_fork();
  Forks& f = Forks::get();
  for (int n = f.at_work; n != own_work; n = f.at_work) f.at_work.wait(n);
  f.mutex.lock();
  for (std::mutex* m : f.held) m->lock();
}
void let_go(Forks& f) {
  for (std::mutex* m : f.held) m->unlock();
  f.mutex.unlock();
}
void in_parent() {
  let_go(Forks::get());
  ir::TensorGraph::get().let_go_in_parent();
}
void in_child() {
  Forks& f = Forks::get();
  let_go(f);
  ir::TensorGraph::get().renew_in_child();
  for (size_t i = 0; i < f.child_calls.size(); ++i) f.child_calls[i]();
}

Forks& Forks::get() {
  static auto* all = new Forks;
  static const int once = pthread_atfork(before_fork, in_parent, in_child);
  (void)once;
  return *all;
}

}  // namespace

void hold_at_fork(std::mutex& mutex) {
  Forks& f = Forks::get();
  const std::lock_guard lock(f.mutex);
  f.held.push_back(&mutex);
}

void call_in_child(void (*function)()) {
  Forks& f = Forks::get();
  const std::lock_guard lock(f.mutex);
  f.child_calls.push_back(function);
}

OutsideGraph::Counted::Counted() {
  ++Forks::get().at_work;
  ++own_work;
}
OutsideGraph::OutsideGraph() = default;
OutsideGraph::~OutsideGraph() {
  Forks& f = Forks::get();
  --own_work;
  --f.at_work;
  f.at_work.notify_all();
}

}  // namespace sinter::runtime
