// The numbers of a GPU that predictions use. Rates are those of a multiprocessor of an H100, whatever the device.
#pragma once

#include <cstdint>

#include "runtime/base/target.h"

namespace sinter::codegen {

inline constexpr int64_t kSector = 32, kLine = 128;  ///< bytes that memory transfers, and that L1 looks up

// Clocks of an H100 (SIMT kernels run at 1.98 GHz there).
inline constexpr double kClocksPerMicrosecond = 1980;
inline constexpr double kLaunchClocks = 4000;  ///< a launch of an empty kernel in a graph
// Before the last block can finish: estimates, not measured. Both wait for L2, which is nearer than memory.
inline constexpr double kFenceClocks = 350;      ///< of a fence of the device's scope, until what was stored is there
inline constexpr double kTicketClocks = 350;     ///< of an atomic, there and back
inline constexpr double kGlobalLatency = 700;    ///< of a load from L2 or memory
inline constexpr double kL1Latency = 40;         ///< of a load that L1 serves
inline constexpr double kSharedLatency = 30;     ///< of a load from shared memory
inline constexpr double kArithmeticLatency = 4;  ///< until the next operation of a chain
inline constexpr double kShuffle = 25;           ///< latency of an exchange within a warp
inline constexpr double kBarrier = 30;           ///< latency of a barrier
inline constexpr double kIterationsAhead = 4;    ///< iterations of a loop whose loads are under way together
inline constexpr double kUnrolledInstructions = 32;  ///< of a body that the compiler unrolls by itself
inline constexpr double kL1Pass = 1.3;               ///< clocks of a pass over the banks for a load through L1
inline constexpr double kUnused = 2;                 ///< share of issue clocks lost with one warp a scheduler,
inline constexpr double kMaxUnused = 0.5;            ///< and at most; it falls with the square of the warps
inline constexpr double kTagsPerPass = 4;            ///< lines that L1 looks up in a clock
inline constexpr double kIndexInstructions = 0.3;    ///< of an index operation: most become part of an address
inline constexpr double kAddressInstructions = 0.3;  ///< of a load or store
inline constexpr double kBlockInstructions = 30;     ///< of a thread, before and after all loops
inline constexpr double kLoopInstructions = 0.5;     ///< of an iteration of a loop, as far as the compiler unrolls it
inline constexpr double kSpilled = 32;               ///< registers that do not fit and double the work
inline constexpr double kMaxLoaded = 16;             ///< registers of elements that were loaded and wait for their use
inline constexpr int kBaseRegisters = 28;            ///< for addresses and loop variables
inline constexpr double kRegisterShare = 1.4;        ///< registers for each accumulator or operand: ptxas loads ahead

// Tensor cores and asynchronous copies: from the hand-written kernels of clock_model_test.cpp (H100, 2026-11-26), but
// for registers (of NVRTC 13's kernels for sm_90) and kStepInstructions, which is counted.
inline constexpr double kTileRegisterShare = 1.05;  ///< the same for accumulators and fragments of tensor cores
inline constexpr double kAsyncBytes = 0.8;          ///< of a byte that an asynchronous copy moves past L1
inline constexpr double kConditionRegisters =
    7;                                     ///< for each condition of a row or column, with the loads that it guards
inline constexpr double kMmaClocks = 2.1;  ///< of a tensor core's tile, on all four schedulers together
inline constexpr double kMmaLatency = 33;  ///< of a tile, until the next one of a chain
inline constexpr double kStepInstructions = 60;  ///< for each product, where a thread computes a tensor core's step

inline constexpr double kWordBytes = 4;  ///< that a bank of shared memory serves in a pass

/// Terms overlap: the exponent of the norm that joins them. Infinity would be the largest alone.
inline constexpr double kOverlap = 8;

struct GpuClocks {
  double l2_bytes = 22;      ///< between L1 and L2, a clock
  double memory_bytes = 11;  ///< a clock; an H100 copies 3.0 TB/s
  /// Clocks for a byte that is read, by those for one of a copy: hand-written sums of 1 GiB read at 1.03 to 1.04 of a
  /// copy's rate (H100, 2026-11-26). A byte that is written takes what a copy has left.
  double read_share = 0.966;
  int64_t registers = 64 << 10;
  int64_t shared = 0;  ///< bytes for all resident blocks
  int max_threads = 2048;
  int max_blocks = 32;
};

inline GpuClocks gpu_clocks(const runtime::Target& target) {
  GpuClocks clocks;
  clocks.shared = target.shared + 1024;
  if (target.sm < 80 || target.sm == 86 || target.sm == 89 || target.sm >= 120) clocks.max_threads = 1536;
  return clocks;
}

}  // namespace sinter::codegen
