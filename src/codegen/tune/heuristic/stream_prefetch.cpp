// Measured beside no prefetch, 8192 rows of 1024: softmax 0.75 of the time, layer norm 0.75, variances 0.51; nearer or
// further than two pages less. Elementwise kernels gain nothing on Zen 5, and lose a tenth where the lines are in the
// last cache; with 480 MiB of that, farther away, those of one operand from beyond the part that counts take 0.6 to 0.9
// of the time, and those of two or more up to 1.1: they wait for memory anyhow. Zen 5 does not foresee loads under
// masks at all: depthwise windows of 3 x 3 with a border take 0.4 of the time. Where there are no masks, lanes under
// gates are read one by one: without prefetches the same windows take 0.93 of the time on Zen 1, their input gradient
// 0.59. Rows that are turned in registers, eight at a time, are read in pieces of half a line, which no core foresees:
// asked for 1.5 to 4 KB ahead, rows of 12 to 56 take 0.7 to 0.97 of the time on Zen 3, further ahead more.
//
// Granite Rapids, beside two pages ahead in all loops, from memory and where the last cache still has it all: what one
// loop reads, 2 KB ahead, 0.84 and 0.99 (chain), 0.91 and 1.00 (sum). Of several loops over a row the second one alone,
// one page ahead, rows of 1024: softmax 0.78 and 0.72, its logarithm 0.82 and 0.67, logsumexp 0.87 and 0.97, one sum
// and a store 0.89 to 0.94 and 0.93, variances 0.93 and 1.02, layer norm 1.15 and 0.87. The first loop alone takes 1.00
// to 1.2: it waits for its own elements. Softmax of rows of 256, 512, 2048: 0.97, 0.88, 0.86 and 1.01, 0.93, 0.92; of
// 4096 0.98 and 0.99, of 16384 1.5 and 1.1: there the first loop has read what lies a page ahead. Windows of 3 x 3
// under masks, 2 KB ahead, where the last cache has them: 0.93 to 1.01. Rows that do not follow each other were not
// looked at.
#include "codegen/tune/heuristic/stream_prefetch.h"

#include <algorithm>
#include <optional>

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/access.h"
#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kAhead = 2 * runtime::kPage;     ///< bytes
constexpr int64_t kOneLoopAhead = 2048;            ///< bytes, of what one loop reads, where the last cache is far
constexpr int64_t kRowsAhead = 2048;               ///< bytes, of rows that are turned in registers
constexpr int64_t kMostRead = 2 * runtime::kPage;  ///< bytes behind whose loop it pays to ask a page ahead
constexpr int64_t kLongRow = 4 * kAhead;  ///< bytes of a row of which the wrong end of what is asked for is small

class Streams {
 public:
  Streams(const Kernel& kernel, View& view, const std::vector<Width>& widths, const runtime::Target& target)
      : kernel_(kernel), view_(view), widths_(widths), target_(target) {}

  std::optional<Prefetch> ahead(UOp load) {
    const auto bytes = static_cast<int64_t>(size_of(load->dtype));
    UOp lanes, next, innermost;  // along which a vector lies, the nearest one follows, and the load moves last
    int64_t apart = 1;           // elements from lane to lane
    bool copies = false;
    for (UOp r : view_.ranges()) {
      if (!view_.depends(load, r)) continue;
      const int64_t stride = view_.stride(load, r);
      const Width width = width_of(widths_, r);
      innermost = r;
      if (width.lanes > 1 && stride >= 1 && stride <= kWidestStride) {
        lanes = r;
        apart = stride;
        continue;
      }
      if (stride == View::kScattered && width.copies < view_.size(r)) return {};  // else each place is a known one
      copies |= width.all() > 1;
      if (stride > apart && (!next || stride <= view_.stride(load, next)))
        next = r;  // a gradient's windows go backwards besides
    }
    if (!lanes) return {};
    const bool masked = gate_of(load) && view_.depends(gate_of(load), lanes);
    if (masked && !target_.loads_under_masks(size_of(load->dtype)))
      return {};  // each lane would be asked for by itself
    if (!masked && (copies || apart > 1 || !(lanes == innermost))) return {};
    if (!is_far(view_, load, target_)) return {};
    const int number = number_of(kernel_, load);
    const int64_t row = apart * view_.size(lanes);
    if (!next || view_.stride(load, next) <= row || row * bytes >= kLongRow) {
      const auto [distance, loop] = asking(load);
      return Prefetch{number, range_id(lanes), distance / (bytes * apart), loop};
    }
    return Prefetch{number, range_id(next), std::max<int64_t>(1, kAhead / (row * bytes))};
  }

