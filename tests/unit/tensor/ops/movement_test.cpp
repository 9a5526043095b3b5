// Movement ops: chains of random ones against a plain strided view, then the single ops by hand.
#include <random>

#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// An array as NumPy holds it: elements in memory, and how the index walks over them.
struct Strided {
  std::vector<double> memory;
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;

  static Strided contiguous(std::vector<double> memory, std::vector<int64_t> shape) {
    Strided s{std::move(memory), std::move(shape), {}, 0};
    s.strides.resize(s.shape.size());
    int64_t stride = 1;
    for (size_t i = s.shape.size(); i-- > 0; stride *= s.shape[i]) s.strides[i] = stride;
    return s;
  }
  std::vector<double> values() const {
    std::vector<double> out;
    std::vector<int64_t> index(shape.size());
    int64_t count = 1;
    for (int64_t s : shape) count *= s;
    for (int64_t n = 0; n < count; ++n) {
      int64_t rest = n, at = offset;
      for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) at += rest % shape[i] * strides[i];
      out.push_back(memory[static_cast<size_t>(at)]);
    }
    return out;
  }
};

int64_t pick(std::mt19937& rng, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}

/// One random op on both.
void step(std::mt19937& rng, Tensor& t, Strided& s) {
  const int64_t rank = static_cast<int64_t>(s.shape.size());
  switch (rng() % 9) {
    case 0: {
      std::vector<int64_t> order(static_cast<size_t>(rank));
      for (int64_t i = 0; i < rank; ++i) order[static_cast<size_t>(i)] = i;
      std::shuffle(order.begin(), order.end(), rng);
      Strided old = s;
      for (size_t i = 0; i < order.size(); ++i) {
        s.shape[i] = old.shape[static_cast<size_t>(order[i])];
        s.strides[i] = old.strides[static_cast<size_t>(order[i])];
      }
      t = t.permute(order);
      return;
    }
    case 1: {
      if (!rank) return;
      const int64_t a = pick(rng, 0, rank - 1), b = pick(rng, 0, rank - 1);
      std::swap(s.shape[static_cast<size_t>(a)], s.shape[static_cast<size_t>(b)]);
      std::swap(s.strides[static_cast<size_t>(a)], s.strides[static_cast<size_t>(b)]);
      t = t.transpose(a, b - rank);
      return;
    }
    case 2: {
      if (!rank) return;
      const int64_t a = pick(rng, 0, rank - 1);
      const size_t i = static_cast<size_t>(a);
      s.offset += (s.shape[i] - 1) * s.strides[i];
      s.strides[i] = -s.strides[i];
      t = t.flip(a);
      return;
    }
    case 3:
    case 4: {
      if (!rank) return;
      const int64_t a = pick(rng, 0, rank - 1);
      const size_t i = static_cast<size_t>(a);
      const int64_t n = s.shape[i], begin = pick(rng, 0, n - 1), size = pick(rng, 1, 3);
      if (rng() % 2) {  // forwards, begin .. end
        const int64_t end = pick(rng, begin + 1, n);
        t = t.slice(a, {begin, end - (end < n ? n : 0), size});
        if (end < n)
          s.shape[i] = (end - begin + size - 1) / size;
        else
          s.shape[i] = (n - begin + size - 1) / size;
        s.offset += begin * s.strides[i];
        s.strides[i] *= size;
      } else {  // backwards, from begin to the first element
        t = t.slice(a, {begin, {}, -size});
        s.shape[i] = begin / size + 1;
        s.offset += begin * s.strides[i];
        s.strides[i] *= -size;
      }
      return;
    }
    case 5: {
      const int64_t a = pick(rng, 0, rank);
      s.shape.insert(s.shape.begin() + a, 1);
      s.strides.insert(s.strides.begin() + a, 0);
      t = t.unsqueeze(a);
      return;
    }
    case 6: {
      const int64_t times = pick(rng, 1, 2);
      std::vector<Dim> shape(s.shape.begin(), s.shape.end());
      for (size_t i = 0; i < s.shape.size(); ++i)
        if (s.shape[i] == 1) {
          shape[i] = s.shape[i] = times + 1;
          s.strides[i] = 0;
        } else {
          shape[i] = -1;
        }
      shape.insert(shape.begin(), times);
      s.shape.insert(s.shape.begin(), times);
      s.strides.insert(s.strides.begin(), 0);
      t = t.expand(Shape(shape));
      return;
    }
    case 7: {
      // Split the first axis that can be split, join the rest.
      int64_t count = 1;
      for (int64_t n : s.shape) count *= n;
      const int64_t factor = count % 2 == 0 ? 2 : count % 3 == 0 ? 3 : 1;
      s = Strided::contiguous(s.values(), {factor, count / factor});
      t = t.reshape({factor, -1});
      return;
    }
    default: {
      if (!rank) return;
      const int64_t a = pick(rng, 0, rank - 1), before = pick(rng, 0, 2), after = pick(rng, 0, 2);
      Strided padded = s;
      padded.shape[static_cast<size_t>(a)] += before + after;
      padded =
          Strided::contiguous(std::vector<double>(static_cast<size_t>(Shape(padded.shape).numel()), 9), padded.shape);
      std::vector<double> inner = s.values();
      for (size_t n = 0; n < inner.size(); ++n) {
        int64_t rest = static_cast<int64_t>(n), at = 0;
        for (size_t i = s.shape.size(); i-- > 0; rest /= s.shape[i])
          at += (rest % s.shape[i] + (static_cast<int64_t>(i) == a ? before : 0)) * padded.strides[i];
        padded.memory[static_cast<size_t>(at)] = inner[n];
      }
      s = padded;
      std::vector<std::pair<int64_t, int64_t>> widths(static_cast<size_t>(rank - a));
      widths[0] = {before, after};
      t = t.pad(widths, 9);
      return;
    }
  }
}

}  // namespace

