// A row is short, and each begins on a line, often on a page of its own: what a core asks for by itself comes late for most of it.
#include "codegen/rows_ahead.h"

#include "codegen/blocking.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kFarRows = 256;  ///< bytes from one row to the next
constexpr double kCaches = 2;      ///< second caches that the operands fill, at least

double bytes_of(View& view, UOp load) {
  auto bytes = static_cast<double>(size_of(load->dtype));
  for (UOp r : view.ranges())
    if (view.depends(load, r)) bytes *= static_cast<double>(view.size(r));
  return bytes;
}

}  // namespace

std::vector<Opt> rows_ahead(const Kernel& kernel, View& view, const Work& product, const RegisterTile& tile, const runtime::Target& target) {
  // A step loads its columns and an element of each row, and asks for another one of each: as many as it multiplies, at most.
  if (!tile.lanes || !tile.first || !is_outer(tile.first) || tile.turned > 1 || product.own.empty() || tile.columns + 2 * tile.rows > tile.rows * tile.columns) return {};
  std::vector<Opt> opts;
  double bytes = 0;
  for (UOp a : product.accesses) {
    if (a->op != Op::Load) continue;
    bytes += bytes_of(view, a);
    const int64_t apart = view.stride(a, tile.first);
    if (view.depends(a, tile.lanes) || view.stride(a, product.own.back()) != 1 || apart == View::kScattered) continue;
    if (apart * static_cast<int64_t>(size_of(a->dtype)) >= kFarRows) opts.emplace_back(Prefetch{number_of(kernel, a), range_id(tile.first), tile.rows});
  }
  return bytes > kCaches * static_cast<double>(target.l2) ? opts : std::vector<Opt>{};
}

}  // namespace sinter::codegen
