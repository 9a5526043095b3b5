// In order: sums that wait, sums that a short loop repeats, short loops of sums, vectors, rows of sums.
#include "codegen/tune/heuristic/unroll_jam.h"

#include <algorithm>
#include <vector>

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/access.h"
#include "codegen/tune/heuristic/multi_row_reduction.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kShortWindow =
    9;                          ///< values of a window that may become copies, each of whose places is then a known one
constexpr int kChains = 4;      ///< sums side by side of which each goes one by one
constexpr int kSomeChains = 4;  ///< independent sums in a loop body above which it needs two copies at most,
constexpr int kManyChains = 12;  ///< and from which it needs none: what else goes through the range has the rows'
                                 ///< copies already. On Zen 3 exponents of 4 rows by 2 vectors, with 16 registers,
                                 ///< take 1.3 of the time of 4 by 1 with the product behind them, 6 by 2 1.8

/// A sum that goes one by one waits for each of its additions: where a loop around it makes several of them, and
/// nothing else, that one gets copies.
void choose_chains(Choice& c) {
  for (const Work& w : c.view.works()) {
    if (!one_by_one(c, w) || !w.sums.empty() || w.own.empty() || Choice::cycles(w) < kShortProduct) continue;
    for (size_t i = w.outs.size(); i-- > 0;) {
      UOp r = w.outs[i];
      if (is_outer(r) || in(c.fixed, r) || c.width_of(r) > 1 || c.view.size(r) % kChains) continue;
      if (!std::all_of(c.view.works().begin(), c.view.works().end(),
                       [&](const Work& other) { return !other.runs_over(r) || one_by_one(c, other); }))
        continue;
      c.width(r).copies = kChains;
      break;
    }
  }
}

/// A short loop repeats the sums inside that do not change with it: all of its values become copies, which share them.
void choose_shared(Choice& c) {
  for (const Work& w : c.view.works())
    for (UOp r : w.outs) {
      if (is_outer(r) || in(c.fixed, r) || c.width_of(r) > 1 || c.view.size(r) > kShortLoop) continue;
      const bool repeated = std::any_of(w.sums.begin(), w.sums.end(), [&](UOp sum) {
        return !c.view.depends(sum, r) && !c.view.of(sum).own.empty() &&
               std::any_of(c.view.ranges().begin(), c.view.ranges().end(),
                           [&](UOp v) { return !is_outer(v) && range_id(v) > range_id(r) && c.view.depends(sum, v); });
      });
      if (repeated) c.width(r).copies = static_cast<int>(c.view.size(r));
    }
}

/// Whether the lanes of a load are masked by a gate that differs from value to value of a range.
bool masks_change(Choice& c, const Work& w, UOp load, UOp range) {
  const UOp gate = load->op == Op::Load ? gate_of(load) : UOp();
  return gate && c.view.depends(gate, range) && std::any_of(c.vectors.begin(), c.vectors.end(), [&](UOp v) {
           return in(w.outs, v) && c.view.depends(gate, v);
         });
}

/// A short loop of a sum along which memory is read at no fixed distance, such as a window whose rows and columns are
/// one range, or under masks that change with it, as at the edge of an image, is written out: there each place and each
/// mask is a known one.
void choose_short(Choice& c) {
  for (const Work& w : c.view.works()) {
    if (!w.is_reduce() || w.chains() > 1 || w.own.empty()) continue;
    UOp r = w.own.back();
    const int64_t size = c.view.size(r);
    if (size > (c.is_product(w) ? kShortLoop : kShortWindow) ||
        static_cast<double>(std::max(size, kShortLoop)) * w.operations > kLongCode)
      continue;
    if (in(c.fixed, r) || c.width_of(r) > 1) continue;
    if (std::any_of(w.accesses.begin(), w.accesses.end(),
                    [&](UOp a) { return c.view.stride(a, r) == View::kScattered || masks_change(c, w, a, r); }))
      c.width(r).copies = static_cast<int>(size);
  }
}

void choose_vectors(Choice& c) {
  for (UOp r : c.vectors) {
    if (c.tiled(r) || in(c.transposed, r)) continue;
    Width& w = c.width(r);
    double operations = 0;
    int chains = 1, independent = 1;  // sums that a step goes on with: as many hide each other's latency
    for (const Work& work : c.view.works()) {
      if (!work.runs_over(r)) continue;
      for (const Choice::Product& p : c.products)
        if (p.work == &work) independent = std::max(independent, p.tile.rows * p.tile.columns);
      double length = work.operations;  // of its text
      for (UOp a : work.accesses)
        if (const int64_t stride = c.view.stride(a, r); stride < 0 || stride > kWidestStride) length += w.lanes;
      operations = std::max(
          operations,
          length * (work.own.empty() || work.chains() > 1 ? 1 : static_cast<double>(c.width_of(work.own.back()))));
      if (!work.own.empty() && work.own.back() == r) chains = std::max(chains, work.chains());
    }
    w.copies = chains > w.lanes ? chains / w.lanes : independent > kSomeChains ? 2 : 4;
    if (chains <= w.lanes && independent >= kManyChains) w.copies = 1;
    if (chains <= w.lanes) {
      while (w.copies > 1 && (w.copies * operations > kLongCode || w.all() > c.view.size(r))) w.copies /= 2;
    }
  }
}

}  // namespace

bool one_by_one(const Choice& c, const Work& w) {
  return w.is_reduce() && w.chains() == 1 && kChains * w.operations <= kLongCode &&
         std::none_of(c.vectors.begin(), c.vectors.end(), [&](UOp v) { return in(w.outs, v); });
}

void choose_copies(Choice& c) {
  choose_chains(c);
  choose_shared(c);
  choose_short(c);
  choose_vectors(c);
  choose_rows_at_once(c);
  for (const Width& w : c.widths) {
    if (w.lanes > 1) c.opts.push_back(Lanes{range_id(w.range), w.lanes});
    if (w.copies > 1) c.opts.push_back(Unroll{range_id(w.range), w.copies});
  }
}

}  // namespace sinter::codegen
