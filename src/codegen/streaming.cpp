// Down a column every element takes a new page. Across rows, a few side by side, hardware fetches ahead.
#include "codegen/streaming.h"

#include "codegen/blocking.h"
#include "codegen/round.h"
#include "codegen/schedule.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kRows = 8;               ///< that are gone through at once: as many streams as hardware follows
constexpr int64_t kRowBytes = 4096;    ///< of a row that a point covers at most,
constexpr int64_t kFewRowBytes = 1024; ///< and below which fetching ahead begins anew too often
constexpr int64_t kMostSharing = 15;   ///< results of one element, above which copying it pays

/// The access of a product that goes through memory along `lanes`, if there is one.
UOp streamed(View& view, const Work& product, UOp lanes, const runtime::Target& target) {
  for (UOp a : product.accesses) {
    if (view.stride(a, lanes) != 1) continue;
    const auto bytes = static_cast<int64_t>(size_of(a->src[0]->dtype));
    const int64_t step = view.stride(a, product.own[0]);
    if (step == View::kScattered || std::abs(step) * bytes < kPage) continue;
    int64_t touched = bytes;
    for (UOp r : view.ranges())
      if (view.depends(a, r)) touched *= view.size(r);
    if (touched > target.l2) return a;
  }
  return {};
}

}  // namespace

std::vector<Opt> stream_product(View& view, const Work& product, const RegisterTile& tile, const runtime::Target& target) {
  if (!tile.lanes || tile.turned > 1 || !is_outer(tile.lanes) || product.chains() > 1 || product.own.size() != 1) return {};
  const UOp columns = tile.lanes, summed = product.own[0];
  const UOp stream = streamed(view, product, columns, target);
  if (!stream || reuse_of(view, product, stream) > kMostSharing) return {};

  const auto bytes = static_cast<int64_t>(size_of(stream->src[0]->dtype));
  const int64_t share = view.size(columns) / target.threads * bytes;
  const int64_t row = std::clamp(share, kFewRowBytes, kRowBytes) / bytes;
  const int vectors = target.vector_registers >= 4 * kRows ? 2 : 1;  // of each row in one step: half of the registers hold them
  std::vector<Opt> opts{Split{range_id(summed), kRows}, Unroll{range_id(summed), kRows},
                        Block{range_id(columns), round_up(row, int64_t{target.vector_bytes} / 4 * vectors)}};
  if (vectors > 1) opts.push_back(Unroll{range_id(columns), vectors});
  Order order{{{range_id(summed), 0}, {range_id(columns), 0}}};
  for (UOp r : product.outs) {
    if (view.depends(stream, r)) continue;
    if (!is_outer(r)) return {};
    opts.push_back(Block{range_id(r), view.size(r)});  // all that share what comes from memory
    order.loops.push_back({range_id(r), 0});
  }
  order.loops.push_back({range_id(summed), 1});
  opts.push_back(order);
  return opts;
}

}  // namespace sinter::codegen
