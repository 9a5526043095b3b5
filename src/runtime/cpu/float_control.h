// How the calling thread rounds: kernels are compiled for the default, and threads share their points (SEMANTICS F3).
#pragma once

#include <xmmintrin.h>

namespace sinter::runtime::cpu {

/// While alive, the thread rounds to nearest, keeps denormals and traps nothing, whatever the program, or a library
/// that it has loaded, has set.
class DefaultFloats {
 public:
  DefaultFloats() : before_(_mm_getcsr()) {
    if ((before_ & ~kFlags) != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloats() {
    if ((before_ & ~kFlags) != kDefault) _mm_setcsr(before_);
  }
  DefaultFloats(const DefaultFloats&) = delete;
  DefaultFloats& operator=(const DefaultFloats&) = delete;

 private:
  static constexpr unsigned kDefault = 0x1f80, kFlags = 0x3f;  ///< all exceptions masked; what has happened so far
  const unsigned before_;
};

}  // namespace sinter::runtime::cpu
