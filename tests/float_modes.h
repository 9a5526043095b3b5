// What a program may have set for the floats of its thread: tests run calls of the library among them.
#pragma once

#include <xmmintrin.h>

#include <cfenv>
#include <span>

namespace float_modes {

struct FloatMode {
  const char* name;
  int rounding;
  unsigned mxcsr;  ///< bits beside
  int traps;
};

constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x40;
constexpr FloatMode kModes[] = {
    {"results flushed to zero", FE_TONEAREST, kFlushToZero, 0},
    {"denormals are zeros", FE_TONEAREST, kDenormalsAreZero, 0},
    {"both", FE_TONEAREST, kFlushToZero | kDenormalsAreZero, 0},
    {"downward", FE_DOWNWARD, 0, 0},
    {"upward", FE_UPWARD, 0, 0},
    {"toward zero", FE_TOWARDZERO, 0, 0},
    {"upward, and no denormals", FE_UPWARD, kFlushToZero | kDenormalsAreZero, 0},
    {"traps", FE_TONEAREST, 0, FE_ALL_EXCEPT},
};

/// Those that end no process whose numbers they change.
inline constexpr std::span kWithoutTraps = std::span(kModes).first<std::size(kModes) - 1>();

/// While alive, the thread has that mode.
class ScopedFloatMode {
 public:
  explicit ScopedFloatMode(const FloatMode& mode) {
    std::fegetenv(&before_);
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(mode.rounding);
    _mm_setcsr(_mm_getcsr() | mode.mxcsr);
    if (mode.traps) feenableexcept(mode.traps);
    control_ = control();
  }
  ~ScopedFloatMode() { std::fesetenv(&before_); }
  ScopedFloatMode(const ScopedFloatMode&) = delete;
  ScopedFloatMode& operator=(const ScopedFloatMode&) = delete;

  /// It still has.
  bool holds() const { return control() == control_; }

 private:
  static unsigned control() {
    unsigned short x87;
    asm("fnstcw %0" : "=m"(x87));
    return (_mm_getcsr() & ~0x3fu) << 16 | x87;
  }
  std::fenv_t before_;
  unsigned control_;
};

}  // namespace float_modes
