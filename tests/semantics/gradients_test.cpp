// Gradients: G1 to G7 of docs/semantics.md. Longer programs stand in programs_*_test.cpp.
#include "gradient/reverse.h"
#include "semantics/support.h"
#include "sinter/error.h"
#include "sinter/nn/conv.h"
#include "sinter/nn/norm.h"
#include "tensor/core/cell.h"

using namespace semantics;

TEST_CASE("G1 gradient() is pure and the way to higher orders", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = from(Vec{1, 2, 3}).requires_grad(), y = (x * x * x).sum();
  Tensor first = gradient(y, {x})[0], second = gradient(first.sum(), {x})[0], third = gradient(second.sum(), {x})[0];
  CHECK(read(first) == Vec{3, 12, 27});
  CHECK(read(second) == Vec{6, 12, 18});
  CHECK(read(third) == Vec{6, 6, 6});
  CHECK_FALSE(x.has_grad());
  CHECK_NOTHROW(y.backward());
  Tensor old = x.clone();
  {
    const no_grad off;
    x.assign(x + 1.0);
  }
  CHECK_THROWS_AS(gradient((old * old).sum(), {x}), UsageError);  // another version
  CHECK_THROWS_AS(gradient(x.detach().sum(), {x}), UsageError);
  CHECK(read(gradient(x * 2.0, std::vector<Tensor>{x}, from(Vec{1, 10, 100}))[0]) == Vec{2, 20, 200});
  // A view of a view goes through the one between.
  Tensor column = x.reshape({3, 1}), row = column.transpose();
  CHECK(read(gradient((column.reshape({3}) * 2.0).sum(), {column})[0]) == Vec{2, 2, 2});
  CHECK(read(gradient((row.transpose() * 3.0).sum(), {row})[0]) == Vec{3, 3, 3});
  CHECK_THROWS_WITH(gradient(row.sum(), {row.transpose()}), Catch::Contains("not used"));
}

TEST_CASE("G2 backward() consumes what it walked, whatever is realised in between", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = from(Vec{1, 2}).requires_grad(), h = exp(w), a = h.sum(), b = (h * h).sum();
  a.backward();
  CHECK_THROWS_WITH(b.backward(), Catch::Contains("keep_graph"));
  h.realize();
  CHECK_THROWS_WITH(b.backward(), Catch::Contains("keep_graph"));
  CHECK_THROWS_WITH(gradient(b, {w}), Catch::Contains("keep_graph"));
  Tensor h2 = exp(w), c = h2.sum(), d = (h2 * h2).sum();
  c.backward(true);
  CHECK_NOTHROW(d.backward());
  Tensor e = exp(w).sum(), f = exp(w).sum();  // the same expression twice is two graphs
  e.backward();
  CHECK_NOTHROW(f.backward());
  CHECK_THROWS_AS(w.detach().sum().backward(), UsageError);
  CHECK_THROWS_AS(exp(w).backward(), UsageError);  // no scalar
}

TEST_CASE("G3 .grad is a cell that backward() adds into", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = from(Vec{1, 2}).requires_grad();
  CHECK_THROWS_WITH(w.grad(), Catch::Contains("has not reached"));
  (w * 3.0).sum().backward();
  Tensor g = w.grad();
  CHECK_FALSE(g.needs_grad());
  (w * w).sum().backward();
  CHECK(read(g) == Vec{5, 7});
  w.set_grad(from(Vec{1, 1}));
  CHECK(read(w.grad()) == Vec{1, 1});
  CHECK(read(g) == Vec{5, 7});
  w.zero_grad();
  CHECK_THROWS_WITH(w.grad(), Catch::Contains("zero_grad() took it"));
  CHECK(read(g) == Vec{5, 7});
}

TEST_CASE("G4 backward() realises the parameters that it reaches", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = (full64({3}, 2) * 3.0).requires_grad(), loss = (w * w).sum();
  loss.backward();
  CHECK(tensor::node_of(w)->storage() != nullptr);
  CHECK(read(w.grad()) == Vec{12, 12, 12});
}

