// exit() first destroys the thread_local objects of its thread. atexit() handlers follow, newest first, so each runs
// after the destructors of objects that were constructed after its registration.
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
#include <utility>

#include "runtime/base/fork.h"

namespace sinter::runtime {
namespace {

constexpr std::chrono::seconds kPatience{2};

/// Never destroyed (SEMANTICS V7).
struct ExitState {
  std::mutex mutex;
  std::condition_variable work_ended, never;
  int active_guards = 0;  ///< work in progress
  std::atomic<bool> begun{false};
  bool handled = false;  ///< an atexit handler runs: exit(), not only the end of main's thread
  pthread_t by{};        ///< the exiting thread; valid once begun

  static ExitState& get();
};
thread_local int own_guards = 0;
thread_local const ProcessExitGuard* shared_guard = nullptr;

/// Waits for all work except the calling thread's own, since that work may have called exit().
void begin_exit(bool handled) {
  ExitState& e = ExitState::get();
  std::unique_lock lock(e.mutex);
  if (!e.begun || (handled && !e.handled)) e.by = pthread_self();  // main's thread may have ended by pthread_exit()
  e.begun = true;
  e.handled |= handled;
  e.work_ended.wait(lock, [&] { return e.active_guards == own_guards; });
}
void at_exit() { begin_exit(true); }

/// Acts on the main thread only.
struct MainExitHook {
  ~MainExitHook() {
    if (syscall(SYS_gettid) == getpid()) begin_exit(false);
  }
};

/// A child has none of its parent's threads.
void renew_in_child() {
  ExitState& e = ExitState::get();
  new (&e.work_ended) std::condition_variable;
  new (&e.never) std::condition_variable;
  e.active_guards = own_guards;
  if (e.begun) e.by = pthread_self();
}

ExitState& ExitState::get() {
  static ExitState& ending = *new ExitState;
  // Before a library is opened, too: the last step of exit() is to destroy what it finds then.
  static const bool once = (hold_at_fork(ending.mutex), call_in_child(renew_in_child), std::atexit(at_exit), true);
  (void)once;
  return ending;
}

void install_main_exit_hook() {
  thread_local const MainExitHook hook;
  (void)&hook;
}
[[maybe_unused]] const bool kMainExitHookInstalled =
    (install_main_exit_hook(), true);  // runs on the thread that loads this

}  // namespace

ProcessExitGuard::ProcessExitGuard() {
  install_main_exit_hook();
  ExitState& e = ExitState::get();
  std::unique_lock lock(e.mutex);
  const bool nested = own_guards || (shared_guard && *shared_guard);
  const bool ends = e.begun && ((shared_guard && !*shared_guard) || pthread_equal(e.by, pthread_self()));
  if (e.begun && !ends && !nested) {
    e.never.wait_for(lock, kPatience);
    if (!e.handled) e.begun = false;  // pthread_exit() in main
  }
  blocks_exit_ = !e.begun || (nested && !ends);
  if (!blocks_exit_) return;
  ++e.active_guards;
  ++own_guards;
}

ProcessExitGuard::~ProcessExitGuard() {
  if (!blocks_exit_) return;
  ExitState& e = ExitState::get();
  const std::lock_guard lock(e.mutex);
  --e.active_guards;
  --own_guards;
  e.work_ended.notify_all();
}

ProcessExitGuard::Share::Share(const ProcessExitGuard& guard) : before_(std::exchange(shared_guard, &guard)) {}
ProcessExitGuard::Share::~Share() { shared_guard = before_; }

void note_compiler_opened() { std::atexit(at_exit); }

bool process_exiting() { return ExitState::get().begun; }

}  // namespace sinter::runtime
