// Decisions in order: rows to keep, which make statements of their own; the register tiles of products that most of the
// time goes into, then lanes for what is left, copies that follow from them, and how much a point of the launch covers.
#include "codegen/tune/heuristic/heuristic.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/blocking.h"
#include "codegen/tune/heuristic/peel.h"
#include "codegen/tune/heuristic/stream_prefetch.h"
#include "codegen/tune/heuristic/streaming.h"
#include "codegen/tune/heuristic/strided_lanes.h"
#include "codegen/tune/heuristic/task_grain.h"
#include "codegen/tune/heuristic/tile_prefetch.h"
#include "codegen/tune/heuristic/tuning_state.h"
#include "codegen/tune/heuristic/unroll.h"
#include "codegen/tune/heuristic/unroll_jam.h"
#include "codegen/tune/heuristic/vector_lanes.h"
#include "codegen/tune/heuristic/writeback_buffer.h"
#include "ir/short_float.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;
using Product = Choice::Product;

constexpr double kProductShare = 6;  ///< a product that takes less than such a part of the time gets no tile

/// As many lanes as elements of the kernel's usual size, as they are computed with, fill a register.
int lanes_of(const Choice& c) {
  const std::vector<Work>& works = c.view.works();
  size_t bytes = 1;
  for (const Work& w : works)
    for (UOp a : w.accesses) bytes = std::max(bytes, size_of(ir::compute_type(a->src[0]->dtype)));
  if (std::all_of(works.begin(), works.end(), [](const Work& w) {
        return size_of(w.node->src[0]->op == Op::Param ? w.node->src[0]->dtype : w.node->dtype) == 8;
      }))
    return std::max(1, c.target.vector_bytes / 8);
  return std::max(1, c.target.vector_bytes / static_cast<int>(std::clamp<size_t>(bytes, 1, 4)));
}

void set_lanes(Choice& c, UOp range) {
  int lanes = c.lanes;
  while (lanes > 2 && lanes / 2 >= c.view.size(range)) lanes /= 2;
  c.width(range).lanes = lanes;
  c.vectors.push_back(range);
}

/// Those that are worth longer code: the busiest first; the others keep to what it gave the ranges that they share.
void choose_products(Choice& c) {
  double all = 0;
  for (const Work& w : c.view.works()) all += Choice::cycles(w);
  std::vector<const Work*> products;
  for (const Work& w : c.view.works())
    if (w.is_reduce() && Choice::cycles(w) >= std::max(all / kProductShare, kShortProduct) && !w.own.empty() &&
        w.sums.empty() && !reuse_ranges(c.view, w).empty())
      products.push_back(&w);
  std::sort(products.begin(), products.end(), [&](const Work* a, const Work* b) {
    return std::pair(-Choice::cycles(*a), a) < std::pair(-Choice::cycles(*b), b);  // equal ones as they stand
  });
  for (const Work* w : products) {
    const RegisterTile tile = pick_tile(c.view, *w, c.lanes, c.target, c.fixed, c.widths);
    if (tile.cycles == 0) continue;
    c.products.push_back({w, tile});
    if (tile.lanes && !in(c.vectors, tile.lanes)) set_lanes(c, tile.lanes);
    if (tile.first) c.width(tile.first).copies = tile.rows;
    if (tile.second) c.width(tile.second).copies = tile.columns;
    if (tile.turned > 1) c.width(w->own.back()).copies = tile.turned;
  }
}

/// The busiest sum, if no other kind of work is busier.
std::optional<Product> busiest_sum(const Choice& c) {
  const std::vector<Work>& works = c.view.works();
  const auto busiest = std::max_element(
      works.begin(), works.end(), [](const Work& a, const Work& b) { return Choice::cycles(a) < Choice::cycles(b); });
  if (busiest == works.end() || !busiest->is_reduce() || busiest->own.empty() || !busiest->sums.empty()) return {};
  Product sum{&*busiest, {}};
  for (UOp v : c.vectors)
    if (in(busiest->outs, v)) sum.tile.lanes = v;
  return sum;
}

/// All Opts where the only product, or else the busiest sum, goes through memory; none where it does not, or they are
/// not legal.
std::vector<Opt> stream(Choice& c) {
  const std::optional<Product> busiest = c.products.empty()       ? busiest_sum(c)
                                         : c.products.size() == 1 ? std::optional(c.products[0])
                                                                  : std::nullopt;
  if (!busiest) return {};
  std::vector<Opt> opts = stream_product(c.view, *busiest->work, busiest->tile,
                                         busiest->tile.lanes ? c.width(busiest->tile.lanes).lanes : 1, c.target);
  if (opts.empty()) return {};
  for (const Width& w : c.widths)
    if (w.lanes > 1) opts.push_back(Lanes{range_id(w.range), w.lanes});
  opts = add_rows(c.kernel, std::move(opts), c.rows);
  return is_legal(c.kernel, opts) ? opts : std::vector<Opt>{};
}

