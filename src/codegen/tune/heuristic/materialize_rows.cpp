// Finds the statements that use each value. Two statements that cannot share a loop would each compute it.
#include "codegen/tune/heuristic/materialize_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "codegen/kernel/access.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/tile.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr double kMinRecompute = 12;  ///< operations from which an expression is materialized
/// Operations that a load counts as if vectors of a CPU transpose it, and the elements of a row up to which they do.
/// On Zen 3, rows of 48 that are materialized for their second use take 0.77 of the time. Longer rows were not
/// measured.
constexpr double kTransposedLoad = 12;
constexpr int64_t kShortRow = 64;
/// Values along an outer range from which the lanes of a product lie there. On Zen 4 (November 2026), images of 32 x 32
/// under 16 filters of one pixel take 0.4 of the time of tiles. Shorter ranges were not measured.
constexpr int64_t kMinColumns = 128;
constexpr int64_t kMaxTileBytes = 256 << 10;  ///< bytes of a tile, at most

bool is_inner(UOp range) { return range_kind(range) == AxisKind::Inner; }

class MaterializationFinder {
 public:
  MaterializationFinder(const Kernel& kernel, KernelAnalysis& analysis, const runtime::Target& target)
      : analysis_(analysis), cpu_(!target.cuda()), nodes_(ir::topological(kernel.sink)) {
    for (UOp n : nodes_)
      if (n->op == Op::Store) written_.insert(slot_of(n));
  }

  std::vector<Materialize> run() {
    for (size_t i = 0; i < analysis_.statements().size(); ++i) find_users(i);
    std::vector<Materialize> materializations;
    for (size_t i = nodes_.size(); i-- > 0;) {
      UOp n = nodes_[i];
      if (!users_.contains(n.get()) || covered(n)) continue;
      Materialize materialize{static_cast<int>(i), {}};
      if (!is_worth_a_tile(n, materialize.ranges)) continue;
      materialized_.push_back(n);
      materializations.push_back(std::move(materialize));
    }
    return materializations;
  }

 private:
  /// Adds a statement to the users of each value that it evaluates.
  void find_users(size_t work) {
    UOp root = analysis_.statements()[work].node;
    for (UOp n :
         ir::topological(std::span<const UOp>(&root, 1), [&](UOp u) { return u == root || u->op != Op::Reduce; }))
      if (!(n == root) && (ir::is_alu(n->op) || n->op == Op::Reduce) && n->dtype != DType::Index &&
          n->dtype != DType::Bool)
        users_[n.get()].push_back(work);
  }

  /// Whether all users of n use it only through a materialized value.
  bool covered(UOp n) {
    return std::ranges::any_of(materialized_, [&](UOp k) { return users_[k.get()] == users_[n.get()] && below(k, n); });
  }
  static bool below(UOp root, UOp n) {
    const std::vector<UOp> all =
        ir::topological(std::span<const UOp>(&root, 1), [&](UOp u) { return u == root || u->op != Op::Reduce; });
    return contains(all, n);
  }

  /// How many nested reductions over a range a statement depends on. Statements of different depths have sibling
  /// loops.
  int depth(const StatementAnalysis& w, UOp range) {
    auto [it, fresh] = depths_.try_emplace({w.node.get(), range.get()}, 0);
    if (!fresh) return it->second;
    int depth = 0;
    for (UOp r : w.sums) {
      const StatementAnalysis& sum = analysis_.statement_of(r);
      depth = std::max(depth, this->depth(sum, range) + (contains(sum.reduced_ranges, range) ? 1 : 0));
    }
    return depths_[{w.node.get(), range.get()}] = depth;
  }

  double recompute_operations(UOp n, const std::vector<size_t>& users) {
    if (n->op == Op::Reduce) return analysis_.statement_of(n).reduced_ranges.empty() ? 0 : kMinRecompute;
    double operations = 0;
    for (UOp u : ir::topological(std::span<const UOp>(&n, 1), [&](UOp u) { return u->op != Op::Reduce; })) {
      operations += operations_of(u);
      if (u->op == Op::Load &&
          std::ranges::any_of(users, [&](size_t w) { return reads_across_lanes(analysis_.statements()[w], u); }))
        operations += kTransposedLoad;
    }
    return operations;
  }

  /// Whether a reduction of short rows, without chains, reads memory across its lanes, which lie along other ranges.
  bool reads_across_lanes(const StatementAnalysis& w, UOp load) {
    return cpu_ && w.is_reduce() && w.chains() == 1 && !w.result_ranges.empty() && reuse_ranges(analysis_, w).empty() &&
           std::ranges::any_of(w.reduced_ranges,
                               [&](UOp r) { return analysis_.stride(load, r) == 1 && analysis_.size(r) <= kShortRow; });
  }

