// Stores are transposed before other unrolled copies are chosen, reductions when all else is decided.
#include "codegen/tune/heuristic/steps.h"

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/product_epilogue.h"
#include "ir/contains.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr double kMaxTransposedOperations = 320;  ///< operations of transposed unrolled copies, at most
/// Bytes of each row that a transpose accesses at once if it streams memory.
constexpr int64_t kStreamedRowBytes = 128;
/// Rows of such a transpose: the streams that a core predicts. More if they fill less than kStreamedLineBytes.
constexpr int64_t kStreams = 32;
constexpr int64_t kStreamedLineBytes = 64;  ///< stores of fewer bytes do not bypass the caches
constexpr int kTransposedSumUnroll = 4;     ///< unrolled copies of a reduction whose operands are transposed
/// The same if its row is stored, too. With 16 copies, rows of 16 are slower.
constexpr int kTransposedRowUnroll = 8;
constexpr double kMaxTermsPerStore = 16;  ///< longest sum whose stores still cost a noticeable share of its time
constexpr int kRowsBeside = 4;  ///< rows of a scan whose chains overlap; one more or less if these are a divisor

/// Whether memory is strided along `vector` and contiguous along `range`.
bool is_contiguous_across(KernelAnalysis& analysis, UOp access, UOp vector, UOp range) {
  const int64_t stride = analysis.lane_stride(access, vector);
  return stride != 0 && stride != 1 && stride != KernelAnalysis::kScattered && analysis.stride(access, range) == 1;
}

void transpose(TuningState& state, const StatementAnalysis& w, UOp access, UOp vector, UOp range) {
  // Whether a reduction runs along the range, too, and whether all of those may have unrolled copies there.
  bool summed = false, copied = true;
  for (const StatementAnalysis& other : state.analysis.statements()) {
    if (!other.is_reduce() || !other.runs_over(range)) continue;
    const bool transposed =
        other.chains() == 1 && contains(other.reduced_ranges, range) && contains(other.result_ranges, vector);
    summed |= transposed;
    copied &= transposed || (is_serial_sum(state, other) && state.analysis.size(range) <= kShortLoop);
  }
  if (!copied || state.is_tiled(range) || contains(state.fixed, range) || contains(state.lane_ranges, range) ||
      state.width_of(range) > 1)
    return;
  const auto bytes = static_cast<int64_t>(size_of(access->src[0]->dtype));
  const bool streams =
      static_cast<double>(bytes) * w.iterations >= kRowStreamL3Share * static_cast<double>(state.target.l3);
  const int64_t streamed = std::max(std::min(kStreams, kStreamedRowBytes / bytes), kStreamedLineBytes / bytes);
  int copies =
      static_cast<int>(streams ? streamed : std::min(summed ? kTransposedRowUnroll : 16, state.width(vector).lanes));
  while (copies > 4 && copies * w.operations > kMaxTransposedOperations) copies /= 2;
  while (copies / 2 >= state.analysis.size(range)) copies /= 2;
  if (copies < 2) return;
  state.stores_row_streams |= streams && copies * bytes >= kStreamedLineBytes;
  state.width(range).unroll = copies;
  state.strided_lane_ranges.push_back(vector);
}

/// Whether a range may have unrolled copies: no other step decided about it, and threads have enough tasks without it.
bool is_free(TuningState& state, UOp range) {
  if (state.is_tiled(range) || contains(state.fixed, range) || state.width_of(range) > 1) return false;
  int64_t tasks = 1;
  for (UOp r : state.analysis.ranges())
    if (is_outer(r) && !(r == range)) tasks *= state.analysis.size(r);
  return !is_outer(range) || state.target.threads == 1 || tasks >= state.target.parallel_units;
}

/// Results of a reduction with strided lanes that lie between the lanes, as channels next to each other do: their
/// unrolled copies share whole vectors.
void share_strided_loads(TuningState& state, const StatementAnalysis& sum) {
  if (sum.chains() == 1) return;
  UOp vector = sum.reduced_ranges.back();
  for (UOp a : sum.accesses) {
    const int64_t stride = state.analysis.lane_stride(a, vector);
    if (!contains(state.lane_ranges, vector) || stride < 2 || stride > kWidestStride) continue;
    for (UOp r : sum.result_ranges)
      if (state.analysis.stride(a, r) == 1 && state.analysis.size(r) == stride && is_free(state, r))
        state.width(r).unroll = static_cast<int>(stride);
  }
}

