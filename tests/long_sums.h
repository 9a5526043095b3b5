// What long sums of float32 are held to: the error of blocks of 256 whose sums are added pairwise, as BLAS libraries
// come to.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace long_sums {

/// Terms of one sign, so that nothing cancels. Errors of equal ones have one sign too and add up.
enum class Terms { Equal, Uniform };

inline std::vector<float> terms(Terms kind, int64_t n, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> out(static_cast<size_t>(n), 0.1f);
  if (kind == Terms::Uniform)
    for (float& v : out) v = uniform(random);
  return out;
}

inline float in_blocks(std::span<const float> values) {
  if (values.size() <= 256) {
    float sum = 0;
    for (float v : values) sum += v;
    return sum;
  }
  const size_t half = (values.size() / 2 + 255) / 256 * 256;
  return in_blocks(values.first(half)) + in_blocks(values.subspan(half));
}

/// The relative error of such blocks for k of these terms: the mean of some sums.
inline double usual_error(Terms kind, int64_t k) {
  std::mt19937_64 random(static_cast<uint64_t>(k));
  double error = 0;
  const int sums = kind == Terms::Equal ? 1 : 8;
  for (int i = 0; i < sums; ++i) {
    const std::vector<float> values = terms(kind, k, random);
    double exact = 0;
    for (float v : values) exact += v;
    error += std::abs(in_blocks(values) - exact) / exact / sums;
  }
  return error;
}

/// What F9 of docs/semantics.md allows, and the last bit of what is made of a sum.
inline double allowed_error(Terms kind, int64_t k) { return 4 * usual_error(kind, k) + 0x1p-22; }

/// The mean of the relative errors.
inline double error_of(const std::vector<double>& got, const std::vector<double>& exact) {
  double error = 0;
  for (size_t i = 0; i < got.size(); ++i) error += std::abs(got[i] / exact[i] - 1);
  return error / static_cast<double>(got.size());
}

}  // namespace long_sums
