// Every gradient rule against central differences in float64 through the interpreter, to the second order; stated
// values at kinks and ties; what the walk refuses.
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <unordered_map>

#include "catch.h"
#include "gradient/adjoint.h"
#include "gradient/reverse.h"
#include "interp/interpreter.h"
#include "ir/build.h"
#include "ir/lapack_call.h"
#include "ir/tensor_graph.h"
#include "ir/walk.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;
using sinter::runtime::Array;

namespace {

using Function = std::function<UOp(const std::vector<UOp>&)>;

/// Leaves with values, and the ops whose rules the comparisons went through.
class Check {
 public:
  Check() : g_(TensorGraph::get()) {}

  UOp data(Array a) {
    UOp n = g_.make({Op::Data, a.dtype, Shape(a.shape), {}});
    g_.attach_storage(n, new Storage(a.data.size(), Device::cpu()));
    values_[n] = std::move(a);
    return n;
  }
  UOp data(DType dtype, std::vector<int64_t> shape, const std::vector<double>& numbers) {
    Array a(dtype, std::move(shape));
    for (size_t i = 0; i < numbers.size(); ++i) a.set(static_cast<int64_t>(i), Scalar::of(dtype, numbers[i]));
    return data(std::move(a));
  }
  UOp leaf(UOp value) {
    UOp n = g_.make({Op::Leaf, value->dtype, value->shape, {value}});
    n->state.requires_grad = n->state.leaf = true;
    return n;
  }
  UOp leaf(std::vector<int64_t> shape, const std::vector<double>& numbers) {
    return leaf(data(DType::F64, std::move(shape), numbers));
  }
  Array random(std::vector<int64_t> shape, double lo, double hi) {
    Array a(DType::F64, std::move(shape));
    for (double& x : a.as<double>()) x = std::uniform_real_distribution<double>(lo, hi)(rng_);
    return a;
  }

  std::vector<Array> evaluate(std::vector<UOp> roots) {
    return runtime::interpret(roots, {.read = [this](UOp n) { return values_.at(n); }});
  }
  std::vector<double> numbers(UOp root) {
    Array a = evaluate({root})[0];
    return {a.as<double>().begin(), a.as<double>().end()};
  }

  /// gradient of `y` for each x, with y's own derivative 1 (or `seed`).
  std::vector<UOp> gradient(UOp y, std::vector<UOp> xs, UOp seed = {}) {
    for (UOp n : autodiff::gradient_nodes(y)) covered_.insert(n->op);
    return autodiff::gradient(y, seed ? seed : like(y, 1.0), xs);
  }

  /// Compares first and second derivatives of f at random points of [lo, hi].
  void differences(const std::string& name, const Function& f, std::vector<std::vector<int64_t>> shapes, double lo,
                   double hi) {
    INFO(name);
    std::vector<UOp> xs;
    for (auto& shape : shapes) xs.push_back(leaf(data(random(shape, lo, hi))));
    UOp y = f(xs);
    REQUIRE(y->dtype == DType::F64);
    UOp loss = total(y * data(random(sizes(y), 0.5, 1.5)));
    std::vector<UOp> first = gradient(loss, xs);
    compare(loss, xs, first);

    UOp second;
    for (UOp g : first) {
      UOp part = total(g * data(random(sizes(g), 0.5, 1.5)));
      second = second ? second + part : part;
    }
    if (!second->state.requires_grad) {  // f is linear
      compare(second, xs, {});
      return;
    }
    std::vector<UOp> gradient_nodes = autodiff::gradient_nodes(second), used, unused;
    for (UOp x : xs) (std::count(gradient_nodes.begin(), gradient_nodes.end(), x) ? used : unused).push_back(x);
    compare(second, used, gradient(second, used));
    compare(second, unused, {});
  }

  const std::set<Op>& covered() const { return covered_; }