TEST_CASE("random chains of movement ops agree with a strided view", "[tensor]") {
  ON_BOTH_EXECUTORS();
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 rng(seed);
    std::vector<int64_t> shape;
    for (int64_t r = pick(rng, 0, 3); r-- > 0;) shape.push_back(pick(rng, 1, 4));
    const int64_t count = Shape(shape).numel();
    std::vector<double> memory;
    for (int64_t i = 0; i < count; ++i) memory.push_back(static_cast<double>(i));
    Strided s = Strided::contiguous(memory, shape);
    Tensor t = arange(count, int32).reshape(Shape(shape));
    for (int64_t n = pick(rng, 1, 6); n-- > 0 && Shape(s.shape).numel() < 2000;) step(rng, t, s);
    INFO("seed " << seed);
    REQUIRE(t.shape() == Shape(s.shape));
    REQUIRE(numbers(t) == s.values());
  }
}

TEST_CASE("shapes of movement ops", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = arange(24).reshape({2, 3, 4});
  CHECK(x.reshape({4, -1}).shape() == Shape{4, 6});
  CHECK(x.reshape({-1}).shape() == Shape{24});
  CHECK(zeros({0, 3}).reshape({3, 0}).shape() == Shape{3, 0});
  CHECK(zeros({0, 3}).reshape({-1, 3}).shape() == Shape{0, 3});
  CHECK(x.flatten().shape() == Shape{24});
  CHECK(x.flatten(1).shape() == Shape{2, 12});
  CHECK(x.flatten(0, 1).shape() == Shape{6, 4});
  CHECK(Tensor(1.0).flatten().shape() == Shape{1});
  CHECK(x.transpose().shape() == Shape{2, 4, 3});
  CHECK(x.transpose(0, 2).shape() == Shape{4, 3, 2});
  CHECK(x.permute({2, 0, 1}).shape() == Shape{4, 2, 3});
  CHECK(x.movedim(0, -1).shape() == Shape{3, 4, 2});
  CHECK(x.movedim(2, 0).shape() == Shape{4, 2, 3});
  CHECK(x.unsqueeze(-1).shape() == Shape{2, 3, 4, 1});
  CHECK(x.unsqueeze(0).squeeze().shape() == x.shape());
  CHECK(zeros({1, 3, 1}).squeeze(0).shape() == Shape{3, 1});
  CHECK(zeros({1, 3, 1}).squeeze(1).shape() == Shape{1, 3, 1});
  CHECK(zeros({3, 1}).expand({2, -1, 4}).shape() == Shape{2, 3, 4});
  CHECK(numbers(from({{1, 2}, {3, 4}}).flip()) == list({4, 3, 2, 1}));
  CHECK(numbers(from({1, 2}).pad({{1, 2}})) == list({0, 1, 2, 0, 0}));
  CHECK(same(numbers(from({1.0, kNan}).pad({{1, 0}}, -0.0)), {-0.0, 1, kNan}));
  CHECK(numbers(from({true, false}).pad({{1, 0}}, 0.5)) == list({1, 1, 0}));  // true as anything but 0 is
  CHECK(x.pad({{1, 1}}).shape() == Shape{2, 3, 6});
  CHECK(x.size(-1) == 4);
  CHECK(x.rank() == 3);
  CHECK(x.numel() == 24);
}

