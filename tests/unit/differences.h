// Gradients of functions of several tensors against central differences in float64.
#pragma once

#include <functional>

#include "tensor_support.h"

namespace sinter::testing {

using Tensors = std::vector<Tensor>;
using FunctionOf = std::function<Tensor(const Tensors&)>;

struct Differences {
  const char* name;
  FunctionOf f;
  std::vector<Shape> shapes;
};

/// Numbers in (-1, 1) that repeat nowhere: no ties, no kinks met by chance.
inline std::vector<double> spread(int64_t count, int which) {
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(std::sin(1.7 * static_cast<double>(i) + 0.9 * which + 0.3));
  return out;
}

/// sum(f(x) * fixed weights), so that no two elements have the same gradient.
inline Tensor weighted_sum(const Tensor& y) { return (y * from(spread(y.numel(), 7), y.shape())).sum(); }

/// Compares d value / d x for every x, where `value` makes a scalar of leaves with the given numbers.
inline void compare_slopes(const FunctionOf& value, const std::vector<std::vector<double>>& numbers_of,
                           const std::vector<Shape>& shapes, double tolerance) {
  auto leaves = [&](const std::vector<std::vector<double>>& n) {
    Tensors xs;
    for (size_t k = 0; k < n.size(); ++k) xs.push_back(from(n[k], shapes[k]).requires_grad());
    return xs;
  };
  const Tensors xs = leaves(numbers_of);
  const Tensor y = value(xs);
  const Tensors grads = gradient(y, xs);
  for (size_t k = 0; k < xs.size(); ++k) {
    std::vector<double> want;
    for (size_t i = 0; i < numbers_of[k].size(); ++i) {
      const double h = 1e-6;
      std::vector<std::vector<double>> up = numbers_of, down = numbers_of;
      up[k][i] += h;
      down[k][i] -= h;
      want.push_back((numbers(value(leaves(up)))[0] - numbers(value(leaves(down)))[0]) / (2 * h));
    }
    INFO("input " << k);
    CHECK(close(numbers(grads[k]), want, tolerance));
  }
}

/// First derivatives, and the derivatives of those.
inline void check_differences(const Differences& c) {
  INFO(c.name);
  std::vector<std::vector<double>> numbers_of;
  for (size_t k = 0; k < c.shapes.size(); ++k) numbers_of.push_back(spread(c.shapes[k].numel(), static_cast<int>(k)));
  compare_slopes([&](const Tensors& x) { return weighted_sum(c.f(x)); }, numbers_of, c.shapes, 1e-6);
  compare_slopes(
      [&](const Tensors& x) {
        const Tensors first = gradient(weighted_sum(c.f(x)), x);
        Tensor total = x[0].sum() * 0.0;
        for (size_t k = 0; k < x.size(); ++k) total = total + weighted_sum(first[k]) + 0.5 * (x[k] * x[k]).sum();
        return total;
      },
      numbers_of, c.shapes, 1e-5);
}

}  // namespace sinter::testing
