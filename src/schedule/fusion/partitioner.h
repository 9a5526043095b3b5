// The working state of the partition, shared by its parts: the visit (partition.cpp), what becomes of a kernel that
// evaluates a stage (evaluation.cpp), the prices of that (inline_cost.cpp), sums across outer ranges
// (split_reductions.cpp), loops over a row (loop_nesting.cpp), the levels of kernels (kernel_order.cpp), their union
// (merge_kernels.cpp) and their end (cut_fewest_bytes.cpp). Nothing else includes it.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/fusion/partition.h"

namespace sinter::schedule {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.rbegin(), list.rend(), value) == list.rend()) list.push_back(value);
}

/// What it costs to evaluate a stage inside a kernel, and in which form.
struct Absorb {
  double ns = kNever;
  const char* how = "";
  std::vector<int> lost = {};  ///< outer axes that become loops inside
  bool kept = false;           ///< a row of it is kept in memory, each element computed once
  AxisPairs siblings = {};  ///< inner axes that become one: its indices are then one evaluation, read by sibling loops
  std::vector<int> outer = {};   ///< where the kernel is turned over: its new outer axes,
  Blocks blocks = {};            ///< the one that runs in blocks,
  std::vector<int> late = {};    ///< and what waits for all of them
  std::vector<int> across = {};  ///< outer ranges that its own loops run over, in the blocks that the kernel has
};

/// Names of axes under pairs that are not unified yet: of each pair the first stays. Pairs are few.
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

/// The other axis of the pair whose first (or second) one is `a`, or -1.
inline int partner(const AxisPairs& pairs, int a, bool of_first) {
  for (auto [p, q] : pairs)
    if ((of_first ? p : q) == a) return of_first ? q : p;
  return -1;
}

using Fill = std::array<int, 3>;  ///< what a kernel has of that for which there are caps: stages, loops, buffers

/// The places at which a kernel that is half full needs few bytes from others.
struct Narrow {
  int64_t least = -1;            ///< such a place needs no more bytes than that; -1: none was met
  int64_t since = -1;            ///< the fewest bytes needed since the last one; -1: nothing was looked at
  Fill last = {}, longest = {};  ///< at the last one; between any two that followed each other
  bool rest_fits = false;        ///< all that is left has room
  bool ended = false;            ///< what the kernel needs is stored by others
};

/// Of such a stage there is one kernel that evaluates and stores it.
constexpr bool always_stored(StageKind kind) {
  return kind == StageKind::Contiguous || kind == StageKind::Box || kind == StageKind::ScatterAdd ||
         kind == StageKind::Scan;
}

/// How one kernel may go into another.
struct Union {
  double price = kNever;       ///< ns: what they lose
  double gain = 0;             ///< ns: what they save
  AxisPairs pairs = {};        ///< axes that become one: of the first kernel, of the second
  std::vector<int> lost = {};  ///< outer axes of either that become loops inside
  bool swapped = false;        ///< the outer ranges are those of the second
  Blocks blocks = {};          ///< where sums go across outer ranges
  std::vector<int> late = {};
  int64_t partial = 0;  ///< bytes that all points store for them
  double idle = 0;      ///< ns: what both lose by the number of points that blocks leave
  const char* why = "";
};

class Partitioner {
 public:
  Partitioner(StageGraph graph, const Prices& prices, Policy policy);
  Partition run();

 private:
  struct Options {
    double inline_price, join_price, split_price;
    int host = -1;                    // the kernel of the join
    std::vector<Absorb> absorb = {};  // per needing kernel
  };

  // partition.cpp
  std::vector<int> visiting_order() const;
  void visit(int s);
  Options price(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, bool forced);
  std::vector<double> away_from_product(const Stage& s, int number, const std::vector<int>& kernels, bool& hosted);
  bool made_of_numbers(const Stage& s) const;
  double comes_twice(const Stage& s, const std::vector<int>& kernels) const;
  double write_price(const Stage& s) const;
  void do_inline(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& options);
  void do_join(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& options);
  void do_split(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& options);
  void record(int s, int kernel, IndexId at, Choice choice, const Options& options, const char* reason,
              std::vector<int> lost = {});
  Partition finish();

  // evaluation.cpp
  void evaluate(int kernel, int s, std::vector<IndexId> at, const Absorb& form);
  IndexId summed(const Stage& s, IndexId at, std::vector<int>& reduced);
  void push(int kernel, int s, IndexId at, const std::vector<int>& within, std::vector<int>& reduced);
  const Member* other_accumulator(const Kernel& k, int s, const std::vector<IndexId>& ix, bool late) const;
  void want(int kernel, const Source& source, IndexId at, const std::vector<int>& within);
  std::vector<IndexId>& uses(int kernel, int s);
  void normalise(std::vector<IndexId>& indices);
  void refresh(Kernel& k);
  void give_up(Kernel& k, const std::vector<int>& axes);
  void find_late_wants(int kernel);

