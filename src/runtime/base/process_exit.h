// The end of the process while threads compile. exit(), and a return from main, destroy the static objects of libraries
// that compile (LLVM, NVRTC), also those that a first compilation makes while it runs, and no compilation survives
// that. One by another program would leave files behind.
#pragma once

namespace sinter::runtime {

/// Opening such a library, or a compilation. When main returns or calls exit(), the end waits for those that count.
/// Where another thread calls exit(), it waits too, but during a library's first compilation it may destroy before what
/// that one has made by then.
class ProcessExitGuard {
 public:
  /// Does not count once the process ends, unless it is part of work that does. A thread that comes then is the one
  /// that ends the process, and has its answer at once, or another one, which waits for the end: two seconds, because
  /// the destructor of a static object may be waiting for this thread.
  ProcessExitGuard();
  ~ProcessExitGuard();
  ProcessExitGuard(const ProcessExitGuard&) = delete;
  ProcessExitGuard& operator=(const ProcessExitGuard&) = delete;
  explicit operator bool() const { return blocks_exit_; }

 private:
  bool blocks_exit_;
};

/// Says that such a library was opened, or has compiled for the first time: from now on the end waits before it
/// destroys the objects that were made by then, too.
void note_compiler_opened();

/// The end has begun: no such library may be used any more.
bool process_exiting();

}  // namespace sinter::runtime
