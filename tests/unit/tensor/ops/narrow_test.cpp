// Parts of an axis that begin at a tensor or end at a symbolic size: read, written, with gradients, and refused.
#include "unit/differences.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

/// A stored tensor of 0, 1, 2, ...
Tensor counting(const Shape& shape) { return arange(shape.numel(), float32).reshape(shape).contiguous().realize(); }

Tensor position(int64_t at) { return Tensor(at).contiguous().realize(); }

template <class Run>
std::string refusal(Run run) {
  try {
    run();
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was refused";
}

const Var kCount("count", 0, 5);

}  // namespace

TEST_CASE("narrow from a tensor on gives what narrow from its number on gives", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = counting({3, 5, 2});
  for (const int64_t start : {0, 2, 4, -1, -5}) {
    INFO(start);
    CHECK(numbers(x.narrow(1, position(start), 1)) == numbers(x.narrow(1, start, 1)));
    CHECK(numbers(narrow(x, -2, position(start), 0)) == list({}));
  }
  CHECK(numbers(x.narrow(1, position(1), 3)) == numbers(x.narrow(1, 1, 3)));
  CHECK(numbers(x.narrow(1, from({-4}).to(int32), 4)) == numbers(x.narrow(1, 1, 4)));
  CHECK(x.narrow(1, position(1), kCount(3)).shape() == Shape{3, kCount(3), 2});
  CHECK(numbers(x.narrow(1, position(1), kCount(3))) == numbers(x.narrow(1, 1, 3)));
}

TEST_CASE("a Narrow keeps its place beside the other items of an index", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = counting({3, 4, 5, 2}), at = position(1);
  const Narrow two{at, 2};
  const Slice fixed{1, 3};
  CHECK(numbers(x.index({two})) == numbers(x.index({fixed})));
  CHECK(numbers(x.index({2, Slice{}, two})) == numbers(x.index({2, Slice{}, fixed})));
  CHECK(x.index({2, Slice{}, two}).shape() == Shape{4, 2, 2});
  CHECK(numbers(x.index({0, Slice{{}, {}, -1}, two, 1})) == numbers(x.index({0, Slice{{}, {}, -1}, fixed, 1})));
  CHECK(x.index({0, newaxis, two, 1}).shape() == Shape{1, 2, 2});
  CHECK(numbers(x.index({ellipsis, two, Slice{}})) == numbers(x.index({ellipsis, fixed, Slice{}})));
  Tensor y = x.clone(), z = x.clone();
  y.at({1, Slice{}, two, 0}) = -1.0;
  z.at({1, Slice{}, fixed, 0}) = -1.0;
  CHECK(numbers(y) == numbers(z));
  y.at({Slice{}, two}) += from({1.0, 2.0});
  z.at({Slice{}, fixed}) += from({1.0, 2.0});
  CHECK(numbers(y) == numbers(z));
}

TEST_CASE("an element beyond the axis throws at the host read", "[tensor]") {
  const Tensor x = counting({5});
  CHECK_THAT(refusal([&] { x.narrow(0, position(4), 2).to_vector<float>(); }),
             Contains("index 5 is out of range for 5"));
  CHECK_THAT(refusal([&] { x.narrow(0, position(-6), 2).to_vector<float>(); }), Contains("index -6 is out of range"));
  CHECK_THAT(refusal([&] {
               Tensor y = x.clone();
               y.at({Narrow{position(4), 2}}) = 1.0;
               y.to_vector<float>();
             }),
             Contains("index 5 is out of range for 5"));
  CHECK_THAT(refusal([&] {
               Tensor y = counting({2, 5});
               y.at({1, Narrow{position(4), 2}}) = 1.0;
               y.to_vector<float>();
             }),
             Contains("index 5 is out of range for 5"));
  CHECK_THAT(refusal([&] { x.narrow(0, position(0), 6); }), Contains("6 elements of axis 0"));
  CHECK_THAT(refusal([&] { x.narrow(0, from({0, 1}), 2); }), Contains("is not one number"));
  CHECK_THAT(refusal([&] { x.narrow(0, Tensor(1.5), 2); }), Contains("integer"));
  CHECK_THAT(refusal([&] { counting({3, 3}).index({Narrow{position(0), 1}, Narrow{position(0), 1}}); }),
             Contains("one part after the other"));
}