  // inline_cost.cpp
  Absorb absorb(int kernel, int s, const std::vector<IndexId>& at);
  Absorb absorb_each(const Kernel& k, int s, const std::vector<IndexId>& at);
  Absorb absorb_row(Kernel& k, int s, const std::vector<IndexId>& at);
  std::vector<int> loops_around(const Kernel& k, int s, IndexId at) const;
  double repeats(const Kernel& k, IndexId at) const;
  double points_beyond(const Stage& s, IndexId at) const;
  double evaluations(const Kernel& k, int s, IndexId at) const;
  bool cuts_vectors(const Kernel& k, IndexId at);
  double read_again(const Kernel& k, const std::vector<int>& outer);
  double shrink(const Kernel& k, const std::vector<int>& lost, double extra);
  int64_t row_bytes(const Kernel& k, const Stage& s, IndexId at, const std::vector<int>& lost) const;
  double row(const Kernel& k, const Stage& s, IndexId at, const std::vector<int>& lost) const;
  bool is_matrix_row(const Kernel& k, const Stage& s, IndexId at, const std::vector<int>& lost) const;
  double tile_loss(const Kernel& k, const Stage& s, IndexId at, const std::vector<int>& lost) const;
  bool fits(const Kernel& k, int s, bool stores) const;
  bool aligned(const Stage& s, IndexId at) const;
  bool may_be_empty(int axis) const { return space_.least(axis) == 0; }
  double reads_of(const Stage& s, const Kernel* k) const;

  // split_reductions.cpp
  int64_t points(const std::vector<int>& outer, const Blocks& blocks = {}) const;
  std::vector<int> downstream(const std::vector<Member>& members, const std::vector<int>& seeds) const;
  int64_t inside(const Nest& n, int count) const;
  std::vector<int> around_tree(const Nest& n, bool group);
  std::vector<int> crossing_needs(const Kernel& k);
  bool may_cross(const Kernel& k, const AxisPairs& pairs, Blocks& blocks, std::vector<int>& late);
  int64_t part_bytes(const Kernel& k) const;
  double idle(double ns, int64_t from, int64_t to) const { return idle(ns, from, to, prices_.parallel); }
  double idle(double ns, int64_t from, int64_t to, int64_t most) const;
  Absorb turn_over(Kernel& k, const Stage& s, IndexId at);
  Absorb beside_sums(const Kernel& k, int s, const std::vector<IndexId>& at);
  Union unite_across(const Kernel& host, const Kernel& guest, const AxisPairs& pairs, bool swapped);
  void cut_long_sums(Kernel& k);

  // loop_nesting.cpp
  bool siblings(const Kernel& k, IndexId a, IndexId b, AxisPairs& pairs, std::vector<int>& lost);
  bool loops_stay_apart(const Kernel& k, const AxisPairs& pairs, const std::vector<int>& lost);
  bool joins_products(const Kernel& k, const AxisPairs& pairs) const;
  void share_rows(Kernel& k);
  void order_loops(Kernel& k) const;

  // kernel_order.cpp
  bool level_fits(int kernel, const std::vector<int>& users, const std::vector<int>& hazards) const;
  bool levels_fit(const std::vector<int>& kernels, const std::vector<int>& hazards) const;
  void lift(int kernel, const std::vector<int>& users, const std::vector<int>& hazards);
  bool exact_where_stored(int kernel, int s, const std::vector<IndexId>& at);

  // cut_fewest_bytes.cpp
  Fill fill_of(const Kernel& k) const;
  bool is_pending(const Kernel& k, int s) const;
  void end_at_narrow_place(int kernel);
  bool rest_fits(const Kernel& k, Fill room) const;

  // merge_kernels.cpp
  void merge_users(int s, std::vector<int>& kernels);
  void merge_readers();
  void pair_axes(IndexId first, IndexId second, AxisPairs& pairs);
  double shared_reads(const Kernel& k1, const Kernel& k2) const;
  double sums_beside(const Kernel& k1, const Kernel& k2, const AxisPairs& pairs) const;
  AxisPairs correspondence(int a, int b, int s);
  Union unite(int a, int b, int s);
  Union unite_at_rows(const Kernel& k1, const Kernel& k2, const AxisPairs& pairs, int s);
  Union unite_as_guest(const Kernel& host, const Kernel& guest, const AxisPairs& pairs, bool swapped);
  bool stay_apart(const Kernel& k1, const Kernel& k2, Union& form);
  void merge(int a, int b, const Union& form);

  std::vector<int> roots(const std::vector<int>& kernels) const;
  int find(int kernel) const;
  Kernel& at(int kernel) { return kernels_[static_cast<size_t>(kernel)]; }
  const Kernel& at(int kernel) const { return kernels_[static_cast<size_t>(kernel)]; }
  Stage& stage(int s) { return graph_.stages[static_cast<size_t>(s)]; }
  const Stage& stage(int s) const { return graph_.stages[static_cast<size_t>(s)]; }

  StageGraph graph_;
  const Prices& prices_;
  Policy policy_;
  IndexSpace space_;
  mutable std::vector<Kernel> kernels_;  // find() shortens paths
  std::vector<std::vector<int>> users_;  // per stage: kernels that need it, once each but for merges
  std::vector<int> stored_by_;           // per stage
  std::unordered_map<const ir::Node*, int>
      alone_;                                 // reductions of several accumulators that were split, by the first value
  std::vector<std::vector<int>> late_wants_;  // per kernel: what only its late members need, ascending
  std::vector<Narrow> narrow_;                // per kernel
  std::vector<Decision> decisions_;
  std::vector<Meeting> meetings_;
  int64_t steps_ = 0;
};

}  // namespace sinter::schedule
