// Values by the statements that use them: two that cannot share a loop would each compute them.
#include "codegen/tune/heuristic/materialize_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "codegen/kernel/access.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/tile.h"
#include "codegen/tune/heuristic/register_tile.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::AxisKind;
using ir::Op;
using ir::UOp;

constexpr double kDear = 12;  ///< operations of an expression that is rather kept
/// Operations that a load counts for which vectors of a CPU transpose, and elements of a row up to which: rows of 48
/// that are kept for their second use take 0.77 of the time on Zen 3. Longer ones were not measured.
constexpr double kTransposed = 12;
constexpr int64_t kShortRow = 64;
constexpr int64_t kLargest = 256 << 10;  ///< bytes of a tile

bool is_inner(UOp range) { return range_kind(range) == AxisKind::Inner; }

class Finder {
 public:
  Finder(const Kernel& kernel, View& view, const runtime::Target& target)
      : view_(view), transposes_(!target.cuda()), nodes_(ir::topological(kernel.sink)) {
    for (UOp n : nodes_)
      if (n->op == Op::Store) written_.insert(slot_of(n));
  }

  std::vector<Row> run() {
    for (size_t i = 0; i < view_.works().size(); ++i) find_users(i);
    std::vector<Row> rows;
    for (size_t i = nodes_.size(); i-- > 0;) {
      UOp n = nodes_[i];
      if (!users_.contains(n.get()) || covered(n)) continue;
      Row row{static_cast<int>(i), {}};
      if (!keep(n, row.ranges)) continue;
      kept_.push_back(n);
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  /// The statements in which a node is evaluated.
  void find_users(size_t work) {
    UOp root = view_.works()[work].node;
    for (UOp n :
         ir::topological(std::span<const UOp>(&root, 1), [&](UOp u) { return u == root || u->op != Op::Reduce; }))
      if (!(n == root) && (ir::is_alu(n->op) || n->op == Op::Reduce) && n->dtype != DType::Index &&
          n->dtype != DType::Bool)
        users_[n.get()].push_back(work);
  }

  /// Whether all users of n use it only through a value that is kept.
  bool covered(UOp n) {
    return std::any_of(kept_.begin(), kept_.end(),
                       [&](UOp k) { return users_[k.get()] == users_[n.get()] && below(k, n); });
  }
  static bool below(UOp root, UOp n) {
    const std::vector<UOp> all =
        ir::topological(std::span<const UOp>(&root, 1), [&](UOp u) { return u == root || u->op != Op::Reduce; });
    return in(all, n);
  }

  /// How many sums over a range lie below a statement, one in the other: statements at different depth are siblings.
  int depth(const Work& w, UOp range) {
    auto [it, fresh] = depths_.try_emplace({w.node.get(), range.get()}, 0);
    if (!fresh) return it->second;
    int depth = 0;
    for (UOp r : w.sums) {
      const Work& sum = view_.of(r);
      depth = std::max(depth, this->depth(sum, range) + (in(sum.own, range) ? 1 : 0));
    }
    return depths_[{w.node.get(), range.get()}] = depth;
  }

  double price(UOp n, const std::vector<size_t>& users) {
    if (n->op == Op::Reduce) return view_.of(n).own.empty() ? 0 : kDear;
    double operations = 0;
    for (UOp u : ir::topological(std::span<const UOp>(&n, 1), [&](UOp u) { return u->op != Op::Reduce; })) {
      operations += operations_of(u);
      if (u->op == Op::Load &&
          std::any_of(users.begin(), users.end(), [&](size_t w) { return across(view_.works()[w], u); }))
        operations += kTransposed;
    }
    return operations;
  }

  /// Whether a sum of short rows, element by element, reads memory across its lanes: those lie along other ranges.
  bool across(const Work& w, UOp load) {
    return transposes_ && w.is_reduce() && w.chains() == 1 && !w.outs.empty() && reuse_ranges(view_, w).empty() &&
           std::any_of(w.own.begin(), w.own.end(),
                       [&](UOp r) { return view_.stride(load, r) == 1 && view_.size(r) <= kShortRow; });
  }

  /// Whether n is worth a tile, and along which ranges it lies.
  bool keep(UOp n, std::vector<int>& along) {
    const std::vector<size_t>& users = users_.at(n.get());
    if (price(n, users) < kDear) return false;
    const bool repeated =
        std::any_of(users.begin(), users.end(), [&](size_t u) { return repeats(view_.works()[u], n); });
    if (users.size() < 2 && !repeated) return false;
    std::vector<UOp> ranges;
    bool siblings = repeated;
    for (UOp r : view_.ranges()) {
      if (!is_inner(r) || !view_.depends(n, r)) continue;
      std::set<int> depths;
      bool everywhere = true;
      for (size_t u : users) {
        const Work& w = view_.works()[u];
        if (!w.runs_over(r)) return false;
        depths.insert(depth(w, r));
        everywhere &= !in(w.own, r) || carried(w, r);
      }
      siblings |= depths.size() > 1;
      // Loops that stand around all users are shared.
      if (everywhere && ranges.empty() && depths.size() == 1) continue;
      ranges.push_back(r);
    }
    if (!siblings || ranges.empty()) return false;
    int64_t bytes = static_cast<int64_t>(size_of(n->dtype));
    for (UOp r : ranges) bytes *= view_.size(r);
    if (bytes > kLargest) return false;
    for (UOp u : ir::topological(n))
      if (u->op == Op::Load && written_.contains(slot_of(u))) return false;
    for (UOp r : ranges) along.push_back(range_id(r));
    return true;
  }
  /// Whether a sum uses n again for each element along a loop of its result, on which n does not depend: its lanes lie
  /// there.
  bool repeats(const Work& w, UOp n) {
    return w.is_reduce() && w.chains() == 1 &&
           std::any_of(w.outs.begin(), w.outs.end(), [&](UOp r) { return is_inner(r) && !view_.depends(n, r); });
  }
  /// Whether the loop of a REDUCE over its own range stands outside all that its value depends on.
  bool carried(const Work& w, UOp range) {
    return std::any_of(w.outs.begin(), w.outs.end(),
                       [&](UOp o) { return is_inner(o) && range_id(o) > range_id(range); });
  }

  View& view_;
  const bool transposes_;  ///< vectors whose elements lie apart in memory
  std::vector<UOp> nodes_;
  std::set<int64_t> written_;
  std::unordered_map<ir::Node*, std::vector<size_t>> users_;
  std::map<std::pair<ir::Node*, ir::Node*>, int> depths_;
  std::vector<UOp> kept_;
};

int64_t bytes_of_tiles(const Kernel& kernel, const std::vector<Opt>& opts) {
  std::vector<Tile> tiles;
  with_tiles(kernel, make_schedule(kernel, opts), tiles);
  int64_t bytes = 0;
  for (const Tile& t : tiles) bytes += t.size * static_cast<int64_t>(size_of(t.dtype));
  return bytes;
}

}  // namespace

std::vector<Row> rows_to_keep(const Kernel& kernel, View& view, const runtime::Target& target) {
  return Finder(kernel, view, target).run();
}

std::vector<Row> legal_rows(const Kernel& kernel, const runtime::Target& target, int64_t most_bytes) {
  View view(kernel);
  std::vector<Opt> legal;
  std::vector<Row> rows;
  for (const Row& row : rows_to_keep(kernel, view, target)) {
    legal.emplace_back(row);
    if (is_legal(kernel, legal) && bytes_of_tiles(kernel, legal) <= most_bytes)
      rows.push_back(row);
    else
      legal.pop_back();
  }
  return rows;
}

Kernel with(const Kernel& kernel, const std::vector<Row>& rows) {
  Kernel made = kernel;
  std::vector<Tile> tiles;
  made.sink = with_tiles(kernel, make_schedule(kernel, {rows.begin(), rows.end()}), tiles);
  return made;
}

std::vector<Opt> add_rows(const Kernel& kernel, std::vector<Opt> opts, const std::vector<Row>& rows) {
  std::vector<Opt> all = opts;
  all.insert(all.end(), rows.begin(), rows.end());
  if (rows.empty() || is_legal(kernel, all)) return all;
  for (const Row& row : rows) {
    opts.emplace_back(row);
    if (!is_legal(kernel, opts)) opts.pop_back();
  }
  return opts;
}

}  // namespace sinter::codegen
