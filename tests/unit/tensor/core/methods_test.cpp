// Methods beside the tables of method_table_test.cpp and in_place_test.cpp.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

using Tensors = std::vector<Tensor>;

/// Whether two calls have the same results: types, shapes and bits.
void check_same(const Tensors& method, const Tensors& function) {
  REQUIRE(method.size() == function.size());
  for (size_t i = 0; i < method.size(); ++i) {
    CHECK(method[i].dtype() == function[i].dtype());
    CHECK(method[i].shape() == function[i].shape());
    CHECK(same(numbers(method[i]), numbers(function[i])));
  }
}

}  // namespace

TEST_CASE("split and movedim of several axes are functions too", "[tensor]") {
  const Tensor x = ones({2, 3, 4});
  check_same(x.split({1, 2}, 1), split(x, {1, 2}, 1));
  check_same({x.movedim({0, 1}, {2, 0})}, {movedim(x, {0, 1}, {2, 0})});
}

TEST_CASE("index_put_ takes the items of an index", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = arange(12).reshape({3, 4}), places = from({2, 0, 2}), values = from({{7, 8, 9}});
  const auto written = [&](auto write) {
    Tensor y = x.clone();
    write(y);
    return y;
  };
  const auto ints = [](const Tensor& t) { return t.to_vector<int64_t>(); };
  CHECK(ints(written([&](Tensor& y) { y.index_put_({Slice{}, places}, values); })) ==
        ints(written([&](Tensor& y) { y.at({Slice{}, places}) = values; })));
  CHECK(ints(written([&](Tensor& y) { y.index_put_({1, "..."}, -1); }))[5] == -1);
  CHECK(ints(written([&](Tensor& y) { y.index_put_({x > 9}, 0); })) == ints(where(x > 9, 0, x)));
  CHECK(ints(written([&](Tensor& y) { y.index_put_({places, places}, 5); })) ==
        ints(index_put(x, {places, places}, 5)));
  const std::vector<Tensor> indices{places};
  CHECK(ints(written([&](Tensor& y) { y.index_put_(indices, 5); })) == ints(index_put(x, indices, 5)));
  // Added for each time that an element is named.
  CHECK(ints(written([&](Tensor& y) { y.index_put_({Slice{0, 1}, places}, values, true); })) ==
        std::vector<int64_t>{8, 1, 18, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(ints(written([&](Tensor& y) { y.index_put_(indices, 1, true); })) == ints(index_put(x, indices, 1, true)));
  Tensor d = zeros({3}, float64);
  d.index_put_({places}, 0.1, true);
  CHECK(numbers(d) == list({0.1, 0, 0.1 + 0.1}));
  CHECK(ints(written([&](Tensor& y) { y.index_put_({Slice{0, 2}}, 1, true); })) == ints(where(x < 8, x + 1, x)));
  CHECK(ints(written([&](Tensor& y) { y.index_put_({x > 9}, 5, true); })) == ints(where(x > 9, x + 5, x)));
  CHECK(ints(written([&](Tensor& y) { y.index_put_({x > 9}, from({4, 5}), true); })) ==
        std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 16});
  CHECK_THROWS_WITH(written([&](Tensor& y) { y.index_put_({places}, 0.5, true); }),
                    Catch::StartsWith("index_put_: ") && Contains("float") && Contains("int"));
}

TEST_CASE("accumulate adds to the part of every kind of index", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor places = from({2, 0, 2});
  const auto bools = [](const Tensor& t) { return t.to_vector<bool>(); };
  Tensor flags = from({false, false, true});
  flags.at({places}).accumulate(from({false, true, false}));
  CHECK(bools(flags) == std::vector<bool>{true, false, true});
  Tensor x = arange(3);
  x.at({places}).accumulate(x);  // what it was before
  CHECK(x.to_vector<int64_t>() == std::vector<int64_t>{1, 1, 4});
  Tensor rows = zeros({2, 3}, int64);
  rows.at({from({true, false}), places}).accumulate(1);
  CHECK(rows.to_vector<int64_t>() == std::vector<int64_t>{1, 0, 2, 0, 0, 0});
  Tensor number = from(3);
  number.at({}).accumulate(4);
  CHECK(number.item<int64_t>() == 7);
  // A value has the dtype of the target before it is added, whatever the index.
  const Tensor value(1.00000001);
  for (const std::vector<Index>& items : {std::vector<Index>{0}, {from({0})}, {from({true})}}) {
    Tensor large = from({16777216.0}).to(float32);
    large.at(items).accumulate(value);
    CHECK(large.item<float>() == 16777216);
  }
  Tensor leaf = ones({3});
  leaf.requires_grad();
  Tensor sum = zeros({3});
  sum.at({places}).accumulate(leaf * from({1.0, 2.0, 4.0}).to(float32));
  (sum * sum).sum().backward();
  CHECK(numbers(leaf.grad()) == list({10, 8, 40}));
  Tensor whole = zeros({3}, int64);
  CHECK_THROWS_WITH(whole.at({from({true, false, true}), 0}).accumulate(0.5), Contains("float") && Contains("int"));
}

TEST_CASE("index_put_ adds to a tensor of a symbolic size", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Var n("n", 1, 8);
  const Tensor places = from({2, 0, 2});
  for (const int64_t rows : {3, 5}) {
    Tensor x = zeros({n(rows), 2}, int64);
    x.index_put_({places}, 1, true);
    const std::vector<int64_t> sums = x.to_vector<int64_t>();
    CHECK(std::vector<int64_t>(sums.begin(), sums.begin() + 6) == std::vector<int64_t>{1, 1, 0, 0, 2, 2});
    CHECK(std::ranges::count(sums, 0) == 2 * rows - 4);
  }
}

TEST_CASE("errors of methods with _ bear their names", "[tensor]") {
  Tensor x = zeros({3}), n = zeros({3}, int64), leaf = zeros({3});
  leaf.requires_grad();
  CHECK_THROWS_WITH(leaf.fill_(1), Catch::StartsWith("fill_: ") && Contains("no_grad"));
  CHECK_THROWS_WITH(leaf.add_(1), Catch::StartsWith("add_: "));
  CHECK_THROWS_WITH(n.fill_(0.5), Catch::StartsWith("fill_: ") && Contains("int64"));
  CHECK_THROWS_WITH(x.mul_(ones({2})), Catch::StartsWith("mul_: ") && Contains("[2]"));
  CHECK_THROWS_WITH(leaf.zero_(), Catch::StartsWith("zero_: "));
  CHECK_THROWS_WITH(leaf.uniform_(), Catch::StartsWith("uniform_: "));
  CHECK_THROWS_WITH(leaf.index_put_({0}, 1), Catch::StartsWith("index_put_: "));
}

TEST_CASE("the error of too many pairs of widths says what they are", "[tensor]") {
  CHECK_THROWS_WITH(zeros({3}).pad({{1, 1}, {2, 2}}), Contains("2 pairs") && Contains("in the order of the axes"));
}

TEST_CASE("unfold gives windows along an axis, which share elements and gradients", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  Tensor x = arange(5, float32);
  const Tensor windows = x.unfold(0, 3, 2);
  CHECK(windows.shape() == Shape{2, 3});
  CHECK(numbers(windows) == list({0, 1, 2, 2, 3, 4}));
  CHECK(ones({2, 5, 3}).unfold(1, 2, 3).shape() == Shape{2, 2, 3, 2});
  CHECK(x.unfold(-1, 1, 9).shape() == Shape{1, 1});
  x.requires_grad();
  CHECK(numbers(gradient((x.unfold(0, 3, 1) * from({1.0, 10.0, 100.0})).sum(), {x})[0]) ==
        list({1, 11, 111, 110, 100}));
  CHECK_THROWS_WITH(x.unfold(0, 6, 1), Contains("6 elements") && Contains("float32 [5]"));
  CHECK_THROWS_WITH(x.unfold(0, 2, 0), Contains("one every 0"));
  CHECK_THROWS_WITH(x.unfold(1, 2, 1), Contains("unfold") && Contains("[5]"));
}
