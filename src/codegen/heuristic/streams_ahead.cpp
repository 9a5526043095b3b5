// Measured beside no prefetch, 8192 rows of 1024: softmax 0.75 of the time, layer norm 0.75, variances 0.51; nearer or
// further than two pages less. Elementwise kernels gain nothing on Zen 5, and lose a tenth where the lines are in the
// last cache; with 480 MiB of that, farther away, those of one operand from beyond the part that counts take 0.6 to 0.9
// of the time, and those of two or more up to 1.1: they wait for memory anyhow. Zen 5 does not foresee loads under
// masks at all: depthwise windows of 3 x 3 with a border take 0.4 of the time. Where there are no masks, lanes under
// gates are read one by one: without prefetches the same windows take 0.93 of the time on Zen 1, their input gradient
// 0.59.
#include "codegen/heuristic/streams_ahead.h"

#include <algorithm>
#include <optional>

#include "codegen/expand/transpose.h"
#include "codegen/heuristic/operand.h"
#include "codegen/kernel/memory_node.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kAhead = 2 * runtime::kPage;  ///< bytes
constexpr int64_t kLongRow = 4 * kAhead;        ///< bytes of a row of which the wrong end of what is asked for is small

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
    if (view_.bytes_read(load) < kFarCaches * static_cast<double>(target_.l2)) return {};
    const int number = number_of(kernel_, load);
    const int64_t row = apart * view_.size(lanes);
    if (!next || view_.stride(load, next) <= row || row * bytes >= kLongRow)
      return Prefetch{number, range_id(lanes), kAhead / (bytes * apart)};
    return Prefetch{number, range_id(next), std::max<int64_t>(1, kAhead / (row * bytes))};
  }

 private:
  const Kernel& kernel_;
  View& view_;
  const std::vector<Width>& widths_;
  const runtime::Target& target_;
};

}  // namespace

std::vector<Opt> streams_ahead(const Kernel& kernel, View& view, const std::vector<Width>& widths,
                               const runtime::Target& target) {
  Streams streams(kernel, view, widths, target);
  std::vector<UOp> loads;
  std::vector<Opt> opts;
  const auto add = [&](UOp load) {
    if (const std::optional<Prefetch> o = streams.ahead(load)) opts.emplace_back(*o);
  };
  for (const Work& w : view.works())
    for (UOp a : w.accesses) {
      if (!w.is_reduce() || a->op != Op::Load || in(loads, a)) continue;
      loads.push_back(a);
      add(a);
    }
  std::vector<UOp> far;  // of stores, which no sum went through before
  for (const Work& w : view.works())
    for (UOp a : w.accesses) {
      if (w.is_reduce() || !w.sums.empty() || a->op != Op::Load || in(loads, a) || in(far, a)) continue;
      if (view.bytes_read(a) >= static_cast<double>(target.l3)) far.push_back(a);
    }
  if (far.size() == 1) add(far[0]);
  return opts;
}

}  // namespace sinter::codegen
