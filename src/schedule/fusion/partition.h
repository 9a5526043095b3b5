// THE place where kernel boundaries are decided: one pass, one cost model, one printable result.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/fusion/fusion_index.h"
#include "schedule/fusion/fusion_node.h"

namespace sinter::schedule {

/// Unfused (SINTER_NOOPT): every tensor op its own kernel. Both give the same bits.
enum class Policy : uint8_t { Fused, Unfused };

/// A node that a kernel evaluates, at these indices.
struct Member {
  int node;
  std::vector<IndexId> at;
  std::vector<int> reduced = {};  ///< the axes of its loops: per axis that a reduction sums over, unless of size 1
};

/// What a kernel stores: the value of a node at an index that has each element once. Its axes that are no outer ranges
/// are loops of the store.
struct KernelStore {
  int node;
  IndexId at;
};

/// The loops of one reduction: over `axes`, at each point of `at`. Where the first of them are outer ranges, the sum
/// goes across those: every block of them sums its part, and the parts are summed when all are done.
struct ReductionNest {
  IndexId at;
  std::vector<int> axes;
  int node;
};

/// An outer range that runs in blocks: one point of it covers `size` of its values, the last one what is left. Of a
/// symbolic range there are as many blocks as its bound needs; those behind its end are empty and add nothing.
struct BlockedAxis {
  int axis = -1;
  int64_t size = 1;
  /// How many there are of so many values.
  int64_t count(int64_t values) const { return (values + size - 1) / size; }
  friend bool operator==(const BlockedAxis&, const BlockedAxis&) = default;
};

using Uses = std::unordered_map<int, std::vector<IndexId>>;  ///< node -> indices at which it is used

/// A set of nodes that share outer ranges: for one point of them each node needs only what the kernel computes at
/// that point. The outer ranges run in parallel, everything else is a loop inside.
struct FusionGroup {
  std::vector<int> outer;            ///< axes, outermost first
  std::vector<int> inner = {};       ///< the other ones, in an order that puts every loop inside those it depends on
  std::vector<ReductionNest> nests;  ///< of its reductions
  BlockedAxis blocks = {};           ///< set where sums go across outer ranges
  std::vector<int> epilogue =
      {};  ///< members that run when all points are done: such sums and what is made of them, ascending
  std::vector<Member> members;  ///< users before sources
  std::vector<KernelStore> outputs;
  Uses reads;   ///< from memory: Buffers, and what other kernels store
  Uses wanted;  ///< nodes that it needs and that are not decided yet
  /// Per node that it needs: the reductions in whose loops it is used. What is kept for a row has loops of its own.
  std::unordered_map<int, std::vector<int>> within;
  int level = 0;             ///< above all levels that use its outputs: equal levels cannot depend on each other
  bool has_feeders = false;  ///< some kernel must run before it: its level is fixed
  int parent = -1;           ///< the kernel that it was merged into
  uint64_t epoch = 0;        ///< of the space: its axes and loops are named as they were then
  double time = 0;           ///< ns
  double contraction_time = 0;
  std::vector<int> contraction_outer;  ///< outer axes of its products of matrices
  int contractions = 0, evaluations = 0;
};

enum class FusionChoice : uint8_t {
  Inline,  ///< evaluated in every kernel that needs it
  Join,    ///< evaluated and stored by one of them
  Split    ///< a kernel of its own
};

/// One line of the table. Prices in ns; infinite where the choice was not open.
struct FusionDecision {
  int node;
  int kernel;
  IndexId at;
  FusionChoice choice;
  double inline_price, join_price, split_price;
  const char* reason;
  std::vector<int> lost = {};  ///< outer axes that the kernel gave up for it
};

/// Axes that became one.
using AxisPairs = std::vector<std::pair<int, int>>;

/// Two kernels that became one through a node that both need: a line of the table. `price` is what they lose by it,
/// `gain` the launch and the reads that it saves.
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
  std::vector<FusionDecision> decisions;  ///< in the order in which they were taken
  std::vector<KernelMerge> merges;
  std::vector<int> kernel_of;  ///< per node: the kernel that stores it, or -1
  int64_t steps = 0;  ///< what the pass did: indices priced in a kernel or handed to a source, loops named anew
};

/// How many of a sum's axes, from the first on, are among these outer ranges; -1 if others stand before one that is.
int count_split_axes(const std::vector<int>& axes, const std::vector<int>& outer);

/// A node whose sum goes across outer ranges of its kernel, with those ranges.
using SplitReduction = std::pair<int, std::vector<int>>;

/// All of a kernel's.
std::vector<SplitReduction> split_reductions_of(const FusionGroup& kernel);

/// Whether a point of such a sum reduces a group of blocks of its tree, not a block, where `inside` elements stand for
/// each index of the range in blocks.
bool reduces_tree_groups(const BlockedAxis& blocks, const ir::ReductionTree& tree, int64_t inside);

/// Whether the points of a kernel store the same for both: accumulators of one reduction.
bool shares_partials(const FusionGraph& graph, const SplitReduction& a, const SplitReduction& b);

/// How many points an outer range of the kernel has.
Dim tasks_along(const IndexSpace& space, const FusionGroup& kernel, int axis);

/// Cuts nodes into kernels. `graph` has been through order_in_place().
Partition partition(FusionGraph graph, const Prices& prices, Policy policy);

/// The table, and under it a line per kernel: what DEBUG=3 prints.
std::string to_string(const Partition& partition);

/// The pass's own checks: closure (what a kernel uses is evaluated there or stored before), order (stores before reads,
/// reads before stores in place), legality of loops. Throws InternalError.
void verify_partition(Partition& partition);

}  // namespace sinter::schedule
