// checkpoint(): the same values and gradients, computed again.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

struct Block {
  nn::Linear in{4, 8}, out{8, 4};
  nn::Dropout drop{0.5};
  Tensor operator()(const Tensor& x) const { return x + out(drop(tanh(in(x)))); }
};

std::vector<std::vector<double>> gradients_of(const Tensor& loss, const std::vector<Tensor>& xs) {
  std::vector<std::vector<double>> out;
  for (const Tensor& g : gradient(loss, xs)) out.push_back(numbers(g));
  return out;
}
void check_same(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  CHECK(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(same(a[i], b[i]));
}

}  // namespace

TEST_CASE("a checkpoint changes no bit of values and gradients", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  manual_seed(3);
  const Block first, second;
  const Tensor x = randn({5, 4}).requires_grad(), scale = randn({4}).requires_grad();
  x.realize();
  const std::vector<Tensor> by{x, scale, first.in.weight, first.out.bias, second.in.weight};
  const auto model = [&](bool checkpoints) {
    manual_seed(7);
    const auto scaled = [&](const Tensor& t) { return second(t * scale) * scale; };  // uses more than its argument
    const Tensor h = checkpoints ? checkpoint(first, x * 1.0) : first(x * 1.0);
    return (checkpoints ? checkpoint(scaled, h) : scaled(h)).sum();
  };
  const Tensor plain = model(false), again = model(true);
  const auto want = gradients_of(plain, by);
  check_same(gradients_of(again, by), want);
  CHECK(same(numbers(again), numbers(plain)));
  check_same(gradients_of(model(true), by), want);  // one plan for loss and gradients or not
  const Tensor read_first = model(true);
  read_first.item();
  check_same(gradients_of(read_first, by), want);
}

TEST_CASE("checkpoints differentiate twice, nest, and go into other transforms", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = randn({3, 4}).realize().requires_grad(), w = randn({4}).realize().requires_grad();
  const auto f = [&](const Tensor& t) { return tanh(t * w) * t; };
  const auto inner = [&](const Tensor& t) { return checkpoint(f, t); };
  const auto nested = [&](const Tensor& t) {
    return checkpoint([&](const Tensor& u) { return f(inner(u * 2.0)); }, t);
  };
  const auto plain = [&](const Tensor& t) { return f(f(t * 2.0)); };
  const auto both = [&](const auto& of) {
    const std::vector<Tensor> first = gradient(of(x).sum(), {x, w});
    std::vector<std::vector<double>> out{numbers(first[0]), numbers(first[1])};
    for (const Tensor& second : gradient((first[0] * first[0]).sum() + first[1].sum(), {x, w}))
      out.push_back(numbers(second));
    return out;
  };
  const auto got = both(nested), want = both(plain);
  for (size_t i = 0; i < got.size(); ++i) CHECK(close(got[i], want[i], 1e-4));
  const auto mapped = [&](const auto& of) { return numbers(gradient(vmap(of)(x).sum(), {x})[0]); };
  CHECK(close(mapped(nested), mapped(plain)));
  const Tensor row = randn({4});
  CHECK(close(numbers(hessian([&](const Tensor& t) { return inner(t).sum(); })(row)),
              numbers(hessian([&](const Tensor& t) { return f(t).sum(); })(row)), 1e-4));
  auto jitted = jit([&](const Tensor& t) { return gradient(nested(t).sum(), {w})[0].detach(); });
  for (int i = 0; i < 4; ++i) {
    const Tensor t = randn({3, 4});
    CHECK(close(numbers(jitted(t)), numbers(gradient(plain(t).sum(), {w})[0])));
  }
  {
    const no_grad off;
    CHECK_FALSE(inner(x).needs_grad());
  }
}

TEST_CASE("checkpoints take arguments of any kind", "[tensor][transform][gradient]") {
  ON_BOTH_EXECUTORS();
  const Tensor table = randn({5, 3}).requires_grad(), ids = from({1, 4, 1}), mask = from({true, false, true});
  const auto f = [&](const Tensor& i, const Tensor& m) {
    return where(m.unsqueeze(1), exp(embedding(i, table)), zeros({1, 3}));
  };
  const Tensor got = gradient(checkpoint(f, ids, mask).sum(), {table})[0];
  CHECK(same(numbers(got), numbers(gradient(f(ids, mask).sum(), {table})[0])));
  const Tensor empty = randn({0, 3}).requires_grad();
  const Tensor none = checkpoint([](const Tensor& t) { return exp(t); }, empty);
  CHECK(gradient(none.sum(), {empty})[0].shape() == Shape{0, 3});
  const Tensor twice = randn({3}).requires_grad();
  const Tensor product = checkpoint([](const Tensor& a, const Tensor& b) { return a * b; }, twice, twice);
  CHECK(close(numbers(gradient(product.sum(), {twice})[0]), numbers(twice * 2.0)));
  const Tensor unused = checkpoint([&](const Tensor&, const Tensor& b) { return b * 1.0; }, twice, table);
  CHECK(same(numbers(gradient((unused.sum() + twice.sum()), {twice})[0]), {1, 1, 1}));
  CHECK(checkpoint([](const Tensor& a) { return a; }, twice).needs_grad());
}
