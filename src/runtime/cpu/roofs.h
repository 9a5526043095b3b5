// How fast this machine can be at best: what kernels are compared with.
#pragma once

namespace sinter::runtime::cpu {

/// Of float32 arithmetic and main memory, with a number of threads.
struct Roofs {
  double flops;  ///< FLOP/s of independent multiply-adds in registers (2 FLOPs each), with the widest vectors there are
  double copy;   ///< bytes/s of a copy much larger than the caches: bytes read plus bytes written, stored past the caches
  double read;   ///< bytes/s of a sum over as much memory
};

/// Measures each roof with `threads` threads (at least 1), each pinned to a CPU of the process's affinity mask, and keeps
/// the best of several rounds. Takes about 0.2 s and, meanwhile, 256 MiB; other work on these CPUs lowers what it finds.
/// Throws std::bad_alloc and, where no thread can be started, std::system_error.
Roofs measure_roofs(int threads);

}  // namespace sinter::runtime::cpu