TEST_CASE("writing from a tensor on touches what is written alone", "[tensor]") {
  Tensor cache = zeros({2, 512, 16}).contiguous().realize();
  const Tensor row = counting({2, 1, 16});
  for (const int64_t at : {3, 500, 77}) {
    const Tensor place = position(at);
    const debug::Counters before = debug::counters();
    cache.at({Slice{}, Narrow{place, 1}}) = row;
    cache.realize();
    const debug::Counters after = debug::counters();
    CHECK(after.launches - before.launches == 1);
    CHECK(after.in_place - before.in_place == 1);
    CHECK(after.bytes_moved - before.bytes_moved <= 2 * 2 * 16 * sizeof(float) + 2 * sizeof(int64_t));
    CHECK(numbers(cache.narrow(1, at, 1)) == numbers(row));
  }
  CHECK(cache.sum().item() == 3 * row.sum().item());
}

TEST_CASE("a Narrow beside numbers and slices of step 1 is written where it lies", "[tensor]") {
  struct Written {
    const char* what;
    std::vector<Index> (*from_tensor)(int64_t layer, const Tensor& at);
    std::vector<Index> (*from_number)(int64_t layer, int64_t at);
  };
  const Written table[] = {
      {"behind a number", [](int64_t n, const Tensor& t) -> std::vector<Index> { return {n, Slice{}, Narrow{t, 2}}; },
       [](int64_t n, int64_t at) -> std::vector<Index> { return {n, Slice{}, Slice{at, at + 2}}; }},
      {"before a number", [](int64_t n, const Tensor& t) -> std::vector<Index> { return {Narrow{t, 2}, n}; },
       [](int64_t n, int64_t at) -> std::vector<Index> { return {Slice{at, at + 2}, n}; }},
      {"between numbers", [](int64_t n, const Tensor& t) -> std::vector<Index> { return {0, Narrow{t, 1}, 2, n}; },
       [](int64_t n, int64_t at) -> std::vector<Index> { return {0, Slice{at, at + 1}, 2, n}; }},
      {"beside a part",
       [](int64_t n, const Tensor& t) -> std::vector<Index> { return {Slice{n, n + 2}, Slice{}, Narrow{t, 2}}; },
       [](int64_t n, int64_t at) -> std::vector<Index> { return {Slice{n, n + 2}, Slice{}, Slice{at, at + 2}}; }},
      {"beside a symbolic part",
       [](int64_t n, const Tensor& t) -> std::vector<Index> { return {n, Narrow{t, 2}, newaxis, Slice{0, kCount(3)}}; },
       [](int64_t n, int64_t at) -> std::vector<Index> { return {n, Slice{at, at + 2}, newaxis, Slice{0, 3}}; }},
  };
  ON_BOTH_EXECUTORS();
  const bool compiled = debug::executor() == debug::Executor::Compiled;
  for (const Written& row : table) {
    INFO(row.what);
    Tensor x = counting({5, 4, 6, 5}), y = x.clone().realize();
    for (const auto& [layer, at] : {std::pair(1, 1), {1, 0}, {3, 2}, {0, 1}, {2, 0}}) {
      CAPTURE(layer, at);
      const Tensor place = position(at), was = y.index(row.from_number(layer, at)).contiguous().realize();
      const std::vector<double> want = numbers(was * -2.0 + static_cast<double>(layer));
      CHECK(numbers(x.index(row.from_tensor(layer, place))) == numbers(was));
      const Tensor value =
          (x.index(row.from_tensor(layer, place)) * -2.0 + static_cast<double>(layer)).contiguous().realize();
      const debug::Counters before = debug::counters();
      x.at(row.from_tensor(layer, place)) = value;
      x.realize();
      const debug::Counters after = debug::counters();
      if (compiled) {
        CHECK(after.launches - before.launches == 1);
        CHECK(after.in_place - before.in_place == 1);
        // The third other number makes it an argument, with which the program serves all others.
        if (layer == 0 || layer == 2) CHECK(after.plan_misses == before.plan_misses);
      }
      y.at(row.from_number(layer, at)) = was * -2.0 + static_cast<double>(layer);
      CHECK(numbers(x) == numbers(y));
      CHECK(numbers(x.index(row.from_tensor(layer, place))) == want);
    }
  }
}

