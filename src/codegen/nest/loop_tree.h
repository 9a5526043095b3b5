// The loops of a kernel as a tree of statements. Neighbors that run over the same range share a loop.
#pragma once

#include <string>
#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// A loop or a leaf. Leaves of a REDUCE: Init sets up its accumulators, Update takes one element, Finish combines them.
/// Barrier: the threads of a block synchronize.
/// Ring tiles (codegen/nest/ring.h): FillFirst fills for the first iteration of the loop after it, FillNext for the
/// next iteration of the loop around it, if there is one. In FillNext a STORE is split: Fetch loads its value into
/// registers, Put stores them to the tile later. With asynchronous copies a STORE is a Copy, which begins one;
/// FillFirst fills all slots but one, FillNext fills that one, and Wait waits for the copies to the slot of this
/// iteration.
struct LoopItem {
  enum class ItemKind : uint8_t {
    Loop,
    Init,
    Update,
    Finish,
    Store,
    Barrier,
    FillFirst,
    FillNext,
    Fetch,
    Put,
    Copy,
    Wait
  } kind;
  int statement = -1;    ///< of leaves other than Barrier; of Wait: one that is waited for
  LoopLevel level = {};  ///< of Loop, FillFirst and FillNext
  bool has_body() const { return kind == ItemKind::Loop || kind == ItemKind::FillFirst || kind == ItemKind::FillNext; }
  std::vector<LoopItem> body = {};
};

/// In: statements, sources first. Out: items in execution order. A statement joins the open loop of an earlier one if
/// it has the same loop at that depth and needs nothing that is complete only after the loop. A REDUCE needed in two
/// loops that cannot be fused is computed in each: the duplicates are added to `statements`.
std::vector<LoopItem> make_loop_tree(Statements& statements);

/// Whether ring tiles are filled where they are used, or one iteration ahead (after pipeline_ring_fills()).
enum class RingFills : uint8_t { InPlace, Pipelined };

/// Throws InternalError unless each statement appears once, in its loops, after what it depends on, and reads results
/// and tiles in the same iteration of the loops around their writer. A pipelined fill has a FillFirst, a Fetch and a
/// Put with the same statements for the same loop; the three count as one appearance, at the Fetch. Barriers may stand
/// anywhere.
void verify(const std::vector<LoopItem>& tree, const Statements& statements, RingFills fills = RingFills::InPlace);

/// A kernel's loops under a list of Opts, up to its ring fills.
struct LoopNest {
  LoopSchedule schedule;
  FreeRanges ranges;
  Statements statements;
  std::vector<LoopItem> tree;
};
/// Throws IllegalOpt if the kernel cannot run with these Opts.
LoopNest make_loop_nest(const Kernel& kernel, const std::vector<Opt>& opts);

/// Whether a kernel can run with these Opts. Heuristics and search ask this before they propose. `kernel`: a part of a
/// NormalizedKernel (codegen/codegen.h).
bool is_legal(const Kernel& kernel, const std::vector<Opt>& opts);

/// The reduction (its statement) that is updated in `items`, if nothing else happens there; else -1.
int only_reduce(const std::vector<LoopItem>& items);

/// The sums over a range that are updated in `items`, but for those in steps of a tensor core, which no step of zeros
/// changes.
std::vector<int> sums_over(UOp range, const std::vector<LoopItem>& items, const Statements& statements);

/// The range of a loop, and the ranges of all loops inside it.
std::vector<UOp> ranges_of(const LoopItem& loop);

/// The tree as indented text.
std::string to_string(const std::vector<LoopItem>& tree);

}  // namespace sinter::codegen
