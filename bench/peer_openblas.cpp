// OpenBLAS: matrix products and matrix times vector, into memory that is there.
#include <cblas.h>

#include <memory>

#include "worker.h"

namespace bench {
namespace {

/// A row-major product; `c` is overwritten. The strides of rows are lda, ldb and n.
void multiply(bool ta, bool tb, int64_t m, int64_t k, int64_t n, const float* a, int64_t lda, const float* b,
              int64_t ldb, float* c) {
  const auto as = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  const auto size = [](int64_t s) { return static_cast<blasint>(s); };
  cblas_sgemm(CblasRowMajor, as(ta), as(tb), size(m), size(n), size(k), 1, a, size(lda), b, size(ldb), 0, c, size(n));
}

/// A BenchCase that fills `result`.
BenchCase filling(const std::shared_ptr<Floats>& result, std::function<void()> run) {
  return {.run = run, .check = [=] { return run(), fingerprint(*result); }};
}

std::shared_ptr<Floats> room(int64_t count) { return std::make_shared<Floats>(static_cast<size_t>(count)); }
Floats input(int64_t count, uint32_t seed) { return uniform(static_cast<size_t>(count), seed); }

BenchCase gemm(bool ta, bool tb, int64_t m, int64_t k, int64_t n) {
  auto c = room(m * n);
  return filling(c, [=, a = input(m * k, 1), b = input(k * n, 2)] {
    multiply(ta, tb, m, k, n, a.data(), ta ? m : k, b.data(), tb ? k : n, c->data());
  });
}

BenchCase product(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  return gemm(arguments.text(1) == "tn", arguments.text(1) == "nt", s.at(0), s.at(1), s.at(2));
}

BenchCase product_as_sum(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  return gemm(false, false, s.at(0), s.at(1), s.at(2));
}

BenchCase permuted_batch(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const int64_t p = s.at(0), q = s.at(1), m = s.at(2), k = s.at(3), n = s.at(4);
  auto c = room(p * q * m * n);
  return filling(c, [=, a = input(p * q * m * k, 1), b = input(p * q * k * n, 2)] {
    for (int64_t i = 0; i < p; ++i)
      for (int64_t j = 0; j < q; ++j)
        multiply(false, false, m, k, n, a.data() + (j * p + i) * m * k, k, b.data() + (i * q + j) * k * n, n,
                 c->data() + (i * q + j) * m * n);
  });
}

BenchCase of_slice(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const int64_t m = s.at(0), k = s.at(1), n = s.at(2);
  auto c = room(m * n);
  return filling(c, [=, a = input((m + 3) * (k + 5), 1), b = input(k * n, 2)] {
    multiply(false, false, m, k, n, a.data() + 3 * (k + 5) + 5, k + 5, b.data(), n, c->data());
  });
}

BenchCase matrix_vector(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  const bool left = arguments.text(1) == "tn";
  const auto m = static_cast<blasint>(s.at(0)), n = static_cast<blasint>(s.at(1));
  auto y = room(left ? n : m);
  return filling(y, [=, a = input(s[0] * s[1], 1), x = input(left ? m : n, 2)] {
    cblas_sgemv(CblasRowMajor, left ? CblasTrans : CblasNoTrans, m, n, 1, a.data(), n, x.data(), 1, 0, y->data(), 1);
  });
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
                {"batch", {permuted_batch}},
                {"slice", {of_slice}},
                {"matvec", {matrix_vector}}});
}
