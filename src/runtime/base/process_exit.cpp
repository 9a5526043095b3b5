// What exit() does first is to destroy the thread_local objects of its thread; handlers of atexit() come later, newest
// first, and so behind the destructors of what was made after they were registered.
#include "runtime/base/process_exit.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>

#include "runtime/base/fork.h"

namespace sinter::runtime {
namespace {

constexpr std::chrono::seconds kPatience{2};

/// Never destroyed (SEMANTICS V7).
struct Ending {
  std::mutex mutex;
  std::condition_variable work_ended, never;
  int at_work = 0;  ///< pieces of work
  std::atomic<bool> begun{false};
  bool handled = false;  ///< exit() calls its handlers: it was not only main's thread that ended
  pthread_t by{};        ///< whom, once begun

  static Ending& get();
};
thread_local int own_work = 0;

/// Waits for all work but that of the calling thread: it may be what called exit().
void begin_end(bool handled) {
  Ending& e = Ending::get();
  std::unique_lock lock(e.mutex);
  if (!e.begun) e.by = pthread_self();
  e.begun = true;
  e.handled |= handled;
  e.work_ended.wait(lock, [&] { return e.at_work == own_work; });
}
void at_exit() { begin_end(true); }

/// The main thread's.
struct Gate {
  ~Gate() {
    if (syscall(SYS_gettid) == getpid()) begin_end(false);
  }
};

/// A child has none of its parent's threads.
void renew_in_child() {
  Ending& e = Ending::get();
  new (&e.work_ended) std::condition_variable;
  new (&e.never) std::condition_variable;
  e.at_work = own_work;
  if (e.begun) e.by = pthread_self();
}

Ending& Ending::get() {
  static Ending& ending = *new Ending;
  // Before a library is opened, too: the last step of exit() is to destroy what it finds then.
  static const bool once = (hold_at_fork(ending.mutex), call_in_child(renew_in_child), std::atexit(at_exit), true);
  (void)once;
  return ending;
}

void have_gate() {
  thread_local const Gate gate;
  (void)&gate;
}
[[maybe_unused]] const bool main_has_gate = (have_gate(), true);  // by the thread that loads this

}  // namespace

CompilerWork::CompilerWork() {
  have_gate();
  Ending& e = Ending::get();
  std::unique_lock lock(e.mutex);
  const bool ends = e.begun && pthread_equal(e.by, pthread_self());
  if (e.begun && !ends && !own_work) {
    e.never.wait_for(lock, kPatience);
    if (!e.handled) e.begun = false;  // pthread_exit() in main
  }
  counts_ = !e.begun || (own_work && !ends);
  if (!counts_) return;
  ++e.at_work;
  ++own_work;
}

CompilerWork::~CompilerWork() {
  if (!counts_) return;
  Ending& e = Ending::get();
  const std::lock_guard lock(e.mutex);
  --e.at_work;
  --own_work;
  e.work_ended.notify_all();
}

void compiler_was_opened() { std::atexit(at_exit); }

bool process_ends() { return Ending::get().begun; }

}  // namespace sinter::runtime
