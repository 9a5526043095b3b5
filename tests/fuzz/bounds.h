// What ops do to magnitude and error: shared by the tables of ops.
#pragma once

#include <algorithm>
#include <cmath>

#include "fuzz/random_program.h"

namespace fuzz {

/// Rounding of a float result of that size, four times over; nothing for integers and in exact programs.
inline double rounding(const ProgramBuilder& r, sinter::DType d, double magnitude) {
  return r.exact || !is_float(d) ? 0.0 : 4 * r.unit(d) * magnitude;
}

/// The largest number of an unsigned type: what lies below 0 becomes nearly as large.
inline double wrapped(sinter::DType d, double magnitude) {
  return is_unsigned(d) && !is_bool(d) ? std::ldexp(1.0, static_cast<int>(8 * size_of(d))) : magnitude;
}

/// Whole numbers of a float type are kept below this: a 16-bit float of them is whole, and no infinity comes of a few.
inline double largest_whole(sinter::DType d) { return d == sinter::float16 ? 2e3 : 1e5; }

inline Item finish(ProgramBuilder& r, sinter::Tensor t, double magnitude, double error) {
  const sinter::DType d = t.dtype();
  magnitude = wrapped(d, magnitude);
  error += rounding(r, d, magnitude);
  if (r.exact && is_float(d) && magnitude > largest_whole(d)) return {t % 13.0, 13, 0};
  if (!r.exact && magnitude > 1e3) return {t * (1.0 / magnitude), 1, error / magnitude + rounding(r, d, 1)};
  return {t, std::min(magnitude, 1e15), error};
}

inline Item moved(const Item& a, sinter::Tensor t) { return {std::move(t), a.magnitude, a.error}; }

sinter::Axes some_axes(ProgramBuilder& r, const sinter::Tensor& t);

/// How many elements of `all` each of `reduced` is made of; 1 where there is none.
inline double count_of(const sinter::Tensor& all, const sinter::Tensor& reduced) {
  return reduced.numel() ? static_cast<double>(all.numel()) / static_cast<double>(reduced.numel()) : 1;
}

}  // namespace fuzz
