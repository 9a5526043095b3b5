// LAPACK as a kernel among others: errors, plans, transforms, devices. Values and gradients are those of
// tests/surface/linalg_rows.cpp.
#include "sinter/linalg.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "runtime/base/files.h"
#include "runtime/base/subprocess.h"
#include "sinter/debug.h"
#include "sinter/jit.h"
#include "sinter/ops.h"
#include "sinter/transforms.h"
#include "skip.h"
#include "unit/differences.h"
#include "unit/runtime_support.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

/// Two matrices, of which the second is singular and has a negative eigenvalue.
Tensor one_bad() { return from(std::vector<float>{2, 1, 1, 2, 1, -2, -2, 4}, {2, 2, 2}); }

/// By a host read, which throws what went wrong.
std::vector<double> read(const Tensor& x) { return x.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("a matrix without a result throws at the first read", "[tensor]") {
  const Tensor a = one_bad(), b = ones({2, 2, 1});
  ON_BOTH_EXECUTORS();
  CHECK_THROWS_WITH(read(solve(a, b) + 1), Contains("matrix 1 of float32 [2, 2, 2] is singular, in solve at") &&
                                               Contains("linalg_test.cpp:") && Contains("its results are NaN"));
  CHECK_THROWS_WITH(read(cholesky(a - 3 * eye(2))), Contains("matrix 0 of float32 [2, 2, 2] is not positive definite"));
  CHECK_THROWS_WITH(read(inverse(zeros({3, 3}))), Contains("the matrix float32 [3, 3] is singular"));
  const Tensor x = solve(a, b);
  CHECK_THROWS_AS(read(x), Error);
  const std::vector<double> again = read(x);  // once said
  CHECK((std::isfinite(again[0]) && std::isnan(again[2]) && std::isnan(again[3])));
}

TEST_CASE("a NaN or an infinity in a matrix aborts nothing, and no result is made of it", "[tensor]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  ON_BOTH_EXECUTORS();
  const auto none = Contains("gave no result, it ");
  for (const DType type : {float32, float64})
    for (const double bad : {nan, infinity, -infinity})
      for (const int64_t at : {0, 3, 8}) {
        std::vector<double> values{4, 1, 0, 1, 5, 1, 0, 1, 6};
        values[static_cast<size_t>(at)] = bad;
        INFO(name_of(type) << ", " << bad << " at " << at);
        const Tensor a = from(values, {3, 3}).to(type), tall = cat({a, a}, 0), good = eye(3).to(type);
        const Tensor b = ones({3, 2}, type);
        CHECK_THROWS_WITH(read(lstsq(a, b).solution), none);
        CHECK_THROWS_WITH(read(lstsq(tall, cat({b, b}, 0)).rank), none);
        CHECK_THROWS_WITH(read(lstsq(good, a).solution), none);
        CHECK_THROWS_WITH(read(pinv(a)), none);
        CHECK_THROWS_WITH(read(pinv(tall.t())), none);
        CHECK_THROWS_WITH(read(svd(a).s), none);
        CHECK_THROWS_WITH(read(svd(tall, true).u), none);
        CHECK_THROWS_WITH(read(svdvals(tall)), none);
        CHECK_THROWS_WITH(read(cond(a)), none);
        CHECK_THROWS_WITH(read(matrix_rank(a)), none);
        CHECK_THROWS_WITH(read(eigh(a).values), none);
        CHECK_THROWS_WITH(read(eigvalsh(a)), none);
        if (bad != infinity) CHECK_THROWS_WITH(read(cholesky(a)), Contains("is not positive definite"));
        // What PyTorch gives is no error.
        for (const auto& run : std::vector<std::function<Tensor()>>{
                 [&] { return det(a); }, [&] { return qr(a).r; }, [&] { return qr(tall, "complete").q; },
                 [&] { return lu(a).u; }, [&] { return solve(a, b); }, [&] { return inverse(a); },
                 [&] { return solve_triangular(a, b, false); }, [&] { return slogdet(a).logabsdet; }}) {
          const std::vector<double> x = read(run());
          if (std::isnan(bad)) CHECK(std::any_of(x.begin(), x.end(), [](double v) { return std::isnan(v); }));
        }
      }
  // Only the lower triangle is read.
  CHECK(numbers(eigvalsh(from(std::vector<float>{1, static_cast<float>(nan), 0, 3}, {2, 2}))) ==
        std::vector<double>{1, 3});
}

TEST_CASE("matrices of size 0 and 1 have their decompositions", "[tensor]") {
  ON_BOTH_EXECUTORS();
  CHECK(numbers(det(zeros({2, 0, 0}))) == std::vector<double>{1, 1});
  CHECK(solve(zeros({0, 0}), zeros({0, 3})).shape() == Shape{0, 3});
  CHECK(numbers(qr(zeros({2, 0}), "complete").q) == std::vector<double>{1, 0, 0, 1});
  CHECK(numbers(svd(zeros({0, 2})).vh) == std::vector<double>{1, 0, 0, 1});
  CHECK(numbers(lstsq(zeros({0, 2}), zeros({0, 1})).solution) == std::vector<double>{0, 0});
  CHECK(cholesky(zeros({0, 3, 3})).shape() == Shape{0, 3, 3});
  CHECK(numbers(cholesky(full({1, 1}, 4.0))) == std::vector<double>{2});
  CHECK(numbers(matrix_rank(zeros({2, 3, 0}))) == std::vector<double>{0, 0});
}

TEST_CASE("large matrices of both types keep their equations", "[tensor]") {
  Generator generator(7);
  for (const DType type : {float32, float64}) {
    const Tensor x = randn({90, 61}, {.generator = &generator}).to(type);
    const double bound = type == float32 ? 2e-4 : 1e-12;
    const auto [u, s, vh] = svd(x);
    CHECK(abs(matmul(u.narrow(1, 0, 61) * s, vh) - x).max().item() < bound);
    const Tensor spd = matmul(x, x.t());
    const auto [w, v] = eigh(spd);
    CHECK(abs(matmul(v * w, v.t()) - spd).max().item() < 10 * bound);
    const LeastSquares fit = lstsq(x, ones({90, 1}).to(type));
    CHECK(fit.rank.item<int64_t>() == 61);
    CHECK(abs(matmul(x.t(), matmul(x, fit.solution) - 1.0)).max().item() < 10 * bound);
  }
}

TEST_CASE("gradients that are not defined say what to do", "[tensor]") {
  const Tensor x = from(spread(6, 2), {3, 2}).requires_grad();
  CHECK_THROWS_WITH(gradient(svd(x).u.sum(), {x}), Contains("full_matrices = false"));
  CHECK_THROWS_WITH(gradient(qr(x, "complete").q.sum(), {x}), Contains("mode reduced"));
}

TEST_CASE("losses of values alone are finite where values are equal", "[tensor]") {
  const Tensor x = eye(3).requires_grad();
  CHECK(numbers(gradient((eigh(x).values * 2.0).sum(), {x})[0]) == numbers(eye(3) * 2.0));
  CHECK(close(numbers(gradient(svd(x, false).s.sum(), {x})[0]), numbers(eye(3))));
}

TEST_CASE("vmap of a decomposition is the decomposition of a batch", "[tensor]") {
  const Tensor a = from(spread(18, 5), {2, 3, 3}) + 2 * eye(3).to(float64), b = from(spread(6, 7), {2, 3});
  CHECK(numbers(vmap([](const Tensor& m) { return inverse(m); })(a)) == numbers(inverse(a)));
  const auto one = vmap([](const Tensor& m, const Tensor& v) { return solve(m, v); });
  CHECK(numbers(one(a, b)) == numbers(solve(a, b)));
}

TEST_CASE("a jitted function solves equations", "[tensor]") {
  if (default_device() != Device::cpu()) SKIP_TEST("the default device is a GPU");
  auto f = jit([](const Tensor& a, const Tensor& b) { return solve(a, b) * 2.0; });
  const Tensor a = from(spread(9, 5), {3, 3}) + 2 * eye(3).to(float64), b = from(spread(3, 7), {3, 1});
  for (int i = 0; i < 3; ++i) CHECK(close(numbers(f(a, b + i)), numbers(solve(a, b + i) * 2.0)));
  CHECK_THROWS_WITH(read(f(zeros({3, 3}, float64).clone(), b)), Contains("singular") || Contains("without jit"));
}

TEST_CASE("matrices of a GPU travel to the host", "[tensor]") {
  if (default_device() == Device::cpu()) SKIP_TEST("the default device is the CPU");
  const runtime_test::ScopedEnv debug("DEBUG", "1");
  const Tensor a = from(spread(9, 5), {3, 3}) + 2 * eye(3).to(float64);
  runtime_test::CapturedLog log;
  const Tensor x = inverse(a);
  CHECK(x.device() == a.device());
  CHECK(close(numbers(matmul(a, x)), numbers(eye(3)), 1e-12));
  CHECK_THAT(log.text(), Contains("float64 [3, 3] of cuda:0 travels to the host and back"));
  auto jitted = jit([](const Tensor& t) { return inverse(t * 2.0); });
  CHECK_THROWS_WITH(jitted(a.realize()), Contains("several devices") && Contains("inverse"));
}

TEST_CASE("child: there is no LAPACK", "[.][runtime-child]") {
  CHECK_THROWS_AS(solve(eye(2), ones({2, 1})), BackendError);
  CHECK_THROWS_WITH(inverse(eye(2)),
                    Contains("/nowhere/liblapack.so") && Contains("liblapack3") && Contains("SINTER_LAPACK"));
  CHECK(numbers(matmul(eye(2), ones({2, 1}))) == std::vector<double>{1, 1});
}

TEST_CASE("without LAPACK its functions say how to get it", "[tensor]") {
  const runtime_test::ScopedEnv none("SINTER_LAPACK", "/nowhere/liblapack.so");
  const runtime_test::Folder folder;
  const int status =
      runtime::cpu::run_process({"/proc/self/exe", "child: there is no LAPACK"}, folder.path() + "/output");
  INFO(runtime::read_file(folder.path() + "/output").value_or(""));
  CHECK(status == 0);
}

TEST_CASE("the triangle of eigh by PyTorch's name", "[tensor]") {
  const Tensor a =
      from(std::vector<double>{2, 0, 1, 2}, {2, 2});  // the lower triangle has a 1 beside the diagonal, the upper a 0
  CHECK(numbers(eigvalsh(a, "L")) == std::vector<double>{1, 3});
  CHECK(numbers(eigvalsh(a, "U")) == std::vector<double>{2, 2});
  CHECK(numbers(eigh(a, "L").values) == std::vector<double>{1, 3});
  CHECK_THROWS_WITH(eigh(a, "lower"), Contains("\"lower\"") && Contains("\"L\"") && Contains("[2, 2]"));
}
