// Long sums of floats: F9 of docs/semantics.md.
#include <functional>

#include "long_sums.h"
#include "on_cpu.h"
#include "semantics/support.h"
#include "sinter/conv.h"

using namespace semantics;
using long_sums::Terms;

namespace {

Tensor stored(Terms kind, const Shape& shape) {
  return from(long_sums::terms(kind, shape.numel(), semantics::random()), shape).realize();
}

/// What is computed of k terms in float32, and the same in float64 of the same numbers.
struct Sum {
  const char* name;
  std::function<std::pair<Tensor, Tensor>(Terms kind, int64_t k)> values;
};

using Two = std::pair<Tensor, Tensor>;
/// f of stored operands, and of the same in float64.
template <class F>
std::function<Two(Terms, int64_t)> product(F f, std::function<std::pair<Shape, Shape>(int64_t)> shapes) {
  return [=](Terms kind, int64_t k) {
    const auto [left, right] = shapes(k);
    const Tensor a = stored(kind, left), b = full(right, 1.0).contiguous().realize();
    return Two{f(a, b), f(a.to(float64), b.to(float64))};
  };
}
template <class F>
std::function<Two(Terms, int64_t)> sum(F f, std::function<Shape(int64_t)> shape) {
  return [=](Terms kind, int64_t k) {
    const Tensor a = stored(kind, shape(k));
    return Two{f(a), f(a.to(float64))};
  };
}

Tensor convolved(const Tensor& x, const Tensor& w) { return conv2d(x, w); }
Tensor multiplied(const Tensor& x, const Tensor& w) { return matmul(x, w); }
/// The gradient of f(x, w) with respect to the operand `of`, for stored ones from above.
template <class F>
auto gradient_of(F f, int of) {
  return [=](const Tensor& x, const Tensor& w) {
    const Tensor a = x.detach().requires_grad(), b = w.detach().requires_grad(), y = f(a, b);
    return gradient(y, {of ? b : a}, full(y.shape(), 1.0, y.dtype()).contiguous().realize())[0];
  };
}

const std::vector<Sum>& sums() {
  using Shapes = std::pair<Shape, Shape>;
  static const auto& all = *new std::vector<Sum>{
      {"matmul", product(multiplied, [](int64_t k) { return Shapes{{5, k}, {k, 9}}; })},
      {"matmul of a transposed left factor",
       product([](const Tensor& a, const Tensor& b) { return matmul(a.transpose(), b); },
               [](int64_t k) { return Shapes{{k, 5}, {k, 9}}; })},
      {"matmul of a transposed right factor",
       product([](const Tensor& a, const Tensor& b) { return matmul(a, b.transpose()); },
               [](int64_t k) { return Shapes{{5, k}, {9, k}}; })},
      {"matmul of large tiles", product(multiplied, [](int64_t k) { return Shapes{{33, k}, {k, 40}}; })},
      {"matrix times vector", product(multiplied, [](int64_t k) { return Shapes{{7, k}, {k}}; })},
      {"vector times matrix", product(multiplied, [](int64_t k) { return Shapes{{k}, {k, 7}}; })},
      {"dot", product(multiplied, [](int64_t k) { return Shapes{{k}, {k}}; })},
      {"batches", product(multiplied, [](int64_t k) { return Shapes{{3, 4, k}, {3, k, 8}}; })},
      {"einsum over one axis", product([](const Tensor& a, const Tensor& b) { return einsum("ki,kj->ij", {a, b}); },
                                       [](int64_t k) { return Shapes{{k, 6}, {k, 8}}; })},
      {"einsum over two axes", product([](const Tensor& a, const Tensor& b) { return einsum("bti,btj->ij", {a, b}); },
                                       [](int64_t k) { return Shapes{{k / 100 + 1, 100, 6}, {k / 100 + 1, 100, 8}}; })},
      {"convolution", product(convolved, [](int64_t k) { return Shapes{{1, k / 9 + 1, 5, 5}, {4, k / 9 + 1, 3, 3}}; })},
      {"a convolution's weight gradient",
       product(gradient_of(convolved, 1), [](int64_t k) { return Shapes{{k / 900 + 1, 3, 32, 32}, {4, 3, 3, 3}}; })},
      {"a convolution's input gradient",
       product(gradient_of(convolved, 0), [](int64_t k) { return Shapes{{1, 2, 8, 8}, {k / 9 + 1, 2, 3, 3}}; })},
      {"a Linear's weight gradient",
       product(gradient_of(multiplied, 1), [](int64_t k) { return Shapes{{k, 7}, {7, 9}}; })},
      {"sum of all", sum([](const Tensor& x) { return x.sum(); }, [](int64_t k) { return Shape{k}; })},
      {"sum of all of a matrix",
       sum([](const Tensor& x) { return x.sum(); }, [](int64_t k) { return Shape{k / 100 + 1, 100}; })},
      {"sums of rows", sum([](const Tensor& x) { return x.sum(1); }, [](int64_t k) { return Shape{3, k}; })},
      {"sums of columns", sum([](const Tensor& x) { return x.sum(0); }, [](int64_t k) { return Shape{k, 3}; })},
      {"sums in the middle", sum([](const Tensor& x) { return x.sum(1); }, [](int64_t k) { return Shape{2, k, 5}; })},
      {"sums around",
       sum([](const Tensor& x) { return x.sum({0, 2}); }, [](int64_t k) { return Shape{k / 50 + 1, 3, 50}; })},
      {"means of rows", sum([](const Tensor& x) { return x.mean(1); }, [](int64_t k) { return Shape{2, k}; })},
      {"norms of rows",
       sum([](const Tensor& x) { return sqrt((x * x).sum(1)); }, [](int64_t k) { return Shape{2, k}; })},
      {"variances of rows", sum([](const Tensor& x) { return (x * (arange(x.shape()[1]) % 2 * 2 + 1)).var(1); },
                                [](int64_t k) { return Shape{2, k}; })},
      {"logsumexp of rows",
       sum([](const Tensor& x) { return logsumexp(x, 1); }, [](int64_t k) { return Shape{2, k}; })},
      {"softmax of rows", sum([](const Tensor& x) { return softmax(x, 1).index({Slice{}, Slice{0, 4}}); },
                              [](int64_t k) { return Shape{2, k}; })},
  };
  return all;
}

/// How long: on a simulated GPU no longer than it has patience for.
std::vector<int64_t> lengths() {
  if (!(default_device() == Device::cpu())) return {3000, 20000};
  return {3000, 70000, (int64_t{1} << 20) / SINTER_TEST_SHARE};
}

}  // namespace

