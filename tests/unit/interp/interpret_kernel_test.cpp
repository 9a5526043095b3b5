// The oracle of kernels, against plain loops.
#include <cmath>
#include <random>

#include "catch.h"
#include "interp/interpreter.h"
#include "ir/build.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;
using sinter::runtime::Array;

namespace {

/// Buffers by slot and a kernel on them.
struct KernelHarness {
  Arena g;
  std::vector<Array> arrays;
  std::vector<Scalar> args;
  std::map<std::string, int64_t> vars;
  uint32_t error = 0;

  UOp buffer(Array a) {
    arrays.push_back(std::move(a));
    const Array& last = arrays.back();
    return param(g, static_cast<int64_t>(arrays.size()) - 1, last.dtype, Shape(last.shape));
  }
  UOp index(int64_t i) { return constant(g, DType::Index, i); }
  UOp outer(int64_t n, int id) { return range(index(n), id, AxisKind::Outer); }
  UOp inner(int64_t n, int id) { return range(index(n), id, AxisKind::Inner); }
  UOp over(int64_t n, int id) { return range(index(n), id, AxisKind::Inner); }
  UOp at(UOp p, std::vector<UOp> i) { return load(p, i); }
  UOp put(UOp p, std::vector<UOp> i, UOp v, bool add = false) {
    return store(p, i, v, add ? ScatterMode::Add : ScatterMode{});
  }
  UOp reduce(Combine c, std::vector<UOp> values, std::vector<UOp> ranges, ReductionTree tree = {}) {
    return reduce_over(c, values, ranges, tree);
  }
  void run(std::vector<UOp> stores) {
    std::vector<runtime::KernelBuffer> buffers;
    for (Array& a : arrays) buffers.push_back({a.data, a.dtype, a.shape});
    runtime::interpret_kernel(sink(g, std::move(stores)),
                              {.params = buffers, .vars = vars, .args = args, .error = &error});
  }
  std::span<const float> floats(size_t slot) const { return arrays[slot].as<float>(); }
};

Array random_floats(std::vector<int64_t> shape, unsigned seed) {
  std::mt19937 rng(seed);
  Array a(DType::F32, std::move(shape));
  for (float& f : a.as<float>()) f = std::uniform_real_distribution<float>(-1, 1)(rng);
  return a;
}
std::vector<float> list(std::span<const float> s) { return {s.begin(), s.end()}; }

}  // namespace

TEST_CASE("a kernel of a product in the order of its tree", "[interpreter]") {
  KernelHarness b;
  UOp x = b.buffer(random_floats({5, 11}, 1)), y = b.buffer(random_floats({11, 3}, 2)),
      out = b.buffer(Array(DType::F32, {5, 3}));
  UOp i = b.outer(5, 0), j = b.outer(3, 1), k = b.over(11, 2);
  UOp sum = b.reduce(Combine::Dot, {b.at(x, {i, k}), b.at(y, {k, j})}, {k}, {4, 0});
  b.run({b.put(out, {i, j}, sum * 2.0)});
  for (size_t r = 0; r < 5; ++r)
    for (size_t c = 0; c < 3; ++c) {
      float lane[4] = {};
      for (size_t t = 0; t < 11; ++t)
        lane[t % 4] = std::fma(b.floats(0)[r * 11 + t], b.floats(1)[t * 3 + c], lane[t % 4]);
      CHECK(b.floats(2)[r * 3 + c] == ((lane[0] + lane[2]) + (lane[1] + lane[3])) * 2.0f);
    }
}

TEST_CASE("softmax in one kernel: a reduction in the loop of another's result", "[interpreter]") {
  KernelHarness b;
  UOp x = b.buffer(random_floats({4, 6}, 3)), out = b.buffer(Array(DType::F32, {4, 6}));
  UOp i = b.outer(4, 0), j = b.inner(6, 1), k = b.over(6, 2);
  UOp top =
      b.reduce(Combine::Max, {b.at(x, {i, k})}, {k});  // shares its range with the sum, which it does not depend on
  UOp total = b.reduce(Combine::Add, {exp(b.at(x, {i, k}) - top)}, {k});
  b.run({b.put(out, {i, j}, exp(b.at(x, {i, j}) - top) / total)});
  for (size_t r = 0; r < 4; ++r) {
    const float* row = &b.floats(0)[r * 6];
    float top_value = *std::max_element(row, row + 6), sum = 0;
    auto e = [&](size_t c) { return static_cast<float>(std::exp(static_cast<double>(row[c] - top_value))); };
    for (size_t c = 0; c < 6; ++c) sum += e(c);
    for (size_t c = 0; c < 6; ++c) CHECK(b.floats(1)[r * 6 + c] == e(c) / sum);
  }
}

