// Update rules against the formulas of their papers, computed here in double.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <type_traits>

#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

/// So many steps on sum(p^2 * c); returns p.
template <class Optimizer>
std::vector<double> run(typename Optimizer::Options options, int steps = 20) {
  Tensor p = from(std::vector<float>{1.0f, -2.0f, 0.5f}, {3}).requires_grad();
  Tensor c = from(std::vector<float>{1.0f, 0.5f, 2.0f}, {3});
  Optimizer opt({p}, options);
  for (int i = 0; i < steps; ++i) {
    Tensor loss = (p * p * c).sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  std::vector<double> out;
  for (float v : p.to_vector<float>()) out.push_back(v);
  return out;
}

template <class Rule>
std::vector<double> reference(Rule rule, int steps = 20) {
  std::vector<double> p{1.0, -2.0, 0.5}, c{1.0, 0.5, 2.0};
  std::vector<double> a(3), b(3);
  for (int t = 1; t <= steps; ++t)
    for (int i = 0; i < 3; ++i) p[i] = rule(t, p[i], 2 * p[i] * c[i], a[i], b[i]);
  return p;
}

/// Evolved sign momentum (Chen et al., 2023) with a rate that falls: what a user writes against the public header.
class Lion final : public optim::Optimizer {
 public:
  explicit Lion(std::vector<Tensor> parameters, Loc where = Loc::current())
      : Optimizer(std::move(parameters), 0.01, where), momentum_(make_state("momentum")) {}

 private:
  Tensor updated(Update& u) override {
    const Tensor m = u.state(momentum_);
    const Tensor direction = sign(m * 0.9 + u.gradient() * 0.1);
    u.set(momentum_, m * 0.99 + u.gradient() * 0.01);
    return u.parameter() - direction * (u.rate() * u.number(1.0 / static_cast<double>(u.step())));
  }
  State momentum_;
};

/// A rule that gives the gradient in another shape.
class Longer final : public optim::Optimizer {
 public:
  explicit Longer(std::vector<Tensor> parameters, Loc where = Loc::current())
      : Optimizer(std::move(parameters), 0.01, where) {}

 private:
  Tensor updated(Update& u) override { return cat({u.gradient(), u.gradient()}, 0); }
};

/// A parameter, its optimiser, and steps on a loss with all kinds of gradients.
struct Training {
  Tensor p = from({1.0, -2.0, 0.5}).requires_grad(), q = from(std::vector<double>{3.0}).requires_grad();
  std::unique_ptr<optim::Optimizer> opt;

  template <class Rule, class... Options>
  static Training with(Options... options) {
    Training t;
    t.opt = std::make_unique<Rule>(std::vector<Tensor>{t.p, t.q}, options...);
    return t;
  }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      Tensor loss = (p * p * p * p).sum() * 0.1;
      if (opt->state_dict()[1].second.to_vector<int64_t>()[0] % 2 == 0) loss = loss + (exp(q * 0.1) * q).sum();
      loss.backward();
      opt->step();
    }
  }
  std::vector<double> numbers() const {
    std::vector<double> all = q.to_vector<double>();
    for (float v : p.to_vector<float>()) all.push_back(v);
    return all;
  }
  nn::NamedTensors state() const {
    nn::NamedTensors all = opt->state_dict();
    all.emplace_back("p", p);
    all.emplace_back("q", q);
    return all;
  }
};

/// Ten steps at once, and five, a file, and five by another optimiser, are the same to the bit.
template <class Make>
void check_resumes(Make make) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sinter-optim-" + std::to_string(getpid()));
  Training whole = make();
  whole.run(10);
  Training first = make();
  first.run(4);
  first.opt->lr *= 0.5;
  first.opt->lr *= 2;
  first.run(1);
  nn::save(first.state(), file);
  const nn::NamedTensors saved = nn::load_file(file);
  std::filesystem::remove(file);
  first.run(3);  // what is in the file does not change any more

  Training second = make();
  second.opt->lr = 123;
  nn::load({{"p", second.p}, {"q", second.q}}, saved, {.strict = false});
  second.opt->load(saved, {.strict = false});
  CHECK(second.opt->lr == whole.opt->lr);
  second.run(5);
  CHECK(second.numbers() == whole.numbers());
  const nn::NamedTensors a = whole.opt->state_dict(), b = second.opt->state_dict();
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].first == b[i].first);
    CHECK((a[i].second == b[i].second).all().item<bool>());
  }
}

