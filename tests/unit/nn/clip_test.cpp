// Gradient clipping against its formulas.
#include <cmath>
#include <limits>

#include "catch.h"
#include "sinter/debug.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;

namespace {

/// Two parameters with gradients [3, -4] and [[12]], one without.
struct Parameters {
  Tensor a = zeros({2}).requires_grad(), b = zeros({1, 1}, float64).requires_grad(), none = zeros({5}).requires_grad();
  Parameters() { ((a * from({3.0, -4.0})).sum().to(float64) + (b * 12.0).sum()).backward(); }
  std::vector<Tensor> all() const { return {a, b, none}; }
};

}  // namespace

TEST_CASE("the norm of gradients, for each p", "[nn][clip]") {
  Parameters p;
  CHECK(nn::grad_norm(p.all()).item<double>() == Approx(13.0));
  CHECK(nn::grad_norm(p.all(), 1).item() == Approx(19.0));
  CHECK(nn::grad_norm(p.all(), std::numeric_limits<double>::infinity()).item() == 12.0);
  CHECK(nn::grad_norm(p.all(), 3).item() == Approx(std::cbrt(27.0 + 64.0 + 1728.0)));
  CHECK(nn::grad_norm({p.none}).item() == 0.0);
  CHECK(nn::grad_norm({}).dtype() == float32);
}

TEST_CASE("clip_grad_norm_ scales all gradients alike, and only down", "[nn][clip]") {
  Parameters p;
  const Tensor before = p.a.grad();
  CHECK(nn::clip_grad_norm_(p.all(), 6.5).item() == Approx(13.0));
  const double factor = 6.5 / (13.0 + 1e-6);
  CHECK(p.a.grad().to_vector<float>()[1] == Approx(-4 * factor));
  CHECK(p.b.grad().item<double>() == Approx(12 * factor));
  CHECK(p.b.grad().dtype() == float64);
  CHECK_FALSE(p.none.has_grad());
  CHECK(before.to_vector<float>() == std::vector<float>{3, -4});
  CHECK(nn::clip_grad_norm_(p.all(), 100.0).item() == Approx(6.5));
  CHECK(nn::grad_norm(p.all()).item() == Approx(6.5));
}

TEST_CASE("clip_grad_value_ clamps each element", "[nn][clip]") {
  Parameters p;
  nn::clip_grad_value_(p.all(), 3.5);
  CHECK(p.a.grad().to_vector<float>() == std::vector<float>{3.0f, -3.5f});
  CHECK(p.b.grad().item<double>() == 3.5);
}

TEST_CASE("a clipped step moves by the clipped gradient, in one plan", "[nn][clip]") {
  Tensor w = from({1.0, 2.0}).requires_grad();
  optim::SGD opt({w}, {.lr = 1.0});
  realize(w);
  (w * from({30.0, 40.0})).sum().backward();
  debug::reset_counters();
  nn::clip_grad_norm_({w}, 5.0);
  opt.step();
  CHECK(debug::counters().plans == 1);
  CHECK(w.to_vector<float>()[0] == Approx(1.0 - 3.0).epsilon(1e-6));
  CHECK(w.to_vector<float>()[1] == Approx(2.0 - 4.0).epsilon(1e-6));
}

TEST_CASE("clipping refuses bounds without a meaning", "[nn][clip]") {
  Parameters p;
  CHECK_THROWS_WITH(nn::clip_grad_norm_(p.all(), -1.0), Contains("max_norm is -1"));
  CHECK_THROWS_WITH(nn::clip_grad_norm_(p.all(), 1.0, 0.0), Contains("p is 0"));
  CHECK_THROWS_WITH(nn::clip_grad_value_(p.all(), NAN), Contains("limit is nan"));
}

TEST_CASE("clipping by the names without an underscore is the same", "[nn][clip]") {
  Parameters p, q;
  CHECK(nn::clip_grad_norm(p.all(), 6.5, 3).item() == nn::clip_grad_norm_(q.all(), 6.5, 3).item());
  CHECK(p.a.grad().to_vector<float>() == q.a.grad().to_vector<float>());
  nn::clip_grad_value(p.all(), 1.5);
  CHECK(p.a.grad().to_vector<float>() == std::vector<float>{1.5f, -1.5f});
  try {
    nn::clip_grad_value(p.all(), -1);
    FAIL("it was accepted");
  } catch (const UsageError& e) { CHECK(e.where().line() == __LINE__ - 2); }
}
