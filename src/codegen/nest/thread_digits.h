// The threads of a GPU's block: which of them runs what, and where they wait for each other.
#pragma once

#include <vector>

#include "codegen/nest/loop_tree.h"
#include "codegen/ssa/block_writer.h"

namespace sinter::codegen {

/// A digit of the thread's number in its block, Index: number / stride % count.
Id thread_digit(BlockWriter& emit, int stride, int count);

/// Whether this thread is the one that stores for all that run a statement alike: those digits of its number that the
/// statement's loops do not use are 0. kNone: it always is. `threads`: of the block.
Id leader_predicate(BlockWriter& emit, const Statement& statement, int threads);

/// Whether a STORE's value is made from what lies where it goes: a LOAD, or a carried sum whose accumulators rest
/// there.
bool loads_what_it_stores(const Statement& store, const Statements& statements);

/// In: the loop tree of a kernel whose points the schedule's threads run.
/// Out: the same with Barriers: between a statement that stores into memory of the kernel and one that reads or stores
/// there, in the same turn of the loops around both or in the next, unless each thread meets its own elements only.
/// Every thread runs every loop, so it arrives at each of them.
void add_barriers(std::vector<LoopItem>& tree, const Statements& statements, const LoopSchedule& schedule);

/// Throws InternalError unless add_barriers() finds no more to add, and the threads wait for each other only if there
/// are others.
void verify_barriers(const std::vector<LoopItem>& tree, const Statements& statements, const LoopSchedule& schedule);

}  // namespace sinter::codegen
