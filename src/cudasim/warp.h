// A warp at work: registers, which lanes stand where, and the block that it belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/instruction.h"
#include "cudasim/regions.h"
#include "runtime/cuda/driver.h"

namespace sinter::runtime::cuda::sim {

struct SimBlock;

/// Lanes that stand at the same instruction run together; of several such groups the one furthest behind runs, so that
/// they meet again where their paths do.
struct Warp {
  static constexpr uint32_t kNowhere = UINT32_MAX;

  std::byte* registers = nullptr;
  SimBlock* block = nullptr;
  uint32_t index = 0;             ///< in its block
  uint32_t pc = 0;                ///< the next instruction of the lanes in `active`
  uint32_t active = 0;            ///< the lanes that run
  uint32_t alive = 0;             ///< those that have not exited
  uint32_t parked = 0;            ///< those that wait for others of this warp
  bool parked_at_barrier = true;  ///< or at an instruction that lanes run together
  uint32_t all = 0;               ///< those that the block has
  uint32_t other_pc = kNowhere;   ///< the least pc among lanes that could run and are not active
  uint32_t parked_pc = 0;
  uint32_t at = 0;                         ///< the instruction that runs now
  ZeroedArray<std::byte> shadow;           ///< once it has read what nothing has written (poison.h)
  bool waiting = false;                    ///< at a barrier of the block
  const Instruction* reduction = nullptr;  ///< bar.red that it waits at
  uint32_t barrier = 0;                    ///< when it last left a barrier of the block, or began
  uint32_t synced = 0;                     ///< when its lanes last synchronised among themselves
  uint32_t lane_pc[kLanes] = {};

  bool done() const { return alive == 0; }
};

/// Writes down where the active lanes stand.
void save_lane_pcs(Warp& warp);
/// Chooses the active lanes from lane_pc; leaves none active if none can run.
void select_active_lanes(Warp& warp);

/// Ends the launch: says kernel, block, thread, instruction and source line besides `what`. Throws Fault.
[[noreturn]] void fail(const Warp& warp, int lane, CudaResult code, const std::string& what);

/// A thread of a block as (x,y,z).
std::string thread_name(const SimBlock& block, uint32_t thread);

/// The place of an instruction in words: kernels.cu:12 `ld.global.f32 %f1, [%rd4];`.
std::string place_of(const SimKernel& kernel, uint32_t instruction);

}  // namespace sinter::runtime::cuda::sim