TEST_CASE("G4 the first step of a network with batch norm runs one forward pass", "[semantics]") {
  ON_EACH_EXECUTOR();
  nn::Conv2d conv(2, 3, 3);
  nn::BatchNorm2d norm(3);
  std::vector<Tensor> parameters{conv.weight, norm.weight};
  const Tensor x = arange(2 * 2 * 5 * 5).to(DType::F32).reshape({2, 2, 5, 5}).realize();
  Tensor calls = from(Vec{0}), loss = square(norm(conv(x))).sum();
  calls.assign(calls + 1.0);
  CounterDelta c;
  loss.backward();
  CHECK(c.plans() == 1);
  CHECK(tensor::node_of(conv.weight)->storage());
  CHECK(tensor::node_of(calls)->storage());
  CHECK_FALSE(tensor::node_of(norm.running_mean)->storage());
  optim::SGD opt(parameters, {.lr = 0.0});
  opt.step();
  CHECK(c.plans() == 2);
  CHECK(tensor::node_of(norm.running_mean)->storage());
  const no_grad off;
  CHECK(close(read(norm.running_mean.to(DType::F64)), read((conv(x).mean({0, 2, 3}) * 0.1).to(DType::F64))));
}

TEST_CASE("G5 step() is one plan with the loss among its outputs, and takes the gradients", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = from(Vec{1, 2}).requires_grad();
  w.realize();
  optim::SGD opt({w}, {.lr = .5});
  Tensor loss = (w * w).sum();
  loss.backward();
  CounterDelta c;
  opt.step();
  CHECK(loss.item() == 5);
  CHECK(c.plans() == 1);
  CHECK_FALSE(w.has_grad());
  opt.zero_grad();
  CHECK(read(w) == Vec{0, 0});
}

TEST_CASE("G6 under no_grad nothing requires grad, and history is read through one DETACH", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor w = from(Vec{1, 2}).requires_grad(), h = exp(w);
  {
    const no_grad off;
    Tensor m = h * 2.0, n = h + 1.0;
    CHECK_FALSE(m.needs_grad());
    CHECK(tensor::node_of(m)->src[0]->op == ir::Op::Detach);
    CHECK(tensor::node_of(m)->src[0] == tensor::node_of(n)->src[0]);
  }
  Tensor plain = from(Vec{1});
  CHECK(tensor::node_of(plain.detach()) == tensor::node_of(plain));
  Tensor d = h.detach();
  h.realize();
  CHECK(tensor::node_of(d)->storage() == tensor::node_of(h)->storage());
  CHECK(tensor::node_of(d)->src.empty());
  const size_t before = debug::counters().live_nodes;
  h = Tensor();
  CHECK(debug::counters().live_nodes < before);  // the history of h is gone, its value lives in d
  CHECK(close(read(d), Vec{std::exp(1.0), std::exp(2.0)}));
}

TEST_CASE("G7 ties: maximum and max share, relu is 0 at 0, argmax takes the first", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor a = from(Vec{1, 2, 3}).requires_grad(), b = from(Vec{1, 5, 0}).requires_grad();
  maximum(a, b).sum().backward();
  CHECK(read(a.grad()) == Vec{.5, 0, 1});
  CHECK(read(b.grad()) == Vec{.5, 1, 0});
  Tensor c = from(Vec{3, 1, 3}).requires_grad();
  c.max().backward();
  CHECK(read(c.grad()) == Vec{.5, 0, .5});
  Tensor d = from(Vec{-1, 0, 2}).requires_grad();
  relu(d).sum().backward();
  CHECK(read(d.grad()) == Vec{0, 0, 1});
  CHECK(from(Vec{1, 7, 7}).argmax().item<int64_t>() == 1);
  Tensor e = from(Vec{2, 2}).requires_grad();
  CHECK(close(read(gradient(softmax(e, 0).index({0}), {e})[0]), Vec{.25, -.25}));
  CHECK(close(read(gradient(log_softmax(e, 0).index({0}), {e})[0]), Vec{.5, -.5}));
  CHECK(close(read(gradient(logsumexp(e), {e})[0]), Vec{.5, .5}));
  // A maximum that shares its gradient would give these numbers too: it cancels. But it would be walked.
  for (const Tensor& y : {softmax(e, 0), log_softmax(e, 0), logsumexp(e)}) {
    const ir::GraphScope scope;
    const std::vector<ir::UOp> walked = autodiff::gradient_nodes(tensor::node_of(y));
    CHECK(walked.size() > 1);
    for (ir::UOp n : walked) CHECK((n->op != ir::Op::Reduce || n->reduction().combine != ir::Combine::Max));
  }
}
