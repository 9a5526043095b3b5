#include "runtime/cuda/stream_timer.h"

#include <algorithm>
#include <utility>

#include "runtime/cuda/context.h"

namespace sinter::runtime::cuda {
namespace {

constexpr double kResolution = 500;  ///< ns, as the driver documents it

}  // namespace

StreamTimer::StreamTimer(std::shared_ptr<Context> context) : context_(std::move(context)) {
  context_->enter();
  context_->check(context_->driver().event_create(&begin_, 0), "making an event");
  const CudaResult code = context_->driver().event_create(&end_, 0);
  if (code != CudaResult::Success) context_->driver().event_destroy(begin_);
  context_->check(code, "making an event");
}

StreamTimer::~StreamTimer() {
  if (!context_->wait_before_destroy()) return;
  context_->driver().event_destroy(begin_);
  context_->driver().event_destroy(end_);
}

void StreamTimer::start() {
  context_->enter();
  context_->check(context_->driver().event_record(begin_, context_->stream()), "recording an event");
}

double StreamTimer::stop() {
  context_->enter();
  context_->check(context_->driver().event_record(end_, context_->stream()), "recording an event");
  context_->synchronize();
  float milliseconds = 0;
  context_->check(context_->driver().event_elapsed_time(&milliseconds, begin_, end_), "reading the time of two events");
  return std::max(1e6 * static_cast<double>(milliseconds), kResolution);
}

}  // namespace sinter::runtime::cuda
