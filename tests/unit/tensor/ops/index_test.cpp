// Indexing against values that NumPy gives, and picking by index tensors.
#include "tensor/ops/index.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

TEST_CASE("indexing gives what NumPy gives", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = arange(24).reshape({2, 3, 4});
  const Tensor i = from({1, 0}), j = from({{0, 2}, {1, -1}}), k = from({2, 0, 1}), d = from({{0, 1}, {1, -1}});
  struct Case {
    std::vector<Index> items;
    Shape shape;
    std::vector<double> values;
  };
  // clang-format off
  const std::vector<Case> table = {
      {{1}, {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{-1, 2}, {4}, {20, 21, 22, 23}},
      {{0, -1, 3}, {}, {11}},
      {{Slice{1}}, {1, 3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{ellipsis, 1}, {2, 3}, {1, 5, 9, 13, 17, 21}},
      {{0, ellipsis, Slice{{}, {}, 2}}, {3, 2}, {0, 2, 4, 6, 8, 10}},
      {{newaxis, 1}, {1, 3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{Slice{}, newaxis, 0}, {2, 1, 4}, {0, 1, 2, 3, 12, 13, 14, 15}},
      {{Slice{}, 0, newaxis, Slice{1, 3}}, {2, 1, 2}, {1, 2, 13, 14}},
      {{ellipsis, newaxis}, {2, 3, 4, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{Slice{}, Slice{}, Slice{{}, {}, -1}}, {2, 3, 4}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20}},
      {{0, Slice{2, 0, -1}, Slice{3, {}, -2}}, {2, 2}, {11, 9, 7, 5}},
      {{Slice{5}}, {0, 3, 4}, {}},
      {{Slice{-100, {}, -1}}, {0, 3, 4}, {}},
      {{Slice{1, 0, -1}, 0, Slice{-100, 1}}, {1, 1}, {12}},
      {{0, Slice{-2, 100}}, {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11}},
      {{0, Slice{2, 1}}, {0, 4}, {}},
      {{1, Slice{}, Slice{0, 4, 3}}, {3, 2}, {12, 15, 16, 19, 20, 23}},
      {{Slice{}, Slice{{}, {}, 5}}, {2, 1, 4}, {0, 1, 2, 3, 12, 13, 14, 15}},
      {{Slice{}, Slice{1, {}, -1}, 0}, {2, 2}, {4, 0, 16, 12}},
      {{i}, {2, 3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
      {{Slice{}, j}, {2, 2, 2, 4}, {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{ellipsis, k}, {2, 3, 3}, {2, 0, 1, 6, 4, 5, 10, 8, 9, 14, 12, 13, 18, 16, 17, 22, 20, 21}},
      {{i, i}, {2, 4}, {16, 17, 18, 19, 0, 1, 2, 3}},
      {{i, Slice{}, i}, {2, 3}, {13, 17, 21, 0, 4, 8}},
      {{Slice{}, i, i}, {2, 2}, {5, 0, 17, 12}},
      {{d, d, d}, {2, 2}, {0, 17, 17, 23}},
      {{0, Slice{}, i}, {2, 3}, {1, 5, 9, 0, 4, 8}},
      {{0, i}, {2, 4}, {4, 5, 6, 7, 0, 1, 2, 3}},
      {{Slice{}, 1, i}, {2, 2}, {5, 4, 17, 16}},
      {{i, newaxis, 2}, {2, 1, 4}, {20, 21, 22, 23, 8, 9, 10, 11}},
      {{newaxis, Slice{}, k}, {1, 2, 3, 4}, {8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 16, 17, 18, 19}},
      {{Slice{}, k, Slice{1, 3}}, {2, 3, 2}, {9, 10, 1, 2, 5, 6, 21, 22, 13, 14, 17, 18}},
      {{i.unsqueeze(1), k}, {2, 3, 4}, {20, 21, 22, 23, 12, 13, 14, 15, 16, 17, 18, 19, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7}},
      {{Tensor(1)}, {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}},
      {{i, ellipsis, Slice{{}, {}, -1}}, {2, 3, 4}, {15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}},
  };
  // clang-format on
  for (size_t n = 0; n < table.size(); ++n) {
    INFO("case " << n);
    Tensor part = x.index(table[n].items);
    CHECK(part.shape() == table[n].shape);
    CHECK(numbers(part) == table[n].values);
  }
  CHECK(numbers(x[1]) == table[0].values);
  CHECK(numbers(x[1][2][-1]) == list({23}));
  CHECK(numbers(x[i]) == numbers(x.index({i})));
  CHECK(numbers(x[i.to(uint8)]) == numbers(x.index({i})));
}

TEST_CASE("a strided part is overwritten and nothing else", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = arange(12).reshape({3, 4});
  auto written = [&](std::vector<Index> items, const Tensor& v) {
    tensor::Call call("test", Loc::current());
    ir::UOp n = tensor::node_of(x);
    return numbers(tensor::wrap(tensor::overwrite(n, tensor::resolve(n, items), tensor::node_of(v))));
  };
  CHECK(written({1, Slice{{}, {}, 2}}, from({-1, -2})) == list({0, 1, 2, 3, -1, 5, -2, 7, 8, 9, 10, 11}));
  CHECK(written({Slice{{}, {}, -2}, 3}, from({-1, -2})) == list({0, 1, 2, -2, 4, 5, 6, 7, 8, 9, 10, -1}));
  CHECK(written({0, Slice{2, {}, -1}}, from({-1, -2, -3})) == list({-3, -2, -1, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(written({Slice{0, 2}, Slice{1, {}, 3}}, from({{-1}, {-2}})) == list({0, -1, 2, 3, 4, -2, 6, 7, 8, 9, 10, 11}));
  CHECK(written({Slice{{}, {}, 2}, Slice{{}, {}, 3}}, from({{-1, -2}, {-3, -4}})) ==
        list({-1, 1, 2, -2, 4, 5, 6, 7, -3, 9, 10, -4}));
}

TEST_CASE("gather and its kin", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}});
  CHECK(numbers(gather(x, 1, from({{2, 0}, {1, -1}}))) == list({3, 1, 5, 6}));
  CHECK(numbers(gather(x, 0, from({{1, 0, 1}}))) == list({4, 2, 6}));
  CHECK(numbers(gather(x, -1, from({{2}}))) == list({3}));
  CHECK(numbers(take_along_dim(x, from({{1}, {2}}), 1)) == list({2, 6}));
  CHECK(numbers(take_along_dim(x, from({{1, 0}}), 1)) == list({2, 1, 5, 4}));
  CHECK(numbers(index_select(x, 1, from({2, 0}))) == list({3, 1, 6, 4}));
  CHECK(numbers(embedding(from({{1, 0}, {-1, 0}}), x)) == list({4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3}));
  CHECK(embedding(from({{1, 0}, {-1, 0}}), x).shape() == Shape{2, 2, 3});
  CHECK(embedding(Tensor(1), x).shape() == Shape{3});
  CHECK(numbers(scatter_add(zeros({3}), 0, from({0, 2, 0, -1}), from({1.0, 2.0, 3.0, 4.0}))) == list({4, 0, 6}));
  CHECK(numbers(scatter_add(zeros({4}, int64), 0, from({0, 2, 0}), 1)) == list({2, 0, 1, 0}));
  CHECK(numbers(scatter_add(x, 1, from({{0}, {2}}), from({{10.0}, {20.0}}))) == list({11, 2, 3, 4, 5, 26}));
  CHECK(numbers(one_hot(from({2, 0}), 3)) == list({0, 0, 1, 1, 0, 0}));
  CHECK(one_hot(from({{1}, {0}}), 2).shape() == Shape{2, 1, 2});
  CHECK(one_hot(from({1}), 2).dtype() == int64);
}

TEST_CASE("an index out of range raises the error bit, each index against its own axis", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = arange(12).reshape({3, 4});
  auto raises = [](const Tensor& t) {
    uint32_t error = 0;
    value_of(t, &error);
    return error == runtime::kIndexError;
  };
  CHECK_FALSE(raises(x[from({2, -3})]));
  CHECK(raises(x[from({3})]));
  CHECK(raises(x[from({-4})]));
  CHECK_FALSE(raises(x.index({from({0}), from({3})})));
  CHECK(raises(x.index({from({0}), from({4})})));  // 0*4 + 4 would lie inside
  CHECK(raises(x.index({from({3}), from({0})})));
  CHECK(raises(gather(x, 1, from({{4}}))));
  CHECK(raises(embedding(from({5}), x)));
  CHECK(raises(scatter_add(zeros({2}), 0, from({2}), 1)));
  CHECK(raises(one_hot(from({1, -1}), 2)));  // a class, which does not count from the end
  CHECK(raises(one_hot(from({2}), 2)));
  const Tensor huge = from(std::vector<uint64_t>{~0ull, 1ull << 63});  // no unsigned index counts from the end
  CHECK(raises(gather(arange(3), 0, huge)));
  CHECK(raises(x[huge]));
  CHECK(raises(scatter_add(zeros({3}), 0, huge, 1)));
  CHECK(raises(one_hot(huge, 3)));
  // What it would have picked is 0, and what it would have been added to stays.
  auto values = [](const Tensor& t) {
    uint32_t error = 0;
    const runtime::Array array = value_of(t, &error);
    std::vector<int64_t> out;
    for (int64_t i = 0; i < array.numel(); ++i) out.push_back(array.at(i).as_int());
    return out;
  };
  CHECK(values(x.index({from({0, 1, 5}), from({4, 1, 0})})) == std::vector<int64_t>{0, 5, 0});
  CHECK(values(x.index({from({0, -4}), from({-5, 0})})) == std::vector<int64_t>{0, 0});
  CHECK(values(one_hot(from({2, 1}), 2)) == std::vector<int64_t>{0, 0, 0, 1});
  CHECK(numbers(x[from(std::vector<uint64_t>{2})]) == list({8, 9, 10, 11}));
}

TEST_CASE("an end of a slice above all of int64 is outside, not negative", "[tensor]") {
  const Tensor x = arange(5);
  const uint64_t top = ~uint64_t{0}, above = uint64_t{1} << 63;
  for (const uint64_t end : {top, above}) {
    CHECK(numbers(x.slice(0, {1, end})) == list({1, 2, 3, 4}));
    CHECK(numbers(x.index({Slice{0, end, 2}})) == list({0, 2, 4}));
    CHECK(numbers(x.index({Slice{end, {}, -1}})) == list({4, 3, 2, 1, 0}));
    CHECK(x.slice(0, {end}).shape() == Shape{0});
  }
  CHECK(numbers(x.slice(0, {uint16_t{2}, x.shape()[0]})) == list({2, 3, 4}));
}

TEST_CASE("one value is assigned through a mask beside numbers and slices without a host read", "[tensor]") {
  const Tensor x = (arange(24) * 1.5).to(float32).reshape({2, 3, 4}).realize();
  const Tensor rows = from({true, false, true, true}), planes = from({false, true});
  const Tensor matrix = (x[1] > 20.0).realize(), front = (x.index({"...", 1}) > 9.0).realize();
  struct Case {
    const char* name;
    std::vector<Index> items, part;
    Tensor mask;  ///< as it broadcasts to the part
  };
  const std::vector<Case> cases = {
      {"[0, m]", {0, matrix}, {0}, matrix},
      {"[:, 1:3, m]", {Slice{}, Slice{1, 3}, rows}, {Slice{}, Slice{1, 3}}, rows},
      {"[1, ::-2, m]", {1, Slice{{}, {}, -2}, rows}, {1, Slice{{}, {}, -2}}, rows},
      {"[m, 2]", {planes, 2}, {Slice{}, 2}, planes.unsqueeze(1)},
      {"[m, ..., -1]", {planes, "...", -1}, {"...", -1}, planes.unsqueeze(1)},
      {"[newaxis, 0, m]", {newaxis, 0, matrix}, {0}, matrix},
      {"[m of two axes, -1]", {front, -1}, {"...", -1}, front},
      {"[0, :, m]", {0, Slice{}, rows}, {0}, rows},
  };
  ON_BOTH_EXECUTORS();
  for (const Case& c : cases) {
    INFO(c.name);
    Tensor set = x.clone(), added = x.clone();
    const Tensor part = x.index(c.part);
    set.at(c.part) = where(c.mask, 9.0, part);
    added.at(c.part) = where(c.mask, part + 0.5, part);
    Tensor y = x.clone();
    y.at(c.items) = 9.0;
    CHECK(numbers(y) == numbers(set));
    y = x.clone();
    y.at(c.items) += 0.5;
    CHECK(numbers(y) == numbers(added));
    y.at(c.items) = Tensor(9.0);
    CHECK(numbers(y) == numbers(set));
    // A jitted function reads nothing.
    auto f = jit([&](const Tensor& t) {
      Tensor z = t.clone();
      z.at(c.items) = 9.0;
      return z;
    });
    CHECK(numbers(f(x)) == numbers(set));
  }
  // Several values of the part, one for all elements of the mask.
  Tensor y = x.clone(), z = x.clone();
  y.at({1, from({true, false, true})}) = from({1.0, 2.0, 3.0, 4.0});
  z.at({1, from({0, 2})}) = from({1.0, 2.0, 3.0, 4.0});
  CHECK(numbers(y) == numbers(z));
  CHECK_THROWS_WITH(y.at({2, matrix}) = 1.0, Catch::Contains("index 2 is out of range for axis 0"));
}