void close(const std::vector<double>& got, const std::vector<double>& want) {
  for (size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(2e-5).margin(2e-6));
}

}  // namespace

TEST_CASE("SGD with momentum, Nesterov, dampening and decay", "[nn]") {
  close(run<optim::SGD>({.lr = 0.05}),
        reference([](int, double p, double g, double&, double&) { return p - 0.05 * g; }));
  close(run<optim::SGD>({.lr = 0.05, .momentum = 0.9}), reference([](int, double p, double g, double& v, double&) {
          v = 0.9 * v + g;
          return p - 0.05 * v;
        }));
  close(run<optim::SGD>({.lr = 0.05, .momentum = 0.9, .dampening = 0.5}),
        reference([](int t, double p, double g, double& v, double&) {
          v = t == 1 ? g : 0.9 * v + 0.5 * g;
          return p - 0.05 * v;
        }));
  close(run<optim::SGD>({.lr = 0.05, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true}),
        reference([](int, double p, double g, double& v, double&) {
          g += 0.1 * p;
          v = 0.9 * v + g;
          return p - 0.05 * (g + 0.9 * v);
        }));
  CHECK_THROWS_AS(run<optim::SGD>({.lr = 0.05, .nesterov = true}), UsageError);
}

TEST_CASE("Adam and AdamW", "[nn]") {
  auto adam = [](double decay, bool decoupled) {
    return [=](int t, double p, double g, double& m, double& v) {
      if (!decoupled) g += decay * p;
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      const double d = m / (1 - std::pow(0.9, t)) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
      return p - 0.01 * d - (decoupled ? 0.01 * decay * p : 0.0);
    };
  };
  close(run<optim::Adam>({.lr = 0.01}), reference(adam(0, false)));
  close(run<optim::Adam>({.lr = 0.01, .weight_decay = 0.1}), reference(adam(0.1, false)));
  close(run<optim::AdamW>({.lr = 0.01, .weight_decay = 0.1}), reference(adam(0.1, true)));
}

TEST_CASE("optimisers refuse what they cannot train", "[nn]") {
  CHECK_THROWS_AS(optim::SGD({ones({2})}, {}), UsageError);
  Tensor p = ones({2}).requires_grad();
  CHECK_THROWS_AS(optim::SGD({p, p}, {}), UsageError);
  CHECK_THROWS_AS(optim::Adam({p}, {.beta1 = 1.0}), UsageError);
  CHECK_THROWS_WITH(optim::SGD({p * 2.0}, {}), Catch::Contains("leaf"));
  Tensor q = ones({3}).requires_grad();
  q.sum().backward();
  Longer longer({q});
  CHECK_THROWS_WITH(longer.step(), Catch::Contains("[6]") && Catch::Contains("[3]"));
  CHECK_THROWS_AS(longer.step(), UsageError);
  CHECK(q.to_vector<float>() == std::vector<float>{1, 1, 1});
  CHECK_THROWS_WITH(optim::SGD({p.clone()}, {}), Catch::Contains("leaf"));
  const double nan = std::nan("");
  for (double bad : {-1.0, nan, HUGE_VAL}) {
    CHECK_THROWS_AS(optim::SGD({p}, {.lr = bad}), UsageError);
    CHECK_THROWS_AS(optim::SGD({p}, {.momentum = bad}), UsageError);
    CHECK_THROWS_AS(optim::SGD({p}, {.weight_decay = bad}), UsageError);
    CHECK_THROWS_AS(optim::Adam({p}, {.lr = bad}), UsageError);
    CHECK_THROWS_AS(optim::Adam({p}, {.eps = bad}), UsageError);
    CHECK_THROWS_AS(optim::AdamW({p}, {.weight_decay = bad}), UsageError);
    optim::SGD opt({p}, {});
    opt.lr = bad;
    CHECK_THROWS_WITH(opt.step(), Catch::Contains("lr"));
  }
}

