// The execution state of a warp: registers, the lanes' program counters, and its block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/instruction.h"
#include "cudasim/regions.h"
#include "runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda::sim {

struct SimBlock;

/// A cp.async of one lane that has not been waited for.
struct AsyncCopy {
  uint32_t at;  ///< the instruction
  int lane;
  uint32_t group;  ///< number of the lane's group, from 0
  uint64_t to, from;
  uint32_t read;  ///< bytes that are read; the rest of what is written is zeros
};

/// Lanes at the same instruction run together. Of several such groups the one with the lowest pc runs, so groups
/// reconverge where their paths meet.
struct Warp {
  static constexpr uint32_t kNowhere = UINT32_MAX;

  std::byte* registers = nullptr;
  SimBlock* block = nullptr;
  uint32_t index = 0;             ///< within its block
  uint32_t pc = 0;                ///< next instruction of the lanes in `active`
  uint32_t active = 0;            ///< lanes that run
  uint32_t alive = 0;             ///< lanes that have not exited
  uint32_t parked = 0;            ///< lanes that wait for others of this warp
  bool parked_at_barrier = true;  ///< or at an instruction that lanes execute together
  uint32_t all = 0;               ///< lanes that the block has
  uint32_t other_pc = kNowhere;   ///< lowest pc of the lanes that could run and are not active
  uint32_t parked_pc = 0;
  uint32_t at = 0;                         ///< the instruction being executed
  ZeroedArray<std::byte> shadow;           ///< exists once memory that was never written was read (poison.h)
  bool waiting = false;                    ///< at a barrier of the block
  const Instruction* reduction = nullptr;  ///< the bar.red that it waits at
  uint32_t barrier = 0;                    ///< when it last left a barrier of the block, or started
  uint32_t grouped = 0, group = 0;         ///< when it last left a barrier of some warps only, and which, as a bit mask
  uint32_t accessed = 0;                   ///< when it last accessed memory that others see
  uint32_t synced = 0;                     ///< when its lanes last synchronized with each other
  uint32_t lane_pc[kLanes] = {};
  std::vector<AsyncCopy> copies;    ///< in order of issue
  uint32_t committed[kLanes] = {};  ///< groups that each lane has closed

  bool done() const { return alive == 0; }
};

/// Saves the pc of the active lanes to lane_pc.
void save_lane_pcs(Warp& warp);
/// Selects the active lanes from lane_pc; none if none can run.
void select_active_lanes(Warp& warp);

/// Ends the launch with a message: kernel, block, thread, instruction and source line, and `what`. Throws Fault.
[[noreturn]] void fail(const Warp& warp, int lane, CudaResult code, const std::string& what);

/// A thread of a block as (x,y,z).
std::string thread_name(const SimBlock& block, uint32_t thread);

/// Location of an instruction as text: kernels.cu:12 `ld.global.f32 %f1, [%rd4];`.
std::string place_of(const SimKernel& kernel, uint32_t instruction);

}  // namespace sinter::runtime::cuda::sim
