// The peak rates of this machine, which kernels are compared with.
#pragma once

#include <memory>

namespace sinter::runtime::cpu {

/// Peak rates of float32 arithmetic and main memory for a number of threads.
struct Roofline {
  double flops;  ///< FLOP/s of independent multiply-adds (2 FLOPs each) in the widest vector registers
  double copy;   ///< bytes/s, read plus written, of a copy much larger than the caches, with non-temporal stores
  double read;   ///< bytes/s of a sum over the same amount of memory, in several streams
};

/// Runs loops that only the unit in question can limit, with `threads` threads (at least 1), each pinned to a CPU of
/// the process's affinity mask. Holds 256 MiB. Other work on these CPUs lowers the results.
class RooflineBenchmark {
 public:
  /// Throws OutOfMemory, and BackendError if the threads cannot be started. The methods below throw the same
  /// BackendError.
  explicit RooflineBenchmark(int threads);
  ~RooflineBenchmark();

  /// The rate of one round, which takes some milliseconds. Units as in Roofline.
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
