// Convolutions as kernels.
#pragma once

#include "unit/codegen_support.h"

namespace codegen_test {

/// A convolution of rows x columns under taps x taps, padded by a border of zeros. Ranges: 0 images, 1 filters, 2 rows,
/// 3 columns of the result; 4 channels, 5 and 6 taps.
struct Convolution {
  int64_t rows = 6, columns = 16, taps = 3, step = 1, dilation = 1, channels = 3, filters = 5, border = 1;

  KernelHarness kernel() const {
    KernelHarness b;
    const int64_t reach = dilation * (taps - 1) - 2 * border, height = step * (rows - 1) + 1 + reach,
                  width = step * (columns - 1) + 1 + reach;
    UOp x = b.buffer(random_array(DType::F32, {2, channels, height, width}, 1)),
        w = b.buffer(random_array(DType::F32, {filters, channels, taps, taps}, 2)),
        out = b.buffer(Array(DType::F32, {2, filters, rows, columns}));
    UOp n = b.outer(2), f = b.outer(filters), h = b.outer(rows), v = b.outer(columns);
    UOp c = b.over(channels, 4), p = b.over(taps, 5), q = b.over(taps, 6);
    const auto along = [&](UOp r, UOp tap) { return r * b.index(step) + tap * b.index(dilation); };
    const auto inside = [&](UOp at, int64_t size) { return le(b.index(border), at) & lt(at, b.index(size + border)); };
    UOp y = along(h, p), z = along(v, q);
    UOp image = b.at(x, {n, c, y - b.index(border), z - b.index(border)}, inside(y, height) & inside(z, width),
                     constant(b.g(), DType::F32, 0));
    b.stores({b.put(out, {n, f, h, v}, b.reduce(Combine::Dot, {image, b.at(w, {f, c, p, q})}, {c, p, q}))});
    return b;
  }
};

}  // namespace codegen_test
