// The oracle itself: graphs against hand-computed values and independent loops.
#include "interp/interpreter.h"

#include <cmath>
#include <limits>
#include <random>

#include "catch.h"
#include "interp/op_classes.h"
#include "ir/build.h"
#include "ir/scalar_eval.h"
#include "ir/tensor_graph.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;
using sinter::runtime::Array;
using sinter::runtime::GraphInputs;
using sinter::runtime::StridedView;

namespace {

template <class T>
Array array(std::vector<int64_t> shape, std::vector<T> values) {
  return Array::of<T>(std::move(shape), values);
}
template <class T>
std::vector<T> numbers(const Array& a) {
  return {a.as<T>().begin(), a.as<T>().end()};
}

Array run(UOp root, std::vector<Array> params = {}, std::vector<Scalar> args = {},
          runtime::InterpretOptions options = {}, uint32_t* error = nullptr) {
  return runtime::interpret(std::span<const UOp>(&root, 1), GraphInputs{.params = params, .args = args}, options,
                            error)[0];
}

Array iota(std::vector<int64_t> shape) {
  Array a(DType::F32, std::move(shape));
  for (int64_t i = 0; i < a.numel(); ++i) a.set(i, Scalar::of(DType::F32, i + 1));
  return a;
}

/// Values at which ops differ: zeros of both signs, infinities, NaN, limits of integers.
Scalar special(DType dtype, std::mt19937& rng) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double odd[] = {0.0, -0.0, 1, -1, 0.5, -2.5, inf, -inf, std::nan(""), 1e30, 3e9, -3e9};
  const int64_t ints[] = {0,
                          1,
                          -1,
                          2,
                          127,
                          255,
                          std::numeric_limits<int32_t>::min(),
                          std::numeric_limits<int64_t>::min(),
                          std::numeric_limits<int64_t>::max()};
  if (is_float(dtype))
    return rng() % 3 ? Scalar::of(dtype, odd[rng() % 12]) : Scalar::of(dtype, static_cast<int>(rng()) / 1e8);
  return rng() % 3 ? Scalar::of(dtype, ints[rng() % 9])
                   : Scalar::of(dtype, static_cast<int64_t>(static_cast<int>(rng())));
}

}  // namespace

TEST_CASE("typed loops give the bits of the scalar evaluator, whatever the strides", "[interpreter]") {
  std::mt19937 rng(1);
  const DType types[] = {DType::Bool, DType::U8,  DType::I16, DType::U32, DType::I32,
                         DType::U64,  DType::I64, DType::F32, DType::F64};
  int agreed = 0;
  for (int o = 0; o < kOpCount; ++o) {
    const Op op = static_cast<Op>(o);
    if (!is_alu(op) || op == Op::Check) continue;
    for (DType from : types) {
      if ((has(op, kFloat) && !is_float(from)) || (has(op, kInteger) && is_float(from))) continue;
      if (from == DType::Bool && (op == Op::Sub || op == Op::Neg || op == Op::Abs)) continue;
      if (op == Op::Not && is_float(from)) continue;
      if (op == Op::Threefry && from != DType::U64) continue;
      for (DType to : types) {
        if (op == Op::Bitcast && size_of(to) != size_of(from)) continue;
        if (op != Op::Cast && op != Op::Bitcast && to != from) continue;
        const DType dtype = info(op).result == ResultType::Bool ? DType::Bool : to;
        std::vector<StridedView> src;
        for (int k = 0; k < info(op).arity; ++k) {
          Array a(op == Op::Where && k == 0 ? DType::Bool : from, {3, 5});
          for (int64_t i = 0; i < a.numel(); ++i) a.set(i, special(a.dtype, rng));
          StridedView v = StridedView::of(a);
          const auto shape = rng() % 3;
          if (shape == 1) v = StridedView::of(std::move(a)).reshape({5, 3}).permute({1, 0});
          if (shape == 2) v = v.slice({0, 2}, {3, 1}).reshape({3}).expand({3, 5}, {1});
          src.push_back(v);
        }
        const Array got = runtime::elementwise(op, dtype, from, src);
        for (int64_t i = 0; i < 15; ++i) {
          std::vector<Scalar> args;
          for (const StridedView& v : src) args.push_back(v.copy().at(i));
          const Scalar want = evaluate(op, dtype, from, args);
          const bool same = to_bits(dtype, got.at(i)) == to_bits(dtype, want) ||
                            (is_float(dtype) && std::isnan(got.at(i).as_double()) && std::isnan(want.as_double()));
          if (!same) FAIL(info(op).name << " on " << name_of(from) << " to " << name_of(dtype));
          ++agreed;
        }
      }
    }
  }
  CHECK(agreed > 3500);
}

