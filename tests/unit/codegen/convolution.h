// Convolutions as kernels.
#pragma once

#include <optional>

#include "unit/codegen_support.h"

namespace codegen_test {

/// A convolution of rows x columns under taps x taps, padded by a border of zeros. Ranges: 0 images, 1 filters, 2 rows,
/// 3 columns of the result; 4 channels, 5 and 6 taps.
struct Convolution {
  int64_t rows = 6, columns = 16, taps = 3, step = 1, dilation = 1, channels = 3, filters = 5, border = 1;
  double scale = 1;                    ///< of images and filters
  std::optional<double> element = {};  ///< a value for one element of the filters
  int64_t element_at = 0;
  bool also = false;  ///< the gradient leaves out channel 0 too, which its image does not know

  KernelHarness kernel() const {
    KernelHarness b;
    const int64_t reach = dilation * (taps - 1) - 2 * border;
    add(b, {2, channels, step * (rows - 1) + 1 + reach, step * (columns - 1) + 1 + reach},
        {filters, channels, taps, taps}, false);
    return b;
  }
  /// The gradient by the image of a convolution without a step: taps go backwards, and what lies outside is left out.
  KernelHarness image_gradient() const {
    KernelHarness b;
    const int64_t reach = 2 * border - dilation * (taps - 1);
    add(b, {2, channels, rows + reach, columns + reach}, {channels, filters, taps, taps}, true);
    return b;
  }

 private:
  void add(KernelHarness& b, const std::vector<int64_t>& image_shape, const std::vector<int64_t>& filter_shape,
           bool backwards) const {
    Array images = random_array(DType::F32, image_shape, 1), weights = random_array(DType::F32, filter_shape, 2);
    for (Array* a : {&images, &weights})
      for (int64_t i = 0; scale != 1 && i < a->numel(); ++i)
        a->set(i, ir::Scalar::of(DType::F32, a->at(i).as_double() * scale));
    if (element) weights.set(element_at, ir::Scalar::of(DType::F32, *element));
    UOp x = b.buffer(images), w = b.buffer(weights), out = b.buffer(Array(DType::F32, {2, filters, rows, columns}));
    UOp n = b.outer(2), f = b.outer(filters), h = b.outer(rows), v = b.outer(columns);
    UOp c = b.over(channels, 4), p = b.over(taps, 5), q = b.over(taps, 6);
    // Of the padded image; of the gradient, from a border before the image on.
    const auto along = [&](UOp r, UOp tap) {
      return backwards ? r + b.index(2 * border) - tap * b.index(dilation)
                       : r * b.index(step) + tap * b.index(dilation);
    };
    const auto inside = [&](UOp at, int64_t size) { return le(b.index(border), at) & lt(at, b.index(size + border)); };
    UOp y = along(h, p), z = along(v, q), open = inside(y, image_shape[2]) & inside(z, image_shape[3]);
    UOp zero = constant(b.g(), DType::F32, 0), filter = backwards ? b.at(w, {c, f, p, q}) : b.at(w, {f, c, p, q});
    UOp image = b.at(x, {n, c, y - b.index(border), z - b.index(border)}, open, zero);
    if (backwards && also) {
      open = open & lt(b.index(0), c);
      image = where(open, image, zero);
    }
    if (backwards) filter = where(open, filter, zero);
    b.stores({b.put(out, {n, f, h, v}, b.reduce(Combine::Dot, {image, filter}, {c, p, q}))});
  }
};

}  // namespace codegen_test