TEST_CASE("steps are counted per parameter, when it is updated", "[nn]") {
  Tensor a = zeros({1}).requires_grad(), b = zeros({1}).requires_grad();
  optim::Adam adam({a, b}, {.lr = 0.1});
  for (int i = 0; i < 50; ++i) {
    a.sum().backward();
    adam.step();
    adam.step();  // there is no gradient: no step
  }
  const double at = a.item();
  CHECK(at == Approx(-5).epsilon(1e-3));
  b.sum().backward();
  adam.step();
  CHECK(b.item() == Approx(-0.1).epsilon(1e-5));  // its first step is as long as lr
  CHECK(a.item() == at);

  Tensor c = zeros({1}).requires_grad(), d = zeros({1}).requires_grad();
  optim::SGD sgd({c, d}, {.lr = 1, .momentum = 0.9, .dampening = 0.5});
  c.sum().backward();
  sgd.step();
  d.sum().backward();
  sgd.step();
  CHECK(d.item() == -1);  // its first velocity is its gradient
}

TEST_CASE("momentum that is given later begins with the gradient", "[nn]") {
  Tensor p = zeros({1}).requires_grad(), idle = zeros({1}).requires_grad();
  optim::SGD sgd({{{p}, {.lr = 1}}, {{idle}, {.lr = 1, .momentum = 0.9, .dampening = 0.5}}});  // p has a buffer, unused
  const auto step = [&] {
    p.sum().backward();
    sgd.step();
    return p.item();
  };
  CHECK(step() == -1);
  sgd.options(0).momentum = 0.9, sgd.options(0).dampening = 0.5;
  CHECK(step() == -2);
  CHECK(step() == Approx(-3.4));
  const nn::NamedTensors state = sgd.state_dict();
  nn::NamedTensors saved;
  for (const auto& [name, t] : state) saved.emplace_back(name, t.clone().realize());
  const double there = p.item(), next = step();
  CHECK(next == Approx(-3.4 - (0.9 * 1.4 + 0.5)));
  sgd.load(saved);  // whose buffer is not new
  nn::load({{"p", p}}, {{"p", full({1}, there)}});
  CHECK(step() == Approx(next));
  sgd.replace(p, zeros({1}).requires_grad());
  CHECK(step() == -1);
}

TEST_CASE("momentum that begins in a jitted step begins with the gradient", "[nn]") {
  Tensor p = zeros({1}).requires_grad(), q = zeros({1}).requires_grad(), idle = zeros({1}).requires_grad();
  optim::SGD jitted({{{p}, {.lr = 1}}, {{idle}, {.momentum = 0.9}}}), plain({q}, {.lr = 1});  // p has a buffer, unused
  auto f = jit([&] {
    const Tensor loss = p.sum();
    loss.backward();
    jitted.step();
    return loss;
  });
  p.sum().backward();
  jitted.step();
  for (int i = 0; i < 5; ++i) {
    q.sum().backward();
    plain.step();
    plain.options().momentum = jitted.options().momentum = 0.9;
    plain.options().dampening = jitted.options().dampening = 0.5;
    if (i == 4) break;
    f();
  }
  CHECK(p.item() == q.item());
  CHECK(p.item() < -5);
}