 private:
  static std::vector<int64_t> sizes(UOp x) {
    std::vector<int64_t> out;
    for (const Dim& d : x->shape) out.push_back(d.value());
    return out;
  }
  static UOp total(UOp x) {
    Ints axes;
    for (size_t i = 0; i < x->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
    return reshape(sum(x, axes), {});
  }
  /// d value / d x by central differences against `grads`; zeros where there are none.
  void compare(UOp value, const std::vector<UOp>& xs, const std::vector<UOp>& grads) {
    for (size_t k = 0; k < xs.size(); ++k) {
      std::vector<double> got =
          grads.empty() ? std::vector<double>(static_cast<size_t>(xs[k]->shape.numel())) : numbers(grads[k]);
      REQUIRE(got.size() == static_cast<size_t>(xs[k]->shape.numel()));
      Array& x = values_.at(xs[k]->src[0]);
      for (size_t i = 0; i < got.size(); ++i) {
        const double at = x.as<double>()[i], h = 1e-5;
        x.as<double>()[i] = at + h;
        const double above = numbers(value)[0];
        x.as<double>()[i] = at - h;
        const double below = numbers(value)[0];
        x.as<double>()[i] = at;
        const double want = (above - below) / (2 * h);
        INFO("source " << k << " element " << i);
        CHECK(got[i] == Approx(want).epsilon(2e-6).margin(2e-6));
      }
    }
  }

  GraphScope scope_;
  TensorGraph& g_;
  std::mt19937 rng_{7};
  std::unordered_map<UOp, Array> values_;
  std::set<Op> covered_;
};

Function unary(Op op) {
  return [op](const std::vector<UOp>& x) { return alu(op, {x[0]}); };
}
Function binary(Op op) {
  return [op](const std::vector<UOp>& x) { return alu(op, {x[0], x[1]}); };
}

}  // namespace

TEST_CASE("every rule agrees with central differences, to the second order", "[gradient]") {
  Check c;
  for (Op op : {Op::Neg, Op::Abs, Op::Exp, Op::Exp2, Op::Expm1, Op::Log1p, Op::Sin, Op::Cos, Op::Tan, Op::Tanh, Op::Erf,
                Op::Erfc, Op::Sinh, Op::Cosh, Op::Asinh})
    c.differences(std::string(info(op).name), unary(op), {{2, 3}}, 0.2, 1.3);
  c.differences("Abs of negatives", unary(Op::Abs), {{3}}, -2, -0.1);
  for (Op op : {Op::Atanh, Op::Erfinv}) c.differences(std::string(info(op).name), unary(op), {{2, 3}}, -0.8, 0.8);
  c.differences("Acosh", unary(Op::Acosh), {{2, 3}}, 1.2, 2);
  c.differences("Atan2", binary(Op::Atan2), {{2, 3}, {2, 3}}, -2, 2);
  for (Op op : {Op::Sqrt, Op::Log, Op::Log2, Op::Log10})
    c.differences(std::string(info(op).name), unary(op), {{2, 3}}, 0.5, 2);
  for (Op op : {Op::Floor, Op::Trunc, Op::Round})
    c.differences(std::string(info(op).name), [op](const auto& x) { return alu(op, {x[0]}) * x[0]; }, {{4}}, 2.1, 2.4);
  for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Pow, Op::Max, Op::Min})
    c.differences(std::string(info(op).name), binary(op), {{2, 3}, {2, 3}}, 0.5, 2);
  for (Op op : {Op::Add, Op::Mul, Op::Div, Op::Pow})
    c.differences(
        std::string(info(op).name) + " with itself", [op](const auto& x) { return alu(op, {x[0], x[0]}); }, {{3}}, 0.5,
        2);
  c.differences(
      "Pow of a negative base", [](const auto& x) { return alu(Op::Pow, {x[0], like(x[0], 3.0)}); }, {{4}}, -2, -0.5);
  c.differences(
      "FMod", [](const auto& x) { return alu(Op::FMod, {x[0] * 5.0, x[1] + 2.0}) * x[1]; }, {{4}, {4}}, 0.55, 0.75);
  c.differences(
      "Where", [](const auto& x) { return where(lt(x[0], like(x[0], 1.0)), x[0] * x[1], x[1] * x[1]); }, {{6}, {6}}, 0,
      2);
  c.differences("Fma", [](const auto& x) { return fma(x[0], x[1], x[2] * x[0]); }, {{3}, {3}, {3}}, -1, 1);
  UOp narrow = c.leaf(c.data(DType::F32, {2}, {1, 2}));
  UOp back = c.gradient(cast(narrow, DType::F64) * c.data(DType::F64, {2}, {0.1, 3}), {narrow})[0];
  CHECK(back->dtype == DType::F32);
  CHECK(c.numbers(cast(back, DType::F64)) == std::vector<double>{0.1f, 3});

  c.differences("Reshape", [](const auto& x) { return exp(reshape(x[0], {3, 2})); }, {{2, 3}}, -1, 1);
  c.differences("Permute", [](const auto& x) { return exp(permute(x[0], {2, 0, 1})); }, {{2, 3, 4}}, -1, 1);
  c.differences("Expand", [](const auto& x) { return broadcast_to(x[0], {2, 4}) * x[1]; }, {{2, 1}, {2, 4}}, -1, 1);
  c.differences(
      "broadcast of a lower rank", [](const auto& x) { return broadcast_to(x[0], {2, 3, 4}) * x[1]; },
      {{3, 1}, {2, 3, 4}}, -1, 1);
  c.differences("Shrink", [](const auto& x) { return exp(shrink(x[0], {{1, 2}, {0, 2}})); }, {{3, 2}}, -1, 1);
  c.differences("Pad", [](const auto& x) { return exp(pad(x[0], {{1, 3}, {0, 2}}, {4, 3})); }, {{2, 2}}, -1, 1);
  c.differences("Window", [](const auto& x) { return exp(slide(x[0], 0, 2, 3)); }, {{5, 3}}, -1, 1);
  c.differences(
      "windows of one vector",
      [](const auto& x) { return sum(window(x[0], 0, 3, 2, 1) * expand(x[1], {4, 3}, {0}), {1}); }, {{9}, {3}}, -1, 1);
  // Five are joined; two go the other way and stay.
  c.differences(
      "one matrix in many products",
      [](const auto& x) {
        UOp w = x[0], y = x[1];
        for (int64_t t = 0; t < 7; ++t) {
          y = y * reshape(shrink(x[2], {{t, t + 1}, {0, 3}}), {1, 3});
          UOp rows = expand(y, {1, 3, 3}, {t < 5 ? 2 : 1}), all = expand(w, {1, 3, 3}, {0});
          y = alu(Op::Tanh, {sum(rows * all, {t < 5 ? 1 : 2})});
        }
        return y;
      },
      {{3, 3}, {1, 3}, {7, 3}}, -1, 1);
  c.differences("Flip", [](const auto& x) { return flip(x[0], {0}) * x[0]; }, {{4, 2}}, -1, 1);

  c.differences(
      "sum",
      [](const auto& x) {
        UOp s = sum(x[0], {0, 2});
        return s * s;
      },
      {{2, 3, 2}}, -1, 1);
  for (Combine combine : {Combine::Max, Combine::Min})
    c.differences(
        "extremum",
        [combine](const auto& x) {
          UOp m = reduce(combine, x[0], {1});
          return m * m;
        },
        {{2, 3, 2}}, -1, 1);
  for (int64_t axis : {0, 1, 2})
    c.differences(
        "scan",
        [axis](const auto& x) {
          UOp s = scan(Combine::Add, x[0], axis);
          return s * s;
        },
        {{2, 3, 2}}, -1, 1);
  for (int64_t n = 1; n <= 9; ++n)
    c.differences("prod", [](const auto& x) { return reduce(Combine::Mul, x[0], {1}); }, {{2, n}}, 0.5, 1.5);
  c.differences(
      "prod over two axes", [](const auto& x) { return reduce(Combine::Mul, x[0], {0, 2}); }, {{3, 2, 2}}, 0.5, 1.5);
  c.differences(
      "matmul",
      [](const auto& x) {
        return sum(expand(x[0], {2, 4, 3}, {1}) * expand(permute(x[1], {1, 0}), {2, 4, 3}, {0}), {2});
      },
      {{2, 3}, {3, 4}}, -1, 1);
  c.differences(
      "softmax",
      [](const auto& x) {
        UOp e = exp(x[0] - expand(detach(reduce(Combine::Max, x[0], {1})), {2, 4}, {1}));
        return e / expand(sum(e, {1}), {2, 4}, {1});
      },
      {{2, 4}}, -1, 1);

  UOp rows = c.data(DType::I64, {4, 2}, {2, -1, 0, 0, 2, 1, -3, 2}), row = c.data(DType::I32, {1, 2}, {-1, 1});
  c.differences(
      "Gather",
      [=](const auto& x) {
        UOp y = gather(x[0], rows, 0);
        return y * y;
      },
      {{3, 2}}, -1, 1);
  c.differences(
      "Gather of one per row",
      [=](const auto& x) {
        UOp y = gather(x[0], row, 0);
        return y * y;
      },
      {{3, 2}}, -1, 1);
  for (const ScatterMode mode :
       {ScatterMode::Add, ScatterMode::Set, ScatterMode::Mul, ScatterMode::Max, ScatterMode::Min})
    c.differences(
        "Scatter",
        [=](const auto& x) {
          UOp y = scatter(x[0], rows, x[1], 0, mode);
          return y * y;
        },
        {{3, 2}, {4, 2}}, -1, 1);

  auto version = [](UOp old, UOp v) {
    return old->graph->make({Op::After, old->dtype, old->shape, {old, v}, Region{{1, 3}, {0, 2}}});
  };
  c.differences(
      "After of a box", [=](const auto& x) { return exp(version(x[0] * x[0], x[1])); }, {{4, 2}, {2, 2}}, -1, 1);
  c.differences(
      "After of the whole",
      [](const auto& x) { return x[0]->graph->make({Op::After, x[0]->dtype, x[0]->shape, {exp(x[0])}}); }, {{3}}, -1,
      1);
  c.differences("Contiguous", [](const auto& x) { return contiguous(exp(x[0])); }, {{3}}, -1, 1);
  c.differences("Tf32", [](const auto& x) { return tf32(exp(x[0])); }, {{3}}, -1, 1);
  c.differences("Barrier", [](const auto& x) { return barrier(exp(x[0]), x[1]) * x[1]; }, {{3}, {3}}, -1, 1);
  c.differences(
      "Copy",
      [](const auto& x) {
        UOp y = exp(x[0]);
        return y->graph->make({Op::Copy, y->dtype, y->shape, {y}});
      },
      {{3}}, -1, 1);

  c.differences(
      "Lapack", [](const auto& x) { return lapack({LapackRoutine::Solve}, {x[0], x[1]}).rows; }, {{2, 2}, {2, 1}}, 1,
      2);
  c.differences("Lapack: lu", [](const auto& x) { return lapack({LapackRoutine::Lu}, {x[0]})[0]; }, {{3, 2}}, 1, 2);

  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    INFO(info(op).name);
    CHECK((autodiff::rule_of(op) != nullptr) != has(op, kNoGrad));
    if (autodiff::rule_of(op)) CHECK(c.covered().contains(op));
  }
}

