// Images at other sizes, and elements between channels and places. Layouts as in conv.h.
#pragma once

#include <vector>

#include "sinter/conv.h"

namespace sinter::inline v0 {

/// A factor per sliding axis, outermost first, or one for all of them: `2` or `{2, 0.5}`.
class ScaleFactor {
 public:
  ScaleFactor(double all) : numbers_{all} {}                                 ///< the same for each  NOLINT
  ScaleFactor(std::initializer_list<double> numbers) : numbers_(numbers) {}  ///< one for each
  const std::vector<double>& numbers() const { return numbers_; }            ///< as given

 private:
  std::vector<double> numbers_;
};

/// @defgroup resampling Resampling
/// @snippet convolution.cpp resampling
/// @{

/// How elements of the result are made.
enum class ResampleMode : uint8_t {
  Nearest,       ///< the element at floor(i scale), as PyTorch's "nearest"
  NearestExact,  ///< the element whose center is nearest
  Linear,        ///< from 2 neighbors along the one axis
  Bilinear,      ///< from 2 along each of two axes
  Trilinear,     ///< from 2 along each of three axes
  Bicubic,       ///< from 4 along each of two axes: Keys' cubic convolution with a = -0.75
  Area           ///< means, as adaptive_avg_pool2d()
};
/// Options of interpolate(): a size, or factors. `{.scale_factor = 2, .mode = "bilinear"}`.
struct InterpolateOptions {
  PerAxis size = {};              ///< of the result
  ScaleFactor scale_factor = {};  ///< the size becomes floor(size * factor)
  Choice<ResampleMode> mode = ResampleMode::Nearest;
  bool align_corners = false;  ///< the first and last elements keep their places; not for the nearest, nor for areas
};
/// x, [n, c, length], [n, c, h, w] or [n, c, d, h, w], at another size. Nearest takes any type; otherwise integers are
/// computed in float32. There is no antialiasing.
Tensor interpolate(Arg x, const InterpolateOptions& options);

/// [.., c r^2, h, w] to [.., c, h r, w r]: channels become r x r blocks. Shi et al., CVPR 2016.
Tensor pixel_shuffle(Arg x, int64_t upscale_factor);
/// The inverse: [.., c, h r, w r] to [.., c r^2, h, w].
Tensor pixel_unshuffle(Arg x, int64_t downscale_factor);
/// [n, c, ..]: channel i of group g becomes channel i groups + g. Zhang et al., CVPR 2018.
Tensor channel_shuffle(Arg x, int64_t groups);

/// What grid_sample() takes for elements outside of x.
enum class GridPadding : uint8_t {
  Zeros,      ///< 0
  Border,     ///< the nearest element
  Reflection  ///< the elements mirrored at the border, again and again
};
/// Options of grid_sample().
struct GridSampleOptions {
  Choice<ResampleMode> mode = ResampleMode::Bilinear;  ///< or Nearest
  Choice<GridPadding> padding_mode = GridPadding::Zeros;
  bool align_corners = false;  ///< whether -1 and 1 are the centers of the first and last elements, or their edges
};
/// x, [n, c, h, w], at the places of grid, [n, oh, ow, 2]: (x, y) from -1 to 1. y: [n, c, oh, ow]. Jaderberg et al.,
/// NeurIPS 2015.
Tensor grid_sample(Arg x, const Tensor& grid, const GridSampleOptions& options = {});
/// The grid [n, h, w, 2] of the maps theta, [n, 2, 3], for a result of `size` [n, c, h, w].
Tensor affine_grid(Arg theta, const Shape& size, bool align_corners = false);
/// @}

}  // namespace sinter::inline v0
