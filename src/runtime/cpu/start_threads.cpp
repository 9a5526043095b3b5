// std::thread, with all signals blocked from the start.
#include "runtime/cpu/start_threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "runtime/base/process_exit.h"
#include "runtime/base/system_limits.h"
#include "runtime/cpu/float_control.h"

namespace sinter::runtime::cpu {
namespace {

constexpr int kMaxHelpers = 16;
constexpr size_t kDeepStack = 8 << 20;  ///< Clang needs 190 KiB for a small kernel; only touched pages use memory

class SignalBlocker {
 public:
  SignalBlocker() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlocker() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlocker(const SignalBlocker&) = delete;
  SignalBlocker& operator=(const SignalBlocker&) = delete;

 private:
  sigset_t before_;
};

/// Threads that run one function on deep stacks. The destructor joins them.
class DeepStackThreads {
 public:
  explicit DeepStackThreads(std::function<void()> work) : work_(std::move(work)) {
    pthread_attr_init(&deep_);
    pthread_attr_setstacksize(&deep_, kDeepStack);
  }
  ~DeepStackThreads() {
    for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
    pthread_attr_destroy(&deep_);
  }
  DeepStackThreads(const DeepStackThreads&) = delete;
  DeepStackThreads& operator=(const DeepStackThreads&) = delete;

  /// Starts one more thread; false if the system has none left.
  bool start() {
    threads_.reserve(threads_.size() + 1);
    const SignalBlocker inherited;
    pthread_t thread;
    if (pthread_create(&thread, &deep_, run, &work_)) return false;
    threads_.push_back(thread);
    return true;
  }
  size_t count() const { return threads_.size(); }

 private:
  static void* run(void* work) {
    const DefaultFloatEnv floats;  // not inherited from the parent thread
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
  }

  std::function<void()> work_;
  pthread_attr_t deep_;
  std::vector<pthread_t> threads_;
};

}  // namespace

void start_threads(std::vector<std::thread>& threads, int count, const std::function<void(int)>& work) {
  threads.reserve(threads.size() + static_cast<size_t>(std::max(count, 0)));
  const SignalBlocker inherited;
  try {
    for (int i = 0; i < count; ++i)
      threads.emplace_back([work, i] {
        const DefaultFloatEnv floats;  // not inherited from the parent thread
        work(i);
      });
  } catch (const std::system_error&) {  // no more threads
  } catch (const std::bad_alloc&) {     // no memory for one
  }
}

int helper_threads(const Target& target) {
  const int cpus = usable_cpus();
  return std::clamp(target.cuda() ? cpus : target.threads, std::min(2, cpus), kMaxHelpers);
}

void run_in_parallel(size_t count, int threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // of the first call that failed; guarded by the mutex, as `failed`
  size_t failed = count;
  const ProcessExitGuard guard;
  const auto take = [&] {
    const ProcessExitGuard::Share share(guard);
    size_t i = 0;
    try {
      while ((i = next.fetch_add(1)) < count) work(i);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (i < failed) {
        failed = i;
        failure = std::current_exception();
      }
      next = count;
    }
  };
  {
    DeepStackThreads helpers(take);
    const auto wanted = std::min(static_cast<size_t>(threads), count);
    while (helpers.count() < wanted && helpers.start()) {}
    if (!helpers.count()) take();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sinter::runtime::cpu