TEST_CASE("gradients at kinks and ties have stated values", "[gradient]") {
  Check c;
  using V = std::vector<double>;
  UOp x = c.leaf({3}, {-2, 0, 3}), y = c.leaf({3}, {-2, 1, 3});
  CHECK(c.numbers(c.gradient(alu(Op::Abs, {x}), {x})[0]) == V{-1, 0, 1});
  for (Op op : {Op::Max, Op::Min}) {
    std::vector<UOp> g = c.gradient(alu(op, {x, y}), {x, y});
    CHECK(c.numbers(g[0]) == V{0.5, op == Op::Min ? 1.0 : 0.0, 0.5});
    CHECK(c.numbers(g[1]) == V{0.5, op == Op::Min ? 0.0 : 1.0, 0.5});
  }
  UOp tied = c.leaf({2, 3}, {1, 5, 5, 4, 4, 4});
  CHECK(c.numbers(c.gradient(reduce(Combine::Max, tied, {1}), {tied})[0]) == V{0, 0.5, 0.5, 1 / 3.0, 1 / 3.0, 1 / 3.0});
  CHECK(c.numbers(c.gradient(reduce(Combine::Min, tied, {1}), {tied})[0]) == V{1, 0, 0, 1 / 3.0, 1 / 3.0, 1 / 3.0});

  // Flat in x although x is used: zeros, no error.
  CHECK(c.numbers(c.gradient(alu(Op::Floor, {x}), {x})[0]) == V{0, 0, 0});

  // To the power of 0, also where the reciprocal overflows.
  UOp tiny = c.leaf({4}, {1e-310, -1e-310, 0, 2});
  CHECK(c.numbers(c.gradient(alu(Op::Pow, {tiny, like(tiny, 0.0)}), {tiny})[0]) == V{0, 0, 0, 0});
  UOp zeroth = c.leaf({1}, {0}), at = c.leaf({1}, {4});
  UOp mixed = c.gradient(c.gradient(alu(Op::Pow, {at, zeroth}), {at})[0], {zeroth})[0];
  CHECK(c.numbers(mixed) == V{0.25});  // 1/x

  UOp base = c.leaf({5}, {0, 0, 0, 2, -2}), power = c.leaf({5}, {0, 2, 1, 0, 3});
  std::vector<UOp> g = c.gradient(alu(Op::Pow, {base, power}), {base, power});
  CHECK(c.numbers(g[0]) == V{0, 0, 1, 0, 12});
  std::vector<double> by_power = c.numbers(g[1]);
  CHECK(V(by_power.begin(), by_power.begin() + 4) == V{0, 0, 0, std::log(2.0)});
  CHECK(std::isnan(by_power[4]));
}