TEST_CASE("parameters at different steps train in one plan, without compiling anew", "[nn]") {
  Tensor a = zeros({3}).requires_grad(), b = zeros({3}).requires_grad();
  optim::Adam opt({a, b}, {.lr = 0.1});
  (a * a - a).sum().backward();
  opt.step();
  uint64_t compiles = 0;
  for (int i = 0; i < 5; ++i) {
    ((a - 1.0) * (a - 1.0) + (b + 2.0) * (b + 2.0)).sum().backward();
    const debug::Counters before = debug::counters();
    opt.step();
    CHECK(debug::counters().plans - before.plans == 1);
    if (i > 1) compiles += debug::counters().compiles - before.compiles;
  }
  CHECK(compiles == 0);
}

TEST_CASE("the first step is the program of all steps", "[nn]") {
  Tensor a = ones({3}).requires_grad(), b = zeros({3}).requires_grad();  // state of one shape
  optim::Adam opt({a, b}, {.lr = 0.1});
  uint64_t misses = 0;
  for (int i = 0; i < 3; ++i) {
    (a * a + b).sum().backward();
    const uint64_t before = debug::counters().plan_misses;
    opt.step();
    if (i > 0) misses += debug::counters().plan_misses - before;
  }
  CHECK(misses == 0);
}

