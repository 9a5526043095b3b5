// Down a column every element takes a new page. Across rows, a few side by side, hardware fetches ahead.
#include "codegen/tune/heuristic/streaming.h"

#include <cstdlib>
#include <numeric>

#include "codegen/kernel/ceil_div.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/heuristic/cache_sets.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/combine.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int kStreamedRows = 16;  ///< that are gone through at once: as many streams as hardware follows,
constexpr int kFewRows = 8;        ///< and where registers hold what they are multiplied with for several results
constexpr double kMaxStepOperations =
    64;  ///< operations of a step above which it goes by single vectors, or by fewer rows,
constexpr double kMaxOperations = 240;      ///< or not this way at all
constexpr int64_t kMaxRowBytes = 16 << 10;  ///< of a row that a point covers at most,
constexpr int64_t kMinRowBytes = 768;       ///< and at least: with less fetching ahead begins anew too often
constexpr int64_t kMaxResultBytes = 4096;   ///< bytes of results that a point has where they do not fit the first cache
constexpr int64_t kManyTasks = 8;  ///< for each thread, of which it does not matter whether they are one more or less
// Results of one element:
constexpr int64_t kMaxSharingUntiled =
    8;  ///< up to which a step has a few rows and all of these one after the other. Above it is a register tile
constexpr int64_t kMaxTileResults =
    8;  ///< of as many results at most, which goes down so many rows of the matrix before it moves on:
constexpr int64_t kTileDepth = 32;
constexpr int64_t kDeepTile =
    256;  ///< or so many where rows share sets, and would not stay in the first cache for all of the results; or where
          ///< these do not, the last cache is near, and two thirds of the first hold 256 rows of a tile: on a core of a
          ///< Zen 5 32 x 1024 x 1024 takes 0.85 of the time, 32 x 1024 x 2048 0.57, 16 x 2000 x 2000 0.81; 10 x 1000 x
          ///< 1000, whose results stay, would take 1.09
constexpr int64_t kMaxSharing =
    36;  ///< above which copying it may pay: 32 take 0.7 to 0.8 of the time, 40 and 48 take 0.8 to 1.1;
constexpr int64_t kMaxSharingFewRegisters = 24;  ///< the same without registers for such a tile

/// Whether kStreamedRows rows at once drive each other's lines out of the first cache before they are used. Those whole
/// pages apart share a set; half as many more than it has lines still come one after the other. With eight lines (Zen
/// 4) a matrix-vector product of 4096 takes 0.88 and, with two threads, 0.80 of the time by kFewRows, but 1.09 and 0.92
/// of it where rows are 4032 long; 32 x 1024 x 1024 takes 0.81 and 0.69 by kDeepTile. With twelve kStreamedRows are the
/// best.
bool rows_crowd_sets(int64_t distance, const runtime::Target& target) {
  return pages_apart(distance) && 2 * kStreamedRows > 3 * ways(target);
}

/// The loads of a product that go through memory along `lanes`, row after row.
std::vector<UOp> streamed(KernelAnalysis& analysis, const StatementAnalysis& product, UOp lanes,
                          const runtime::Target& target) {
  std::vector<UOp> out;
  for (UOp a : product.accesses) {
    const int64_t step = analysis.stride(a, product.reduced_ranges.back());
    if (a->op != Op::Load || analysis.stride(a, lanes) != 1 || step == KernelAnalysis::kScattered ||
        std::abs(step) < analysis.size(lanes))
      continue;
    if (analysis.bytes_read(a) > static_cast<double>(target.l2)) out.push_back(a);
  }
  return out;
}

}  // namespace

std::vector<Opt> stream_product(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                                int lanes, const runtime::Target& target) {
  if (!tile.lane_range || tile.transpose_unroll > 1 || !is_outer(tile.lane_range) || product.chains() > 1 ||
      product.reduced_ranges.empty() || product.reduced_ranges.size() != product.blocks + 1)
    return {};
  const UOp columns = tile.lane_range, summed = product.reduced_ranges.back();
  const std::vector<UOp> streams = streamed(analysis, product, columns, target);
  if (streams.empty() || kFewRows * product.operations > kMaxOperations) return {};
  const UOp stream = streams[0];
  const int64_t sharing = results_per_element(analysis, product, stream);
  const bool wide = target.vector_registers >= 2 * kStreamedRows;  // for that many rows, or for a tile
  const bool tiled = wide && sharing > kMaxSharingUntiled;
  if (sharing > (tiled ? kMaxSharing : kMaxSharingFewRegisters)) return {};

  const int64_t others = batch_size_of(analysis, product, stream, columns);  // which threads may share
  const int64_t cuts =
      others < kManyTasks * target.threads ? target.threads / std::gcd<int64_t>(target.threads, others) : 1;
  const auto bytes = static_cast<int64_t>(size_of(stream->dtype));
  int64_t of_results = 0;
  for (DType type : ir::accumulator_types(product.node)) of_results += static_cast<int64_t>(size_of(type));
  const int64_t most = std::min(kMaxRowBytes / bytes, std::max(kMaxResultBytes, target.l1 / sharing) / of_results);
  const int64_t row = ceil_div(analysis.size(columns), round_up(ceil_div(analysis.size(columns), most), cuts));
  if (row * bytes < kMinRowBytes) return {};

  const bool crowded = rows_crowd_sets(analysis.byte_stride(stream, summed), target);
  int rows = wide && sharing == 1 && streams.size() == 1 && !crowded ? kStreamedRows : kFewRows,
      vectors = wide ? 2 : 1;  // of each row in one step
  if (vectors * rows * product.operations > kMaxStepOperations) vectors = 1;
  if (rows * product.operations > kMaxStepOperations) rows = kFewRows;
  const int64_t width = round_up(row, int64_t{lanes} * vectors);
  const bool room = kDeepTile * lanes * vectors * bytes <= target.l1 / 3 * 2;  // for so many rows of a tile
  const bool deep = crowded || (target.near_l3 && room && sharing * width * of_results > target.l1);
  std::vector<Opt> opts{Split{range_id(summed), tiled ? (deep ? kDeepTile : kTileDepth) : rows}};
  if (!tiled) opts.push_back(Unroll{range_id(summed), rows});
  opts.push_back(TaskBlock{range_id(columns), width});
  if (vectors > 1) opts.push_back(Unroll{range_id(columns), vectors});
  LoopOrder order;
  UOp longest;                         // range of the results that share an element
  for (UOp r : product.result_ranges)  // the blocks of a longer sum one after the other, so that only the results of
                                       // one are at work
    if (!is_outer(r) && analysis.depends(stream, r)) order.loops.push_back({range_id(r), 0});
  for (UOp r : product.reduced_ranges) order.loops.push_back({range_id(r), 0});
  order.loops.push_back({range_id(columns), 0});
  for (UOp r : product.result_ranges) {
    if (analysis.depends(stream, r)) continue;
    if (!is_outer(r)) return {};
    opts.push_back(TaskBlock{range_id(r), analysis.size(r)});  // all that share what comes from memory
    order.loops.push_back({range_id(r), 0});
    if (tiled && (!longest || analysis.size(r) > analysis.size(longest))) longest = r;
  }
  order.loops.push_back({range_id(summed), 1});
  if (longest) {
    const int64_t size = analysis.size(longest);
    opts.push_back(Unroll{range_id(longest), static_cast<int>(ceil_div(size, ceil_div(size, kMaxTileResults)))});
  }
  opts.push_back(order);
  return opts;
}

}  // namespace sinter::codegen
