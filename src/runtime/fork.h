// Locks that a forked child may need.
#pragma once

#include <mutex>

namespace sinter::runtime {

/// From now on fork() waits for this mutex, so that a child never inherits it locked. Only for mutexes that are never
/// destroyed and under which no other one is taken.
void hold_at_fork(std::mutex& mutex);

}  // namespace sinter::runtime