/// All Opts with an operand of the busiest product in a tile; none where that is not worth it, or not legal.
std::vector<Opt> pack(Choice& c) {
  if (c.products.empty()) return {};
  const Product& p = c.products[0];
  std::vector<Opt> opts = c.opts;
  const std::vector<Opt> blocks = block_product(c.kernel, c.view, *p.work, p.tile, c.lanes, c.target);
  if (blocks.empty()) return {};
  opts.insert(opts.end(), blocks.begin(), blocks.end());
  const bool peeled = peel_of(c.view, *p.work, p.tile, c.target)
                          .has_value();  // with rows that rest it would go through blocks of the image
  for (std::vector<Opt> choice : {peeled ? std::vector<Opt>{} : rest_results(c.view, *p.work, p.tile, opts), opts}) {
    if (choice.empty()) continue;
    choice = add_rows(c.kernel, std::move(choice), c.rows);
    if (is_legal(c.kernel, choice)) return choice;
  }
  return {};
}

/// Operands of products whose columns are a row's: each point copies all it needs of them.
void stage_operands(Choice& c) {
  for (const Product& p : c.products) {
    UOp operand;
    const auto stage = stage_operand(c.kernel, c.view, *p.work, p.tile, c.lanes, c.target, operand);
    if (!stage) continue;
    std::vector<Opt> all = c.opts;
    all.emplace_back(*stage);
    all.insert(all.end(), c.rows.begin(), c.rows.end());
    if (!is_legal(c.kernel, all)) continue;
    c.opts.emplace_back(*stage);
    c.staged.push_back(operand);
  }
}

/// What is larger than the caches is not in them when somebody reads it.
void choose_nontemporal(Choice& c) {
  const std::vector<UOp>& stores = c.kernel.sink->src;
  for (size_t i = 0; i < stores.size(); ++i) {
    auto bytes = static_cast<double>(size_of(stores[i]->src[0]->dtype));
    for (UOp r : c.view.ranges())
      if (c.view.depends(stores[i], r)) bytes *= static_cast<double>(c.view.size(r));
    if (bytes < (c.scattered ? kScatteredRows : 1) * static_cast<double>(c.target.l3)) continue;
    c.opts.push_back(Nt{static_cast<int>(i)});
    if (!is_legal(c.kernel, c.opts)) c.opts.pop_back();
  }
}

/// With Prefetches of what the next tiles of products read, where nothing is staged: a panel passes under many rows,
/// and of what sums read next.
std::vector<Opt> ask_ahead(Choice& c, std::vector<Opt> opts) {
  if (!c.staged.empty()) return opts;
  std::vector<Opt> ahead = streams_ahead(c);
  for (const Product& p : c.products) {
    const std::vector<Opt> rows = rows_ahead(c.kernel, c.view, *p.work, p.tile, c.target);
    ahead.insert(ahead.end(), rows.begin(), rows.end());
  }
  for (const Opt& o : ahead) {
    opts.push_back(o);
    if (!is_legal(c.kernel, opts)) opts.pop_back();
  }
  return opts;
}

/// The first of some ranges whose lanes part loops that share a row; null: none.
UOp parts_rows(const Choice& c, const std::vector<UOp>& vectors) {
  std::vector<Opt> opts(c.rows.begin(), c.rows.end());
  for (UOp r : vectors) {
    opts.emplace_back(Lanes{range_id(r), c.lanes});
    if (!is_legal(c.kernel, opts)) return r;
  }
  return {};
}

/// Ranges that get lanes. What several loops compute anew costs more than lanes along another range lose.
std::vector<UOp> lanes_beside_rows(Choice& c) {
  const std::vector<UOp> vectors = choose_lanes(c.view, c.lanes, c.fixed, c.vectors);
  std::vector<UOp> fixed = c.fixed, others = vectors;
  while (UOp r = c.rows.empty() ? UOp() : parts_rows(c, others)) {
    fixed.push_back(r);
    others = choose_lanes(c.view, c.lanes, fixed, c.vectors);
    if (others.size() < vectors.size()) return vectors;
  }
  return others;
}

std::vector<Opt> cpu_heuristic(const Kernel& kernel, const runtime::Target& target) {
  Choice c(kernel, target);
  c.lanes = lanes_of(c);
  c.fixed = ranges_in_order(kernel, c.view);
  choose_products(c);
  for (UOp r : lanes_beside_rows(c)) set_lanes(c, r);
  choose_transposes(c);
  if (std::vector<Opt> streamed = stream(c); !streamed.empty()) return streamed;
  choose_copies(c);
  if (std::vector<Opt> packed = pack(c); !packed.empty())
    return unroll_products(c, peel_products(c, turn_sums(c, std::move(packed))));
  stage_operands(c);
  choose_points(c);
  choose_nontemporal(c);
  return ask_ahead(c, unroll_products(c, peel_products(c, turn_sums(c, add_rows(kernel, std::move(c.opts), c.rows)))));
}

}  // namespace

std::vector<Opt> heuristic(const Kernel& kernel, const runtime::Target& target) {
  return target.cuda() ? cuda_heuristic(kernel, target) : cpu_heuristic(kernel, target);
}

}  // namespace sinter::codegen
