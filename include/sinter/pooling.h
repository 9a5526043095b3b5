// Pooling: what is left of a window that slides over the last axes of a tensor. Layouts and sizes as in conv.h; along
// an axis there are (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1 windows, rounded down, or up with
// ceil_mode: then the last may reach beyond the padding, but begins before it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "sinter/conv.h"

namespace sinter::inline v0 {

/// The size that adaptive pooling gives each axis, outermost first, or one for all of them: `7` or `{7, std::nullopt}`.
/// std::nullopt leaves an axis as it is, PyTorch's None.
class AdaptiveSize {
 public:
  /// The same along each axis.
  template <Integer I>
  AdaptiveSize(I all) : sizes_{saturated(all)} {}                                       // NOLINT: implicit by design
  AdaptiveSize(std::initializer_list<std::optional<int64_t>> sizes) : sizes_(sizes) {}  ///< one for each axis
  AdaptiveSize(const PerAxis& sizes) : sizes_(sizes.numbers().begin(), sizes.numbers().end()) {}  ///< numbers  NOLINT
  /// As given.
  const std::vector<std::optional<int64_t>>& sizes() const { return sizes_; }

 private:
  std::vector<std::optional<int64_t>> sizes_;
};

/// @defgroup pooling Pooling
/// The batch axis is optional. Sizes that do not fit are a UsageError.
/// @snippet convolution.cpp pooling
/// @{

/// Options of max_pool1d(), max_pool2d() and max_pool3d().
struct MaxPoolOptions {
  ByName by_name{};     ///< no value
  PerAxis stride = 0;   ///< 0: the kernel's size along that axis
  PerAxis padding = 0;  ///< at most half of the kernel; never the maximum
  PerAxis dilation = 1;
  bool ceil_mode = false;
};
/// The largest element of each window; NaN if any is. Among equal elements the first takes the gradient. x: [n, c,
/// length].
Tensor max_pool1d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});
/// The same of [n, c, h, w].
Tensor max_pool2d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});
/// The same of [n, c, d, h, w].
Tensor max_pool3d(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});
/// max_pool1d() and where it found them: int64 positions among the elements of a channel, in row-major order. The first
/// of equal elements, or of NaN.
std::pair<Tensor, Tensor> max_pool1d_with_indices(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});
/// The same of max_pool2d(): position h * width + w.
std::pair<Tensor, Tensor> max_pool2d_with_indices(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});
/// The same of max_pool3d().
std::pair<Tensor, Tensor> max_pool3d_with_indices(Arg x, const PerAxis& kernel, const MaxPoolOptions& options = {});

/// Options of max_unpool1d(), max_unpool2d() and max_unpool3d(): those of the pooling that is undone.
struct MaxUnpoolOptions {
  ByName by_name{};    ///< no value
  PerAxis stride = 0;  ///< 0: the kernel's size along that axis
  PerAxis padding = 0;
  /// Sizes of the result; empty: (windows - 1) stride - 2 padding + kernel. Others that have as many windows differ
  /// from it by less than the stride.
  PerAxis output_size = {};
};
/// The inverse of max_pool1d_with_indices(), as far as there is one: zeros, but for each element of x where `indices`,
/// of x's shape, says. They are int32 or int64 positions among the elements of a channel of the result; of several
/// elements for one place the last stays, and has the gradient. An index out of range throws at the first host read. x:
/// [n, c, windows].
Tensor max_unpool1d(Arg x, const Tensor& indices, const PerAxis& kernel, const MaxUnpoolOptions& options = {});
/// The same for max_pool2d_with_indices(). x: [n, c, windows, windows].
Tensor max_unpool2d(Arg x, const Tensor& indices, const PerAxis& kernel, const MaxUnpoolOptions& options = {});
/// The same for max_pool3d_with_indices(). x: [n, c, windows, windows, windows].
Tensor max_unpool3d(Arg x, const Tensor& indices, const PerAxis& kernel, const MaxUnpoolOptions& options = {});

/// Options of avg_pool1d(), avg_pool2d() and avg_pool3d().
struct AvgPoolOptions {
  ByName by_name{};                              ///< no value
  PerAxis stride = 0;                            ///< 0: the kernel's size along that axis
  PerAxis padding = 0;                           ///< at most half of the kernel; zeros
  bool count_include_pad = true;                 ///< whether the divisor counts padding
  bool ceil_mode = false;                        ///< what is beyond the padding never counts
  std::optional<int64_t> divisor_override = {};  ///< the divisor of every window; not 0
};
/// The mean of each window. Integers are computed in float32. x: [n, c, length].
Tensor avg_pool1d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options = {});
/// The same of [n, c, h, w].
Tensor avg_pool2d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options = {});
/// The same of [n, c, d, h, w].
Tensor avg_pool3d(Arg x, const PerAxis& kernel, const AvgPoolOptions& options = {});

/// Options of lp_pool1d() and lp_pool2d().
struct LpPoolOptions {
  ByName by_name{};    ///< no value
  PerAxis stride = 0;  ///< 0: the kernel's size along that axis
  bool ceil_mode = false;
};
/// (sum of x^p)^(1/p) of each window, by absolute values for an even p only, as in PyTorch. x: [n, c, length].
Tensor lp_pool1d(Arg x, double p, const PerAxis& kernel, const LpPoolOptions& options = {});
/// The same of [n, c, h, w].
Tensor lp_pool2d(Arg x, double p, const PerAxis& kernel, const LpPoolOptions& options = {});

/// Means of `size` windows that cover the axis: window i of the elements floor(i in / size) to ceil((i + 1) in / size),
/// without the last. An axis whose size is std::nullopt stays as it is, and may be symbolic. Integers are computed in
/// float32. x: [n, c, length].
Tensor adaptive_avg_pool1d(Arg x, const AdaptiveSize& size);
/// The same of [n, c, h, w].
Tensor adaptive_avg_pool2d(Arg x, const AdaptiveSize& size);
/// The same of [n, c, d, h, w].
Tensor adaptive_avg_pool3d(Arg x, const AdaptiveSize& size);
/// The largest elements of these windows, as max_pool1d().
Tensor adaptive_max_pool1d(Arg x, const AdaptiveSize& size);
/// The same of [n, c, h, w].
Tensor adaptive_max_pool2d(Arg x, const AdaptiveSize& size);
/// The same of [n, c, d, h, w].
Tensor adaptive_max_pool3d(Arg x, const AdaptiveSize& size);
/// adaptive_max_pool1d() and positions, as max_pool1d_with_indices().
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(Arg x, const AdaptiveSize& size);
/// The same of [n, c, h, w].
std::pair<Tensor, Tensor> adaptive_max_pool2d_with_indices(Arg x, const AdaptiveSize& size);
/// The same of [n, c, d, h, w].
std::pair<Tensor, Tensor> adaptive_max_pool3d_with_indices(Arg x, const AdaptiveSize& size);
/// @}

}  // namespace sinter::inline v0
