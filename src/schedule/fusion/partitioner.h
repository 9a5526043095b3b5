// The state of the partition pass, shared by its parts: the walk (partition.cpp), evaluating a node in a kernel
// (evaluation.cpp) and its price (inline_cost.cpp), sums across outer ranges (split_reductions.cpp), loops over a row
// (loop_nesting.cpp), kernel levels (kernel_order.cpp), merges (merge_kernels.cpp) and cuts (cut_fewest_bytes.cpp).
// Only these files include it.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <vector>

#include "schedule/fusion/partition.h"

namespace sinter::schedule {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.rbegin(), list.rend(), value) == list.rend()) list.push_back(value);
}

/// The price and the form of evaluating a node inside a kernel.
struct InlineCost {
  double ns = kNever;
  const char* how = "";
  double repeats = 0;              ///< evaluations of an element beyond one for each index
  std::vector<int> lost = {};      ///< outer axes that become inner loops
  bool materialized = false;       ///< a row of it is materialized, each element computed once
  AxisPairs siblings = {};         ///< inner axes to unify, so that sibling loops share one evaluation
  std::vector<int> outer = {};     ///< after an interchange: the new outer axes,
  BlockedAxis blocks = {};         ///< the one that runs in blocks,
  std::vector<int> epilogue = {};  ///< and the members that run after all tasks
  std::vector<int> across = {};    ///< outer ranges that its own loops go across, in the kernel's blocks
};

/// Names of axes as if `pairs` were unified: the first of each pair is the representative. Pairs are few.
class AxisNames {
 public:
  explicit AxisNames(const AxisPairs& pairs) {
    for (auto [a, b] : pairs)
      if (a = of(a), b = of(b); a != b) up_.push_back({b, a});
  }
  int of(int a) const {
    for (bool changed = !up_.empty(); changed;) {
      changed = false;
      for (auto [b, up] : up_)
        if (b == a) a = up, changed = true;
    }
    return a;
  }

 private:
  AxisPairs up_;
};

/// The axis paired with `a`, which is the first (or second) of its pair; -1 if there is none.
inline int partner(const AxisPairs& pairs, int a, bool of_first) {
  for (auto [p, q] : pairs)
    if ((of_first ? p : q) == a) return of_first ? q : p;
  return -1;
}

using ResourceCounts = std::array<int, 3>;  ///< capped resources of a kernel: nodes, loops, buffers

/// Possible cuts of a kernel that is half full: where it needs few bytes from other kernels.
struct CutTracker {
  int64_t least = -1;                      ///< a cut needs at most this many bytes; -1: none seen yet
  int64_t since = -1;                      ///< the fewest bytes needed since the last cut; -1: none seen yet
  ResourceCounts last = {}, longest = {};  ///< at the last cut; the most between two consecutive cuts
  bool rest_fits = false;                  ///< all remaining nodes fit
  bool is_full = false;                    ///< cut: the kernel evaluates no more pending nodes
};

/// Nodes of these kinds are always stored, and evaluated by exactly one kernel.
constexpr bool always_stored(FusionNodeKind kind) {
  return kind == FusionNodeKind::Contiguous || kind == FusionNodeKind::Box || kind == FusionNodeKind::Scatter ||
         kind == FusionNodeKind::Scan || kind == FusionNodeKind::Opaque;
}

/// Whether the node scans the blocks of longer rows, which may be evaluated where they are joined.
inline bool scans_block(const FusionNode& s) {
  return s.kind == FusionNodeKind::Scan && s.uop->reduction().tree.block != 0 && s.outputs.empty();
}

/// How to merge one kernel into another.
struct MergePlan {
  double price = kNever;       ///< ns lost
  double gain = 0;             ///< ns saved
  AxisPairs pairs = {};        ///< axes to unify: of the first kernel, of the second
  std::vector<int> lost = {};  ///< outer axes of either that become inner loops
  bool swapped = false;        ///< the outer ranges are those of the second kernel
  BlockedAxis blocks = {};     ///< set if sums go across outer ranges
  std::vector<int> epilogue = {};
  int64_t partial = 0;  ///< bytes of partial sums over all tasks
  double idle = 0;      ///< ns lost by both to the smaller number of tasks
  const char* why = "";
};

class Partitioner {
 public:
  Partitioner(FusionGraph graph, const Prices& prices, Policy policy);
  Partition run();

 private:
  struct ChoiceCosts {
    double inline_price, join_price, split_price;
    int host = -1;                              // the kernel that joins
    std::vector<InlineCost> inline_costs = {};  // per kernel that needs it
  };

