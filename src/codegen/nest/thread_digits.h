// Threads of a GPU block: which of them runs what, and where they synchronize.
#pragma once

#include <vector>

#include "codegen/nest/loop_tree.h"
#include "codegen/ssa/block_writer.h"

namespace sinter::codegen {

/// A digit of the thread's index in its block, dtype Index: index / stride % count.
Id thread_digit(BlockWriter& emit, int stride, int count);

/// Whether this thread stores on behalf of all threads that run a statement redundantly: every digit of its index that
/// the statement's loops do not use is 0. kNone: every thread stores. `threads`: of the block.
Id leader_predicate(BlockWriter& emit, const Statement& statement, int threads);

/// Bytes of a GPU's shared memory that are kept free for reductions across threads, where there are any.
inline constexpr int64_t kReductionScratchBytes = 16 << 10;
/// Bytes of it for results that threads of a block exchange together. Of more than 512 threads each has 64 registers,
/// which the chains of one result fill: 0, one at a time.
inline int64_t joint_exchange_bytes(int threads) { return threads > 512 ? 0 : kReductionScratchBytes; }
/// Whether several threads have chains of a REDUCE.
bool joins_threads(const Statement& s);
/// Whether threads of a block exchange chains of a reduction.
bool reduces_across_threads(const Statements& statements);

/// Whether the value of a STORE depends on the memory that it overwrites: through a LOAD, or a carried REDUCE whose
/// home that is.
bool loads_what_it_stores(const Statement& store, const Statements& statements);

/// In: the loop tree of a kernel whose tasks are run by the schedule's threads.
/// Out: the same with Barriers between a statement that stores to memory of the kernel and one that reads or stores
/// there, in the same or the next iteration of the loops around both. None is needed if each thread touches only its
/// own elements. Every thread runs every loop, so all threads reach each Barrier.
void add_barriers(std::vector<LoopItem>& tree, const Statements& statements, const LoopSchedule& schedule);

/// Throws InternalError if add_barriers() would add another one, or if a single thread has Barriers.
void verify_barriers(const std::vector<LoopItem>& tree, const Statements& statements, const LoopSchedule& schedule);

}  // namespace sinter::codegen