TEST_CASE("a select whose value decides what its operand did does not keep that", "[gradient]") {
  Check c;
  UOp x = c.leaf({5}, {-1, 0, 2, NAN, 7}), zero = like(x, 0.0), one = like(x, 1.0), six = like(x, 6.0);
  const auto gradient = [&](UOp y) { return c.gradient(y, {x})[0]; };
  const auto asks = [&](UOp y, UOp about) {
    UOp select = gradient(y);
    while (select->op != Op::Where) select = select->src[0];
    UOp condition = select->src[0];
    return std::any_of(condition->src.begin(), condition->src.end(), [&](UOp s) {
      return s == about || (s->op == Op::Detach && !s->src.empty() && s->src[0] == about);
    });
  };
  for (UOp y : {where(le(x, zero), zero, x), where(lt(zero, x), x, zero), where(lt(six, x), like(x, 7.0), x)})
    CHECK(asks(y, y));
  // The number does not lie where the comparison holds; the other operand is not what is compared.
  for (UOp y : {where(le(x, zero), one, x), where(lt(zero, x), x, one), where(lt(six, x), six, x),
                where(le(x, zero), zero, x * 2.0)}) {
    CHECK_FALSE(asks(y, y));
    CHECK(asks(y, x));
  }
  // A condition of numbers alone; one that reads what is stored, by a node that has let go of it.
  UOp yes = eq(zero, zero);
  CHECK(c.numbers(gradient(where(yes & yes, zero, x))) == std::vector<double>(5, 0.0));
  CHECK(c.numbers(gradient(where(eq(zero, one), zero, x))) == std::vector<double>(5, 1.0));
  UOp stored = x * 2.0;
  TensorGraph::get().attach_storage(stored, new Storage(40, Device::cpu()));
  TensorGraph::get().on_stored(stored);
  UOp y = where(le(stored, zero), zero, stored);
  REQUIRE(y->src[0]->src[0]->src.empty());
  CHECK_FALSE(asks(y, y));

  CHECK(c.numbers(gradient(where(le(x, zero), zero, x))) == std::vector<double>{0, 0, 1, 1, 1});
  CHECK(c.numbers(gradient(where(lt(zero, x), x, zero))) == std::vector<double>{0, 0, 1, 0, 1});
  CHECK(c.numbers(gradient(where(lt(six, x), six, x))) == std::vector<double>{1, 1, 1, 1, 0});
}

