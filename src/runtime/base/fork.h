// What fork() waits for. The child has only the forking thread, so work in progress on other threads would never finish
// there.
#pragma once

#include <mutex>

#include "ir/tensor_graph.h"

namespace sinter::runtime {

/// From now on fork() takes this mutex first, so a child never inherits it locked. Only for mutexes that are never
/// destroyed and under which no other mutex is taken. The tensor graph's mutex is taken before all of these.
void hold_at_fork(std::mutex& mutex);

/// From now on called in each child, when no mutex is held any more.
void call_in_child(void (*function)());

/// A compilation or launch during which the calling thread releases the tensor graph. fork() waits until the scope
/// ends. What the thread would do next under the graph's mutex may have to be done in the child by call_in_child().
class GraphUnlockedScope {
 public:
  GraphUnlockedScope();
  ~GraphUnlockedScope();
  GraphUnlockedScope(const GraphUnlockedScope&) = delete;
  GraphUnlockedScope& operator=(const GraphUnlockedScope&) = delete;

 private:
  struct ActiveCount {
    ActiveCount();
  };
  // In this order: fork() holds the graph's mutex when it starts to wait, so no new work can begin.
  ActiveCount active_;
  ir::GraphPause pause_;
};

}  // namespace sinter::runtime
