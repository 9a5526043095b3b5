// The gradient of a convolution's filter sums over positions of an image, which each result reads at a tap. Threads
// have the taps along a row as copies, and the other taps and the channels side by side. A tile holds each position of
// the image once, and the other factor lies in a tile along its results, of which a thread has whole vectors.
#include <algorithm>
#include <optional>

#include "codegen/kernel/window.h"
#include "codegen/tune/gpu/product_sides.h"
#include "codegen/tune/gpu/staging.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kMaxTaps = 8;  ///< of a window's side
constexpr int kMinWindowThreads = 48, kMaxWindowThreads = 512;

class WindowGenerator {
 public:
  WindowGenerator(TuneSpace& space, const ProductSides& sides, std::vector<Candidate>& out)
      : space_(space), analysis_(space.analysis), sides_(sides), product_(*sides.product), out_(out) {}

  void run() {
    if (!find_windows()) return;
    for (const int channels : {1, 2, 4, 8, 16, 32})
      for (const int copies : {1, 2, 4})
        for (const int threads : {1, 2, 4, 8, 16}) propose(channels, copies, threads);
  }

 private:
  /// Windows of which a sum has the rows, and results the taps; the range of channels; that of the other factor's
  /// results.
  bool find_windows() {
    if (product_.blocks > 0 || !sides_.parts.empty()) return false;
    for (image_ = 0; image_ < 2; ++image_) {
      windows_.clear();
      channels_ = UOp();
      FreeRanges ranges;
      for (UOp taps : sides_.sides[image_]) {
        std::optional<Window> found;
        for (UOp along : product_.reduced_ranges)
          if (const auto window = window_of(sides_.values[image_], along, taps, ranges)) found = window;
        if (found && analysis_.size(taps) <= kMaxTaps && has_static_size(found->along))
          windows_.push_back(*found);
        else if (!channels_)
          channels_ = taps;
      }
      if (!windows_.empty() && channels_) break;
    }
    if (image_ == 2) return false;
    results_ = sides_.sides[1 - image_].front();
    // The last is along a row of the image.
    std::ranges::sort(windows_, [](const Window& a, const Window& b) { return range_id(a.along) < range_id(b.along); });
    const auto outer = [&](UOp r) { return is_outer(r) && !space_.is_fixed(r); };
    return windows_.back().along == product_.reduced_ranges.back() && outer(channels_) && outer(results_) &&
           std::ranges::all_of(windows_, [&](const Window& w) { return outer(w.taps); });
  }

  void propose(int channels, int copies, int threads) {
    std::vector<RangeShare> shares;
    int stride = 1;
    const auto share = [&](UOp range, int lanes, int unroll, int count) {
      shares.push_back({range, lanes, unroll, count, count > 1 ? stride : 1});
      stride *= count;
    };
    if (channels > analysis_.size(channels_)) return;
    share(channels_, 1, 1, channels);
    for (const Window& w : windows_) {
      const auto taps = static_cast<int>(analysis_.size(w.taps));
      const bool row = w == windows_.back();
      share(w.taps, 1, row ? taps : 1, row ? 1 : taps);
    }
    const int lanes = analysis_.size(results_) % 4 == 0 ? 4 : 1;
    if (int64_t{lanes} * copies * threads > analysis_.size(results_)) return;
    share(results_, lanes, copies, threads);
    if (stride < kMinWindowThreads || stride > kMaxWindowThreads || !fills_machine(space_, product_, shares)) return;
    // A block of the sum has whole rows, and some or all of the outer ranges' values.
    const bool several = product_.reduced_ranges.size() > 1;
    const UOp split = several ? product_.reduced_ranges[product_.reduced_ranges.size() - 2] : UOp();
    for (const int64_t step : {1, 2, 4, 5, 8, 0}) {
      if (step && (!split || step >= analysis_.size(split) || analysis_.size(split) % step)) continue;
      stage(shares, stride, step ? split : UOp(), step);
    }
  }

  void stage(const std::vector<RangeShare>& shares, int threads, UOp split, int64_t step) {
    std::vector<Opt> more;
    if (split) more.push_back(Split{range_id(split), step});
    for (size_t i = 0; i < 2; ++i) {
      const UOp value = sides_.values[i];
      std::vector<StagedDim> dims;
      if (i == image_) dims.push_back({channels_, -1, shares[0].width(), shares[0]});
      bool inside = false;  // ranges outside of `split` have loops around the tile
      for (UOp r : product_.reduced_ranges) {
        inside |= !split || r == split;
        if (!inside || !analysis_.depends(value, r)) continue;
        const bool part = r == split;
        StagedDim dim{r, part ? 0 : -1, part ? step : analysis_.size(r), {}};
        for (size_t k = 0; i == image_ && k < windows_.size(); ++k)
          if (windows_[k].along == r) {
            dim.taps = windows_[k].taps;
            dim.read = {r, 1, static_cast<int>(dim.extent), shares[1 + k].threads, shares[1 + k].stride};
            dim.extent = windows_[k].extent(dim.extent);
          }
        dims.push_back(dim);
      }
      if (i != image_) dims.push_back({results_, -1, shares.back().width(), shares.back()});
      const std::optional<TileCopy> copy = stage_value(space_, value, dims, threads);
      if (!copy) return;
      more.emplace_back(*copy);
    }
    if (const int copies = space_.copies_of_sum(product_); copies > 1)
      more.push_back(Unroll{range_id(product_.reduced_ranges.back()), copies});
    out_.push_back(make_candidate("window", space_, shares, more));
  }

  TuneSpace& space_;
  KernelAnalysis& analysis_;
  const ProductSides& sides_;
  const StatementAnalysis& product_;
  std::vector<Candidate>& out_;
  size_t image_ = 0;  ///< which factor has windows
  std::vector<Window> windows_;
  UOp channels_, results_;
};

}  // namespace

void propose_windows(TuneSpace& space, std::vector<Candidate>& out) {
  const std::optional<ProductSides> sides = product_sides(space);
  if (sides && !sides->product->node->reduction().tree.mma) WindowGenerator(space, *sides, out).run();
}

}  // namespace sinter::codegen