TEST_CASE("random chains of movement agree with loops over indices", "[interpreter]") {
  std::mt19937 rng(2);
  for (int trial = 0; trial < 300; ++trial) {
    Arena g;
    Array x = iota({2, 3, 4});
    UOp u = param(g, 0, DType::F32, {2, 3, 4});
    Array want = x;
    for (int step = 0; step < 6; ++step) {
      const size_t rank = want.shape.size();
      const int64_t axis = static_cast<int64_t>(rng() % rank);
      const auto a = static_cast<size_t>(axis);
      std::vector<int64_t> shape = want.shape;
      std::function<int64_t(std::vector<int64_t>)> from;  // index of the result -> position in the source, -1 for zero
      const std::vector<int64_t> old = want.shape;
      auto flat = [old](const std::vector<int64_t>& index) {
        int64_t p = 0;
        for (size_t i = 0; i < old.size(); ++i) p = p * old[i] + index[i];
        return p;
      };
      switch (rng() % 6) {
        case 0: {  // another factorisation of the size
          int64_t n = want.numel();
          shape.clear();
          for (int64_t f : {2, 3})
            if (n % f == 0 && rng() % 2) shape.push_back(f), n /= f;
          shape.push_back(n);
          if (rng() % 2) shape.insert(shape.begin() + static_cast<int>(rng() % shape.size()), 1);
          from = [shape](std::vector<int64_t> index) {
            int64_t p = 0;
            for (size_t i = 0; i < shape.size(); ++i) p = p * shape[i] + index[i];
            return p;
          };
          u = reshape(u, Shape(shape));
          break;
        }
        case 1: {
          Ints order;
          for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
          std::shuffle(order.begin(), order.end(), rng);
          for (size_t i = 0; i < rank; ++i) shape[i] = old[static_cast<size_t>(order[i])];
          from = [order, flat](std::vector<int64_t> index) {
            std::vector<int64_t> src(index.size());
            for (size_t i = 0; i < index.size(); ++i) src[static_cast<size_t>(order[i])] = index[i];
            return flat(src);
          };
          u = permute(u, order);
          break;
        }
        case 2:
          if (want.numel() > 200) continue;
          shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(a), 3);
          from = [a, flat](std::vector<int64_t> index) {
            index.erase(index.begin() + static_cast<std::ptrdiff_t>(a));
            return flat(index);
          };
          u = expand(u, Shape(shape), {static_cast<int64_t>(a)});
          break;
        case 3: {
          if (old[a] < 2) continue;
          Region box = full_region(Shape(old));
          box[a] = {1, old[a]};
          shape[a] -= 1;
          from = [a, flat](std::vector<int64_t> index) {
            index[a] += 1;
            return flat(index);
          };
          u = shrink(u, box);
          break;
        }
        case 4: {
          if (want.numel() > 200) continue;
          Region box = full_region(Shape(old));
          box[a] = {1, 1 + old[a]};
          shape[a] += 3;
          const int64_t size = old[a];
          from = [a, size, flat](std::vector<int64_t> index) {
            index[a] -= 1;
            return index[a] < 0 || index[a] >= size ? -1 : flat(index);
          };
          u = pad(u, box, Shape(shape));
          break;
        }
        case 5: {
          if (a + 1 == rank || want.numel() > 200) continue;
          const int64_t step = static_cast<int64_t>(rng() % 7) - 3, size = old[a];
          shape[a] = 1 + static_cast<int64_t>(rng() % 6);
          from = [a, step, size, flat](std::vector<int64_t> index) {
            index[a] += index[a + 1] * step;
            return index[a] < 0 || index[a] >= size ? -1 : flat(index);
          };
          u = slide(u, axis, step, shape[a]);
          break;
        }
        default: {
          const int64_t size = old[a];
          from = [a, size, flat](std::vector<int64_t> index) {
            index[a] = size - 1 - index[a];
            return flat(index);
          };
          u = flip(u, {axis});
        }
      }
      Array next(DType::F32, shape);
      std::vector<int64_t> index(shape.size(), 0);
      for (int64_t p = 0; p < next.numel(); ++p) {
        int64_t rest = p;
        for (size_t i = shape.size(); i-- > 0; rest /= shape[i]) index[i] = rest % shape[i];
        if (const int64_t s = from(index); s >= 0) next.set(p, want.at(s));
      }
      want = next;
    }
    Array got = run(u, {x});
    REQUIRE(got.shape == want.shape);
    REQUIRE(numbers<float>(got) == numbers<float>(want));
  }
}

