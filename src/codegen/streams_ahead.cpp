// Measured beside no prefetch, 8192 rows of 1024: softmax 0.75 of the time, layer norm 0.75, variances 0.51; nearer or further than two pages
// less. Elementwise kernels, which have lines to write meanwhile, gain nothing, and lose a tenth where the lines are in the last cache.
#include "codegen/streams_ahead.h"

#include <algorithm>
#include <optional>

#include "codegen/blocking.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kAhead = 2 * kPage;    ///< bytes
constexpr int64_t kLongRow = 4 * kAhead; ///< bytes of a row of which the wrong end of what is asked for is small
constexpr double kCaches = 4;            ///< second caches that an operand fills, at least

class Streams {
 public:
  Streams(const Kernel& kernel, View& view, const std::vector<Width>& widths, const runtime::Target& target)
      : kernel_(kernel), view_(view), widths_(widths), target_(target) {}

  std::optional<Prefetch> ahead(UOp load) {
    const auto bytes = static_cast<int64_t>(size_of(load->dtype));
    UOp lanes;
    std::vector<UOp> moving;  // outside in
    double all = static_cast<double>(bytes);
    for (UOp r : view_.ranges()) {
      if (!view_.depends(load, r)) continue;
      const int64_t stride = view_.stride(load, r);
      if (stride <= 0) return {};  // by no fixed distance, or backwards
      const Width width = width_of(r);
      if (width.lanes > 1 && stride == 1)
        lanes = r;
      else if (width.all() > 1)
        return {};
      moving.push_back(r);
      all *= static_cast<double>(view_.size(r));
    }
    if (!lanes || !(moving.back() == lanes) || all < kCaches * static_cast<double>(target_.l2)) return {};
    const int number = number_of(kernel_, load);
    const int64_t row = view_.size(lanes);
    if (moving.size() == 1 || row * bytes >= kLongRow || view_.stride(load, moving[moving.size() - 2]) == row)
      return Prefetch{number, range_id(lanes), kAhead / bytes};
    return Prefetch{number, range_id(moving[moving.size() - 2]), std::max<int64_t>(1, kAhead / (row * bytes))};
  }

 private:
  Width width_of(UOp range) const {
    const auto it = std::find_if(widths_.begin(), widths_.end(), [&](const Width& w) { return w.range == range; });
    return it == widths_.end() ? Width{range} : *it;
  }

  const Kernel& kernel_;
  View& view_;
  const std::vector<Width>& widths_;
  const runtime::Target& target_;
};

}  // namespace

std::vector<Opt> streams_ahead(const Kernel& kernel, View& view, const std::vector<Width>& widths, const runtime::Target& target) {
  Streams streams(kernel, view, widths, target);
  std::vector<UOp> loads;
  std::vector<Opt> opts;
  for (const Work& w : view.works())
    for (UOp a : w.accesses) {
      if (!w.is_reduce() || a->op != Op::Load || in(loads, a)) continue;
      loads.push_back(a);
      if (const std::optional<Prefetch> o = streams.ahead(a)) opts.emplace_back(*o);
    }
  return opts;
}

}  // namespace sinter::codegen