TEST_CASE("writing a Narrow beside a number touches what is written alone", "[tensor]") {
  Tensor cache = zeros({4, 2, 512, 16}).contiguous().realize();
  const Tensor row = counting({2, 1, 16});
  for (const int64_t layer : {0, 3, 1}) {
    const Tensor place = position(100 * layer);
    const debug::Counters before = debug::counters();
    cache.at({layer, Slice{}, Narrow{place, 1}}) = row;
    cache.realize();
    CHECK(debug::counters().bytes_moved - before.bytes_moved <= 2 * 2 * 16 * sizeof(float) + 2 * sizeof(int64_t));
    CHECK(numbers(cache[layer].narrow(1, 100 * layer, 1)) == numbers(row));
  }
  CHECK(cache.sum().item() == 3 * row.sum().item());
  Tensor strided = counting({4, 6}), same = counting({4, 6});  // copied, and right
  strided.at({Slice{0, 4, 2}, Narrow{position(3), 2}}) = -1.0;
  same.at({Slice{0, 4, 2}, Slice{3, 5}}) = -1.0;
  CHECK(numbers(strided) == numbers(same));
}

TEST_CASE("what is written into one part may be made of another part", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor row = counting({1, 3}) + 100.0;
  for (const auto& [from, to] :
       {std::pair(1, 1), {2, 2}, {1, 2}, {0, 3}, {3, 3}, {2, 0}}) {  // equal parts, then others
    CAPTURE(from, to);
    Tensor x = counting({4, 5, 3});
    std::vector<double> want = numbers(x);
    for (size_t i = 0; i < 15; ++i)
      want[static_cast<size_t>(to) * 15 + i] =
          i / 3 == 2 ? 100.0 + static_cast<double>(i % 3) : static_cast<double>(static_cast<size_t>(from) * 15 + i);
    x.at({to}) = index_copy(x[from], 0, Tensor(2).reshape({1}), row);
    CHECK(numbers(x) == want);
  }
  Tensor x = counting({3, 5}), y = counting({3, 5});
  x.at({1, Narrow{position(2), 2}}) += x.index({1, Narrow{position(1), 2}});
  y.at({1, Slice{2, 4}}) += y.index({1, Slice{1, 3}});
  CHECK(numbers(x) == numbers(y));
}

TEST_CASE("a slice to a symbolic size is what a slice to its number is", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = counting({3, 5, 2});
  for (const int64_t n : {0, 1, 3, 5}) {
    INFO(n);
    const Tensor part = x.slice(1, {0, kCount(n)}), same = x.slice(1, {0, n});
    CHECK(part.shape() == Shape{3, kCount(n), 2});
    CHECK(numbers(part * 2.0) == numbers(same * 2.0));
    CHECK(numbers(part.sum({1})) == numbers(same.sum({1})));
    CHECK(numbers(part.permute({1, 0, 2}).flip({1}) + 1.0) == numbers(same.permute({1, 0, 2}).flip({1}) + 1.0));
    CHECK(numbers(x.index({Slice{{}, {}, 2}, Slice{{}, kCount(n)}, 1})) ==
          numbers(x.index({Slice{{}, {}, 2}, Slice{{}, n}, 1})));
    CHECK(numbers(x.narrow(1, 0, kCount(n))) == numbers(same));
    CHECK(numbers(matmul(x.slice(1, {0, kCount(n)}).transpose(), part)) == numbers(matmul(same.transpose(), same)));
    Tensor y = x.clone(), z = x.clone();
    y.at({Slice{}, Slice{0, kCount(n)}}) = part * 3.0;
    z.at({Slice{}, Slice{0, n}}) = same * 3.0;
    CHECK(numbers(y) == numbers(z));
    y.at({Slice{}, Slice{0, kCount(n)}, Slice{{}, {}, -1}}) = part;
    z.at({Slice{}, Slice{0, n}, Slice{{}, {}, -1}}) = same;
    CHECK(numbers(y) == numbers(z));
  }
  CHECK(numbers(x.narrow(1, 2, Var("few", 0, 3)(2))) == numbers(x.narrow(1, 2, 2)));
}

