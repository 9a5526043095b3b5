// Down a column each element is on a new page. Along a few adjacent rows, hardware prefetches.
#include "codegen/tune/heuristic/steps.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/heuristic/cache_sets.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "ir/ceil_div.h"
#include "ir/combine.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr int kStreamedRows = 16;  ///< rows that are read at once: as many streams as hardware follows
/// Rows that are read at once if more would crowd their cache sets, or if registers hold their factors for several
/// results.
constexpr int kFewRows = 8;
/// Operations of a step, at most. A larger step is reduced to single vectors, or to fewer rows.
constexpr double kMaxStepOperations = 64;
constexpr double kMaxStreamOperations = 240;  ///< operations of kFewRows rows above which nothing is streamed
constexpr int64_t kMaxRowBytes = 16 << 10;    ///< bytes of a row that a task covers, at most
constexpr int64_t kMinRowBytes = 768;  ///< bytes of a row, at least: shorter ones restart hardware prefetch too often
constexpr int64_t kMaxResultBytes = 4096;  ///< bytes of a task's results, at most, if they exceed the first cache
constexpr int64_t kManyTasks = 8;          ///< tasks per thread from which one more or less does not matter
// Results per element:
/// Up to so many, a step reads a few rows and computes the results one after the other. With more there is a register
/// tile.
constexpr int64_t kMaxReuseUntiled = 8;
/// Results of that tile, at most. It goes down kTileDepth rows of the matrix before it moves on.
constexpr int64_t kMaxTileResults = 8;
constexpr int64_t kTileDepth = 32;
/// The depth if rows share sets, so that they would not stay in the first cache for all results. Also if the results
/// do not stay there, the last cache is near, and two thirds of the first cache hold 256 rows of a tile. On a core of
/// a Zen 5, 32 x 1024 x 2048 takes 0.57 of the time.
constexpr int64_t kDeepTile = 256;
constexpr int64_t kMaxReuse = 36;              ///< with more, packing may pay
constexpr int64_t kMaxReuseFewRegisters = 24;  ///< the same without registers for such a tile

/// Whether kStreamedRows rows at once evict each other's lines from the first cache before they are used. Rows that
/// are whole pages apart share a set. Up to half as many more than it has ways still do no harm. On Zen 4, with 8
/// ways, a matrix-vector product of 4096 takes 0.88 of the time by kFewRows, but 1.09 if rows are 4032 long. With 12
/// ways kStreamedRows are best.
bool rows_crowd_sets(int64_t distance, const runtime::Target& target) {
  return is_page_stride(distance) && 2 * kStreamedRows > 3 * l1_associativity(target);
}

/// The loads of a product that stream memory along `lanes`, row after row.
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

/// Whether a step adds to more rows of results than a set of the first cache holds, and these rows are whole pages
/// apart. On Zen 3 (November 2026), 24 x 144 x 1024 as a stream takes 5 times as long as by tiles.
bool results_crowd_sets(KernelAnalysis& analysis, const StatementAnalysis& product, UOp stream,
                        const runtime::Target& target) {
  return std::ranges::any_of(analysis.statements(), [&](const StatementAnalysis& store) {
    if (store.is_reduce() || !contains(store.sums, product.node)) return false;
    return std::ranges::any_of(product.result_ranges, [&](UOp r) {
      return !analysis.depends(stream, r) && analysis.size(r) > l1_associativity(target) &&
             is_page_stride(analysis.byte_stride(store.node, r));
    });
  });
}

}  // namespace

std::vector<Opt> stream_product(KernelAnalysis& analysis, const StatementAnalysis& product, const RegisterTile& tile,
                                int lanes, const runtime::Target& target) {
  if (!tile.lane_range || tile.transpose_unroll > 1 || !is_outer(tile.lane_range) || product.chains() > 1 ||
      product.reduced_ranges.empty() || product.reduced_ranges.size() != product.blocks + 1)
    return {};
  const UOp columns = tile.lane_range, summed = product.reduced_ranges.back();
  const std::vector<UOp> streams = streamed(analysis, product, columns, target);
  if (streams.empty() || kFewRows * product.operations > kMaxStreamOperations) return {};
  const UOp stream = streams[0];
  const int64_t reuse = results_per_element(analysis, product, stream);
  const bool wide = target.vector_registers >= 2 * kStreamedRows;  // enough for that many rows, or for a tile
  const bool tiled = wide && reuse > kMaxReuseUntiled;
  if (reuse > (tiled ? kMaxReuse : kMaxReuseFewRegisters)) return {};
  if (!tiled && results_crowd_sets(analysis, product, stream, target)) return {};

  const int64_t others = batch_size_of(analysis, product, stream, columns);  // matrices that threads may share
  const int64_t cuts =
      others < kManyTasks * target.threads ? target.threads / std::gcd<int64_t>(target.threads, others) : 1;
  const auto bytes = static_cast<int64_t>(size_of(stream->dtype));
  int64_t of_results = 0;
  for (DType type : ir::accumulator_types(product.node)) of_results += static_cast<int64_t>(size_of(type));
  const int64_t most = std::min(kMaxRowBytes / bytes, std::max(kMaxResultBytes, target.l1 / reuse) / of_results);
  const int64_t row = ceil_div(analysis.size(columns), round_up(ceil_div(analysis.size(columns), most), cuts));
  if (row * bytes < kMinRowBytes) return {};

  const bool crowded = rows_crowd_sets(analysis.byte_stride(stream, summed), target);
  int rows = wide && reuse == 1 && streams.size() == 1 && !crowded ? kStreamedRows : kFewRows,
      vectors = wide ? 2 : 1;  // of each row per step
  if (vectors * rows * product.operations > kMaxStepOperations) vectors = 1;
  if (rows * product.operations > kMaxStepOperations) rows = kFewRows;
  const int64_t width = round_up(row, int64_t{lanes} * vectors);
  const bool room = kDeepTile * lanes * vectors * bytes <= target.l1 / 3 * 2;  // the first cache holds a deep tile
  const bool deep = crowded || (target.near_l3 && room && reuse * width * of_results > target.l1);
  std::vector<Opt> opts{Split{range_id(summed), tiled ? (deep ? kDeepTile : kTileDepth) : rows}};
  if (!tiled) opts.push_back(Unroll{range_id(summed), rows});
  opts.push_back(TaskBlock{range_id(columns), width});
  if (vectors > 1) opts.push_back(Unroll{range_id(columns), vectors});
  LoopOrder order;
  UOp longest;  // the longest range of the results that use an element
  // The blocks of a longer sum run one after the other, so that the results of only one are in use.
  for (UOp r : product.result_ranges)
    if (!is_outer(r) && analysis.depends(stream, r)) order.loops.push_back({range_id(r), 0});
  for (UOp r : product.reduced_ranges) order.loops.push_back({range_id(r), 0});
  order.loops.push_back({range_id(columns), 0});
  for (UOp r : product.result_ranges) {
    if (analysis.depends(stream, r)) continue;
    if (!is_outer(r)) return {};
    opts.push_back(TaskBlock{range_id(r), analysis.size(r)});  // all results that use the streamed operand
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
