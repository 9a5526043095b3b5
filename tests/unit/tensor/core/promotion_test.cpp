// The promotion table as it stands in docs/dtypes.md, weak numbers, and broadcasting of all ranks.
#include <fstream>
#include <random>
#include <sstream>

#include "repository.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::stringstream text(line.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    std::erase(cell, '*');
    out.push_back(cell);
  }
  return out;
}

}  // namespace

TEST_CASE("types meet as docs/dtypes.md says", "[tensor]") {
  ON_BOTH_EXECUTORS();
  std::ifstream doc(repository_path("docs/dtypes.md"));
  REQUIRE(doc);
  std::vector<std::string> header;
  int checked = 0;
  for (std::string line; std::getline(doc, line);) {
    if (line.starts_with("| |bool")) header = cells(line);
    if (!line.starts_with("|**")) continue;
    std::vector<std::string> row = cells(line);
    REQUIRE(row.size() == header.size());
    for (size_t i = 1; i < row.size(); ++i) {
      const DType a = dtype_named(row[0]), b = dtype_named(header[i]);
      INFO(row[0] << " with " << header[i]);
      CHECK(name_of(promote(a, b)) == row[i]);
      CHECK(name_of((zeros({1}, a) * zeros({1}, b)).dtype()) == row[i]);
      ++checked;
    }
  }
  CHECK(checked == 169);
}

TEST_CASE("a number is weak", "[tensor]") {
  ON_BOTH_EXECUTORS();
  struct Case {
    DType tensor, with_bool, with_int, with_float;
  };
  for (Case c : {Case{boolean, boolean, int64, float32}, Case{uint8, uint8, uint8, float32},
                 Case{int32, int32, int32, float32}, Case{int64, int64, int64, float32},
                 Case{float16, float16, float16, float16}, Case{bfloat16, bfloat16, bfloat16, bfloat16},
                 Case{float32, float32, float32, float32}, Case{float64, float64, float64, float64}}) {
    Tensor x = ones({2}, c.tensor);
    CHECK((x + true).dtype() == c.with_bool);
    CHECK((x + 2).dtype() == c.with_int);
    CHECK((2 * x).dtype() == c.with_int);
    CHECK((x + 2.5).dtype() == c.with_float);
    CHECK((2.5f * x).dtype() == c.with_float);
    CHECK((x == 2).dtype() == boolean);
    CHECK(maximum(x, 2.5).dtype() == c.with_float);
    CHECK(where(x == x, x, 2).dtype() == c.with_int);
    CHECK(clamp(x, 0, 1).dtype() == c.with_int);
    CHECK((x / x).dtype() == (is_float(c.tensor) ? c.tensor : float32));
    CHECK(exp(x).dtype() == (is_float(c.tensor) ? c.tensor : float32));
    CHECK(floor(x).dtype() == c.tensor);
    CHECK(cat({x, ones({1}, float64)}).dtype() == float64);
  }
  CHECK((from({1}) + from({1}, uint8) * 255).dtype() == int64);
  CHECK(numbers(ones({2}) * 0.1) == list({0.1f, 0.1f}));
  CHECK(numbers(ones({2}, float64) * 0.1) == list({0.1, 0.1}));
}

TEST_CASE("a size is a weak integer beside tensors", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Var n("n", 1, 8);
  for (const Tensor& x : {ones({4, 3}), ones({8, 3}).slice(0, {0, n(4)})}) {
    CAPTURE(to_string(x.shape()));
    CHECK((x.sum() / x.size(0)).item() == 3);
    CHECK((x.size(0) - x.sum(0)).dtype() == float32);
    CHECK(numbers(x.size(0) - x.sum(0)) == list({0.f, 0.f, 0.f}));
    CHECK((ones({2}, int8) * x.size(0)).dtype() == int8);
    CHECK((ones({2}, float16) * x.size(0)).dtype() == float16);
    CHECK((ones({2}, int32) / x.size(0)).dtype() == float32);
    CHECK(numbers(where(x.sum(0) < x.size(0), 1, x.size(0))) == list({4.f, 4.f, 4.f}));
    CHECK(pow(full({}, 2.0), x.size(0)).item() == 16);
    Tensor total = zeros({2});
    total += x.size(0);
    CHECK(numbers(total) == list({4.f, 4.f}));
  }
  CHECK_THROWS_WITH(index_add(zeros({2}), 0, from({0}), ones({1}), n(4)),
                    Catch::Matchers::Contains("alpha is the size n=4"));
}

TEST_CASE("arithmetic of sizes gives integers", "[tensor]") {
  const Tensor x = zeros({6, 4});
  STATIC_REQUIRE(std::is_same_v<decltype(x.size(0) * x.size(1)), int64_t>);
  STATIC_REQUIRE(std::is_same_v<decltype(x.size(0) * 2), int64_t>);
  STATIC_REQUIRE(std::is_same_v<decltype(0.5 * x.size(0)), double>);
  CHECK(x.size(0) + x.size(1) == 10);
  CHECK(x.size(0) - x.size(1) == 2);
  CHECK(x.size(0) * x.size(1) == 24);
  CHECK(x.size(0) / x.size(1) == 1);
  CHECK(x.size(0) % x.size(1) == 2);
  CHECK(-x.size(0) == -6);
  CHECK(x.size(1) < x.size(0));
  CHECK(x.size(0) > 5);
  CHECK_FALSE(x.size(0) <= x.size(1));
  CHECK(5 < x.size(0));
  CHECK(x.size(0) / 2 == 3);
  const Var n("n", 1, 8);
  CHECK_THROWS_AS(n(3) + n(4), UsageError);
  CHECK_THROWS_AS(-n(3), UsageError);
  CHECK_THROWS_AS(n(3) < n(4), UsageError);
}