TEST_CASE("reductions: any axes, in double or in the order of the tree", "[interpreter]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {2, 3, 2});
  Array a = iota({2, 3, 2});
  CHECK(numbers<float>(run(sum(x, {1}), {a})) == std::vector<float>{9, 12, 27, 30});
  CHECK(numbers<float>(run(sum(x, {0, 2}), {a})) == std::vector<float>{18, 26, 34});
  CHECK(numbers<float>(run(reduce(Combine::Max, x, {0, 1, 2}), {a})) == std::vector<float>{12});
  CHECK(numbers<float>(run(reduce(Combine::Mul, x, {1}), {a})) == std::vector<float>{15, 48, 693, 960});
  CHECK(run(sum(x, {1}), {a}).shape == std::vector<int64_t>{2, 2});

  UOp bytes = param(g, 1, DType::U8, {3});
  CHECK(numbers<uint8_t>(run(sum(bytes, {0}), {a, array<uint8_t>({3}, {200, 100, 3})})) == std::vector<uint8_t>{47});
  UOp flags = reduce(Combine::Max, lt(x, like(x, 2.0)), {0, 1, 2});
  CHECK(numbers<uint8_t>(run(flags, {a})) == std::vector<uint8_t>{1});

  // 2^24 + 1 + 1 + ...: lost one by one in float32, kept in double.
  UOp v = param(g, 0, DType::F32, {5});
  Array big = array<float>({5}, {16777216, 1, 1, 1, 1});
  CHECK(numbers<float>(run(sum(v, {0}), {big})) == std::vector<float>{16777220});
  auto in_tree = [&](ReductionTree tree, Combine c = Combine::Add) {
    return numbers<float>(
        run(g.make({Op::Reduce, DType::F32, {}, {v}, ReduceAttr{c, {0}, tree}}), {big}, {}, {.exact_tree = true}))[0];
  };
  CHECK(in_tree({1, 0}) == 16777216.0f);
  CHECK(in_tree({2, 0}) == 16777218.0f);  // 2^24 + 1 + 1 in the even lane stays 2^24, the odd one has 2
  CHECK(in_tree({1, 2}) == 16777220.0f);  // blocks (2^24, 1) (1, 1) (1): 2^24 + 2 + 1, a tie to even
  CHECK(in_tree({4, 0}) == 16777218.0f);  // (2^24 + 1) + 1 = 2^24, 1 + 1 = 2
  CHECK(in_tree({2, 0}, Combine::Max) == 16777216.0f);
}

TEST_CASE("a sum of products: as written, and as Dot by fma", "[interpreter]") {
  Arena g;
  UOp a = param(g, 0, DType::F32, {2, 3}), b = param(g, 1, DType::F32, {3, 2});
  UOp x = expand(a, {2, 2, 3}, {1}), y = expand(permute(b, {1, 0}), {2, 2, 3}, {0});
  std::vector<Array> in{iota({2, 3}), iota({3, 2})};
  const std::vector<float> want{22, 28, 49, 64};
  UOp dot = g.make({Op::Reduce, DType::F32, {2, 2}, {x, y}, ReduceAttr{Combine::Dot, {2}, {}}});
  for (bool exact : {false, true}) {
    CHECK(numbers<float>(run(sum(x * y, {2}), in, {}, {.exact_tree = exact})) == want);
    CHECK(numbers<float>(run(dot, in, {}, {.exact_tree = exact})) == want);
  }
  // (1+e)(1-e) = 1 - e^2: lost by a rounded product, kept by fma against -1.
  const float e = std::ldexp(1.0f, -13);
  UOp p = param(g, 0, DType::F32, {2}), q = param(g, 1, DType::F32, {2});
  std::vector<Array> near{array<float>({2}, {-1, 1 + e}), array<float>({2}, {1, 1 - e})};
  UOp fused = g.make({Op::Reduce, DType::F32, {}, {p, q}, ReduceAttr{Combine::Dot, {0}, {}}});
  CHECK(numbers<float>(run(fused, near, {}, {.exact_tree = true}))[0] == -e * e);
  CHECK(numbers<float>(run(sum(p * q, {0}), near, {}, {.exact_tree = true}))[0] == 0.0f);
}