TEST_CASE("rates and corrections are as wide as the parameters", "[nn]") {
  Tensor p = from(std::vector<double>{1.0}).requires_grad();
  optim::SGD sgd({p}, {.lr = 0.1});
  p.sum().backward();
  sgd.step();
  CHECK(p.item<double>() == 1.0 - 0.1);
  Tensor wide = from(std::vector<double>{0.0}).requires_grad(), narrow = zeros({1}).requires_grad();
  optim::Adam adam({narrow, wide}, {.lr = 0.1});
  double x = 0, m = 0, v = 0;
  for (int t = 1; t <= 5; ++t) {
    (wide * 3.0 + wide * wide).sum().backward();
    (narrow * 3.0 + narrow * narrow).sum().backward();
    adam.step();
    const double g = 3 + 2 * x;
    m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
    x -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  CHECK(wide.item<double>() == Approx(x).epsilon(1e-13));
  CHECK(narrow.item<float>() == Approx(x).epsilon(1e-5));
}

TEST_CASE("the factors of Rprop are as wide as the parameters", "[nn]") {
  Tensor p = from(std::vector<double>{0.0}).requires_grad();
  optim::Rprop rule({p}, {.lr = 0.01});
  // A change of sign shrinks the step and does not move.
  for (const auto& [g, want] :
       {std::pair{1.0, -0.01}, {1.0, -0.022}, {1.0, -0.0364}, {-1.0, -0.0364}, {-1.0, -0.0292}}) {
    p.set_grad(from(std::vector<double>{g}));
    rule.step();
    CHECK(std::abs(p.item<double>() - want) < 1e-15);
  }
}

TEST_CASE("a clipped gradient is what the step takes", "[nn]") {
  Tensor p = from({3.0, 4.0}).requires_grad();
  optim::SGD opt({p}, {.lr = 1});
  for (int i = 0; i < 3; ++i) {
    Tensor loss = (p * p * 0.5).sum();
    loss.backward();
    p.set_grad(p.grad() * 0.5);
    const uint64_t plans = debug::counters().plans;
    opt.step();
    loss.item();
    CHECK(debug::counters().plans == plans + 1);  // the loss is stored by the step, as without clipping
  }
  CHECK(p.to_vector<float>() == std::vector<float>{0.375f, 0.5f});
}

TEST_CASE("options of optimisers may be left out", "[nn]") {
  Tensor w = ones({2}).requires_grad();
  CHECK(optim::SGD({w}).lr == 1e-2);
  CHECK(optim::Adam({w}).lr == 1e-3);
  optim::AdamW rule({w});
  (w * 3).sum().backward();
  rule.step();
  CHECK(w.to_vector<float>()[0] == Approx(1 - 1e-3 * 1e-2 - 1e-3));
}

TEST_CASE("a rule of one's own derives from Optimizer", "[nn]") {
  Tensor p = from(std::vector<double>{1.0, -2.0}).requires_grad(), idle = ones({1}).requires_grad();
  Lion opt({p, idle});
  std::vector<double> x{1.0, -2.0}, m{0.0, 0.0};
  for (int t = 1; t <= 6; ++t) {
    (p * p).sum().backward();
    const debug::Counters before = debug::counters();
    opt.step();
    CHECK(debug::counters().plans - before.plans == 1);
    if (t > 2) CHECK(debug::counters().compiles == before.compiles);  // the falling rate is an argument
    for (size_t i = 0; i < 2; ++i) {
      const double g = 2 * x[i], c = m[i] * 0.9 + g * 0.1;
      m[i] = m[i] * 0.99 + g * 0.01;
      x[i] -= 0.01 / t * (c > 0 ? 1 : c < 0 ? -1 : 0);
    }
  }
  const std::vector<double> got = p.to_vector<double>();
  for (size_t i = 0; i < 2; ++i) CHECK(got[i] == Approx(x[i]).epsilon(1e-12));
  const nn::NamedTensors state = opt.state_dict();
  REQUIRE(state.size() == 4);
  CHECK(state[1].second.to_vector<int64_t>() == std::vector<int64_t>{6, 0});
  CHECK(state[2].first == "0.momentum");
  CHECK(state[2].second.to_vector<double>()[1] == Approx(m[1]).epsilon(1e-12));
  CHECK(state[3].first == "1.momentum");
}

TEST_CASE("a training goes on from a saved state to the bit", "[nn]") {
  check_resumes([] { return Training::with<optim::SGD>(); });
  check_resumes([] { return Training::with<optim::SGD>(optim::SGD::Options{.momentum = 0.9, .dampening = 0.3}); });
  check_resumes([] { return Training::with<optim::Adam>(optim::Adam::Options{.lr = 0.05}); });
  check_resumes([] { return Training::with<optim::AdamW>(optim::AdamW::Options{.lr = 0.05, .weight_decay = 0.1}); });
  check_resumes([] { return Training::with<Lion>(); });
}

TEST_CASE("a state that does not fit loads nothing", "[nn]") {
  Training one = Training::with<optim::Adam>(), other = Training::with<optim::Adam>();
  one.run(2);
  other.run(1);
  nn::NamedTensors state = one.opt->state_dict();
  const std::vector<float> before = other.opt->state_dict()[2].second.to_vector<float>();
  const auto refuses = [&](const nn::NamedTensors& bad, const char* says) {
    CHECK_THROWS_WITH(other.opt->load(bad), Catch::Contains(says));
    CHECK(other.opt->state_dict()[1].second.to_vector<int64_t>() == std::vector<int64_t>{1, 1});
    CHECK(other.opt->state_dict()[2].second.to_vector<float>() == before);
  };
  refuses(nn::NamedTensors(state.begin(), state.end() - 1), "1.exp_avg_sq");
  nn::NamedTensors bad = state;
  bad[3].second = ones({7});
  refuses(bad, "0.exp_avg_sq");
  bad = state;
  bad[1].second = from(std::vector<int64_t>{1, -1});
  refuses(bad, "parameter 1 of 2 was updated -1 times; give what state_dict() returned");
  bad = state;
  bad[0].second = full({}, -2.0, float64);
  refuses(bad, "lr is -2");
  CHECK_THROWS_AS(Training::with<optim::SGD>().opt->load(state), UsageError);
  other.opt->load(state);
  CHECK(other.opt->state_dict()[1].second.to_vector<int64_t>() == std::vector<int64_t>{2, 1});
}

TEST_CASE("optimisers are not copied", "[nn]") {
  STATIC_REQUIRE(!std::is_copy_constructible_v<optim::Adam>);
  STATIC_REQUIRE(!std::is_copy_assignable_v<optim::SGD>);
  STATIC_REQUIRE(!std::is_move_constructible_v<optim::AdamW>);  // a schedule keeps its place
}
