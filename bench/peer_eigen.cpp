// Eigen: matrix products, elementwise chains, sums and transposition, compiled for this machine.
#define EIGEN_MAX_ALIGN_BYTES 64  // a cache line, on machines without vectors of that size too
#include <Eigen/Core>

#include <memory>

#include "worker.h"

namespace bench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix input(int64_t rows, int64_t columns, uint32_t seed) {
  const Floats data = uniform(static_cast<size_t>(rows * columns), seed);
  return Eigen::Map<const Matrix>(data.data(), rows, columns);
}

/// A case that calls fill(matrix) on a matrix of that size.
template <class Fill>
BenchCase filling(int64_t rows, int64_t columns, Fill fill) {
  auto result = std::make_shared<Matrix>(rows, columns);
  return {.run = [=] { fill(*result); },
          .check = [=] { return fill(*result), fingerprint({result->data(), static_cast<size_t>(rows * columns)}); }};
}

BenchCase gemm(const std::string& layout, int64_t m, int64_t k, int64_t n) {
  if (layout == "tn")
    return filling(m, n, [a = input(k, m, 1), b = input(k, n, 2)](Matrix& c) { c.noalias() = a.transpose() * b; });
  if (layout == "nt")
    return filling(m, n, [a = input(m, k, 1), b = input(n, k, 2)](Matrix& c) { c.noalias() = a * b.transpose(); });
  return filling(m, n, [a = input(m, k, 1), b = input(k, n, 2)](Matrix& c) { c.noalias() = a * b; });
}

BenchCase product(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  return gemm(arguments.text(1), s.at(0), s.at(1), s.at(2));
}

BenchCase product_as_sum(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  return gemm("nn", s.at(0), s.at(1), s.at(2));
}

BenchCase of_slice(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const int64_t m = s.at(0), k = s.at(1), n = s.at(2);
  return filling(m, n, [=, a = input(m + 3, k + 5, 1), b = input(k, n, 2)](Matrix& c) {
    c.noalias() = a.bottomRightCorner(m, k) * b;
  });
}

BenchCase matrix_vector(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  const bool left = arguments.text(1) == "tn";
  return filling(left ? s.at(1) : s.at(0), 1,
                 [=, a = input(s[0], s.at(1), 1), x = input(left ? s[0] : s[1], 1, 2)](Matrix& y) {
                   if (left)
                     y.noalias() = a.transpose() * x.col(0);
                   else
                     y.noalias() = a * x.col(0);
                 });
}

BenchCase chain(const Arguments& arguments) {
  const int64_t n = arguments.sizes(1).at(0);
  return filling(1, n, [x = input(1, n, 1)](Matrix& y) {
    y = ((x.array() * 1.5f + 0.25f).tanh() * x.array().logistic() - 0.5f).matrix();
  });
}

BenchCase total(const Arguments& arguments) {
  return filling(1, 1, [x = input(1, arguments.sizes(1).at(0), 1)](Matrix& y) { y(0, 0) = x.sum(); });
}

BenchCase column_sums(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  return filling(1, s.at(1), [x = input(s[0], s[1], 1)](Matrix& y) { y = x.colwise().sum(); });
}

BenchCase transposed(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  return filling(s.at(1), s.at(0), [x = input(s[0], s[1], 1)](Matrix& y) { y = x.transpose(); });
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  return serve(argc, argv,
               {{"sgemm", {product}},
                {"jit", {product}},
                {"sum", {product_as_sum}},
                {"panels", {product_as_sum}},
                {"slice", {of_slice}},
                {"matvec", {matrix_vector}},
                {"chain", {chain}},
                {"total", {total}},
                {"columns", {column_sums}},
                {"transpose", {transposed}}});
}