TEST_CASE("all ranks broadcast as NumPy says", "[tensor]") {
  ON_BOTH_EXECUTORS();
  std::mt19937 rng(7);
  for (int ra = 0; ra <= 4; ++ra)
    for (int rb = 0; rb <= 4; ++rb)
      for (int round = 0; round < 6; ++round) {
        // A common shape, of which either operand keeps some axes and has size 1 in others.
        const int rank = std::max(ra, rb);
        std::vector<int64_t> common, a, b;
        for (int i = 0; i < rank; ++i) common.push_back(1 + static_cast<int64_t>(rng() % 3));
        auto part = [&](int r) {
          std::vector<int64_t> shape(common.end() - r, common.end());
          for (int64_t& s : shape)
            if (rng() % 3 == 0) s = 1;
          return shape;
        };
        a = part(ra);
        b = part(rb);
        for (int i = 0; i < rank; ++i) {
          const size_t at = static_cast<size_t>(i);
          const int64_t x = i < rank - ra ? 1 : a[at - static_cast<size_t>(rank - ra)],
                        y = i < rank - rb ? 1 : b[at - static_cast<size_t>(rank - rb)];
          common[at] = std::max(x, y);
        }
        Tensor x = arange(Shape(a).numel(), int32).reshape(Shape(a)),
               y = arange(Shape(b).numel(), int32).reshape(Shape(b)) * 100;
        Tensor sum = x + y;
        REQUIRE(sum.shape() == Shape(common));
        std::vector<double> expected;
        for (int64_t flat = 0; flat < Shape(common).numel(); ++flat) {
          auto at = [&](const std::vector<int64_t>& shape) {
            int64_t rest = flat, place = 0, stride = 1;
            for (size_t i = 0; i < shape.size(); ++i) {  // from the last axis
              const int64_t size = shape[shape.size() - 1 - i], full = common[common.size() - 1 - i];
              place += (rest % full) % size * stride;
              stride *= size;
              rest /= full;
            }
            return place;
          };
          expected.push_back(static_cast<double>(at(a) + 100 * at(b)));
        }
        INFO(to_string(Shape(a)) << " + " << to_string(Shape(b)));
        CHECK(numbers(sum) == expected);
      }
}

TEST_CASE("a symbolic size passes through ops and matches only itself and 1", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Var batch("batch", 1, 8);
  std::vector<float> data(12);
  for (size_t i = 0; i < 12; ++i) data[i] = static_cast<float>(i);
  Tensor x = from(data, {batch(3), 4});
  auto symbolic = [](const Tensor& t) { return t.size(0).symbolic(); };
  CHECK(symbolic(x + ones({4})));
  CHECK(symbolic(exp(x * 2)));
  CHECK(symbolic(matmul(x, ones({4, 2}))));
  CHECK(matmul(x, ones({4, 2})).shape() == Shape{batch(3), 2});
  CHECK(numbers(matmul(x, ones({4, 1}))) == list({6, 22, 38}));
  CHECK(symbolic(x.reshape({-1, 2, 2})));
  CHECK(x.reshape({batch(3), -1, 2}).shape() == Shape{batch(3), 2, 2});
  CHECK(x.reshape({-1, 2, 2}).flatten(1).shape() == x.shape());
  CHECK(x.transpose().shape() == Shape{4, batch(3)});
  CHECK(symbolic(x.slice(1, {1, 3})));
  CHECK(numbers(x.slice(0, {{}, {}, -1}).slice(1, {0, 1})) == list({8, 4, 0}));
  CHECK(numbers(x.sum(0)) == list({12, 15, 18, 21}));
  CHECK(numbers(x.mean(0)) == list({4, 5, 6, 7}));
  CHECK(numbers(x.mean()) == list({5.5}));
  CHECK(close(numbers(x.var(0)), {16, 16, 16, 16}));
  CHECK(numbers(x.argmax()) == list({11}));
  CHECK(numbers(x.argmin(0)) == list({0, 0, 0, 0}));
  CHECK(symbolic(softmax(x)));
  CHECK(symbolic(layer_norm(x, {4})));
  CHECK(symbolic(rand({batch(3), 2})));
  Tensor y = from({1, 0, 3});
  Tensor target = from(std::vector<int64_t>{1, 0, 3}, {batch(3)});
  CHECK(close(numbers(cross_entropy(x * 0.0, target)), {std::log(4.0)}));
  CHECK(numbers(one_hot(target, 4).sum(0)) == list({1, 1, 0, 1}));
  CHECK(symbolic(embedding(target, ones({4, 5}))));
  CHECK(symbolic(cat({x, x}, 1)));
  CHECK(symbolic(x.index({Slice{}, from({0, 2})})));
  CHECK(symbolic(gather(x, 1, target.unsqueeze(1))));
  CHECK(numbers(gather(x, 1, target.unsqueeze(1))) == list({1, 4, 11}));
  CHECK(numbers(x.index({target})).size() == 12);
  CHECK(numbers(einsum("bi,bj->ij", {x, x})).size() == 16);
  CHECK(full({batch(3)}, 2).shape() == Shape{batch(3)});
  CHECK(numbers(arange(batch(3))) == list({0, 1, 2}));
}