 private:
  /// How far ahead, in bytes, what lies row by row is asked for, and in which loop.
  std::pair<int64_t, int> asking(UOp load) const {
    if (target_.near_l3) return {kAhead, -1};
    std::vector<UOp> first;  // what reads it in the first loop, and what is made of that
    int64_t bytes = 0;       // that this loop reads
    for (const Work& w : view_.works()) {
      const bool reads = in(w.accesses, load);
      const bool later = std::any_of(w.sums.begin(), w.sums.end(), [&](UOp sum) { return in(first, sum); });
      if (reads && later) return bytes <= kMostRead ? std::pair{runtime::kPage, 1} : std::pair{kAhead, -1};
      if (reads && first.empty()) bytes = view_.bytes(load, [&](UOp r) { return in(w.own, r); });
      if (reads || later) first.push_back(w.node);
    }
    return {kOneLoopAhead, -1};
  }

  const Kernel& kernel_;
  View& view_;
  const std::vector<Width>& widths_;
  const runtime::Target& target_;
};

/// Of the loads of sums first, each once, then of those of stores that no sum goes through.
struct Loads {
  std::vector<UOp> summed, stored;
};

Loads loads_of(const View& view) {
  Loads loads;
  for (const Work& w : view.works())
    for (UOp a : w.accesses)
      if (w.is_reduce() && a->op == Op::Load && !in(loads.summed, a)) loads.summed.push_back(a);
  for (const Work& w : view.works())
    for (UOp a : w.accesses)
      if (!w.is_reduce() && w.sums.empty() && a->op == Op::Load && !in(loads.summed, a) && !in(loads.stored, a))
        loads.stored.push_back(a);
  return loads;
}

std::vector<Opt> in_order(Choice& c, const Loads& loads) {
  Streams streams(c.kernel, c.view, c.widths, c.target);
  std::vector<Opt> opts;
  const auto add = [&](UOp load) {
    if (const std::optional<Prefetch> o = streams.ahead(load)) opts.emplace_back(*o);
  };
  for (UOp load : loads.summed) add(load);
  std::vector<UOp> far;
  for (UOp load : loads.stored)
    if (c.view.bytes_read(load) >= static_cast<double>(c.target.l3)) far.push_back(load);
  if (far.size() == 1) add(far[0]);
  return opts;
}

/// The next rows of each load of a sum whose lanes lie across rows.
std::vector<Opt> across_rows(Choice& c, const Loads& loads) {
  std::vector<Opt> opts;
  if (!c.target.near_l3 || c.target.masks) return opts;  // elsewhere not measured
  for (UOp load : loads.summed) {
    if (!is_far(c.view, load, c.target)) continue;
    const auto across = std::find_if(c.transposed.begin(), c.transposed.end(), [&](UOp r) {
      const int64_t stride = c.view.lane_stride(load, r);
      return stride != 0 && stride != 1 && stride != View::kScattered;
    });
    if (across == c.transposed.end()) continue;
    const int64_t rows = c.width(*across).lanes, bytes = rows * c.view.byte_stride(load, *across);
    if (bytes > 2 * kRowsAhead) continue;
    opts.emplace_back(
        Prefetch{number_of(c.kernel, load), range_id(*across), rows * std::max<int64_t>(1, kRowsAhead / bytes)});
  }
  return opts;
}

}  // namespace

std::vector<Opt> streams_ahead(Choice& c) {
  const Loads loads = loads_of(c.view);
  return c.transposed.empty() ? in_order(c, loads) : across_rows(c, loads);
}

}  // namespace sinter::codegen
