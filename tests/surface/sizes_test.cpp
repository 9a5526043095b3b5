// Sizes that are not numbers of the program: symbolic ones, and those that depend on the data.
#include <cmath>
#include <functional>
#include <optional>

#include "sinter/sinter.h"
#include "surface/row.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using surface::Tensors;

const Var& batch() {
  static const Var var("batch", 1, 8);
  return var;
}

struct SymbolicCase {
  const char* name;
  surface::Call call;  ///< of a tensor [3, 4, 5] whose first size is symbolic or not
};

/// The others of movement and the like need fixed sizes on the axes that they name alone.
const SymbolicCase kSymbolic[] = {
    {"narrow", [](const Tensors& x) { return narrow(x[0], 1, 1, 2); }},
    {"narrow", [](const Tensors& x) { return narrow(x[0], 2, Tensor(1), 3); }},
    {"select", [](const Tensors& x) { return select(x[0], 2, -1); }},
    {"unbind", [](const Tensors& x) { return unbind(x[0], 1); }},
    {"split", [](const Tensors& x) { return split(x[0], {1, 3}, 1); }},
    {"unflatten", [](const Tensors& x) { return unflatten(x[0], 1, {2, -1}); }},
    {"movedim", [](const Tensors& x) { return movedim(x[0], {0, 2}, {1, 0}); }},
    {"expand_as", [](const Tensors& x) { return expand_as(x[0].slice(1, {.end = 1}), x[0]); }},
    {"stack", [](const Tensors& x) { return stack({x[0], x[0]}, 1); }},
    {"meshgrid", [](const Tensors& x) { return meshgrid({x[0].sum({1, 2}), arange(2)}, GridOrder::XY); }},
    {"flip", [](const Tensors& x) { return flip(x[0]); }},
    {"rot90", [](const Tensors& x) { return rot90(x[0], 1, {0, 2}); }},
    {"roll", [](const Tensors& x) { return roll(x[0], 2, 1); }},
    {"repeat", [](const Tensors& x) { return repeat(x[0], {2, 1, 2, 1}); }},
    {"repeat_interleave", [](const Tensors& x) { return repeat_interleave(x[0], 2, 2); }},
    {"diagonal", [](const Tensors& x) { return diagonal(x[0], 1, 1, 2); }},
    {"diag_embed", [](const Tensors& x) { return diag_embed(x[0], -1); }},
    {"diag", [](const Tensors& x) { return diag(diag(x[0].sum({1, 2}))); }},
    {"triu", [](const Tensors& x) { return triu(x[0].transpose(0, 1)); }},
    {"tril", [](const Tensors& x) { return tril(x[0], -1); }},
    {"pad", [](const Tensors& x) { return pad(x[0], {{1, 2}}, PadMode::Reflect); }},
    {"diff", [](const Tensors& x) { return diff(x[0], 2, 1); }},
    {"bmm", [](const Tensors& x) { return bmm(x[0], x[0].transpose()); }},
    {"vecdot", [](const Tensors& x) { return vecdot(x[0], x[0], 0); }},
    {"inner", [](const Tensors& x) { return inner(x[0], x[0]); }},
    {"outer", [](const Tensors& x) { return outer(x[0].sum({1, 2}), arange(2)); }},
    {"tensordot", [](const Tensors& x) { return tensordot(x[0], x[0], {0, 2}, {0, 2}); }},
    {"cross", [](const Tensors& x) { return cross(x[0].slice(1, {.end = 3}), x[0].slice(1, {.begin = 1}), 1); }},
    {"multi_dot", [](const Tensors& x) { return multi_dot({x[0].sum(2).transpose(), x[0].sum(2), ones({4, 2})}); }},
    {"vector_norm", [](const Tensors& x) { return vector_norm(x[0], 3, {0, 2}); }},
    {"matrix_norm", [](const Tensors& x) { return matrix_norm(x[0], 1, {0, 2}); }},
    {"normalize", [](const Tensors& x) { return normalize(x[0], 2, 0); }},
    {"cdist", [](const Tensors& x) { return cdist(x[0], x[0] * 2.0); }},
    {"amax", [](const Tensors& x) { return amax(x[0], {0, 1}); }},
    {"var_mean", [](const Tensors& x) { return Tensors{var_mean(x[0], 0).first, var_mean(x[0], 0).second}; }},
    {"adaptive_avg_pool2d",
     [](const Tensors& x) { return adaptive_avg_pool2d(x[0].transpose(0, 1), {std::nullopt, 2}); }},
    {"adaptive_max_pool2d",
     [](const Tensors& x) {
       const auto [values, places] = adaptive_max_pool2d_with_indices(x[0].transpose(0, 1), {std::nullopt, 3});
       return Tensors{values, places.to(float64)};
     }},
    {"max_unpool1d",
     [](const Tensors& x) {
       const auto [values, places] = max_pool1d_with_indices(x[0], 2);
       return max_unpool1d(values, places, 2, {.output_size = 5});
     }},
    {"nanmean", [](const Tensors& x) { return nanmean(x[0], {0, 2}); }},
};