  // partition.cpp
  std::vector<int> visiting_order() const;
  void visit(int s);
  ChoiceCosts price(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, bool forced);
  std::vector<double> away_from_product(const FusionNode& s, int number, const std::vector<int>& kernels, bool& hosted);
  bool is_constant_expr(const FusionNode& s) const;
  double duplicated_source_cost(const FusionNode& s, const std::vector<int>& kernels) const;
  double write_price(const FusionNode& s) const;
  bool is_repeated(int s, const std::vector<int>& kernels);
  void do_inline(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const ChoiceCosts& options);
  void do_join(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const ChoiceCosts& options);
  void do_split(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const ChoiceCosts& options);
  void record(int s, int kernel, IndexId at, FusionChoice choice, const ChoiceCosts& options, const char* reason,
              std::vector<int> lost = {});
  Partition take_partition();

  // evaluation.cpp
  void add_evaluation(int kernel, int s, std::vector<IndexId> at, const InlineCost& form);
  IndexId input_index(const FusionNode& s, IndexId at, std::vector<int>& reduced);
  void propagate_uses(int kernel, int s, IndexId at, const std::vector<int>& within, std::vector<int>& reduced);
  void propagate_updates(int kernel, int s, IndexId at, const std::vector<int>& within, std::vector<int>& reduced);
  const Member* other_accumulator(const FusionGroup& k, int s, const std::vector<IndexId>& ix, bool in_epilogue) const;
  void add_use(int kernel, const FusionEdge& source, IndexId at, const std::vector<int>& within);
  std::vector<IndexId>& uses(int kernel, int s);
  void normalize(std::vector<IndexId>& indices);
  void refresh(FusionGroup& k);
  void serialize_axes(FusionGroup& k, const std::vector<int>& axes);
  void find_epilogue_wants(int kernel);

  // inline_cost.cpp
  InlineCost inline_cost(int kernel, int s, const std::vector<IndexId>& at);
  InlineCost inline_cost_of_scan(const FusionGroup& k, int s, const std::vector<IndexId>& at);
  InlineCost inline_cost_per_use(const FusionGroup& k, int s, const std::vector<IndexId>& at);
  IndexId unify_indices(FusionGroup& k, std::vector<IndexId> at, InlineCost& form);
  bool joins_pair(const FusionGroup& k, const FusionNode& s) const;
  InlineCost inline_cost_in_pair(FusionGroup& k, int s, const std::vector<IndexId>& at);
  InlineCost inline_cost_per_row(FusionGroup& k, int s, const std::vector<IndexId>& at);
  std::vector<int> loops_around(const FusionGroup& k, int s, IndexId at) const;
  double tasks_per_element(const FusionGroup& k, IndexId at) const;
  double iterations_per_element(const FusionNode& s, IndexId at) const;
  double evaluations(const FusionGroup& k, int s, IndexId at) const;
  bool cuts_vectors(const FusionGroup& k, IndexId at);
  bool runs_across_short_rows(const FusionNode& s, IndexId ix) const;
  double reread_cost(const FusionGroup& k, const std::vector<int>& outer, const std::vector<int>& lost);
  double serialization_cost(const FusionGroup& k, const std::vector<int>& lost, double extra);
  int64_t row_bytes(const FusionGroup& k, const FusionNode& s, IndexId at, const std::vector<int>& lost) const;
  bool lies_across_memory(const FusionGroup& k, const FusionNode& s, IndexId ix, const std::vector<int>& lost) const;
  bool needs_both_lanes(const FusionGroup& k, int number, IndexId ix) const;
  double materialize_cost(const FusionGroup& k, const FusionNode& s, IndexId at, const std::vector<int>& lost) const;
  bool is_matrix_row(const FusionGroup& k, const FusionNode& s, IndexId at, const std::vector<int>& lost) const;
  bool has_mma(const FusionGroup& k) const;
  bool has_pair(const FusionGroup& k) const;
  double tile_loss(const FusionGroup& k, const FusionNode& s, IndexId at, const std::vector<int>& lost) const;
  bool fits(const FusionGroup& k, int s, bool stores) const;
  bool aligned(const FusionNode& s, IndexId at) const;
  bool may_be_empty(int axis) const { return space_.least(axis) == 0; }
  double reads_of(const FusionNode& s, const FusionGroup* k) const;
  double lone_task_cost(const FusionGroup& k, const FusionNode& s);

