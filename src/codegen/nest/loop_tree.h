// The loops of a kernel: statements in a tree, neighbours that run over the same range in one loop.
#pragma once

#include <string>
#include <vector>

#include "codegen/loopschedule/opt.h"
#include "codegen/nest/statement.h"

namespace sinter::codegen {

/// A loop, or one thing that happens: a REDUCE's accumulators begin, take one element, are combined; a STORE; or the
/// threads of a block wait for each other. Of a tile with two slots (codegen/nest/ring.h): FillFirst has what fills it
/// for the first turn of the loop that follows, FillNext for the next turn of the loop around, if there is one; there a
/// STORE's value is fetched into registers first, and put into the tile later.
struct LoopItem {
  enum class ItemKind : uint8_t { Loop, Init, Update, Finish, Store, Barrier, FillFirst, FillNext, Fetch, Put } kind;
  int statement = -1;    ///< of all but those with a body, and Barrier
  LoopLevel level = {};  ///< of Loop, FillFirst and FillNext
  bool has_body() const { return kind == ItemKind::Loop || kind == ItemKind::FillFirst || kind == ItemKind::FillNext; }
  std::vector<LoopItem> body = {};
};

/// In: statements, sources first. Out: items in the order in which they run. A statement joins a loop that is open for
/// an earlier one if it has the same loop there and needs nothing that is finished only after it. A REDUCE that is
/// needed in two loops that do not become one is computed in each: its copies are added to the statements.
std::vector<LoopItem> make_loop_tree(Statements& statements);

/// Whether tiles with two slots are filled where they are used, or ahead: after pipeline_ring_fills().
enum class RingFills : uint8_t { InPlace, Pipelined };

/// Throws InternalError unless each statement appears once, in its loops, after what it depends on, and reads results
/// and tiles in the same turn of the loops that stand around what writes them. Of what is filled ahead, FillFirst,
/// Fetch and Put are one appearance, where the Fetch is; all three are there and fill the same, for the same loop.
/// Barriers may stand anywhere.
void verify(const std::vector<LoopItem>& tree, const Statements& statements, RingFills fills = RingFills::InPlace);

/// Whether loops can run so: what a heuristic or a search asks before it proposes. `kernel`: a part of a
/// NormalizedKernel (codegen/codegen.h).
bool is_legal(const Kernel& kernel, const std::vector<Opt>& opts);

/// The sum that takes an element in some items in which nothing else happens, or -1.
int only_reduce(const std::vector<LoopItem>& items);

/// The range of a loop, and those of the loops inside.
std::vector<ir::UOp> ranges_of(const LoopItem& loop);

/// The tree with indentation.
std::string to_string(const std::vector<LoopItem>& tree);

}  // namespace sinter::codegen
