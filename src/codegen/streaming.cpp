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

constexpr int kRows = 16;               ///< that are gone through at once: as many streams as hardware follows,
constexpr int kFewRows = 8;             ///< and where registers hold what they are multiplied with for several results
constexpr double kLongRows = 64;        ///< operations of a step above which it goes by single vectors, or by fewer rows
constexpr int64_t kRowBytes = 16 << 10; ///< of a row that a point covers at most,
constexpr int64_t kResults = 4096;      ///< even where its results do not fit the first cache,
constexpr int64_t kFewRowBytes = 1024;  ///< and at least: with less fetching ahead begins anew too often
constexpr int64_t kMostSharing = 15;    ///< results of one element, above which copying it pays

/// The access of a product that goes through memory along `lanes`, if there is one.
UOp streamed(View& view, const Work& product, UOp lanes, const runtime::Target& target) {
  for (UOp a : product.accesses) {
    const int64_t step = view.stride(a, product.own[0]);
    if (view.stride(a, lanes) != 1 || step == View::kScattered || std::abs(step) < view.size(lanes)) continue;
    const auto bytes = static_cast<int64_t>(size_of(a->src[0]->dtype));
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
  const int64_t sharing = stream ? reuse_of(view, product, stream) : 0;
  if (!stream || sharing > kMostSharing) return {};

  int64_t others = 1;  // rows beside each other that threads may have
  for (UOp r : product.outs)
    if (is_outer(r) && !(r == columns) && view.depends(stream, r)) others *= view.size(r);
  const auto bytes = static_cast<int64_t>(size_of(stream->src[0]->dtype));
  const int64_t most = std::clamp(target.l1 / sharing, kResults, kRowBytes) / bytes, cuts = std::max<int64_t>(1, target.threads / others);
  const int64_t row = ceil_div(view.size(columns), round_up(ceil_div(view.size(columns), most), cuts));
  if (row * bytes < kFewRowBytes) return {};
  const bool wide = target.vector_registers >= 2 * kRows;
  int rows = wide && sharing == 1 ? kRows : kFewRows, vectors = wide ? 2 : 1;  // of each row in one step
  if (vectors * rows * product.operations > kLongRows) vectors = 1;
  if (rows * product.operations > kLongRows) rows = kFewRows;
  std::vector<Opt> opts{Split{range_id(summed), rows}, Unroll{range_id(summed), rows},
                        Block{range_id(columns), round_up(row, int64_t{target.vector_bytes} / 4 * vectors)}};
  if (vectors > 1) opts.push_back(Unroll{range_id(columns), vectors});
  Order order;
  for (UOp r : product.outs)  // the blocks of a longer sum one after the other, so that only the results of one are at work
    if (!is_outer(r) && view.depends(stream, r)) order.loops.push_back({range_id(r), 0});
  order.loops.push_back({range_id(summed), 0});
  order.loops.push_back({range_id(columns), 0});
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
