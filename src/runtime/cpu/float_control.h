// How the calling thread computes with floats. Numbers must not depend on it (SEMANTICS N6): audio hosts and programs
// built with -ffast-math take denormal numbers for zeros, others round towards an end. So every public call has the
// default while it lasts.
#pragma once

#include <xmmintrin.h>

#include <cfenv>
#include <cstdint>

namespace sinter::runtime::cpu {

/// While alive, the thread rounds to nearest, keeps denormals and traps nothing. Then it has back what the program, or
/// a library that it has loaded, had set.
class DefaultFloatEnv {
 public:
  DefaultFloatEnv() { enter(); }
  ~DefaultFloatEnv() { leave(); }
  DefaultFloatEnv(const DefaultFloatEnv&) = delete;
  DefaultFloatEnv& operator=(const DefaultFloatEnv&) = delete;

  /// While alive, the thread has the program's back: for calls of the program's own functions.
  class ProgramFloatEnv {
   public:
    explicit ProgramFloatEnv(DefaultFloatEnv& floats) : floats_(floats) { floats_.leave(); }
    ~ProgramFloatEnv() { floats_.enter(); }
    ProgramFloatEnv(const ProgramFloatEnv&) = delete;
    ProgramFloatEnv& operator=(const ProgramFloatEnv&) = delete;

   private:
    DefaultFloatEnv& floats_;
  };

 private:
  // Reading both control words takes some cycles. Writing them takes far more, and is seldom needed.
  void enter() {
    if ((program_differs_ = !is_default())) set_default();
  }
  void leave() {
    if (program_differs_) std::fesetenv(&before_);
  }
  static bool is_default();
  void set_default();

  bool program_differs_;  ///< the program's is another, and stands in before_
  std::fenv_t before_;
};

/// What `f` computes from plain numbers that it captures by reference. A compiler knows nothing of control words: with
/// a `DefaultFloatEnv` alone it may compute with arguments before the change, and what is returned after the change
/// back. Here the former come from memory that may have changed, and the latter goes there.
template <class F>
auto with_default_float_env(F&& f) {
  const DefaultFloatEnv floats;
  asm volatile("" : : "r"(&f) : "memory");
  auto result = f();
  asm volatile("" : "+m"(result) : : "memory");
  return result;
}

/// SSE computes; what the C library reads and prints goes by the x87's rounding.
inline bool DefaultFloatEnv::is_default() {
  uint16_t x87;
  asm("fnstcw %0" : "=m"(x87));
  constexpr unsigned kFlags = 0x3f, kX87Control = 0xf3f;  // what has happened so far; traps, precision, rounding
  return (_mm_getcsr() & ~kFlags) == 0x1f80 && (x87 & kX87Control) == 0x33f;
}

}  // namespace sinter::runtime::cpu
