// The order of decisions: values to materialize, which become statements of their own; register tiles of the products
// that take most of the time; lanes for the rest; unrolled copies; how much a task covers.
#include "codegen/tune/heuristic/heuristic.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/operand_analysis.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/steps.h"
#include "codegen/tune/heuristic/tuning_state.h"
#include "codegen/tune/heuristic/vector_lanes.h"
#include "ir/short_float.h"

namespace sinter::codegen {
namespace {

using TiledProduct = TuningState::TiledProduct;

constexpr double kProductShare = 6;  ///< a product below 1 / kProductShare of the time gets no tile

/// Lanes that fill a register with elements of the kernel's usual size, in the type in which they are computed.
int lanes_per_register(const TuningState& state) {
  const std::vector<StatementAnalysis>& statements = state.analysis.statements();
  size_t bytes = 1;
  for (const StatementAnalysis& w : statements)
    for (UOp a : w.accesses) bytes = std::max(bytes, size_of(ir::compute_type(a->src[0]->dtype)));
  if (std::ranges::all_of(statements, [](const StatementAnalysis& w) {
        return size_of(w.node->src[0]->op == Op::Param ? w.node->src[0]->dtype : w.node->dtype) == 8;
      }))
    return std::max(1, state.target.vector_bytes / 8);
  return std::max(1, state.target.vector_bytes / static_cast<int>(std::clamp<size_t>(bytes, 1, 4)));
}

void set_lanes(TuningState& state, UOp range) {
  int lanes = state.lanes;
  while (lanes > 2 && lanes / 2 >= state.analysis.size(range)) lanes /= 2;
  state.width(range).lanes = lanes;
  state.lane_ranges.push_back(range);
}

/// Whether a reduction with chains adds what is made of this one: its lanes lie along the range that it sums, and
/// others around it would leave it without.
bool is_summed_in_chains(const TuningState& state, const StatementAnalysis& product) {
  return std::ranges::any_of(state.analysis.statements(), [&](const StatementAnalysis& w) {
    return w.chains() > 1 && contains(w.sums, product.node) && product.runs_over(w.reduced_ranges.back());
  });
}

/// Gives register tiles to products that are worth longer code, busiest first. Later products keep the widths of
/// ranges that they share with earlier ones.
void tile_products(TuningState& state) {
  double all = 0;
  for (const StatementAnalysis& w : state.analysis.statements()) all += TuningState::scalar_cycles(w);
  std::vector<const StatementAnalysis*> products;
  for (const StatementAnalysis& w : state.analysis.statements())
    if (w.is_reduce() && TuningState::scalar_cycles(w) >= std::max(all / kProductShare, kMinProductCycles) &&
        !w.reduced_ranges.empty() && w.sums.empty() && !reuse_ranges(state.analysis, w).empty() &&
        !is_summed_in_chains(state, w))
      products.push_back(&w);
  std::ranges::sort(products, [&](const StatementAnalysis* a, const StatementAnalysis* b) {
    return std::pair(-TuningState::scalar_cycles(*a), a) <
           std::pair(-TuningState::scalar_cycles(*b), b);  // ties in the order of the statements
  });
  for (const StatementAnalysis* w : products) {
    const RegisterTile tile =
        pick_register_tile(state.analysis, *w, state.lanes, state.target, state.fixed, state.widths);
    if (tile.cycles == 0) continue;
    state.products.push_back({w, tile});
    if (tile.lane_range && !contains(state.lane_ranges, tile.lane_range)) set_lanes(state, tile.lane_range);
    if (tile.row_range) state.width(tile.row_range).unroll = tile.rows;
    if (tile.column_range) state.width(tile.column_range).unroll = tile.columns;
    if (tile.transpose_unroll > 1) state.width(w->reduced_ranges.back()).unroll = tile.transpose_unroll;
  }
}

/// The busiest reduction, if no other statement is busier.
std::optional<TiledProduct> busiest_sum(const TuningState& state) {
  const std::vector<StatementAnalysis>& statements = state.analysis.statements();
  const auto busiest = std::ranges::max_element(statements, [](const StatementAnalysis& a, const StatementAnalysis& b) {
    return TuningState::scalar_cycles(a) < TuningState::scalar_cycles(b);
  });
  if (busiest == statements.end() || !busiest->is_reduce() || busiest->reduced_ranges.empty() || !busiest->sums.empty())
    return {};
  TiledProduct sum{&*busiest, {}};
  for (UOp v : state.lane_ranges)
    if (contains(busiest->result_ranges, v)) sum.tile.lane_range = v;
  return sum;
}

/// All Opts if the only product, or else the busiest reduction, streams an operand from memory. Empty if it does not,
/// or if the Opts are illegal.
std::vector<Opt> try_streaming(TuningState& state) {
  const std::optional<TiledProduct> busiest = state.products.empty()       ? busiest_sum(state)
                                              : state.products.size() == 1 ? std::optional(state.products[0])
                                                                           : std::nullopt;
  if (!busiest) return {};
  std::vector<Opt> opts =
      stream_product(state.analysis, *busiest->work, busiest->tile,
                     busiest->tile.lane_range ? state.width(busiest->tile.lane_range).lanes : 1, state.target);
  if (opts.empty()) return {};
  for (const RangeWidth& w : state.widths)
    if (w.lanes > 1) opts.push_back(Lanes{range_id(w.range), w.lanes});
  opts = add_materializations(state.kernel, std::move(opts), state.materializations);
  return is_legal(state.kernel, opts) ? opts : std::vector<Opt>{};
}

/// All Opts with a packed operand of the busiest product. Empty if packing does not pay, is illegal, or costs a value
/// its tile: loops would compute the value again that share it otherwise.
std::vector<Opt> try_packing(TuningState& state) {
  if (state.products.empty()) return {};
  const TiledProduct& p = state.products[0];
  const bool peeled = peel_of(state.analysis, *p.work, p.tile, state.target)
                          .has_value();  // with a writeback buffer it would run over blocks of the image
  const auto tiles = [](const std::vector<Opt>& opts) {
    return std::ranges::count_if(opts, [](const Opt& o) { return std::holds_alternative<Materialize>(o); });
  };
  const auto without_blocks = tiles(add_materializations(state.kernel, state.opts, state.materializations));
  for (const std::vector<Opt>& blocks :
       block_product(state.kernel, state.analysis, *p.work, p.tile, state.lanes, state.target)) {
    std::vector<Opt> opts = state.opts;
    opts.insert(opts.end(), blocks.begin(), blocks.end());
    for (std::vector<Opt> candidate :
         {peeled ? std::vector<Opt>{} : add_writeback_buffer(state.analysis, *p.work, p.tile, opts), opts}) {
      if (candidate.empty()) continue;
      candidate = add_materializations(state.kernel, std::move(candidate), state.materializations);
      if (tiles(candidate) >= without_blocks && is_legal(state.kernel, candidate)) return candidate;
    }
  }
  return {};
}

/// Packs operands of products whose columns are an inner range. Each task packs all that it needs.
void pack_operands(TuningState& state) {
  for (const TiledProduct& p : state.products) {
    UOp operand;
    const auto tile_copy =
        pack_operand(state.kernel, state.analysis, *p.work, p.tile, state.lanes, state.target, operand);
    if (!tile_copy) continue;
    std::vector<Opt> all = state.opts;
    all.emplace_back(*tile_copy);
    all.insert(all.end(), state.materializations.begin(), state.materializations.end());
    if (!is_legal(state.kernel, all)) continue;
    state.opts.emplace_back(*tile_copy);
    state.packed_operands.push_back(operand);
  }
}

/// Results larger than the last cache are evicted before they are read, so their stores bypass the caches.
void choose_nontemporal(TuningState& state) {
  const std::vector<UOp>& stores = state.kernel.sink->src;
  for (size_t i = 0; i < stores.size(); ++i) {
    auto bytes = static_cast<double>(size_of(stores[i]->src[0]->dtype));
    for (UOp r : state.analysis.ranges())
      if (state.analysis.depends(stores[i], r)) bytes *= static_cast<double>(state.analysis.size(r));
    if (bytes < (state.stores_row_streams ? kRowStreamL3Share : 1) * static_cast<double>(state.target.l3)) continue;
    state.opts.push_back(NonTemporal{static_cast<int>(i)});
    if (!is_legal(state.kernel, state.opts)) state.opts.pop_back();
  }
}

/// Adds prefetches of the next tiles' rows and of streams. None if an operand is packed: a panel passes under many
/// rows.
std::vector<Opt> add_prefetches(TuningState& state, std::vector<Opt> opts) {
  if (!state.packed_operands.empty()) return opts;
  std::vector<Opt> ahead = prefetch_streams(state);
  for (const TiledProduct& p : state.products) {
    const std::vector<Opt> rows = prefetch_tile_rows(state.kernel, state.analysis, *p.work, p.tile, state.target);
    ahead.insert(ahead.end(), rows.begin(), rows.end());
  }
  for (const Opt& o : ahead) {
    opts.push_back(o);
    if (!is_legal(state.kernel, opts)) opts.pop_back();
  }
  return opts;
}

/// The first range whose lanes would separate loops that share a materialized value; null if there is none.
UOp find_lane_conflict(const TuningState& state, const std::vector<UOp>& vectors) {
  std::vector<Opt> opts(state.materializations.begin(), state.materializations.end());
  for (UOp r : vectors) {
    opts.emplace_back(Lanes{range_id(r), state.lanes});
    if (!is_legal(state.kernel, opts)) return r;
  }
  return {};
}

/// Ranges that get lanes, none of them in `without`. Recomputing a value in several loops costs more than moving the
/// lanes to another range.
std::vector<UOp> choose_lanes_beside_materializations(TuningState& state, const std::vector<UOp>& without) {
  std::vector<UOp> fixed = state.fixed;
  fixed.insert(fixed.end(), without.begin(), without.end());
  std::vector<UOp> vectors = choose_lanes(state.analysis, state.lanes, fixed, state.lane_ranges);
  std::vector<UOp> others = vectors;
  while (UOp r = state.materializations.empty() ? UOp() : find_lane_conflict(state, others)) {
    fixed.push_back(r);
    others = choose_lanes(state.analysis, state.lanes, fixed, state.lane_ranges);
    if (others.size() < vectors.size()) return vectors;
  }
  return others;
}

}  // namespace

std::vector<Opt> cpu_heuristic(const Kernel& kernel, const runtime::Target& target) {
  TuningState state(kernel, target);
  state.lanes = lanes_per_register(state);
  state.fixed = sequential_ranges(kernel, state.analysis);
  if (std::vector<Opt> staged = stage_window_rows(state); !staged.empty()) return staged;
  tile_products(state);
  for (UOp r : choose_lanes_beside_materializations(state, rows_of_scans(state, true))) set_lanes(state, r);
  interleave_rows(state, rows_of_scans(state, false));
  choose_register_transposes(state);
  if (std::vector<Opt> streamed = try_streaming(state); !streamed.empty()) return streamed;
  state.cut = choose_cut(state);
  choose_unrolls(state);
  if (std::vector<Opt> packed = try_packing(state); !packed.empty())
    return unroll_products(state, peel_products(state, transpose_sums(state, std::move(packed))));
  pack_operands(state);
  choose_task_grain(state);
  choose_nontemporal(state);
  std::vector<Opt> opts = add_materializations(kernel, std::move(state.opts), state.materializations);
  opts = unroll_products(state, peel_products(state, transpose_sums(state, std::move(opts))));
  return separate_row_streams(state, add_prefetches(state, add_cut(state, std::move(opts))));
}

}  // namespace sinter::codegen
