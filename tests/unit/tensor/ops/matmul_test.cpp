// Products against loops.
#include <random>

#include "ir/walk.h"
#include "runtime/program/host_target.h"
#include "unit/host_machine.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

Tensor counted(const Shape& shape, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<float> data(static_cast<size_t>(shape.numel()));
  for (float& f : data) f = static_cast<float>(static_cast<int>(rng() % 9) - 4);
  return from(data, shape);
}

/// Row-major batches of [m, k] x [k, n]; `bx` and `by` say which matrix of either operand each batch takes.
std::vector<double> products(const std::vector<double>& x, const std::vector<double>& y, int64_t m, int64_t k,
                             int64_t n, const std::vector<std::pair<int64_t, int64_t>>& batches) {
  std::vector<double> out;
  for (auto [bx, by] : batches)
    for (int64_t r = 0; r < m; ++r)
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t i = 0; i < k; ++i)
          sum += x[static_cast<size_t>((bx * m + r) * k + i)] * y[static_cast<size_t>((by * k + i) * n + c)];
        out.push_back(sum);
      }
  return out;
}

}  // namespace

TEST_CASE("matmul of all ranks", "[tensor]") {
  ON_BOTH_EXECUTORS();
  struct Case {
    Shape a, b, out;
    int64_t m, k, n;
    std::vector<std::pair<int64_t, int64_t>> batches;
  };
  const std::vector<Case> table = {
      {{3}, {3}, {}, 1, 3, 1, {{0, 0}}},
      {{2, 3}, {3}, {2}, 2, 3, 1, {{0, 0}}},
      {{3}, {3, 4}, {4}, 1, 3, 4, {{0, 0}}},
      {{2, 3}, {3, 4}, {2, 4}, 2, 3, 4, {{0, 0}}},
      {{2, 2, 3}, {3, 4}, {2, 2, 4}, 2, 3, 4, {{0, 0}, {1, 0}}},
      {{2, 3}, {2, 3, 4}, {2, 2, 4}, 2, 3, 4, {{0, 0}, {0, 1}}},
      {{2, 1, 2, 3}, {2, 3, 4}, {2, 2, 2, 4}, 2, 3, 4, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}},
      {{2, 2, 3}, {2, 3, 1}, {2, 2, 1}, 2, 3, 1, {{0, 0}, {1, 1}}},
      {{2, 2, 3}, {3}, {2, 2}, 2, 3, 1, {{0, 0}, {1, 0}}},
      {{3}, {2, 3, 4}, {2, 4}, 1, 3, 4, {{0, 0}, {0, 1}}},
      {{1, 1}, {1, 1}, {1, 1}, 1, 1, 1, {{0, 0}}},
  };
  for (const Case& c : table) {
    INFO(to_string(c.a) << " x " << to_string(c.b));
    Tensor a = counted(c.a, 1), b = counted(c.b, 2), out = matmul(a, b);
    REQUIRE(out.shape() == c.out);
    CHECK(numbers(out) == products(numbers(a), numbers(b), c.m, c.k, c.n, c.batches));
  }
  CHECK(numbers(matmul(zeros({2, 0}), zeros({0, 3}))) == list({0, 0, 0, 0, 0, 0}));
  CHECK(matmul(ones({2, 2}, int32), ones({2, 2})).dtype() == float32);
  CHECK(numbers(matmul(from({{true, false}}), from({{false}, {true}}))) == list({0}));
  CHECK(numbers(matmul(from({{true, true}}), from({{true}, {true}}))) == list({1}));
  CHECK(numbers(dot(from({1, 2, 3}), from({4, 5, 6}))) == list({32}));
}

