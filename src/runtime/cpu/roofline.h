// How fast this machine can be at best: what kernels are compared with.
#pragma once

#include <memory>

namespace sinter::runtime::cpu {

/// Of float32 arithmetic and main memory, with a number of threads.
struct Roofline {
  double flops;  ///< FLOP/s of independent multiply-adds in registers (2 FLOPs each), with the widest vectors there are
  double
      copy;  ///< bytes/s of a copy much larger than the caches: bytes read plus bytes written, stored past the caches
  double read;  ///< bytes/s of a sum over as much memory
};

/// Loops that nothing but the unit in question limits, with `threads` threads (at least 1), each pinned to a CPU of the
/// process's affinity mask. Keeps 256 MiB. Other work on these CPUs lowers what it finds.
class RooflineBenchmark {
 public:
  /// Throws OutOfMemory and, like what follows, BackendError where the threads cannot be started.
  explicit RooflineBenchmark(int threads);
  ~RooflineBenchmark();

  /// The rate of one round, which takes some milliseconds; units as in Roofline.
  double flops();
  double copy();
  double read();

 private:
  struct Memory;
  const int threads_;
  std::unique_ptr<Memory> memory_;
};

/// The best of several rounds of each, in about 0.2 s. Throws what RooflineBenchmark throws.
Roofline measure_roofline(int threads);

}  // namespace sinter::runtime::cpu