TEST_CASE("F9 a long float sum has the error of blocks", "[semantics]") {
  const LeakCheck clean;
  for (const int64_t k : lengths())
    for (const Terms kind : {Terms::Equal, Terms::Uniform}) {
      const double allowed = long_sums::allowed_error(kind, k);
      for (const Sum& s : sums()) {
        const auto [got, exact] = s.values(kind, k);
        const double error = long_sums::error_of(got.to(float64).to_vector<double>(), exact.to_vector<double>());
        INFO(s.name << ", k = " << k << ", " << (kind == Terms::Equal ? "equal" : "uniform") << " terms: " << error
                    << " where " << allowed << " is allowed");
        CHECK(error < allowed);
      }
    }
}

TEST_CASE("F9 a running sum has the error of blocks, and of numbers >= 0 it never decreases", "[semantics]") {
  const LeakCheck clean;
  for (const int64_t k : lengths())
    for (const Terms kind : {Terms::Equal, Terms::Uniform})
      for (const int64_t axis : {0, 1}) {
        const Tensor x = stored(kind, axis ? Shape{2, k} : Shape{k, 2});
        const Tensor sums = cumsum(x, axis), before = sums.slice(axis, {0, k - 1}), after = sums.slice(axis, {1, k});
        const auto last = [&](const Tensor& t) { return index_select(t, axis, from({k / 2, k - 1})).to(float64); };
        const double error =
            long_sums::error_of(last(sums).to_vector<double>(), last(cumsum(x.to(float64), axis)).to_vector<double>());
        const double allowed = long_sums::allowed_error(kind, std::max<int64_t>(k, 4097));
        INFO("axis " << axis << ", k = " << k << ": " << error << " where " << allowed << " is allowed");
        if (k > 4096) CHECK(error < allowed);
        CHECK((before <= after).all().item<bool>());
      }
}

TEST_CASE("F9 products and sums of 2^24 elements have the error of blocks", "[semantics]") {
  const OnCpu cpu;
  const LeakCheck clean;
  const int64_t k = (int64_t{1} << 24) / SINTER_TEST_SHARE;
  for (const Terms kind : {Terms::Equal, Terms::Uniform}) {
    const std::vector<float> values = long_sums::terms(kind, 2 * k, semantics::random());
    // [2, k] as it is, and the same memory as [k, 2]
    double rows[2] = {0, 0}, columns[2] = {0, 0};
    for (size_t i = 0; i < values.size(); ++i) {
      rows[i / static_cast<size_t>(k)] += values[i];
      columns[i % 2] += values[i];
    }
    const Tensor a = from(values, {2, k}).realize(), b = full({2, k}, 1.0).contiguous().realize();
    const Tensor tall = a.reshape({k, 2}), ones = b.reshape({k, 2});
    const double allowed = long_sums::allowed_error(kind, k);
    const auto check = [&](const char* name, const Tensor& got, const double* exact, bool twice) {
      std::vector<double> want;
      for (int i = 0; i < 2; ++i) want.insert(want.end(), twice ? 2 : 1, exact[i]);
      const double error = long_sums::error_of(got.to(float64).to_vector<double>(), want);
      INFO(name << ": " << error << " where " << allowed << " is allowed");
      CHECK(error < allowed);
    };
    check("matmul", matmul(a, ones), rows, true);
    check("matmul of a transposed left factor", matmul(tall.transpose(), ones), columns, true);
    check("matmul of a transposed right factor", matmul(a, b.transpose()), rows, true);
    check("sums of rows", a.sum(1), rows, false);
    check("sums of columns", tall.sum(0), columns, false);
    check("means of rows", a.mean(1) * static_cast<double>(k), rows, false);
  }
}

TEST_CASE("F9 a long sum over a symbolic axis inside another has one order", "[semantics]") {
  const Var length("length", 1, 1024);
  for (const auto& [rows, t, columns] :
       {std::tuple<int64_t, int64_t, int64_t>{64, 100, 3}, {64, 1000, 3}, {40, 77, 1}, {3, 1024, 20}}) {
    const Tensor x =
        from(long_sums::terms(Terms::Uniform, rows * t * columns, semantics::random()), {rows, length(t), columns})
            .realize();
    for (const auto& sum : {std::function([](const Tensor& a) { return a.sum({0, 1}); }),
                            std::function([](const Tensor& a) { return a.mean({0, 1, 2}); }),
                            std::function([](const Tensor& a) { return a.var({0, 1}); }),
                            std::function([](const Tensor& a) { return einsum("btc,btd->cd", {a, a}); })}) {
      INFO(rows << " x " << t << " x " << columns);
      debug::set_executor(debug::Executor::Unfused);  // in plain loops, in the order of the ReductionTree
      const std::vector<float> want = sum(x).to_vector<float>();
      debug::set_executor(debug::Executor::Compiled);
      CHECK(sum(x).to_vector<float>() == want);
    }
  }
}
