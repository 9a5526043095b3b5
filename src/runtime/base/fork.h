// What fork() waits for: a child has only the thread that forked, and nobody ends there what the others were at.
#pragma once

#include <mutex>

#include "ir/tensor_graph.h"

namespace sinter::runtime {

/// From now on fork() waits for this mutex, so that a child never inherits it locked. Only for mutexes that are never
/// destroyed and under which no other one is taken. It waits for the tensor graph's mutex before all others.
void hold_at_fork(std::mutex& mutex);

/// From now on called in each child, where no mutex is held any more.
void call_in_child(void (*function)());

/// A compilation or a launch, for which the calling thread leaves the tensor graph to others: fork() waits until it has
/// ended. What the thread would do next, under the graph's mutex again, call_in_child() may have to do for it.
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
  // In this order: fork() holds the graph's mutex when it begins to wait, so that no work begins meanwhile.
  ActiveCount active_;
  ir::GraphPause pause_;
};

}  // namespace sinter::runtime
