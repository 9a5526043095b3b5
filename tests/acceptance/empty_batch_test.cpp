// A batch of no samples is a batch: every way of running takes it, forwards and backwards.
#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

/// Runs the test once per way of running.
#define ON_EACH_EXECUTOR()                                                                                          \
  debug::set_executor(GENERATE(debug::Executor::Interpreter, debug::Executor::Compiled, debug::Executor::Unfused)); \
  struct Restore {                                                                                                  \
    ~Restore() { debug::set_executor(debug::Executor::Compiled); }                                                  \
  } restore_

}  // namespace

TEST_CASE("a network takes an empty batch and trains on nothing", "[launches]") {
  ON_EACH_EXECUTOR();
  const bool symbolic = GENERATE(false, true);
  const Dim none = symbolic ? Var("batch", 0, 8)(0) : Dim(0);
  manual_seed(0);
  nn::Linear l1(3, 4), l2(4, 2);
  Tensor x = from(std::vector<float>{}, {none, 3}), y = from(std::vector<int64_t>{}, {none});
  Tensor out = l2(relu(l1(x)));
  CHECK(out.shape() == Shape{none, 2});
  CHECK(out.to_vector<float>().empty());
  CHECK(softmax(l2(relu(l1(x)))).to_vector<float>().empty());
  CHECK(relu(l1(x)).sum().item<float>() == 0);
  CHECK(matmul(x.transpose(), l1(x)).to_vector<float>() == std::vector<float>(12, 0.0f));

  std::vector<Tensor> parameters{l1.weight, l1.bias, l2.weight, l2.bias};
  optim::SGD opt(parameters, {.lr = 0.1});
  std::vector<std::vector<float>> before;
  for (const Tensor& p : parameters) before.push_back(p.to_vector<float>());
  for (int i = 0; i < 3; ++i) {
    Tensor loss = cross_entropy(l2(relu(l1(x))), y, {.reduction = Reduction::Sum});
    loss.backward();
    for (const Tensor& p : parameters) CHECK(p.has_grad());
    opt.step();
    CHECK(loss.item<float>() == 0);
  }
  for (size_t i = 0; i < parameters.size(); ++i) CHECK(parameters[i].to_vector<float>() == before[i]);
}

TEST_CASE("updates and joins of nothing are nothing", "[launches]") {
  ON_EACH_EXECUTOR();
  Tensor x = from(std::vector<float>{}, {0, 3});
  x += 1;
  x.at({Slice{}, 0}) = 3;
  CHECK(x.to_vector<float>().empty());
  CHECK(cat({x, ones({1, 3})}).to_vector<float>() == std::vector<float>{1, 1, 1});
  CHECK((x / x.sum(0)).to_vector<float>().empty());
}

TEST_CASE("whole numbers and truths over a batch that may be empty have their value", "[launches]") {
  ON_EACH_EXECUTOR();
  const int64_t size = GENERATE(0, 3);
  const Dim batch = Var("batch", 0, 5000)(size);  // as long as to be summed in blocks
  Tensor x = ones({batch, 100}, int64).contiguous().realize();
  Tensor some = (x > 0).any(), count = (x * 2).sum();
  CHECK(some.to(int64).item<int64_t>() == (size > 0));
  CHECK(count.item<int64_t>() == 200 * size);
}