TEST_CASE("gather and scatter gate their indices", "[interpreter]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {3, 2}), index = param(g, 1, DType::I32, {2, 2}), v = param(g, 2, DType::F32, {2, 2});
  std::vector<Array> in{iota({3, 2}), array<int32_t>({2, 2}, {2, -1, 0, 3}), array<float>({2, 2}, {10, 20, 30, 40})};
  uint32_t error = 0;
  CHECK(numbers<float>(run(gather(x, index, 0), in, {}, {}, &error)) == std::vector<float>{5, 6, 1, 0});
  CHECK(error == runtime::kIndexError);
  error = 0;
  CHECK(numbers<float>(run(scatter_add(x, index, v, 0), in, {}, {}, &error)) ==
        std::vector<float>{31, 2, 3, 4, 15, 26});
  CHECK(error == runtime::kIndexError);
  in[1] = array<int32_t>({2, 2}, {1, 1, 1, 1});
  error = 0;
  CHECK(numbers<float>(run(scatter_add(x, index, v, 0), in, {}, {}, &error)) == std::vector<float>{1, 2, 43, 64, 5, 6});
  UOp along = param(g, 1, DType::I32, {3, 1});
  in[1] = array<int32_t>({3, 1}, {1, 0, -2});
  CHECK(numbers<float>(run(gather(x, along, 1), in, {}, {}, &error)) == std::vector<float>{2, 3, 5});
  CHECK(error == 0);
}

TEST_CASE("boxes whose place is an argument", "[interpreter]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {4}), v = param(g, 1, DType::F32, {2}), at = argument(g, 0, DType::Index);
  std::vector<Array> in{iota({4}), array<float>({2}, {8, 9})};
  UOp cut = g.make({Op::Shrink, DType::F32, {2}, {x, at}, Region{{0, 2}}});
  UOp padded = g.make({Op::Pad, DType::F32, {4}, {v, at}, Region{{0, 2}}});
  UOp version = g.make({Op::After, DType::F32, {4}, {x, v, at}, Region{{0, 2}}});
  std::vector<Scalar> two{Scalar::of(DType::Index, 2)}, three{Scalar::of(DType::Index, 3)};
  CHECK(numbers<float>(run(cut, in, two)) == std::vector<float>{3, 4});
  CHECK(numbers<float>(run(padded, in, two)) == std::vector<float>{0, 0, 8, 9});
  CHECK(numbers<float>(run(version, in, two)) == std::vector<float>{1, 2, 8, 9});
  CHECK(numbers<float>(run(g.make({Op::After, DType::F32, {4}, {x, v}, Region{{1, 3}}}), in)) ==
        std::vector<float>{1, 8, 9, 4});
  CHECK_THROWS_AS(run(cut, in, three), InternalError);
}

TEST_CASE("sizes come from the inputs, or from the graph", "[interpreter]") {
  Arena g;
  Var batch("batch", 1, 8);
  UOp x = param(g, 0, DType::F32, {batch(8), 2});
  UOp mean = sum(x, {0}) / broadcast_to(cast(variable(g, batch, DType::I64), DType::F32), {2});
  std::vector<Array> in{iota({3, 2})};
  GraphInputs inputs{.params = in, .vars = {{"batch", 3}}};
  CHECK(numbers<float>(runtime::interpret(std::span<const UOp>(&mean, 1), inputs)[0]) == std::vector<float>{3, 4});
  UOp count = cast(arange(g, batch(5)), DType::F32);
  CHECK(numbers<float>(run(count)) == std::vector<float>{0, 1, 2, 3, 4});
  CHECK_THROWS_AS(run(x, in), InternalError);
}

TEST_CASE("stored nodes are read, and depth is no limit", "[interpreter]") {
  GraphScope scope;
  TensorGraph& g = TensorGraph::get();
  UOp data = g.make({Op::Data, DType::F32, {2}, {}});
  Storage* storage = new Storage(8, Device::cpu());
  g.attach_storage(data, storage);
  UOp x = data;
  for (int i = 0; i < 100000; ++i) x = x + like(x, 1.0);
  int reads = 0;
  GraphInputs inputs{.read = [&](UOp n) {
    CHECK(n == data);
    ++reads;
    return array<float>({2}, {1, 2});
  }};
  CHECK(numbers<float>(runtime::interpret(std::span<const UOp>(&x, 1), inputs)[0]) ==
        std::vector<float>{100001, 100002});
  CHECK(reads == 1);
  UOp missing = g.make({Op::Data, DType::F32, {2}, {}});
  CHECK_THROWS_AS(run(exp(missing)), InternalError);
}
