// std::thread, with all signals blocked from its first moment on.
#include "runtime/cpu/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>

#include "runtime/cpu/float_control.h"

namespace sinter::runtime::cpu {
namespace {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void start_threads(std::vector<std::thread>& threads, int count, const std::function<void(int)>& work) {
  threads.reserve(threads.size() + static_cast<size_t>(std::max(count, 0)));
  const SignalsBlocked inherited;
  try {
    for (int i = 0; i < count; ++i)
      threads.emplace_back([work, i] {
        const DefaultFloats floats;  // not those of the thread that started it
        work(i);
      });
  } catch (const std::system_error&) {  // no more threads
  } catch (const std::bad_alloc&) {     // no memory for one
  }
}

void side_by_side(size_t count, int threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // guarded by the mutex
  const auto take = [&](int) {
    try {
      for (size_t i; (i = next.fetch_add(1)) < count;) work(i);
    } catch (...) {
      std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> helpers;
  start_threads(helpers, static_cast<int>(std::min(static_cast<size_t>(threads), count)) - 1, take);
  take(0);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sinter::runtime::cpu
