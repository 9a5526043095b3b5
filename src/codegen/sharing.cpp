// With two threads, in turns with rows: 256 x 128 x 784, second transposed, 1.11, 256 x 784 x 128 1.03, 512 x 512 x 512 1.04; 500 x 700 x 300, whose
// last vectors are one thread's, 0.79.
#include "codegen/sharing.h"

#include <algorithm>

#include "codegen/blocking.h"
#include "codegen/round.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kShallow = 4;  ///< rows for a summed value, above which what is stored counts for more than what is copied: a core's caches ask
                                 ///< for lines between its own, which another one has. 256 x 10 x 128 takes twice the time by columns.
constexpr int64_t kUneven = 16;  ///< of so many parts of its share of vectors, a thread may have one too many

bool in_rows(View& view, const RegisterTile& tile, UOp load) { return !view.depends(load, tile.lanes) || view.depends(load, tile.first); }

/// Bytes of the operands that do not lie along the lanes alone.
int64_t bytes_of_rows(View& view, const Work& product, const RegisterTile& tile) {
  int64_t all = 0;
  for (UOp load : product.accesses) {
    if (load->op != Op::Load || !in_rows(view, tile, load)) continue;
    auto bytes = static_cast<int64_t>(size_of(load->dtype));
    for (UOp r : view.ranges())
      if (view.depends(load, r)) bytes *= view.size(r);
    all += bytes;
  }
  return all;
}

/// Vectors that the busiest of some threads has, if each gets as many points as the others, but for one, side by side.
int64_t busiest(int64_t vectors, int64_t of_point, int threads) {
  const int64_t points = ceil_div(vectors, of_point);
  int64_t most = 0;
  for (int64_t i = 0; i < threads; ++i)
    most = std::max(most, std::min(vectors, points * (i + 1) / threads * of_point) - points * i / threads * of_point);
  return most;
}

}  // namespace

int64_t own_columns(View& view, const Work& product, const RegisterTile& tile, int lanes, const runtime::Target& target) {
  if (target.threads < 2 || !tile.lanes || !is_outer(tile.lanes) || !tile.first || !is_outer(tile.first) || tile.turned > 1) return 0;
  for (UOp r : product.outs)
    if (is_outer(r) && !(r == tile.lanes) && !(r == tile.first)) return 0;
  for (UOp load : product.accesses)
    if (load->op == Op::Load && overlaps(view, load)) return 0;
  int64_t deep = 1;
  for (UOp r : product.own) deep *= view.size(r);
  if (view.size(tile.first) > kShallow * deep || bytes_of_rows(view, product, tile) > target.l2 / 2) return 0;
  const int64_t step = tile.second == tile.lanes ? tile.columns : 1, vectors = ceil_div(view.size(tile.lanes), lanes);
  int64_t best = step;
  for (int64_t of_point = 2 * step; of_point < vectors; of_point += step)
    if (busiest(vectors, of_point, target.threads) <= busiest(vectors, best, target.threads)) best = of_point;
  const bool even = (busiest(vectors, best, target.threads) * target.threads - vectors) * kUneven <= vectors;
  return even ? best * lanes : 0;
}

}  // namespace sinter::codegen
