// debug::detect_anomaly: the op, the call, the element; what is none of its business.
#include <limits>

#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The anomaly that f meets under the watch; with an empty op if it meets none.
Anomaly found(const std::function<void()>& f) {
  const debug::detect_anomaly watch;
  try {
    f();
  } catch (const AnomalyError& e) {
    CHECK(std::string(e.what()).find(e.anomaly().op) != std::string::npos);
    return e.anomaly();
  }
  return {};
}

}  // namespace

TEST_CASE("an anomaly is found at its op, its call and its element", "[tensor][anomaly]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{1.0, 4.0, 2.0}, {0.5, 0.0, -1.0}}).realize();
  const Anomaly log_of_zero = found([&] {
    const Tensor total = (log(x) * 2.0 + 1.0).sum();
    total.item();
  });
  CHECK(log_of_zero.op == "Log");
  CHECK(log_of_zero.call == "log");
  CHECK(log_of_zero.file.find("anomaly_test.cpp") != std::string::npos);
  CHECK(log_of_zero.line > 0);
  CHECK_FALSE(log_of_zero.backward);
  // The sum is NaN: of log(0) = -inf, which is no NaN, and of log(-1).
  CHECK(log_of_zero.index == std::vector<int64_t>{1, 2});
  CHECK(std::isnan(log_of_zero.value));
  const Anomaly of_second =
      found([&] { log(x.transpose()).slice(1, {1, 2}).flip(0).reshape({3}).slice(0, {1, 3}).clone().realize(); });
  CHECK(of_second.index == std::vector<int64_t>{1, 1});
  CHECK(of_second.value == -kInfinite);
  const Anomaly difference = found([&] {
    const Tensor big = exp(x * 100.0);
    big.realize();
  });
  CHECK(difference.op == "Exp");
  CHECK(difference.index == std::vector<int64_t>{0, 0});
  const Tensor infinite = from({kInfinite, 1.0}).realize();
  const Anomaly minus = found([&] { (infinite - infinite).realize(); });
  CHECK(minus.op == "Sub");
  CHECK(minus.index == std::vector<int64_t>{0});
  const Anomaly product = found([&] { matmul(x * 1e30, x.transpose() * 1e30).realize(); });
  CHECK((product.op == "Mul" || product.op == "Reduce"));
  CHECK(product.call == "matmul");
  const Anomaly half = found([&] { (x * 1e5).to(float16).realize(); });
  CHECK(half.op == "Cast");
}

TEST_CASE("an anomaly of a gradient names the call that it is a gradient of", "[tensor][anomaly]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({4.0, 0.0}).requires_grad();
  const Anomaly root = found([&] { gradient(sqrt(x).sum(), {x})[0].realize(); });
  CHECK(root.backward);
  CHECK(root.call == "sqrt");
  CHECK(root.op == "Div");
  CHECK(root.index == std::vector<int64_t>{1});
  CHECK(root.value == kInfinite);
  // The branch that where() does not take has no result of its own, but a gradient: the known trap.
  Tensor y = from({4.0, 0.0}).requires_grad();
  const Anomaly trap = found([&] {
    where(y > 1.0, sqrt(y), y).sum().backward();
    y.grad().realize();
  });
  CHECK(trap.backward);
  CHECK(trap.call == "sqrt");
  CHECK(std::isnan(trap.value));
  // A step overwrites the parameters that it was computed from.
  Tensor w = from({-1.0, 2.0}).requires_grad();
  optim::SGD sgd({w});
  const Anomaly step = found([&] {
    const Tensor loss = log(w).sum();
    loss.backward();
    sgd.step();
  });
  CHECK(step.op == "Log");
  CHECK_FALSE(step.backward);
  CHECK(step.index == std::vector<int64_t>{0});
}

TEST_CASE("what lies in data, or reaches no result, is no anomaly", "[tensor][anomaly]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({4.0, 0.0}).realize(), given = from({kInfinite, std::nan("")}).realize();
  const auto none = [](const std::function<void()>& f) {
    const Anomaly a = found(f);
    INFO(a.op << " of " << a.call);
    CHECK(a.op.empty());
  };
  none([&] { where(x > 1.0, log(x), 0.0).realize(); });
  none([&] { (given * 2.0).realize(); });
  none([&] { softmax(where(x > 1.0, x, -kInfinite)).realize(); });
  none([&] { where(x > 1.0, x, -kInfinite).realize(); });
  none([&] { full({3}, kInfinite).realize(); });
  none([&] { x.max().realize(); });
  none([&] { sinc(x).realize(); });
  none([&] { cumsum(x, 0).realize(); });
  CHECK(found([&] { cumsum(log(x), 0).realize(); }).op == "Log");
  CHECK_NOTHROW(log(x).realize());
  CHECK_FALSE(debug::detect_anomaly::enabled());
  {
    const debug::detect_anomaly watch;
    const debug::detect_anomaly off(false);
    CHECK_NOTHROW(log(x * 1.0).realize());
  }
  auto jitted = jit([](const Tensor& t) { return log(t); });
  for (int i = 0; i < 4; ++i) jitted(x);
  CHECK(found([&] { jitted(x); }).op == "Log");
  CHECK(same(numbers(jitted(x)), {std::log(4.0F), -kInfinite}));
}
