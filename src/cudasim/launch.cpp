#include "cudasim/launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "cudasim/poison.h"
#include "cudasim/warp_lanes.h"

namespace sinter::runtime::cuda::sim {
namespace {

// Range of the number of instructions a warp runs before another one: short enough that warps interleave, long enough
// to be cheap.
constexpr uint32_t kShortestSlice = 8, kLongestSlice = 256;

// Times are unique across launches: one counter for the process.
uint32_t now = 1;

/// Marks everything outside the variables as red zones.
void reset_states(MemoryRegion& region, const std::vector<VariableLayout>& placed, uint64_t copies, uint64_t extent,
                  uint64_t dynamic) {
  std::memset(region.state.get(), kRed, region.bytes);
  for (uint64_t copy = 0; copy < copies; ++copy)
    for (const VariableLayout& variable : placed) {
      uint8_t* state = region.state.get() + copy * extent + variable.at;
      std::memset(state, kUninitialized, variable.dynamic ? dynamic : variable.bytes);
      std::memset(state + variable.bytes, kPadding, variable.padding);
    }
}

uint64_t shared_extent(const SimKernel& kernel, const LaunchShape& shape) {
  uint64_t extent = kernel.shared_bytes;
  for (const VariableLayout& variable : kernel.shared)
    if (variable.dynamic) extent = std::max(extent, variable.at + shape.dynamic_shared);
  return extent + kRedZone;
}

uint32_t special_value(const SpecialRegister& special, const SimBlock& block, uint32_t thread) {
  const auto& threads = block.shape.block;
  const uint32_t lane = thread % kLanes, axis = static_cast<uint32_t>(special.which);
  const uint32_t position[3] = {thread % threads[0], thread / threads[0] % threads[1],
                                thread / threads[0] / threads[1]};
  switch (special.kind) {
    case SpecialRegisterKind::Thread: return position[axis];
    case SpecialRegisterKind::Threads: return threads[axis];
    case SpecialRegisterKind::Block: return block.index[axis];
    case SpecialRegisterKind::Blocks: return block.shape.grid[axis];
    case SpecialRegisterKind::Lane: return lane;
    case SpecialRegisterKind::Warp: return thread / kLanes;
    case SpecialRegisterKind::Warps: return (block.threads() + kLanes - 1) / kLanes;
    case SpecialRegisterKind::Clock: return now;
    case SpecialRegisterKind::LaneMask: {
      const uint32_t equal = 1u << lane, below = equal - 1;
      const uint32_t masks[] = {equal, below | equal, below, ~below, ~(below | equal)};
      return masks[axis];
    }
  }
  return 0;
}

class BlockRunner {
 public:
  BlockRunner(SimBlock& block, std::mt19937_64& random)
      : block_(block),
        registers_(block.warps.size(), fresh_registers()),
        random_(random),
        left_(block.options.instructions) {}

  void run() {
    start();
    for (;;) {
      runnable_.clear();
      for (uint32_t i = 0; i < block_.warps.size(); ++i)
        if (!block_.warps[i].done() && !block_.warps[i].waiting) runnable_.push_back(i);
      if (runnable_.empty()) break;
      Warp& warp = block_.warps[runnable_[random_() % runnable_.size()]];
      const bool alone = runnable_.size() == 1;
      run_slice(warp, alone ? UINT64_MAX : kShortestSlice + random_() % kLongestSlice);
    }
    check_barriers();
  }

