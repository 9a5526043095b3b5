// The partition: which nodes share a kernel is decided here only, by one pass and one cost model, with a printable
// result.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/fusion/fusion_index.h"
#include "schedule/fusion/fusion_node.h"

namespace sinter::schedule {

/// Unfused (SINTER_NOOPT): one kernel per tensor op. Both policies give the same bits.
enum class Policy : uint8_t { Fused, Unfused };

/// A node that a kernel evaluates, and its indices.
struct Member {
  int node;
  std::vector<IndexId> at;
  std::vector<int> reduced = {};  ///< axes of its loops: one per axis that a reduction sums over, unless of size 1
};

/// A store of a kernel: a node's value at an index that covers each element once. Axes of the index that are not outer
/// ranges are loops of the store.
struct KernelStore {
  int node;
  IndexId at;
};

/// The loops of one reduction: over `axes`, for each index `at`. If the first of them are outer ranges, the sum goes
/// across those: each task sums its block, and the epilogue sums the partial sums.
struct ReductionNest {
  IndexId at;
  std::vector<int> axes;
  int node;
};

/// An outer range that runs in blocks: one task covers `size` values, the last one the remainder. A symbolic range has
/// as many blocks as its bound needs; blocks beyond its end are empty and add nothing.
struct BlockedAxis {
  int axis = -1;
  int64_t size = 1;
  /// The number of blocks for this many values.
  int64_t count(int64_t values) const { return (values + size - 1) / size; }
  friend bool operator==(const BlockedAxis&, const BlockedAxis&) = default;
};

using Uses = std::unordered_map<int, std::vector<IndexId>>;  ///< node -> indices of its uses

/// A kernel of the partition: nodes that share outer ranges. In one task, a node needs only what the kernel computes in
/// that task. The outer ranges run in parallel, all other axes are loops inside.
struct FusionGroup {
  std::vector<int> outer;            ///< axes, outermost first
  std::vector<int> inner = {};       ///< the other axes; each loop comes after those it depends on
  std::vector<ReductionNest> nests;  ///< loops of its reductions
  BlockedAxis blocks = {};           ///< set if sums go across outer ranges
  std::vector<int> epilogue =
      {};  ///< members that run after all tasks: sums across outer ranges and their users, ascending
  std::vector<Member> members;  ///< users before sources
  std::vector<KernelStore> outputs;
  Uses reads;   ///< from memory: Buffers, and what other kernels store
  Uses wanted;  ///< nodes that it needs and that are not decided yet
  /// Per needed node: the reductions in whose loops it is used. A materialized row has loops of its own.
  std::unordered_map<int, std::vector<int>> within;
  int level = 0;                ///< above the levels of all users of its outputs: kernels of one level are independent
  bool has_feeders = false;     ///< some kernel must run before it: raising its level would raise theirs
  int parent = -1;              ///< the kernel that it was merged into, or -1
  uint64_t epoch = 0;           ///< of the space when its axes and loops were last renamed
  double time = 0;              ///< ns
  double contraction_time = 0;  ///< ns of its products alone
  std::vector<int> contraction_outer;  ///< outer axes of its contractions
  int contractions = 0;                ///< products
  int evaluations = 0;                 ///< nodes, once for each index at which it evaluates them
};

enum class FusionChoice : uint8_t {
  Inline,  ///< evaluated in every kernel that needs it
  Join,    ///< evaluated and stored by one of them
  Split    ///< a kernel of its own
};

/// One line of the printed table. Prices in ns; infinite if the choice was impossible.
struct FusionDecision {
  int node;
  int kernel;
  IndexId at;
  FusionChoice choice;
  double inline_price, join_price, split_price;
  const char* reason;
  std::vector<int> lost = {};  ///< outer axes that the kernel gave up for it
};

/// Pairs of axes to unify.
using AxisPairs = std::vector<std::pair<int, int>>;

/// Two kernels merged through a node that both need: a line of the table. `price` is what the merge costs, `gain` the
/// launch and the reads that it saves.
struct KernelMerge {
  int node;
  int kernel;
  AxisPairs pairs;
  double price, gain;
  const char* why;
};

struct Partition {
  FusionGraph graph;
  IndexSpace space;
  std::vector<FusionGroup> kernels;       ///< users before sources: levels ascend
  std::vector<FusionDecision> decisions;  ///< in the order of the pass
  std::vector<KernelMerge> merges;
  std::vector<int> kernel_of;  ///< per node: the kernel that stores it, or -1
  int64_t steps = 0;  ///< work of the pass: indices priced in a kernel or propagated to a source, loops renamed
};

/// How many leading axes of a sum are outer ranges; -1 if an inner axis precedes an outer one.
int count_split_axes(const std::vector<int>& axes, const std::vector<int>& outer);

/// A node whose sum goes across outer ranges of its kernel, and those ranges.
using SplitReduction = std::pair<int, std::vector<int>>;

/// All split reductions of a kernel.
std::vector<SplitReduction> split_reductions_of(const FusionGroup& kernel);

/// Whether a task of such a sum reduces a group of blocks of its tree instead of one block. `inside` is the number of
/// elements per index of the blocked range.
bool reduces_tree_groups(const BlockedAxis& blocks, const ir::ReductionTree& tree, int64_t inside);

/// Whether the tasks of a kernel store the same partial state for both: they are accumulators of one reduction.
bool shares_partials(const FusionGraph& graph, const SplitReduction& a, const SplitReduction& b);

/// The number of tasks along an outer range of the kernel.
Dim tasks_along(const IndexSpace& space, const FusionGroup& kernel, int axis);

/// Assigns nodes to kernels. `graph` has been through order_in_place().
Partition partition(FusionGraph graph, const Prices& prices, Policy policy);

/// The table of decisions, then a line per kernel: what DEBUG=3 prints.
std::string to_string(const Partition& partition);

/// Checks closure (a kernel evaluates what it uses, or it was stored before), order (stores before reads, reads before
/// in-place stores) and legality of loops. Throws InternalError.
void verify_partition(Partition& partition);

}  // namespace sinter::schedule
