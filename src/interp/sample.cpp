// A linear congruential generator, and comparison by scalars.
#include "interp/sample.h"

#include <algorithm>
#include <cmath>

namespace sinter::runtime {

Array sample(DType dtype, std::vector<int64_t> shape, uint64_t seed) {
  Array a(dtype, std::move(shape));
  uint64_t state = seed * 2 + 1;
  const int64_t count = a.numel();
  for (int64_t i = 0; i < count; ++i) {
    state = state * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    const auto whole = static_cast<int64_t>(state >> 40) % 9;
    if (is_float(dtype))
      a.set(i, ir::Scalar::of(dtype, static_cast<double>(whole - 4) + 0.125 * static_cast<double>(state >> 61)));
    else if (is_bool(dtype))
      a.set(i, ir::Scalar::of(dtype, whole & 1));
    else
      a.set(i, ir::Scalar::of(dtype, is_unsigned(dtype) ? whole : whole - 4));
  }
  return a;
}

ir::Scalar sample_argument(DType dtype) {
  if (is_float(dtype)) return ir::Scalar::of(dtype, 0.75);
  return ir::Scalar::of(dtype, dtype == DType::Index ? 0 : 1);
}

int64_t sample_size(const Var& var) { return std::clamp<int64_t>(5, var.min(), var.max()); }

bool same_values(const Array& a, const Array& b) {
  if (a.dtype != b.dtype || a.data.size() != b.data.size()) return false;
  if (a.data == b.data) return true;
  if (!is_float(a.dtype)) return false;
  const int64_t count = a.numel();
  for (int64_t i = 0; i < count; ++i) {
    const ir::Scalar x = a.at(i), y = b.at(i);
    if (!(x == y) && !(std::isnan(x.as_double()) && std::isnan(y.as_double()))) return false;
  }
  return true;
}

}  // namespace sinter::runtime