TEST_CASE("cat keeps every bit of its parts", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor a = from({{-0.0, kNan}}), b = from({{-0.0, -1.0}, {kNan, 2.0}});
  CHECK(same(numbers(cat({a, b})), {-0.0, kNan, -0.0, -1, kNan, 2}));
  CHECK(same(numbers(cat({b, b}, 1)), {-0.0, -1, -0.0, -1, kNan, 2, kNan, 2}));
  CHECK(same(numbers(cat({a, b, a}, -2)), {-0.0, kNan, -0.0, -1, kNan, 2, -0.0, kNan}));
  CHECK(cat({zeros({0, 2}), a}).shape() == Shape{1, 2});
  CHECK(same(numbers(cat({zeros({0, 2}), a, zeros({0, 2})})), {-0.0, kNan}));
  CHECK(cat({zeros({0, 2}), zeros({0, 2})}).shape() == Shape{0, 2});
  CHECK(cat({from({1}), from({2.5})}).dtype() == float32);
  CHECK(numbers(stack({from({1, 2}), from({3, 4})})) == list({1, 2, 3, 4}));
  CHECK(numbers(stack({from({1, 2}), from({3, 4})}, -1)) == list({1, 3, 2, 4}));
  CHECK(numbers(stack({Tensor(1), Tensor(2), Tensor(3)})) == list({1, 2, 3}));
  CHECK(numbers(cat({from({true}), from({false})})) == list({1, 0}));
}

TEST_CASE("split and chunk", "[tensor]") {
  ON_BOTH_EXECUTORS();
  Tensor x = arange(10).reshape({5, 2});
  auto parts = x.split(2);
  REQUIRE(parts.size() == 3);
  CHECK(numbers(parts[2]) == list({8, 9}));
  CHECK(numbers(cat(parts)) == numbers(x));
  auto chunks = x.chunk(2);
  REQUIRE(chunks.size() == 2);
  CHECK(chunks[0].shape() == Shape{3, 2});
  CHECK(x.chunk(2, 1)[1].shape() == Shape{5, 1});
  CHECK(x.chunk(100).size() == 5);
  auto both = broadcast({from({1, 2}), from({{1}, {2}})});
  CHECK(both[0].shape() == Shape{2, 2});
  CHECK(numbers(both[1]) == list({1, 1, 2, 2}));
}

TEST_CASE("a shape is a value that outlives its tensor", "[tensor]") {
  static_assert(std::is_same_v<decltype(std::declval<const Tensor&>().shape()), Shape>);
  std::vector<int64_t> sizes;
  for (const Dim& d : (ones({4, 5}) + number(1)).shape()) sizes.push_back(d);
  CHECK(sizes == std::vector<int64_t>{4, 5});
  Tensor x = ones({4});
  const Shape& before = x.shape();
  const Dim& size = x.shape()[-1];
  x = x.reshape({2, 2});
  CHECK(before == Shape{4});
  CHECK(size == 4);
}

TEST_CASE("as many chunks as there may be", "[tensor]") {
  CHECK(arange(5).chunk(INT64_MAX).size() == 5);
  CHECK(arange(5).split(INT64_MAX).size() == 1);
}
