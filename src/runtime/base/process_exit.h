// Ending the process while threads compile. exit(), and a return from main, destroy the static objects of the compiler
// libraries (LLVM, NVRTC). A compilation in progress does not survive that. A compilation by an external program would
// leave files behind.
#pragma once

namespace sinter::runtime {

/// Held while such a library is opened or a kernel is compiled. When main returns or calls exit(), the process waits
/// for all guards that count. It also waits if another thread calls exit(), with one exception: while a library is
/// loaded, some milliseconds, the objects that its constructors have made so far may be destroyed first.
class ProcessExitGuard {
 public:
  /// A guard constructed after exit has begun does not count, unless it is nested in one that does. On the exiting
  /// thread the constructor then returns at once. On any other thread it waits for the end, but at most two seconds,
  /// because the destructor of a static object may be waiting for that thread.
  ProcessExitGuard();
  ~ProcessExitGuard();
  ProcessExitGuard(const ProcessExitGuard&) = delete;
  ProcessExitGuard& operator=(const ProcessExitGuard&) = delete;
  explicit operator bool() const { return blocks_exit_; }

  /// While alive, guards of this thread are nested in a guard of the thread that waits for this one.
  class Share {
   public:
    explicit Share(const ProcessExitGuard& guard);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    const ProcessExitGuard* const before_;
  };

 private:
  bool blocks_exit_;
};

/// Call after opening such a library. From now on exit also waits before it destroys the objects created by then.
/// open_permanent_library() sees to those of later.
void note_compiler_opened();

/// Exit has begun: no such library may be used any more.
bool process_exiting();

}  // namespace sinter::runtime
