#include "runtime/cuda/sim/regions.h"

#include <fmt/core.h>

namespace sinter::runtime::cuda::sim {
namespace {

/// Cells per byte from now on: neighbours within four bytes have different histories.
void refine(Region& region) {
  Zeroed<Cell> fine = zeroed<Cell>(region.bytes + 16);
  for (uint64_t i = 0; region.cells && i < region.bytes; ++i) fine[i] = region.cells[i >> 2];
  region.cells = std::move(fine);
  region.shift = 0;
}

bool is_ordered(const Stamp& before, const Actor& actor) {
  if (before.when < actor.launch) return true;
  if (before.when < actor.block) return false;  // another block of this launch
  if (before.when < actor.barrier || before.thread == actor.thread) return true;
  return before.thread / 32 == actor.thread / 32 && before.when < actor.synced;
}

/// Whether all reads that `read` stands for are ordered before a write of `actor`.
bool reads_are_ordered(const Stamp& read, const Actor& actor) {
  if (read.when < actor.launch) return true;
  if (read.blocks || read.when < actor.block) return false;
  if (read.when < actor.barrier) return true;
  if (read.warps || read.thread / 32 != actor.thread / 32) return false;
  if (read.when < actor.synced) return true;
  return !read.lanes && read.thread == actor.thread;
}

/// The read of `actor` as the latest of those that the cell remembers.
Stamp join_reads(const Stamp& old, const Actor& actor) {
  Stamp read{actor.now, actor.thread, 0, 0, 0, 0, actor.instruction};
  if (old.when < actor.launch) return read;
  read.blocks = old.blocks || old.when < actor.block;
  if (old.when < actor.barrier) return read;
  const bool same_warp = old.thread / 32 == actor.thread / 32;
  read.warps = old.warps || !same_warp;
  read.lanes = same_warp && old.when >= actor.synced && (old.lanes || old.thread != actor.thread);
  return read;
}

const Stamp* note_cell(Cell& cell, Touch touch, const Actor& actor) {
  const bool both_atomic = touch == Touch::Atomic && cell.write.atomic;
  if (!both_atomic && !is_ordered(cell.write, actor)) return &cell.write;
  if (touch == Touch::Read) {
    cell.read = join_reads(cell.read, actor);
    return nullptr;
  }
  if (!reads_are_ordered(cell.read, actor)) return &cell.read;
  cell.write = {actor.now, actor.thread, touch == Touch::Atomic, 0, 0, 0, actor.instruction};
  return nullptr;
}

}  // namespace

std::string Region::name() const { return fmt::format("the {} bytes at {:#x}", bytes, base); }

const Stamp* note_access(Region& region, uint64_t at, uint64_t bytes, Touch touch, const Actor& actor) {
  if (region.shift && (bytes & 3)) refine(region);
  if (!region.cells) region.cells = zeroed<Cell>((region.bytes >> region.shift) + 16);
  const uint64_t end = (at + bytes) >> region.shift;
  for (uint64_t i = at >> region.shift; i < end; ++i)
    if (const Stamp* other = note_cell(region.cells[i], touch, actor)) return other;
  return nullptr;
}

}  // namespace sinter::runtime::cuda::sim