TEST_CASE("the product's gradient is right with zeros, to the second order", "[gradient]") {
  Check c;
  using V = std::vector<double>;
  UOp x = c.leaf({3, 3}, {2, 3, 4, 2, 0, 4, 0, 0, 4});
  UOp g = c.gradient(reduce(Combine::Mul, x, {1}), {x})[0];
  CHECK(c.numbers(g) == V{12, 8, 6, 0, 8, 0, 0, 0, 0});
  // d2/dx0dx1 = x2, d2/dx0dx2 = x1, ...: a row's sum of its second derivatives.
  CHECK(c.numbers(c.gradient(g, {x})[0]) == V{7, 6, 5, 4, 6, 2, 4, 4, 0});

  Var n("n", 1, 4);
  UOp s = c.leaf(c.data(DType::F64, {3}, {2, 0, 4}));
  UOp symbolic = reshape(s, {3});
  symbolic = s->graph->make({Op::Reshape, DType::F64, Shape{n(3)}, {symbolic}});
  UOp h = c.gradient(reduce(Combine::Mul, symbolic, {0}), {s})[0];
  CHECK(c.numbers(h) == V{0, 8, 0});
  CHECK(c.numbers(c.gradient(h, {s})[0]) == V{4, 6, 2});
}

TEST_CASE("gradients to the third order", "[gradient]") {
  Check c;
  UOp x = c.leaf({1}, {0.7});
  UOp y = alu(Op::Tanh, {x});
  for (int order = 0; order < 3; ++order) y = c.gradient(y, {x})[0];
  const double t = std::tanh(0.7), s = 1 - t * t;
  CHECK(c.numbers(y)[0] == Approx(-2 * s * (1 - 3 * t * t)));
}

