// pthread_atfork for a list of mutexes.
#include "runtime/fork.h"

#include <pthread.h>

#include <vector>

namespace sinter::runtime {
namespace {

struct Held {
  std::mutex mutex;  // of the list itself
  std::vector<std::mutex*> list;
};

Held& held() {
  static auto* all = new Held;
  return *all;
}

void lock_all() {
  held().mutex.lock();
  for (std::mutex* m : held().list) m->lock();
}
void unlock_all() {
  for (std::mutex* m : held().list) m->unlock();
  held().mutex.unlock();
}

}  // namespace

void hold_at_fork(std::mutex& mutex) {
  static const int once = pthread_atfork(lock_all, unlock_all, unlock_all);
  (void)once;
  std::lock_guard lock(held().mutex);
  held().list.push_back(&mutex);
}

}  // namespace sinter::runtime