  /// Whether n is worth a tile, and the ranges along which the tile lies.
  bool is_worth_a_tile(UOp n, std::vector<int>& along) {
    const std::vector<size_t>& users = users_.at(n.get());
    if (recompute_operations(n, users) < kMinRecompute) return false;
    const bool repeated =
        std::ranges::any_of(users, [&](size_t u) { return is_reused_in_loop(analysis_.statements()[u], n); });
    if (users.size() < 2 && !repeated) return false;
    std::vector<UOp> ranges;
    bool siblings = repeated;
    for (UOp r : analysis_.ranges()) {
      if (!is_inner(r) || !analysis_.depends(n, r)) continue;
      std::set<int> depths;
      bool everywhere = true;
      size_t by_itself = 0;
      for (size_t u : users) {
        const StatementAnalysis& w = analysis_.statements()[u];
        if (!w.runs_over(r)) return false;
        depths.insert(depth(w, r));
        everywhere &= !contains(w.reduced_ranges, r) || carried(w, r);
        by_itself += sums_by_itself(w, n, r);
      }
      siblings |= depths.size() > 1 || (by_itself > 0 && by_itself < users.size());
      // Loops around all users are shared.
      if (everywhere && ranges.empty() && depths.size() == 1) continue;
      ranges.push_back(r);
    }
    if (!siblings || ranges.empty()) return false;
    int64_t bytes = static_cast<int64_t>(size_of(n->dtype));
    for (UOp r : ranges) bytes *= analysis_.size(r);
    if (bytes > kMaxTileBytes) return false;
    for (UOp u : ir::topological(n))
      if (u->op == Op::Load && written_.contains(slot_of(u))) return false;
    for (UOp r : ranges) along.push_back(range_id(r));
    return true;
  }
  /// Whether a sum over `r` in chains leaves a CPU's others a loop of their own, with unrolled copies that its chains
  /// do not allow: what it adds is a sum along lanes itself, so neither has lanes along `r`.
  bool sums_by_itself(const StatementAnalysis& w, UOp n, UOp r) const {
    return cpu_ && w.chains() > 1 && contains(w.reduced_ranges, r) && n->op == Op::Reduce &&
           n->reduction().tree.lanes > 1;
  }
  /// Whether a reduction without chains uses n again in each iteration of a loop over its result, on which n does not
  /// depend: its lanes lie there.
  bool is_reused_in_loop(const StatementAnalysis& w, UOp n) {
    return w.is_reduce() && w.chains() == 1 && !has_vectors_along_results(w, n) &&
           std::ranges::any_of(w.result_ranges, [&](UOp r) { return is_inner(r) && !analysis_.depends(n, r); });
  }
  /// Whether all that n is made of is contiguous along an outer range of the results. The lanes lie there, and copies
  /// along other ranges share n, or a panel of it (blocking.cpp). Tiles of rows would be read across their lanes.
  bool has_vectors_along_results(const StatementAnalysis& w, UOp n) {
    std::vector<UOp> loads = ir::topological(std::span<const UOp>(&n, 1), [](UOp u) { return u->op != Op::Reduce; });
    if (std::ranges::any_of(loads, [](UOp u) { return u->op == Op::Reduce; })) return false;
    std::erase_if(loads, [](UOp u) { return u->op != Op::Load; });
    return std::ranges::any_of(w.result_ranges, [&](UOp r) {
      return is_outer(r) && analysis_.size(r) >= kMinColumns &&
             std::ranges::any_of(loads, [&](UOp u) { return analysis_.stride(u, r) == 1; }) &&
             std::ranges::all_of(loads, [&](UOp u) {
               const int64_t stride = analysis_.stride(u, r);
               return stride == 0 || stride == 1;
             });
    });
  }
  /// Whether the loop over a reduced range is outside of a loop over the result.
  bool carried(const StatementAnalysis& w, UOp range) {
    return std::ranges::any_of(w.result_ranges, [&](UOp o) { return is_inner(o) && range_id(o) > range_id(range); });
  }

  KernelAnalysis& analysis_;
  const bool cpu_;
  std::vector<UOp> nodes_;
  std::set<int64_t> written_;
  std::unordered_map<ir::Node*, std::vector<size_t>> users_;
  std::map<std::pair<ir::Node*, ir::Node*>, int> depths_;
  std::vector<UOp> materialized_;
};

int64_t bytes_of_tiles(const Kernel& kernel, const std::vector<Opt>& opts) {
  std::vector<Tile> tiles;
  insert_tiles(kernel, make_loop_schedule(kernel, opts), tiles);
  int64_t bytes = 0;
  for (const Tile& t : tiles) bytes += t.size * static_cast<int64_t>(size_of(t.dtype));
  return bytes;
}

}  // namespace

std::vector<Materialize> find_materializations(const Kernel& kernel, KernelAnalysis& analysis,
                                               const runtime::Target& target) {
  return MaterializationFinder(kernel, analysis, target).run();
}

std::vector<Materialize> legal_materializations(const Kernel& kernel, const runtime::Target& target,
                                                int64_t most_bytes) {
  KernelAnalysis analysis(kernel);
  std::vector<Opt> legal;
  std::vector<Materialize> materializations;
  for (const Materialize& materialize : find_materializations(kernel, analysis, target)) {
    legal.emplace_back(materialize);
    if (is_legal(kernel, legal) && bytes_of_tiles(kernel, legal) <= most_bytes)
      materializations.push_back(materialize);
    else
      legal.pop_back();
  }
  return materializations;
}

Kernel with_materialized(const Kernel& kernel, std::vector<Materialize> materializations) {
  for (Materialize& m : materializations) m.over = -1;
  Kernel made = kernel;
  std::vector<Tile> tiles;
  made.sink =
      insert_tiles(kernel, make_loop_schedule(kernel, {materializations.begin(), materializations.end()}), tiles);
  return made;
}

std::vector<Opt> add_materializations(const Kernel& kernel, std::vector<Opt> opts,
                                      const std::vector<Materialize>& materializations) {
  std::vector<Opt> all = opts;
  all.insert(all.end(), materializations.begin(), materializations.end());
  if (materializations.empty() || is_legal(kernel, all)) return all;
  for (const Materialize& materialize : materializations) {
    opts.emplace_back(materialize);
    if (!is_legal(kernel, opts)) opts.pop_back();
  }
  return opts;
}

}  // namespace sinter::codegen