TEST_CASE("a lookup's gradient touches the table once, with its zero fill", "[gradient]") {
  Check c;
  const int64_t table_rows = 50000, width = 8;
  UOp table = c.leaf(c.data(Array(DType::F32, {table_rows, width})));
  UOp index = c.data(DType::I64, {4, 1}, {1, 2, 3, 49999});
  UOp y = gather(table, broadcast_to(index, {4, width}), 0);
  UOp g = c.gradient(y, {table})[0];
  CHECK(g->op == Op::Scatter);
  for (UOp n : topological(g))
    if (n->shape.numel() >= table_rows && n != g) {
      CHECK(n->op == Op::Expand);  // of the constant 0
      CHECK(n->src[0]->shape.numel() == 1);
    }
  Array values = c.evaluate({g})[0];
  CHECK(values.as<float>()[49999 * 8] == 1.0f);
  CHECK(values.as<float>()[0] == 0.0f);

  // One per row, as in cross entropy: a comparison, no scatter.
  UOp logits = c.leaf(c.data(Array(DType::F32, {4, 10})));
  UOp label = c.data(DType::I64, {4, 1}, {1, 2, 3, 9});
  for (UOp n : topological(c.gradient(gather(logits, label, 1), {logits})[0])) CHECK(n->op != Op::Scatter);
}

TEST_CASE("only what leads to a wanted value is differentiated", "[gradient]") {
  Check c;
  UOp x = c.leaf({2}, {1, 2}), w = c.leaf({2}, {3, 4});
  UOp hidden = x * w, y = hidden * exp(w), waves = alu(Op::Sin, {hidden}) * alu(Op::Sin, {w});
  const auto nodes_for = [&](std::initializer_list<UOp> wanted) {
    const size_t before = TensorGraph::get().live_nodes();
    const std::vector<UOp> made = c.gradient(waves, wanted);
    return TensorGraph::get().live_nodes() - before;
  };
  CHECK(nodes_for({x}) < nodes_for({w, hidden, x}));
  UOp g = c.gradient(y, {x})[0];
  CHECK(c.numbers(g) == std::vector<double>{3 * std::exp(3), 4 * std::exp(4)});
  std::vector<UOp> all = c.gradient(y, {w, hidden, x});
  CHECK(c.numbers(all[1]) == std::vector<double>{std::exp(3), std::exp(4)});
  CHECK(c.numbers(all[2]) == c.numbers(g));

  // A leaf ends the walk, though it was made from another.
  UOp second = c.leaf(x * 2.0);
  CHECK_THROWS_AS(c.gradient(second * 3.0, {x}), UsageError);
  // Built under no_grad, a gradient has no history itself.
  set_grad_enabled(false);
  UOp plain = c.gradient(y, {w})[0];
  set_grad_enabled(true);
  CHECK_FALSE(plain->state.requires_grad);
  CHECK(c.numbers(plain) == c.numbers(all[0]));
}

TEST_CASE("the walk goes past storage and refuses consumed history", "[gradient]") {
  Check c;
  TensorGraph& graph = TensorGraph::get();
  UOp x = c.leaf({2}, {1, 2});
  UOp middle = exp(x), y = middle * 2.0;
  graph.attach_storage(middle, new Storage(16, Device::cpu()));
  graph.on_stored(middle);
  CHECK(autodiff::gradient_nodes(y).size() == 3);
  CHECK_NOTHROW(c.gradient(y, {x}));
  middle->state.consumed = true;
  CHECK_THROWS_WITH(c.gradient(y, {x}), Catch::Contains("keep_graph"));
  middle->state.consumed = false;

  UOp other = c.data(DType::F64, {2}, {1, 2});
  CHECK_THROWS_WITH(c.gradient(y, {other}), Catch::Contains("does not require grad"));
  CHECK_THROWS_WITH(c.gradient(y, {exp(x)}), Catch::Contains("was not used"));
}

TEST_CASE("a chain of 200,000 nodes is differentiated without recursion", "[gradient]") {
  Check c;
  UOp x = c.leaf({1}, {1});
  UOp y = x;
  for (int i = 0; i < 200000; ++i) y = y + like(y, 1.0);
  CHECK(c.numbers(c.gradient(y, {x})[0]) == std::vector<double>{1});
}