TEST_CASE("a reduction inside the loop of a reduction", "[interpreter]") {
  KernelHarness b;
  UOp x = b.buffer(random_floats({3, 4}, 4)), out = b.buffer(Array(DType::F32, {}));
  UOp j = b.over(3, 0), k = b.over(4, 1);
  UOp row = b.reduce(Combine::Add, {b.at(x, {j, k})}, {k});
  b.run({b.put(out, {}, b.reduce(Combine::Max, {row * b.at(x, {j, b.index(0)})}, {j}))});
  float want = -INFINITY;
  for (size_t r = 0; r < 3; ++r) {
    float sum = 0;
    for (size_t c = 0; c < 4; ++c) sum += b.floats(0)[r * 4 + c];
    want = std::max(want, sum * b.floats(0)[r * 4]);
  }
  CHECK(b.floats(1)[0] == want);
}

TEST_CASE("two ranges flatten in row-major order into the tree", "[interpreter]") {
  KernelHarness b;
  UOp x = b.buffer(random_floats({3, 5}, 5)), out = b.buffer(Array(DType::F32, {2}));
  UOp j = b.over(3, 0), k = b.over(5, 1);
  b.run({b.put(out, {b.index(0)}, b.reduce(Combine::Add, {b.at(x, {j, k})}, {j, k}, {2, 4}))});
  float want = 0;
  for (size_t block = 0; block < 15; block += 4) {
    float lane[2] = {};
    for (size_t t = block; t < std::min<size_t>(block + 4, 15); ++t) lane[(t - block) % 2] += b.floats(0)[t];
    want += lane[0] + lane[1];
  }
  CHECK(b.floats(1)[0] == want);
}

TEST_CASE("gates close loads and stores, stores run in order, a missing outer range runs once", "[interpreter]") {
  KernelHarness b;
  UOp x = b.buffer(random_floats({4}, 6)), out = b.buffer(Array(DType::F32, {6})),
      count = b.buffer(Array(DType::F32, {3}));
  UOp i = b.outer(6, 0), one = constant(b.g, DType::F32, 1.0), zero = constant(b.g, DType::F32, 0.0);
  UOp inside = lt(i, b.index(4));
  UOp value = load(x, std::vector<UOp>{i}, inside, zero);
  UOp first = b.put(out, {i}, value);
  UOp second = b.put(out, {i}, b.at(out, {i}) + one);  // reads what the first has just written
  UOp once = b.put(count, {b.index(0)}, one, true);    // no outer range: at the first point only
  UOp j = b.inner(5, 1);
  UOp often = b.put(count, {b.index(1)}, cast(j, DType::F32), true);
  UOp gated = store(count, std::vector<UOp>{b.index(2)}, one, ScatterMode::Add, le(j, b.index(1)));
  b.run({first, second, once, often, gated});
  for (size_t k = 0; k < 6; ++k) CHECK(b.floats(1)[k] == (k < 4 ? b.floats(0)[k] : 0) + 1);
  CHECK(list(b.floats(2)) == std::vector<float>{1, 10, 2});
}

TEST_CASE("a lookup gates its index by Check", "[interpreter]") {
  KernelHarness b;
  UOp x = b.buffer(random_floats({4}, 7)), index = b.buffer(Array::of<int64_t>({3}, std::vector<int64_t>{2, -1, 9})),
      out = b.buffer(Array(DType::F32, {3}));
  UOp i = b.outer(3, 0), raw = cast(b.at(index, {i}), DType::Index);
  UOp wrapped = where(lt(raw, b.index(0)), raw + b.index(4), raw);
  UOp ok = le(b.index(0), wrapped) & lt(wrapped, b.index(4));
  UOp checked = b.g.make({Op::Check, DType::Index, {}, {wrapped, ok}, int64_t{0}});
  b.run({b.put(out, {i}, load(x, std::vector<UOp>{checked}, ok, constant(b.g, DType::F32, 0.0)))});
  CHECK(list(b.floats(2)) == std::vector<float>{b.floats(0)[2], b.floats(0)[3], 0});
  CHECK(b.error == runtime::kIndexError);
}

TEST_CASE("bounds and numbers from outside; what lies outside its buffer is found", "[interpreter]") {
  KernelHarness b;
  Var n("n", 0, 8);
  UOp x = b.buffer(random_floats({5}, 8)), out = b.buffer(Array(DType::F32, {5}));
  UOp i = range(variable(b.g, n, DType::Index), 0, AxisKind::Outer);
  UOp scaled = b.put(out, {i}, b.at(x, {i}) * argument(b.g, 0, DType::F32));
  b.args = {Scalar::of(DType::F32, 3.0)};
  b.vars = {{"n", 0}};
  b.run({scaled});
  CHECK(list(b.floats(1)) == std::vector<float>(5, 0.0f));
  b.vars = {{"n", 5}};
  b.run({scaled});
  for (size_t k = 0; k < 5; ++k) CHECK(b.floats(1)[k] == b.floats(0)[k] * 3.0f);
  b.vars = {{"n", 6}};
  CHECK_THROWS_AS(b.run({scaled}), InternalError);
}
