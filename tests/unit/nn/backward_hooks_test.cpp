// Backward hooks of modules: what they see and replace, when they are called.
#include "catch.h"
#include "sinter/sinter.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

/// W x + bias + more.
struct Weighted {
  Tensor weight, bias;
  Tensor operator()(const Tensor& x, const Tensor& more) const { return matmul(weight, x) + bias + more; }
  SINTER_MODULE(weight, bias)
};

}  // namespace

TEST_CASE("backward hooks see and replace gradients of inputs and of the output", "[nn]") {
  ON_BOTH_EXECUTORS();
  const Tensor w = from({{1.0, 2.0}, {3.0, 4.0}}), bias = from({1.0, -1.0}).requires_grad();
  nn::AnyModule layer = Weighted{w.clone().requires_grad(), bias};
  std::vector<double> outs, ins;
  const size_t seen = layer.register_full_backward_hook([&](std::vector<Tensor>& x, const Tensor& y) {
    REQUIRE(x.size() == 2);
    CHECK_FALSE(x[1].defined());
    ins = numbers(x[0]), outs = numbers(y);
    x[0] = x[0] * 10.0;
  });
  const Tensor x = from({5.0, 6.0}).requires_grad(), fixed = from({2.0, 2.0});
  layer(x, fixed).sum().backward();
  // y = W x + bias + fixed.
  CHECK(outs == std::vector<double>{1, 1});
  CHECK(ins == std::vector<double>{4, 6});
  CHECK(numbers(x.grad()) == std::vector<double>{40, 60});
  CHECK(numbers(bias.grad()) == std::vector<double>{1, 1});
  // Before it the output's gradient may change, and all that follows from it.
  const size_t before = layer.register_full_backward_pre_hook([](Tensor& y) { y = y * from({1.0, 3.0}); });
  CHECK(numbers(gradient(layer(x, fixed).sum(), {x, bias})[1]) == std::vector<double>{1, 3});
  CHECK(outs == std::vector<double>{1, 3});
  CHECK(ins == std::vector<double>{10, 14});
  // Of two calls each has its own.
  CHECK(numbers(gradient((layer(x, fixed) + layer(x * 2.0, fixed)).sum(), {x})[0]) == std::vector<double>{300, 420});
  layer.remove_hook(before);
  layer.remove_hook(seen);
  outs.clear();
  CHECK(numbers(gradient(layer(x, fixed).sum(), {x})[0]) == std::vector<double>{4, 6});
  CHECK(outs.empty());
}

TEST_CASE("backward hooks are part of derivatives of derivatives", "[nn]") {
  ON_BOTH_EXECUTORS();
  nn::AnyModule square = nn::Functional([](const Tensor& x) { return x * x; });
  square.register_full_backward_hook([](std::vector<Tensor>& x, const Tensor& y) { x[0] = x[0] + y; });
  const auto f = [&](const Tensor& x) { return square(x); };
  const Tensor x = from({3.0, -1.0});
  CHECK(numbers(jacobian(f, x)) == std::vector<double>{7, 0, 0, -1});
  CHECK(numbers(hessian([&](const Tensor& a) { return f(a).sum(); }, x)) == std::vector<double>{2, 0, 0, 2});
  const Tensor leaf = x.clone().requires_grad();
  CHECK(numbers(gradient(checkpoint(f, leaf).sum(), {leaf})[0]) == std::vector<double>{7, -1});
}

TEST_CASE("backward hooks are called without inputs that require grad, and not without gradients", "[nn]") {
  nn::AnyModule layer = nn::Linear(2, 3);
  int calls = 0;
  layer.register_full_backward_hook([&](std::vector<Tensor>& x, const Tensor& y) {
    ++calls;
    CHECK_FALSE(x[0].defined());
    CHECK(y.shape() == Shape{4, 3});
  });
  const Tensor x = ones({4, 2});
  layer(x).sum().backward();
  CHECK(calls == 1);
  {
    const no_grad off;
    layer(x);
  }
  CHECK(calls == 1);
  // Once in a jitted function, whose replays have the hook's changes.
  nn::AnyModule doubled = nn::ReLU();
  doubled.register_full_backward_hook([](std::vector<Tensor>& g, const Tensor&) { g[0] = g[0] * 2.0; });
  auto slope = jit(grad([&](const Tensor& t) { return doubled(t).sum(); }));
  for (int i = 0; i < 4; ++i) CHECK(numbers(slope(x * (i - 1.5))) == std::vector<double>(8, i < 2 ? 0 : 2));

  nn::AnyModule wrong = nn::ReLU();
  wrong.register_full_backward_hook([](std::vector<Tensor>& g, const Tensor&) { g[0] = g[0].sum(); });
  const Tensor t = ones({4}).requires_grad();
  CHECK_THROWS_WITH(wrong(t).sum().backward(), Contains("float32 []") && Contains("an input") && Contains("[4]"));
  nn::AnyModule fewer = nn::ReLU();
  fewer.register_full_backward_hook([](std::vector<Tensor>& g, const Tensor&) { g.clear(); });
  CHECK_THROWS_WITH(fewer(t).sum().backward(), Contains("0 gradients for 1 inputs"));
  CHECK_THROWS_WITH(vmap([&](const Tensor& e) { return wrong(e); })(ones({2, 3})),
                    Contains("AnyModule") && Contains("whole batches"));
}
