// Predicts the clocks of a kernel on a GPU under given Opts, from its statements and the numbers of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/loopschedule/opt.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// What bounds a launch, in clocks of a multiprocessor. Units work side by side, so the largest term counts; others
/// that are close to it add a little.
struct ClockTerms {
  double issue = 0;    ///< instructions, four warps a clock
  double tensor = 0;   ///< tiles of tensor cores
  double shared = 0;   ///< passes over the banks of shared memory and over lines of L1
  double l2 = 0;       ///< bytes between L1 and L2
  double memory = 0;   ///< bytes between L2 and memory
  double reread = 0;   ///< of these, what one wave of blocks read already, and the next one reads again
  double touched = 0;  ///< bytes of memory that the launch touches, each once
  double latency = 0;  ///< chains of dependent operations in a block, for each wave of blocks

  double start = 0;  ///< what stands before all of these: the launch, or the tickets of a last block

  int64_t blocks = 0;
  int threads = 0;
  int registers = 0;  ///< of a thread, estimated
  int resident = 0;   ///< blocks that a multiprocessor holds at once; 0: not even one
  double code = 0;    ///< instructions in the kernel's text: what its compilation takes

  double clocks() const;
  /// The name of the largest term.
  const char* bound() const;
  double microseconds() const;
};

/// Blocks of `threads` threads that a multiprocessor holds as far as their registers go.
int resident_by_registers(int registers, int threads, const runtime::Target& target);

/// "12.3 us by memory: issue 1200 shared 300 ...".
std::string to_string(const ClockTerms& terms);

/// The terms of a launch; symbolic sizes count with their upper bounds. `kernel`: normalized. nullopt if an Opt is not
/// legal. Of a last block, what stands before it is left out: see predict_epilogue().
///
/// A thread evaluates a node once for each iteration of the loops down to the innermost one that the node depends on,
/// and for each lane and copy along the ranges that it depends on. Threads that share the work of a statement divide
/// its iterations. Threads that do not repeat it, and the prediction says so.
std::optional<ClockTerms> predict_clocks(const Kernel& kernel, const std::vector<Opt>& opts,
                                         const runtime::Target& target);

}  // namespace sinter::codegen
