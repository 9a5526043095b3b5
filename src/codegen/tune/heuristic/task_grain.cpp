// Ranges are enlarged in the order of what that saves: what is computed once for a point, panels, lines, rows,
// launches.
#include "codegen/tune/heuristic/task_grain.h"

#include <cmath>

#include "codegen/kernel/ceil_div.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/thread_partition.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr double kLongestPoint = 16 * kPoint;  ///< cycles above which there are rather more points
constexpr double kTurns = 2;         ///< points per parallel unit, so that every thread has its share several times
constexpr double kProductRows = 96;  ///< values of a product's first range that a point covers at most
constexpr double kPanelRows = 1024;  ///< and where many panels pass by, which each point reads again

double cycles_of_all(const Choice& c) {
  double all = 0;
  for (const Work& w : c.view.works())
    all += Choice::cycles(w) / (c.vectors.empty() && w.chains() == 1 ? 1 : c.lanes / 2.0);
  return all;
}

/// Whether a store lies nearer in memory along one range than along another.
bool stored_nearer(Choice& c, UOp range, UOp other) {
  return std::any_of(c.view.works().begin(), c.view.works().end(), [&](const Work& w) {
    if (w.is_reduce()) return false;
    const int64_t near = c.view.stride(w.node, range), far = c.view.stride(w.node, other);
    return near > 0 && near < far;
  });
}

/// Whether points that follow one another read other columns of a product's operand, of which half of the second cache
/// does not hold what the next row reads again: its panels lie apart, as heads do.
bool many_panels(Choice& c, const Choice::Product& p) {
  const auto again = [&](UOp r) { return !is_outer(r) || range_id(r) > range_id(p.tile.first); };
  return std::any_of(p.work->accesses.begin(), p.work->accesses.end(), [&](UOp a) {
    if (!passes_under_rows(c.view, p.tile, a)) return false;
    const bool apart = std::any_of(c.view.ranges().begin(), c.view.ranges().end(), [&](UOp r) {
      return c.view.depends(a, r) && again(r) && is_outer(r) && !(r == p.tile.lanes);
    });
    return apart && c.view.bytes(a, again) > c.target.l2 / 2;
  });
}

/// Whether a sum or a tile that does not change along an outer range is needed at each of its values.
bool repeats(Choice& c, UOp range) {
  if (std::any_of(c.staged.begin(), c.staged.end(), [&](UOp v) { return !c.view.depends(v, range); })) return true;
  for (const Work& w : c.view.works())
    if (c.view.depends(w.node, range))
      for (UOp r : w.sums)
        if (!c.view.depends(r, range) && !c.view.of(r).own.empty()) return true;
  return false;
}

/// The outer ranges, and how far a point goes along each.
class Points {
 public:
  explicit Points(const Choice& c) : outer(c.kernel.outer.size()) {
    for (UOp r : c.view.ranges())
      if (is_outer(r)) outer[static_cast<size_t>(range_id(r))] = r;
    std::erase(outer, UOp());
    for (UOp r : outer) {
      block.push_back(c.width_of(r));
      counts_.push_back(ceil_div(c.view.size(r), block.back()));
      count *= static_cast<double>(counts_.back());
    }
  }

  /// A point covers so many times as many values of a range, or as many as there are.
  void enlarge(size_t i, double by) {
    by = std::floor(std::min(by, static_cast<double>(counts_[i])));
    if (by <= 1) return;
    const auto times = static_cast<int64_t>(by), left = ceil_div(counts_[i], times);
    count = count / static_cast<double>(counts_[i]) * static_cast<double>(left);
    block[i] *= ceil_div(counts_[i], left);
    counts_[i] = left;
  }

  /// Of the points along a range, those of one of some threads.
  double part(size_t i, int threads) const { return std::ceil(static_cast<double>(counts_[i]) / threads); }

  std::vector<UOp> outer;
  std::vector<int64_t> block;  ///< per range
  double count = 1;            ///< of points

 private:
  std::vector<int64_t> counts_;  ///< per range
};

}  // namespace

void choose_points(Choice& c) {
  Points points(c);
  const std::vector<UOp>& outer = points.outer;
  if (outer.empty()) return;
  const double all = std::max(cycles_of_all(c), 1.0), units = c.target.parallel_units;
  const double wanted = std::max(kTurns * units, all / kLongestPoint);
  const auto room = [&] { return std::min(points.count / wanted, points.count * kPoint / all); };
  for (size_t i = 0; i < outer.size(); ++i)  // what is computed for a point, for as many others as there are
    if (repeats(c, outer[i])) points.enlarge(i, points.count / units);
  if (!c.products.empty())
    if (const RegisterTile& t = c.products[0].tile; t.first && is_outer(t.first)) {
      const auto rows = static_cast<size_t>(std::find(outer.begin(), outer.end(), t.first) - outer.begin());
      const bool peeled = std::any_of(c.products.begin(), c.products.end(), [&](const Choice::Product& p) {
        return p.tile.first == t.first && peel_of(c.view, *p.work, p.tile, c.target);
      });
      if (peeled) points.enlarge(rows, static_cast<double>(c.view.size(t.first)));  // a point holds both edges
      if (panels_under_all_rows(c.view, *c.products[0].work, t, c.target))
        points.enlarge(rows, std::min(points.part(rows, c.target.threads), points.count / (kTurns * c.target.threads)));
      if (many_panels(c, c.products[0]))
        points.enlarge(rows, std::min(points.count / (kTurns * units), kPanelRows / t.rows));
      for (size_t i = outer.size(); i-- > 0;)  // lines that a tile's far rows begin are written to their end
        if (!c.tiled(outer[i]) && stored_nearer(c, outer[i], t.first)) points.enlarge(i, points.count / wanted);
      points.enlarge(rows, std::min(room(), kProductRows / t.rows));
    }
  for (size_t i = 0; i < outer.size(); ++i)  // rows are read and written from their beginning to their end
    if (in(c.transposed, outer[i])) points.enlarge(i, room());
  // Not along rows side by side that are streams already: a point would read twice as many, turn by turn.
  const auto streams = [&](UOp r) { return c.scattered && c.width_of(r) > 1 && !in(c.transposed, r); };
  for (size_t i = outer.size(); i-- > 0;)
    if (!streams(outer[i])) points.enlarge(i, room());
  for (size_t i = 0; i < outer.size(); ++i)
    if (points.block[i] > c.width_of(outer[i])) c.opts.push_back(Block{range_id(outer[i]), points.block[i]});
}

}  // namespace sinter::codegen