Tensor numbers_in(const Shape& shape) {
  std::vector<double> list;
  for (int i = 0; i < 60; ++i) list.push_back(std::sin(1.7 * i + 0.3));
  return from(list, shape);
}

/// A weighted sum of the results, and of the gradient that belongs to it.
double sum_of(const Tensors& made, const Tensor& x) {
  Tensor total = Tensor(0.0).to(float64);
  for (const Tensor& t : made) total = total + (t * t).sum();
  return total.item() + (gradient(total, {x})[0] * x).sum().item();
}

}  // namespace

TEST_CASE("surface: a symbolic size of another axis changes nothing", "[surface]") {
  for (const SymbolicCase& c : kSymbolic) {
    INFO(c.name);
    Tensor symbolic = numbers_in({batch()(3), 4, 5}).requires_grad(), fixed = numbers_in({3, 4, 5}).requires_grad();
    const Tensors got = c.call({symbolic}), want = c.call({fixed});
    REQUIRE(got.size() == want.size());
    for (size_t k = 0; k < got.size(); ++k) CHECK(close(numbers(got[k]), numbers(want[k]), 1e-12));
    CHECK(close({sum_of(got, symbolic)}, {sum_of(want, fixed)}, 1e-10));
  }
}

TEST_CASE("surface: a jitted function takes sizes that depend on data as numbers", "[surface]") {
  const Tensor x = from({1.0, 2.0, 3.0}), repeats = from({2, 0, 1});
  auto sized = jit([](const Tensor& v, const Tensor& r) { return repeat_interleave(v, r, 0, 3); });
  for (int i = 0; i < 4; ++i) {
    CHECK(numbers(sized(x, repeats)) == std::vector<double>{1, 1, 3});
    CHECK(numbers(sized(x, from({0, 1, 2}))) == std::vector<double>{2, 3, 3});
  }
  CHECK_THROWS_AS(repeat_interleave(x, repeats, 0, 2).to_vector<float>(), UsageError);
  CHECK_THROWS_AS(repeat_interleave(x, repeats, 0, 4).to_vector<float>(), UsageError);
  CHECK_THROWS_AS(repeat_interleave(x, from({1, -1, 1}), 0, 1).to_vector<float>(), UsageError);
  auto unsized = jit([](const Tensor& v, const Tensor& r) { return repeat_interleave(v, r); });
  try {
    unsized(x, repeats);
    FAIL_CHECK("it was accepted");
  } catch (const UsageError& e) { CHECK(std::string(e.what()).find("output_size") != std::string::npos); }
}

TEST_CASE("surface: bags of a symbolic number of words", "[surface]") {
  const std::vector<int64_t> words = {4, 0, 2, 2, 1}, begins = {0, 2, 2, 4};
  for (const nn::BagMode mode : {nn::BagMode::Sum, nn::BagMode::Mean, nn::BagMode::Max}) {
    const nn::EmbeddingBag bag(5, 3, {.mode = mode});
    const Tensor want = bag(from(words), from(begins)), got = bag(from(words, {batch()(5)}), from(begins));
    CHECK(close(numbers(got), numbers(want), 1e-6));
    const auto gradient_of = [&](const Tensor& y) { return numbers(gradient((y * y).sum(), {bag.weight})[0]); };
    CHECK(close(gradient_of(got), gradient_of(want), 1e-6));
  }
}
