// The floating-point environment of the calling thread. Results must not depend on it (SEMANTICS N6). Audio hosts and
// programs built with -ffast-math flush denormals to zero; others round up or down. So every public call runs in the
// default environment.
#pragma once

#include <xmmintrin.h>

#include <cfenv>
#include <cstdint>
#include <utility>

namespace sinter::runtime::cpu {

/// While alive, the thread rounds to nearest, keeps denormals and traps nothing. The destructor restores what the
/// program, or a library that it loaded, had set.
class DefaultFloatEnv {
 public:
  DefaultFloatEnv() {
    if (!outermost_) outermost_ = this;
    save();
  }
  ~DefaultFloatEnv() {
    restore();
    if (outermost_ == this) outermost_ = nullptr;
  }
  DefaultFloatEnv(const DefaultFloatEnv&) = delete;
  DefaultFloatEnv& operator=(const DefaultFloatEnv&) = delete;

  /// While alive, the program's environment is back, for calls of the program's own functions.
  class ProgramFloatEnv {
   public:
    ProgramFloatEnv() : outermost_(std::exchange(DefaultFloatEnv::outermost_, nullptr)) {
      if (outermost_) outermost_->restore();
    }
    ~ProgramFloatEnv() {
      if (outermost_) outermost_->save();
      DefaultFloatEnv::outermost_ = outermost_;
    }
    ProgramFloatEnv(const ProgramFloatEnv&) = delete;
    ProgramFloatEnv& operator=(const ProgramFloatEnv&) = delete;

   private:
    DefaultFloatEnv* const outermost_;
  };

 private:
  // Reading both control words takes a few cycles. Writing them takes far more and is rarely needed.
  void save() {
    if ((program_differs_ = !is_default())) set_default();
  }
  void restore() {
    if (program_differs_) std::fesetenv(&before_);
  }
  static bool is_default();
  void set_default();

  /// Of this thread. What is nested in it finds the default environment.
  static inline thread_local constinit DefaultFloatEnv* outermost_ = nullptr;

  bool program_differs_;  ///< the program's environment is not the default; saved in before_
  std::fenv_t before_;
};

/// Calls `f`, which computes with plain numbers captured by reference. A compiler knows nothing of control words: with
/// a `DefaultFloatEnv` alone it may move computations on the arguments before the constructor, and computations on the
/// result after the destructor. The asm statements prevent both: the arguments come from memory that may have changed,
/// and the result goes to memory.
template <class F>
auto with_default_float_env(F&& f) {
  const DefaultFloatEnv floats;
  asm volatile("" : : "r"(&f) : "memory");
  auto result = f();
  asm volatile("" : "+m"(result) : : "memory");
  return result;
}

/// Arithmetic uses SSE. The C library's parsing and printing follow the x87's rounding.
inline bool DefaultFloatEnv::is_default() {
  uint16_t x87;
  asm volatile("fnstcw %0" : "=m"(x87));  // the control word is no operand, so another call may have changed it
  constexpr unsigned kFlags = 0x3f, kX87Control = 0xf3f;  // status flags; traps, precision, rounding
  return (_mm_getcsr() & ~kFlags) == 0x1f80 && (x87 & kX87Control) == 0x33f;
}

}  // namespace sinter::runtime::cpu