/// Unrolls the range whose results lie between the lanes of a product's strided store, so that whole vectors are
/// stored. The tile gives up as many copies. Long sums outweigh their stores.
void fill_strided_store(TuningState& state, TuningState::TiledProduct& product, const StatementAnalysis& store) {
  RegisterTile& tile = product.tile;
  const StatementAnalysis& sum = *product.work;
  const UOp access = store.node;
  if (!is_epilogue_store(store, sum) || sum.chains() > 1 || sum.iterations > kMaxTermsPerStore * store.iterations ||
      access->integer() != 0 || predicate_of(access))
    return;
  const int64_t stride = state.analysis.lane_stride(access, tile.lane_range);
  if (stride < 2 || stride > kWidestStride) return;
  const auto others_run_over = [&](UOp r) {
    return std::ranges::any_of(state.products, [&](const TuningState::TiledProduct& p) {
      return p.work != product.work && p.work->runs_over(r);
    });
  };
  const auto between = std::ranges::find_if(sum.result_ranges, [&](UOp r) {
    return state.analysis.stride(access, r) == 1 && state.analysis.size(r) == stride && is_free(state, r) &&
           !others_run_over(r);
  });
  if (between == sum.result_ranges.end()) return;
  const auto give_up_copies = [&](UOp range, int& copies) {
    if (!range || copies % stride != 0 || others_run_over(range)) return false;
    copies /= static_cast<int>(stride);
    state.width(range).unroll = copies;
    return true;
  };
  if ((!tile.has_own_columns() && give_up_copies(tile.column_range, tile.columns)) ||
      give_up_copies(tile.row_range, tile.rows)) {
    tile.interleaved = static_cast<int>(stride);
    state.width(*between).unroll = tile.interleaved;
  }
}

}  // namespace

void choose_register_transposes(TuningState& state) {
  for (const StatementAnalysis& w : state.analysis.statements()) {
    if (w.is_reduce()) {
      share_strided_loads(state, w);
      continue;
    }
    const auto vector = std::ranges::find_if(state.lane_ranges, [&](UOp v) { return contains(w.result_ranges, v); });
    if (vector == state.lane_ranges.end()) continue;
    for (TuningState::TiledProduct& p : state.products)
      if (p.tile.lane_range == *vector) fill_strided_store(state, p, w);
    if (state.is_tiled(*vector)) continue;
    for (UOp a : w.accesses)
      for (UOp r : w.result_ranges)
        if (!(r == *vector) && is_contiguous_across(state.analysis, a, *vector, r)) transpose(state, w, a, *vector, r);
  }
}

std::vector<UOp> rows_of_scans(TuningState& state, bool joined) {
  std::vector<UOp> rows;
  for (const StatementAnalysis& w : state.analysis.statements()) {
    if (w.is_reduce()) continue;
    for (UOp n : ir::topological(w.node)) {
      const bool stored = ir::contains(w.node->src, n);
      if (n->op != Op::Scan || (joined && stored)) continue;
      const std::vector<UOp> own = ranges_of(n);
      for (UOp a : w.accesses)
        for (UOp r : w.result_ranges)
          if (state.analysis.stride(a, own.back()) == 1 && state.analysis.stride(a, r) > 1 && !contains(own, r) &&
              !contains(rows, r))
            rows.push_back(r);
    }
  }
  return rows;
}

void interleave_rows(TuningState& state, const std::vector<UOp>& rows) {
  for (size_t i = rows.size(); i-- > 0;) {
    UOp r = rows[i];
    const int64_t size = state.analysis.size(r);
    const auto fits = [&](int count) {
      return size % count == 0 && (!is_outer(r) || size / count >= state.target.parallel_units);
    };
    if (contains(state.fixed, r) || state.width_of(r) > 1) continue;
    for (const int count : {kRowsBeside, kRowsBeside + 1, kRowsBeside - 1})
      if (fits(count)) {
        state.width(r).unroll = count;
        return;
      }
  }
}

std::vector<Opt> transpose_sums(TuningState& state, std::vector<Opt> opts) {
  for (const StatementAnalysis& w : state.analysis.statements()) {
    const auto vector = std::ranges::find_if(state.lane_ranges, [&](UOp v) { return contains(w.result_ranges, v); });
    if (!w.is_reduce() || w.reduced_ranges.empty() || vector == state.lane_ranges.end() || w.chains() > 1 ||
        kTransposedSumUnroll * w.operations > kMaxTransposedOperations)
      continue;
    UOp r = w.reduced_ranges.back();
    const bool across =
        std::ranges::any_of(w.accesses, [&](UOp a) { return is_contiguous_across(state.analysis, a, *vector, r); });
    const bool repeated = std::ranges::any_of(
        state.analysis.statements(), [&](const StatementAnalysis& other) { return contains(other.result_ranges, r); });
    if (!across || repeated || state.is_tiled(r) || state.is_product(w) || contains(state.fixed, r) ||
        state.width_of(r) > 1 || state.analysis.size(r) % kTransposedSumUnroll)
      continue;
    opts.push_back(Unroll{range_id(r), kTransposedSumUnroll});
    if (!is_legal(state.kernel, opts)) opts.pop_back();
  }
  return opts;
}

}  // namespace sinter::codegen
