// Race detection: who accessed a byte last, and whether that access is ordered before the current one. Inline, because
// it runs for each lane of each access.
#pragma once

#include "cudasim/block_order.h"
#include "cudasim/regions.h"

namespace sinter::runtime::cuda::sim {

/// The accessing thread, and the times since which earlier accesses are ordered before it.
struct Actor {
  uint32_t now = 0;
  uint32_t launch = 0, block = 0;   ///< when these began
  uint32_t barrier = 0;             ///< when the warp last left a block barrier
  uint32_t grouped = 0, group = 0;  ///< when it last left a barrier of some warps only, and which, as a bit mask
  uint32_t synced = 0;              ///< when the warp last synchronized its lanes
  uint16_t thread = 0;
  uint16_t instruction = 0;
  const BlockOrder* order = nullptr;  ///< null if no block of the launch has released anything
};

enum class AccessKind : uint8_t { Read, Write, Atomic };

/// Whether a barrier of some warps separates an access of one thread, in the actor's block, from the actor's.
inline bool group_orders(const AccessStamp& before, const Actor& actor) {
  return before.when < actor.grouped && (actor.group >> before.thread / 32 & 1);
}

inline bool is_ordered(const AccessStamp& before, const Actor& actor) {
  if (before.when < actor.launch) return true;
  if (before.when < actor.block) return actor.order && actor.order->acquired(before, actor);
  if (before.when < actor.barrier || before.thread == actor.thread || group_orders(before, actor)) return true;
  return before.thread / 32 == actor.thread / 32 && before.when < actor.synced;
}

/// Whether all reads that `read` stands for are ordered before a write by `actor`.
inline bool reads_are_ordered(const AccessStamp& read, const Actor& actor) {
  if (read.when < actor.launch) return true;
  if (read.blocks && !(actor.order && !read.withheld && actor.order->acquired_all(actor))) return false;
  if (read.when < actor.block) return actor.order && actor.order->acquired(read, actor);
  if (read.when < actor.barrier) return true;
  if (read.warps) return false;
  if (group_orders(read, actor)) return true;
  if (read.thread / 32 != actor.thread / 32) return false;
  if (read.when < actor.synced) return true;
  return !read.lanes && read.thread == actor.thread;
}

/// The actor's read, merged with the earlier reads that the cell records.
inline AccessStamp join_reads(const AccessStamp& old, const Actor& actor) {
  AccessStamp read{actor.now, actor.thread, 0, 0, 0, 0, 0, actor.instruction};
  if (old.when < actor.launch) return read;
  const bool other = old.when < actor.block;
  read.blocks = old.blocks || other;
  read.withheld = old.withheld || (other && !(actor.order && actor.order->released(old)));
  if (old.when < actor.barrier || (!old.warps && group_orders(old, actor))) return read;
  const bool same_warp = old.thread / 32 == actor.thread / 32;
  read.warps = old.warps || !same_warp;
  read.lanes = same_warp && old.when >= actor.synced && (old.lanes || old.thread != actor.thread);
  return read;
}

/// Records an access. Returns the earlier access that races with it, or null. Two accesses race if at least one is a
/// write, not both are atomic, and neither a barrier nor a launch nor what BlockOrder knows separates them.
template <AccessKind kTouch>
const AccessStamp* note_cell(ShadowCell& cell, const Actor& actor) {
  const bool both_atomic = kTouch == AccessKind::Atomic && cell.write.atomic;
  if (!both_atomic && !is_ordered(cell.write, actor)) return &cell.write;
  if constexpr (kTouch == AccessKind::Read) {
    cell.read = join_reads(cell.read, actor);
  } else {
    if (!reads_are_ordered(cell.read, actor)) return &cell.read;
    cell.write = {actor.now, actor.thread, kTouch == AccessKind::Atomic, 0, 0, 0, 0, actor.instruction};
  }
  return nullptr;
}

}  // namespace sinter::runtime::cuda::sim
