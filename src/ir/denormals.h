// Denormal floats as zeros (SEMANTICS N7): whether the program wants it, and how a thread computes that way.
#pragma once

#include <xmmintrin.h>

namespace sinter::ir {

/// What the program has set, for the process.
bool flush_denormals();
void set_flush_denormals(bool on);

/// Whether the calling thread's arithmetic takes denormal operands for zeros and gives zeros for denormal results.
/// Inside the library it does so only where a FlushDenormals is alive (SEMANTICS N6).
inline bool flushes_denormals() { return _mm_getcsr() & 0x40; }

/// While alive, the calling thread computes that way, if `on`.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool on) : on_(on) {
    if (!on_) return;
    before_ = _mm_getcsr();
    _mm_setcsr(before_ | kFtzDaz);
  }
  ~FlushDenormals() {
    if (on_) _mm_setcsr(before_);
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr unsigned kFtzDaz = 0x8040;  ///< results flushed to zero, denormals are zeros

  const bool on_;
  unsigned before_ = 0;
};

}  // namespace sinter::ir
