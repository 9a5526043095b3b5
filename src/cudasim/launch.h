// Executes one launch: the blocks of a grid, one after another, on a decoded kernel.
#pragma once

#include <array>
#include <random>

#include "cudasim/block_order.h"
#include "cudasim/device_memory.h"
#include "cudasim/fault.h"
#include "cudasim/instruction.h"
#include "cudasim/warp.h"
#include "runtime/cuda/simulator_api.h"

namespace sinter::runtime::cuda::sim {

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint64_t dynamic_shared = 0;
};

struct LaunchOptions {
  uint64_t seed = 0;  ///< determines the order in which warps run, and the blocks of a kernel with fences
  bool check = true;  ///< shadow memory: races and reads of bytes that were never written
  uint32_t unordered_since =
      0;  ///< other launches' work after this time is unordered with this launch; 0: there is none
  uint64_t instructions = UINT64_MAX;  ///< limit for all warps together; a kernel that exceeds it is considered endless
};

struct Barrier {
  uint32_t expected = 0, arrived = 0;  ///< threads
  uint32_t votes = 0;                  ///< threads that arrived with bar.red and a true predicate
  uint32_t group = 0;                  ///< warps that arrived, as a bit mask
  std::vector<uint32_t> waiting;       ///< warps
  BlockOrder::Known known{};           ///< by those that arrived
};

struct SimBlock {
  const SimKernel& kernel;
  DeviceMemory& memory;
  const LaunchShape& shape;
  const LaunchOptions& options;
  CostCounters& counters;
  MemoryRegion shared, local;
  const std::byte* params = nullptr;
  std::array<uint32_t, 3> index{};
  std::array<Barrier, 16> barriers{};
  std::vector<Warp> warps{};
  std::map<uint32_t, std::string> unwritten{};  ///< per load, a description of a byte it read that was never written
  std::vector<MemoryRegion*> hints{};           ///< per instruction, the last allocation it touched
  BlockOrder order{};
  // Times as in AccessStamp. Everything before `ordered_before` is done. Everything after it that is not by this block
  // may be concurrent.
  uint32_t ordered_before = 0, launched = 0, started = 0;
  uint32_t joined = 0;  ///< when the last barrier of all warps ended, or the block began

  uint32_t threads() const { return shape.block[0] * shape.block[1] * shape.block[2]; }
  /// All lanes of the warp have reached barrier `id`. `threads`: how many the barrier waits for. `reduction`: bar.red,
  /// or null. `stay`: the warp waits for the others, unlike at bar.arrive.
  void arrive(Warp& warp, uint32_t id, uint32_t threads, const Instruction* reduction, bool stay);
  /// Whether a barrier of the warps in `group` is as good as one of all: no other has accessed memory since the last
  /// one of all.
  bool stands_for_all(uint32_t group) const;
  /// The current time for AccessStamp; tick() advances it.
  static uint32_t time();
  static uint32_t tick();
};

CostCounters& operator+=(CostCounters& counters, const CostCounters& more);

/// Runs all blocks. `params` is the parameter block. Throws Fault.
void run_launch(const SimKernel& kernel, DeviceMemory& memory, const LaunchShape& shape, const std::byte* params,
                const LaunchOptions& options, CostCounters& counters);

}  // namespace sinter::runtime::cuda::sim