  // split_reductions.cpp
  int64_t task_count(const std::vector<int>& outer, const BlockedAxis& blocks = {}) const;
  std::vector<int> downstream(const std::vector<Member>& members, const std::vector<int>& seeds) const;
  int64_t inside(const ReductionNest& n, int count) const;
  std::vector<int> around_tree(const ReductionNest& n, bool group);
  std::vector<int> required_outer_axes(const FusionGroup& k);
  bool can_split_reductions(const FusionGroup& k, const AxisPairs& pairs, BlockedAxis& blocks,
                            std::vector<int>& epilogue);
  int64_t part_bytes(const FusionGroup& k) const;
  double idle(double ns, int64_t from, int64_t to) const { return idle(ns, from, to, prices_.parallel); }
  double idle(double ns, int64_t from, int64_t to, int64_t most) const;
  InlineCost interchange_cost(FusionGroup& k, const FusionNode& s, IndexId at);
  InlineCost split_cost(const FusionGroup& k, int s, const std::vector<IndexId>& at);
  MergePlan plan_split_merge(const FusionGroup& host, const FusionGroup& guest, const AxisPairs& pairs, bool swapped);
  int64_t enough_results(const FusionGroup& k) const;
  bool cut_into_blocks(const FusionGroup& k, const ReductionNest& sum, size_t count, FusionGroup& cut);
  void split_long_reductions(FusionGroup& k);

  // loop_nesting.cpp
  bool are_siblings(const FusionGroup& k, IndexId a, IndexId b, AxisPairs& pairs, std::vector<int>& lost);
  bool loops_stay_apart(const FusionGroup& k, const AxisPairs& pairs, const std::vector<int>& lost);
  bool joins_unrelated_products(const FusionGroup& k, const AxisPairs& pairs) const;
  void unify_sibling_loops(FusionGroup& k);
  void order_loops(FusionGroup& k) const;

  // kernel_order.cpp
  bool level_fits(int kernel, const std::vector<int>& users, const std::vector<int>& hazards) const;
  bool levels_fit(const std::vector<int>& kernels, const std::vector<int>& hazards) const;
  void raise_level(int kernel, const std::vector<int>& users, const std::vector<int>& hazards);
  bool exact_where_stored(int kernel, int s, const std::vector<IndexId>& at);

  // cut_fewest_bytes.cpp
  ResourceCounts resources_of(const FusionGroup& k) const;
  bool is_pending(const FusionGroup& k, int s) const;
  void end_at_cheapest_cut(int kernel);
  bool rest_fits(const FusionGroup& k, ResourceCounts room) const;

  // merge_kernels.cpp
  void merge_users(int s, std::vector<int>& kernels);
  void merge_readers();
  void pair_axes(IndexId first, IndexId second, AxisPairs& pairs);
  double shared_reads(const FusionGroup& k1, const FusionGroup& k2) const;
  double sums_beside(const FusionGroup& k1, const FusionGroup& k2, const AxisPairs& pairs) const;
  AxisPairs correspondence(int a, int b, int s);
  bool are_of_one_pair(const FusionGroup& k1, const FusionGroup& k2) const;
  MergePlan plan_merge(int a, int b, int s);
  MergePlan plan_row_merge(const FusionGroup& k1, const FusionGroup& k2, const AxisPairs& pairs, int s);
  MergePlan plan_guest_merge(const FusionGroup& host, const FusionGroup& guest, const AxisPairs& pairs, bool swapped);
  bool can_merge(const FusionGroup& k1, const FusionGroup& k2, MergePlan& form);
  void merge(int a, int b, const MergePlan& form);

  std::vector<int> roots(const std::vector<int>& kernels) const;
  int find(int kernel) const;
  FusionGroup& at(int kernel) { return kernels_[kernel]; }
  const FusionGroup& at(int kernel) const { return kernels_[kernel]; }
  FusionNode& node(int s) { return graph_.nodes[s]; }
  const FusionNode& node(int s) const { return graph_.nodes[s]; }

  FusionGraph graph_;
  const Prices& prices_;
  Policy policy_;
  IndexSpace space_;
  mutable std::vector<FusionGroup> kernels_;  // find() compresses paths
  std::vector<std::vector<int>> users_;       // per node: kernels that need it, without duplicates until merges
  std::vector<int> stored_by_;                // per node
  std::unordered_map<const ir::Node*, int>
      own_kernel_reductions_;                     // multi-accumulator reductions with their own kernel
  std::vector<std::vector<int>> epilogue_wants_;  // per kernel: nodes that only its epilogue needs, ascending
  std::vector<CutTracker> cut_trackers_;          // per kernel
  std::vector<FusionDecision> decisions_;
  std::vector<KernelMerge> merges_;
  int64_t steps_ = 0;
};

}  // namespace sinter::schedule