 private:
  void start() {
    block_.started = block_.joined = ++now;
    block_.order.begin_block(block_.started);
    reset_states(block_.shared, block_.kernel.shared, 1, 0, block_.shape.dynamic_shared);
    reset_states(block_.local, block_.kernel.local, block_.threads(), block_.kernel.local_bytes, 0);
    for (Barrier& barrier : block_.barriers) barrier = {};
    for (uint32_t i = 0; i < block_.warps.size(); ++i) {
      Warp& warp = block_.warps[i];
      warp = Warp();
      warp.registers = registers_[i].data();
      warp.block = &block_;
      warp.index = i;
      warp.barrier = block_.started;
      const uint32_t threads = std::min<uint32_t>(kLanes, block_.threads() - i * kLanes);
      warp.all = warp.alive = warp.active = threads == kLanes ? kAllLanes : (1u << threads) - 1;
      for (const SpecialRegister& special : block_.kernel.specials)
        for (uint32_t lane = 0; lane < kLanes; ++lane) {
          const uint32_t value = special_value(special, block_, i * kLanes + lane);
          if (special.slot.bytes == 8)
            lanes<uint64_t>(warp, special.slot)[lane] = value;
          else
            lanes<uint32_t>(warp, special.slot)[lane] = value;
        }
    }
  }

  /// A register file with zeros and constants and no unknown bits.
  std::vector<std::byte> fresh_registers() const {
    const auto* bytes = reinterpret_cast<const std::byte*>(block_.kernel.registers.data());
    return {bytes, bytes + block_.kernel.registers.size()};
  }

  void run_slice(Warp& warp, uint64_t slice) {
    const Instruction* code = block_.kernel.code.data();
    uint64_t lane_instructions = 0;
    uint32_t counted = 0, running = 0;  // lanes, and how many: they change at few instructions
    const uint64_t most = std::min(slice, left_);
    uint64_t run = 0;
    for (; run < most && warp.active && !warp.waiting; ++run) {
      if (warp.pc >= warp.other_pc) {
        save_lane_pcs(warp);
        select_active_lanes(warp);
      }
      const Instruction& in = code[warp.pc];
      warp.at = warp.pc++;
      if (warp.active != counted) running = static_cast<uint32_t>(std::popcount(counted = warp.active));
      lane_instructions += running;
      const uint32_t mask = warp.active & (predicate(warp, in.guard) ^ in.guard_flip);
      if (warp.shadow) follow_poison(warp, in, mask);
      if (mask) in.run(warp, in, mask);
    }
    block_.counters.lane_instructions += lane_instructions;
    left_ -= run;
    if (left_ == 0 && warp.active && !warp.waiting)
      fail(warp, std::countr_zero(warp.active), CudaResult::LaunchTimeout,
           fmt::format("the launch does not end: its warps have run {} instructions", block_.options.instructions));
  }

  /// Call when nothing can run any more: either all threads have exited, or some wait for others that never arrive.
  void check_barriers() {
    for (uint32_t id = 0; id < block_.barriers.size(); ++id) {
      const Barrier& barrier = block_.barriers[id];
      if (barrier.waiting.empty()) continue;
      fail(block_.warps[barrier.waiting[0]], 0, CudaResult::LaunchFailed,
           fmt::format("deadlock: barrier {} was reached by {} of {} threads, the others have exited or wait elsewhere",
                       id, barrier.arrived, barrier.expected));
    }
  }

