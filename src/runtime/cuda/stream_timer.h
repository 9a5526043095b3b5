// How long a part of a device's stream takes, by the device's own clock.
#pragma once

#include <memory>

#include "runtime/cuda/driver.h"

namespace sinter::runtime::cuda {

class Context;

/// Two events on the stream. Other threads should leave the device alone meanwhile: their work counts too.
class StreamTimer {
 public:
  /// Throws BackendError; see Context.
  explicit StreamTimer(std::shared_ptr<Context> context);
  ~StreamTimer();
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;

  /// Begins after all that is on the stream.
  void start();
  /// Waits for the stream. Returns ns since start(), at least the resolution of events. Kernel faults surface here.
  double stop();

 private:
  std::shared_ptr<Context> context_;
  EventHandle begin_ = nullptr, end_ = nullptr;
};

}  // namespace sinter::runtime::cuda
