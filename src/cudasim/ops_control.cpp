// Branches, barriers, exit.
#include <fmt/core.h>

#include "cudasim/launch.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {

/// bar.warp.sync, defined beside the other instructions with a lane mask.
void sync_warp(Warp& warp, const Instruction& in, uint32_t mask);

namespace {

void branch(Warp& warp, const Instruction& in, uint32_t mask) {
  if (mask == warp.active) {
    warp.pc = in.target;
    return;
  }
  save_lane_pcs(warp);
  for_lanes(mask, [&](int lane) { warp.lane_pc[lane] = in.target; });
  select_active_lanes(warp);
}

void branch_by_table(Warp& warp, const Instruction& in, uint32_t mask) {
  const auto& table = warp.block->kernel.tables[in.target];
  save_lane_pcs(warp);
  for_lanes(mask, [&](int lane) {
    const uint32_t index = lanes<uint32_t>(warp, in.source[0])[lane];
    if (index >= table.size())
      fail(warp, lane, CudaResult::InvalidPc, fmt::format("branch {} of a table of {}", index, table.size()));
    warp.lane_pc[lane] = table[index];
  });
  select_active_lanes(warp);
}

/// Fails if lanes of the warp wait at a barrier that the other lanes can no longer reach.
void check_parked(Warp& warp) {
  if (warp.active || !warp.parked) return;
  warp.at = warp.parked_pc;
  fail(warp, std::countr_zero(warp.parked), CudaResult::LaunchFailed,
       fmt::format("the {} was reached by lanes {:#010x} of the warp only, the others have exited: {}",
                   warp.parked_at_barrier ? "barrier" : "instruction", warp.parked,
                   warp.parked_at_barrier ? "divergent barrier" : "inactive lane"));
}

void exit_lanes(Warp& warp, const Instruction&, uint32_t mask) {
  for (const AsyncCopy& copy : warp.copies)
    if (mask >> copy.lane & 1)
      fail(warp, copy.lane, CudaResult::LaunchFailed,
           fmt::format("the thread exits before it waits for the copy of {}: pending copy",
                       place_of(warp.block->kernel, copy.at)));
  save_lane_pcs(warp);
  warp.alive &= ~mask;
  select_active_lanes(warp);
  check_parked(warp);
}

/// The lanes of `mask` wait for the rest of the warp. True once all have arrived.
bool gather(Warp& warp, uint32_t mask) {
  if (mask == warp.all) return true;
  if (warp.parked && warp.parked_pc != warp.at)
    fail(warp, std::countr_zero(mask), CudaResult::LaunchFailed,
         fmt::format("lanes {:#010x} of the warp wait at another barrier, {}: divergent barrier", warp.parked,
                     place_of(warp.block->kernel, warp.parked_pc)));
  save_lane_pcs(warp);
  warp.parked |= mask;
  warp.parked_pc = warp.at;
  warp.parked_at_barrier = true;
  const bool complete = warp.parked == warp.all;
  if (complete) warp.parked = 0;
  select_active_lanes(warp);
  if (!complete) check_parked(warp);
  return complete;
}

struct BarrierUse {
  uint32_t id, threads;
};

BarrierUse barrier_of(Warp& warp, const Instruction& in, uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const SimBlock& block = *warp.block;
  BarrierUse use{lanes<uint32_t>(warp, in.source[0])[lane], (block.threads() + kLanes - 1) / kLanes * kLanes};
  if (in.source[1].at) use.threads = lanes<uint32_t>(warp, in.source[1])[lane];
  if (use.id >= 16)
    fail(warp, lane, CudaResult::IllegalInstruction,
         fmt::format("there is no barrier {}, they are numbered 0 to 15", use.id));
  if (use.threads % kLanes || use.threads == 0)
    fail(warp, lane, CudaResult::IllegalInstruction,
         fmt::format("a barrier for {} threads: their number must be a multiple of 32", use.threads));
  return use;
}

void synchronize(Warp& warp, const Instruction& in, uint32_t mask) {
  const BarrierUse use = barrier_of(warp, in, mask);
  if (gather(warp, mask)) warp.block->arrive(warp, use.id, use.threads, nullptr, true);
}

void arrive(Warp& warp, const Instruction& in, uint32_t mask) {
  const BarrierUse use = barrier_of(warp, in, mask);
  if (gather(warp, mask)) warp.block->arrive(warp, use.id, use.threads, nullptr, false);
}

void synchronize_and_reduce(Warp& warp, const Instruction& in, uint32_t mask) {
  const BarrierUse use = barrier_of(warp, in, mask);
  if (gather(warp, mask)) warp.block->arrive(warp, use.id, use.threads, &in, true);
}

void decode_barrier(Decoder& d) {
  d.out.poison_rule = PoisonRule::MustBeKnown;
  d.take("cta");
  d.take("aligned");
  if (d.take("warp")) {
    d.take("sync");
    d.out.run = sync_warp;
    return d.source(0, 4);
  }
  if (d.take("red")) {
    d.out.mode = static_cast<uint8_t>(std::max(d.take_one({"popc", "and", "or"}), 0));
    d.out.run = synchronize_and_reduce;
    d.result(d.take("u32") ? 4 : 0);
    d.take("pred");
    d.source(0, 4);
    if (d.remaining() == 2) d.source(1, 4);
    return d.source(2, 0);
  }
  d.out.run = d.take("arrive") ? arrive : synchronize;
  d.take("sync");
  d.source(0, 4);
  if (d.remaining()) d.source(1, 4);
}

void trap(Warp& warp, const Instruction&, uint32_t mask) {
  fail(warp, std::countr_zero(mask), CudaResult::LaunchFailed, "the kernel stopped itself");
}

void fence(Warp& warp, const Instruction&, uint32_t mask) { warp.block->order.fence(warp, mask, SimBlock::tick()); }

void do_nothing(Warp&, const Instruction&, uint32_t) {}

void decode_nothing(Decoder& d) {
  d.take_rest();
  while (d.remaining()) d.operand();
  d.out.run = do_nothing;
}

/// Fences of a block's scope order nothing that barriers do not, and those of proxies are of other units.
void decode_fence(Decoder& d) {
  const bool device = d.take_one({"gl", "gpu", "sys"}) >= 0, proxy = d.take("proxy");
  decode_nothing(d);
  if (!device || proxy) return;
  d.out.run = fence;
  d.note_fence();
}

void decode_bra(Decoder& d) {
  d.take("uni");
  const PtxOperand& label = d.operand();
  if (label.kind != PtxOperand::Kind::Label) d.fail("a label was expected");
  d.out.target = d.label(label.index);
  d.out.run = branch;
}

void decode_brx(Decoder& d) {
  d.out.poison_rule = PoisonRule::MustBeKnown;
  d.take("idx");
  d.take("uni");
  d.source(0, 4);
  const PtxOperand& table = d.operand();
  if (table.kind != PtxOperand::Kind::Table) d.fail("a table of branch targets was expected");
  d.out.target = table.index;
  d.out.run = branch_by_table;
}

void decode_exit(Decoder& d) {
  d.take("uni");
  d.out.run = exit_lanes;
}

constexpr Opcode kOpcodes[] = {
    {"bra", decode_bra},
    {"brx", decode_brx},
    {"ret", decode_exit},
    {"exit", decode_exit},
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
    {"trap", [](Decoder& d) { d.out.run = trap; }},
    {"membar", decode_fence},
    {"fence", decode_fence},
    {"nop", decode_nothing},
    {"prefetch", decode_nothing},
    {"nanosleep", decode_nothing},
};

}  // namespace

std::span<const Opcode> control_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
