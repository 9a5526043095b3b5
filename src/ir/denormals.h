// Flushing denormal floats to zero (SEMANTICS N7): whether the program wants it, and the thread state that does it.
#pragma once

#include <xmmintrin.h>

namespace sinter::ir {

/// The program's setting, per process.
bool flush_denormals();
void set_flush_denormals(bool on);

/// Whether the calling thread treats denormal operands as zeros and flushes denormal results. Inside the library only
/// while a FlushDenormals is alive (SEMANTICS N6).
inline bool flushes_denormals() { return _mm_getcsr() & 0x40; }

/// While alive, the calling thread flushes denormals, if `on`.
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
  static constexpr unsigned kFtzDaz = 0x8040;  ///< FTZ and DAZ: results flushed, operands taken as zeros

  const bool on_;
  unsigned before_ = 0;
};

}  // namespace sinter::ir
