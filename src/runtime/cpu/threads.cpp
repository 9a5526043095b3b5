// std::thread, with all signals blocked from its first moment on.
#include "runtime/cpu/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <system_error>

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
    for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  } catch (const std::system_error&) {  // no more threads
  } catch (const std::bad_alloc&) {     // no memory for one
  }
}

}  // namespace sinter::runtime::cpu
