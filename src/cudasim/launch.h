// One launch: the blocks of a grid, one after another, on a kernel that was decoded.
#pragma once

#include <array>
#include <random>

#include "cudasim/cost_counters.h"
#include "cudasim/device_memory.h"
#include "cudasim/fault.h"
#include "cudasim/instruction.h"
#include "cudasim/warp.h"

namespace sinter::runtime::cuda::sim {

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint64_t dynamic_shared = 0;
};

struct LaunchOptions {
  uint64_t seed = 0;   ///< decides the order in which warps run
  bool check = true;   ///< shadow memory: races and what was never written
  uint32_t since = 0;  ///< work of other launches since this time has no order with this one; 0: there is none
  uint64_t instructions = UINT64_MAX;  ///< that all warps may run together: a kernel that runs more never ends
};

struct Barrier {
  uint32_t expected = 0, arrived = 0;  ///< threads
  uint32_t votes = 0;                  ///< of those that arrived with bar.red: whose predicate is true
  std::vector<uint32_t> waiting;       ///< warps
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
  std::map<uint32_t, std::string> unwritten{};  ///< per load: a byte that it read and nothing had written, in words
  std::vector<MemoryRegion*> hints{};           ///< per instruction: the allocation that it touched last
  // Times of AccessStamp. What was done before `ordered` is done; what was done since by others than this block may be
  // done now.
  uint32_t ordered = 0, launched = 0, started = 0;

  uint32_t threads() const { return shape.block[0] * shape.block[1] * shape.block[2]; }
  /// The warp's lanes have all reached barrier `id`. `threads`: how many it waits for; `reduction`: bar.red, or null;
  /// `stay`: the warp waits for the others, unlike at bar.arrive.
  void arrive(Warp& warp, uint32_t id, uint32_t threads, const Instruction* reduction, bool stay);
  /// The time of AccessStamp now, and one later.
  static uint32_t time();
  static uint32_t tick();
};

/// Runs all blocks. `params` is the block of parameters. Throws Fault.
void run_launch(const SimKernel& kernel, DeviceMemory& memory, const LaunchShape& shape, const std::byte* params,
                const LaunchOptions& options, CostCounters& counters);

}  // namespace sinter::runtime::cuda::sim