  SimBlock& block_;
  std::vector<std::vector<std::byte>> registers_;
  std::mt19937_64& random_;
  uint64_t left_;  ///< instructions left before the launch's limit
  std::vector<uint32_t> runnable_;
};

// Instruction::mode of bar.red.
constexpr uint8_t kCount = 0, kAnd = 1;

void write_reduction(Warp& warp, const Instruction& in, const Barrier& barrier, uint32_t threads) {
  if (in.mode == kCount)
    return assign(lanes<uint32_t>(warp, in.result[0]), warp.all, [&](int) { return barrier.votes; });
  const bool yes = in.mode == kAnd ? barrier.votes == threads : barrier.votes != 0;
  assign_predicate(warp, in.result[0], warp.all, yes ? kAllLanes : 0);
}

}  // namespace

CostCounters& operator+=(CostCounters& counters, const CostCounters& more) {
  counters.launches += more.launches;
  counters.lane_instructions += more.lane_instructions;
  counters.barriers += more.barriers;
  counters.global_requests += more.global_requests;
  counters.global_lanes += more.global_lanes;
  counters.global_bytes += more.global_bytes;
  counters.sectors += more.sectors;
  counters.ideal_sectors += more.ideal_sectors;
  counters.shared_requests += more.shared_requests;
  counters.wavefronts += more.wavefronts;
  counters.ideal_wavefronts += more.ideal_wavefronts;
  counters.atomics += more.atomics;
  counters.matrix_steps += more.matrix_steps;
  return counters;
}

void SimBlock::arrive(Warp& warp, uint32_t id, uint32_t threads, const Instruction* reduction, bool stay) {
  Barrier& barrier = barriers[id];
  if (barrier.arrived == 0) barrier.expected = threads;
  if (barrier.expected != threads)
    fail(warp, 0, CudaResult::LaunchFailed,
         fmt::format("barrier {} is used for {} threads and for {} at once", id, barrier.expected, threads));
  barrier.arrived += kLanes;  // all lanes of a warp are counted
  barrier.group |= 1u << warp.index;
  order.arrive(warp, barrier.known);
  if (reduction)
    barrier.votes += static_cast<uint32_t>(std::popcount(source_predicate(warp, *reduction, 2) & warp.all));
  warp.reduction = reduction;
  if (stay) {
    warp.waiting = true;
    barrier.waiting.push_back(warp.index);
  }
  if (barrier.arrived < barrier.expected) return;
  if (barrier.arrived > barrier.expected)
    fail(warp, 0, CudaResult::LaunchFailed,
         fmt::format("barrier {} was reached by {} threads and is for {}", id, barrier.arrived, barrier.expected));
  ++now;
  const bool all = stands_for_all(barrier.group);
  if (static_cast<size_t>(std::popcount(barrier.group)) == warps.size()) joined = now;
  for (const uint32_t i : barrier.waiting) {
    warps[i].waiting = false;
    if (all)
      warps[i].barrier = now;
    else
      warps[i].grouped = now, warps[i].group = barrier.group;
    order.leave(warps[i], barrier.known);
    if (warps[i].reduction)
      write_reduction(warps[i], *warps[i].reduction, barrier, std::min(barrier.expected, this->threads()));
  }
  barrier = {};
  ++counters.barriers;
}

bool SimBlock::stands_for_all(uint32_t group) const {
  return std::ranges::all_of(warps, [&](const Warp& w) { return (group >> w.index & 1) || w.accessed < joined; });
}

uint32_t SimBlock::tick() { return ++now; }
uint32_t SimBlock::time() { return now; }

void run_launch(const SimKernel& kernel, DeviceMemory& memory, const LaunchShape& shape, const std::byte* params,
                const LaunchOptions& options, CostCounters& counters) {
  const uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2], warps = (threads + kLanes - 1) / kLanes;
  ++counters.launches;
  SimBlock block{kernel,
                 memory,
                 shape,
                 options,
                 counters,
                 MemoryRegion(kSharedWindow, shared_extent(kernel, shape)),
                 MemoryRegion(kLocalWindow, kernel.local_bytes * threads)};
  block.params = params;
  block.warps.resize(warps);
  block.hints.resize(kernel.code.size());
  block.launched = ++now;
  block.ordered_before = options.unordered_since ? options.unordered_since : block.launched;
  std::mt19937_64 random(options.seed);
  BlockRunner runner(block, random);
  const uint64_t blocks = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  // Which block is the last one must follow from what they tell each other, so it is another one for each seed.
  std::vector<uint64_t> shuffled(kernel.has_fences ? blocks : 0);
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::ranges::shuffle(shuffled, random);
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint64_t number = shuffled.empty() ? i : shuffled[i];
    block.index = {static_cast<uint32_t>(number % shape.grid[0]),
                   static_cast<uint32_t>(number / shape.grid[0] % shape.grid[1]),
                   static_cast<uint32_t>(number / shape.grid[0] / shape.grid[1])};
    runner.run();
  }
}

}  // namespace sinter::runtime::cuda::sim