TEST_CASE("what is stored beside a slice to a symbolic size is stored whole", "[tensor]") {
  const Tensor x = counting({5, 2}), w = counting({2, 5});
  for (const int64_t n : {3, 5, 0, 1}) {
    INFO(n);
    const Slice part{0, kCount(n)}, same{0, n};
    const Tensor y = x * 2.0 + 1.0, rows = x.sum({1}), product = matmul(x, w), kept = softmax(x, 1).contiguous();
    Tensor written = zeros({5, 2}).contiguous().realize();
    written.at({part}) = x.slice(0, part) * 2.0;
    const std::vector<Tensor> of_parts{y.slice(0, part).sum({0}),       y.slice(0, part) * 3.0,
                                       rows.slice(0, part) - 1.0,       kept.slice(0, part),
                                       product.slice(1, part).sum({1}), written + x};
    std::vector<Tensor> all{y, rows, product, kept, y.sum({0}), written};
    all.insert(all.end(), of_parts.begin(), of_parts.end());
    realize_all(all);
    CHECK(numbers(y) == numbers(x * 2.0 + 1.0));
    CHECK(numbers(rows) == numbers(x.sum({1})));
    CHECK(numbers(product) == numbers(matmul(x, w)));
    CHECK(numbers(kept) == numbers(softmax(x, 1)));
    CHECK(numbers(all[4]) == numbers((x * 2.0 + 1.0).sum({0})));
    CHECK(numbers(of_parts[0]) == numbers((x * 2.0 + 1.0).slice(0, same).sum({0})));
    CHECK(numbers(of_parts[1]) == numbers((x * 2.0 + 1.0).slice(0, same) * 3.0));
    CHECK(numbers(of_parts[2]) == numbers(x.sum({1}).slice(0, same) - 1.0));
    CHECK(numbers(of_parts[3]) == numbers(softmax(x, 1).slice(0, same)));
    CHECK(numbers(of_parts[4]) == numbers(matmul(x, w).slice(1, same).sum({1})));
    CHECK(numbers(of_parts[5]) == numbers(written + x));
    CHECK(numbers(written.slice(0, same)) == numbers((x * 2.0).slice(0, same)));
    CHECK(numbers(written).back() == (n == 5 ? 18 : 0));
  }
}

TEST_CASE("slices to a symbolic size share one plan", "[tensor]") {
  const Tensor x = counting({3, 5, 2});
  for (int64_t n = 1; n <= 5; ++n) {
    const debug::Counters before = debug::counters();
    CHECK(numbers((x.slice(1, {0, kCount(n)}) * 7.0).sum({1})).size() == 6);
    if (n > 1) CHECK(debug::counters().plan_misses == before.plan_misses);
  }
}

TEST_CASE("gradients of parts that begin at a tensor or end at a symbolic size", "[tensor]") {
  const Tensor at = position(1);
  check_differences({"narrow", [&](const Tensors& x) { return x[0].narrow(1, at, 2); }, {{2, 4}}});
  check_differences({"put",
                     [&](const Tensors& x) {
                       Tensor y = x[0] * 1.0;
                       y.at({Slice{}, Narrow{at, 2}}) = x[1];
                       return y;
                     },
                     {{2, 4}, {2, 2}}});
  check_differences({"put beside a number",
                     [&](const Tensors& x) {
                       Tensor y = x[0] * 1.0;
                       y.at({1, Slice{}, Narrow{at, 2}}) = x[1];
                       return y;
                     },
                     {{2, 3, 4}, {3, 2}}});
  check_differences({"slice", [](const Tensors& x) { return x[0].slice(1, {0, kCount(3)}).sum({1}); }, {{2, 5}}});
  check_differences({"box",
                     [](const Tensors& x) {
                       Tensor y = x[0] * 1.0;
                       y.at({Slice{}, Slice{0, kCount(3)}}) = x[1].slice(1, {0, kCount(3)});
                       return y;
                     },
                     {{2, 5}, {2, 5}}});
}

TEST_CASE("a size as a tensor is one program for all values", "[tensor]") {
  const Tensor x = counting({4});
  for (int64_t n = 0; n <= 5; ++n) {
    const debug::Counters before = debug::counters();
    CHECK(numbers(x * Tensor(kCount(n)))[1] == static_cast<double>(n));
    if (n > 0) CHECK(debug::counters().plan_misses == before.plan_misses);
  }
  CHECK(Tensor(Dim(7)).item<int64_t>() == 7);
}

TEST_CASE("ends that a slice cannot have are refused", "[tensor]") {
  const Tensor x = counting({3, 5});
  CHECK_THAT(refusal([&] { x.slice(1, {0, Var("n", 1, 6)(2)}); }), Contains("fewer than the largest n, 6"));
  CHECK_THAT(refusal([&] { x.slice(1, {1, kCount(2)}); }), Contains("begin at 0"));
  CHECK_THAT(refusal([&] { x.slice(1, {kCount(2), 4}); }), Contains("give Narrow"));
  CHECK_THAT(refusal([&] { x.narrow(1, 1, kCount(2)); }), Contains("up to 5 elements from 1 on"));
  CHECK_THAT(refusal([&] { x.slice(1, {0, kCount(2)}).slice(1, {0, Var("n", 0, 2)(2)}); }), Contains("count=2"));
}