TEST_CASE("einsum agrees with the ops that it stands for", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor a = counted({2, 3}, 3), b = counted({3, 4}, 4), c = counted({4, 2}, 5), v = counted({3}, 6),
         s = counted({3, 3}, 7);
  CHECK(numbers(einsum("ij,jk->ik", {a, b})) == numbers(matmul(a, b)));
  CHECK(numbers(einsum("ij,jk", {a, b})) == numbers(matmul(a, b)));
  CHECK(numbers(einsum("ij , jk -> ki", {a, b})) == numbers(matmul(a, b).transpose()));
  CHECK(numbers(einsum("ij,jk,kl->il", {a, b, c})) == numbers(matmul(matmul(a, b), c)));
  CHECK(numbers(einsum("ij->", {a})) == numbers(a.sum()));
  CHECK(numbers(einsum("ij->j", {a})) == numbers(a.sum(0)));
  CHECK(numbers(einsum("ij->ji", {a})) == numbers(a.transpose()));
  CHECK(numbers(einsum("ij,j->i", {a, v})) == numbers(matmul(a, v)));
  CHECK(numbers(einsum("i,j->ij", {v, v})) == numbers(v.unsqueeze(1) * v));
  CHECK(numbers(einsum("ii->i", {s})) == list({numbers(s)[0], numbers(s)[4], numbers(s)[8]}));
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor edge = from({{-0.0, inf}, {std::nan(""), -0.0}});  // a diagonal is read, not summed
  CHECK(same(numbers(einsum("ii->i", {edge})), {-0.0, -0.0}));
  CHECK(numbers(einsum("iji->ij", {counted({3, 2, 3}, 8)})) ==
        numbers((counted({3, 2, 3}, 8) * eye(3).unsqueeze(1)).sum(2)));
  const Tensor pairs = counted({6, 6}, 8);  // [i, j, i, j] in rows and columns of both axes
  CHECK(numbers(einsum("ijij->ji", {pairs.reshape({2, 3, 2, 3})})) ==
        numbers(einsum("pp->p", {pairs}).reshape({2, 3}).transpose()));
  const Tensor p = from({{true, false}, {true, true}});
  CHECK(einsum("ij,jk->ik", {p, p}).dtype() == boolean);
  CHECK(numbers(einsum("ij,jk->ik", {p, p})) == numbers(matmul(p, p)));
  CHECK(numbers(einsum("ii->i", {p})) == list({1, 1}));
  const Var n("n", 1, 5);
  CHECK(numbers(einsum("ii->i", {from(std::vector<float>{1, 2, 3, 4}, {n(2), n(2)})})) == list({1, 4}));
  CHECK(numbers(einsum("ii", {s})) == numbers((s * eye(3)).sum()));
  Tensor x = counted({2, 5, 2, 3}, 8), y = counted({5, 3, 4}, 9);
  CHECK(numbers(einsum("...ij,...jk->...ik", {x, y})) == numbers(matmul(x, y)));
  CHECK(numbers(einsum("...ij->...ji", {x})) == numbers(x.transpose()));
  CHECK(numbers(einsum("bhid,bhjd->bhij", {x, x})) == numbers(matmul(x, x.transpose())));
}

TEST_CASE("einsum makes no axis of size 1 that broadcasting drops again", "[tensor]") {
  const Tensor a = ones({2, 1, 4, 3}), b = ones({5, 3, 6}), row = from({1, 2, 3});
  const auto node = [](const Tensor& t) { return tensor::node_of(t); };
  CHECK(node(einsum("...ij,...jk->...ik", {a, b})) == node(matmul(a, b)));
  CHECK(node(einsum("pqij,j->pqi", {a, row})) == node(matmul(a, row)));
  CHECK(ir::topological(node(einsum("i,j->ij", {row, row}))).size() == 4);  // the leaf, two repetitions, their product
}

TEST_CASE("a machine without FMA sums products where nothing else names its types", "[tensor]") {
  runtime::Target plain = runtime::host_target();
  runtime::set_isa(plain, "x86-64");
  for (const DType dtype : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    const Tensor a = (arange(48, float32) * 0.25 - 3.0).to(dtype).reshape({6, 8}).contiguous().realize();
    const std::vector<double> want = matmul(a, a.transpose()).to(float64).to_vector<double>();  // exact
    const HostMachine machine(plain);
    CHECK(matmul(a, a.transpose()).to(float64).to_vector<double>() == want);
  }
}
