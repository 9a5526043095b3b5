// A whole training step as one jitted function: replays do to the bit what the steps do without jit.
#include <functional>

#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using OptimizerOf = std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>;
struct RuleCase {
  const char* name;
  OptimizerOf make;
};
template <class O>
RuleCase rule(const char* name, typename O::Options options = {}) {
  return {name, [options](std::vector<Tensor> p) { return std::make_unique<O>(std::move(p), options); }};
}

const RuleCase kRules[] = {
    rule<optim::SGD>("SGD"),
    rule<optim::SGD>("SGD with momentum", {.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.01}),
    rule<optim::SGD>("SGD, Nesterov", {.momentum = 0.9, .nesterov = true, .maximize = true}),
    rule<optim::Adam>("Adam", {.lr = 0.02}),
    rule<optim::Adam>("Adam, AMSGrad", {.lr = 0.02, .weight_decay = 0.1, .amsgrad = true}),
    rule<optim::AdamW>("AdamW", {.lr = 0.02}),
    rule<optim::RMSprop>("RMSprop", {.momentum = 0.5, .centered = true}),
    rule<optim::Adagrad>("Adagrad", {.lr = 0.1, .lr_decay = 0.2, .initial_accumulator_value = 0.1}),
    rule<optim::Adadelta>("Adadelta"),
    rule<optim::Adamax>("Adamax"),
    rule<optim::ASGD>("ASGD", {.lr = 0.1, .lambd = 0.1, .t0 = 3}),
    rule<optim::Rprop>("Rprop"),
    rule<optim::NAdam>("NAdam"),
    rule<optim::RAdam>("RAdam", {.beta2 = 0.9}),
    rule<optim::Lion>("Lion", {.weight_decay = 0.1}),
    rule<optim::LAMB>("LAMB"),
};

struct Net {
  Tensor w, b;
  explicit Net(bool matrix = false) {
    manual_seed(5);
    w = randn({3, 2}).realize().requires_grad();
    b = (matrix ? randn({2, 2}) : randn({2})).realize().requires_grad();
  }
  Tensor loss(const Tensor& x) const { return square(tanh(matmul(x, w) + b.sum(0)) - 0.3).mean(); }
  std::vector<Tensor> parameters() const { return {w, b}; }
};

std::vector<double> all(const Net& net, const optim::Optimizer& o) {
  std::vector<double> out = numbers(net.w);
  for (double v : numbers(net.b)) out.push_back(v);
  for (const auto& [name, t] : o.state_dict())
    for (double v : numbers(t)) out.push_back(v);
  return out;
}
Tensor input(int i) {
  manual_seed(static_cast<uint64_t>(100 + i));
  return randn({4, 3}).realize();
}

/// Twelve steps without jit, and twelve of which all but the first few are replays.
void compare(const OptimizerOf& make, bool matrix = false) {
  const Net plain(matrix), jitted(matrix);
  const auto a = make(plain.parameters()), b = make(jitted.parameters());
  optim::LRScheduler first(*a, optim::ExponentialLR{0.8}), second(*b, optim::ExponentialLR{0.8});
  int runs = 0;
  auto step = jit([&](const Tensor& x) {
    ++runs;
    b->zero_grad();
    const Tensor loss = jitted.loss(x);
    loss.backward();
    b->step();
    return loss;
  });
  for (int i = 0; i < 12; ++i) {
    const Tensor loss = plain.loss(input(i));
    loss.backward();
    a->step();
    const Tensor again = step(input(i));
    CHECK(same(numbers(loss), numbers(again)));
    CHECK(same(all(plain, *a), all(jitted, *b)));
    CHECK_FALSE(jitted.w.has_grad());
    if (i % 3 == 2) first.step(), second.step();  // acts on the next replay
  }
  CHECK(runs < 6);
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const UsageError& e) { return e.what(); }
  return "";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

class Fading final : public optim::Optimizer {
 public:
  Fading(std::vector<Tensor> p, bool known) : Optimizer(std::move(p), 0.1, Loc::current(), "Fading"), known_(known) {}

 private:
  Tensor updated(Update& u) override {
    const auto share = [](int64_t t) { return 1.0 / static_cast<double>(t); };
    return u.parameter() - u.gradient() * (u.rate() * (known_ ? u.number(share) : u.number(share(u.step()))));
  }
  bool known_;
};

}  // namespace

TEST_CASE("a jitted training step does what it does without jit, for each rule", "[nn][jit]") {
  for (const RuleCase& r : kRules) {
    INFO(r.name);
    compare(r.make);
  }
  compare(rule<optim::Muon>("Muon").make, true);
}

TEST_CASE("a jitted training step is interpreted to the same numbers", "[nn][jit]") {
  ON_BOTH_EXECUTORS();
  compare(rule<optim::Adam>("Adam").make);
}

TEST_CASE("jitted steps of groups, of two optimizers, and of rules of one's own", "[nn][jit]") {
  const auto groups = [](std::vector<Tensor> p) -> std::unique_ptr<optim::Optimizer> {
    return std::make_unique<optim::Adam>(
        std::vector<optim::ParamGroup<optim::AdamOptions>>{{{p[0]}, {.lr = 0.1}}, {{p[1]}, {.lr = 0.1, .beta1 = 0.5}}});
  };
  compare(groups);
  // Equal rates of two groups become different ones.
  const Net plain, jitted;
  const auto a = groups(plain.parameters()), b = groups(jitted.parameters());
  auto step = jit([&](const Tensor& x) {
    const Tensor loss = jitted.loss(x);
    loss.backward();
    b->step();
  });
  for (int i = 0; i < 8; ++i) {
    if (i == 4) a->group_lr(1) = b->group_lr(1) = 0.01;
    plain.loss(input(i)).backward();
    a->step();
    step(input(i));
    CHECK(same(all(plain, *a), all(jitted, *b)));
  }
  compare([](std::vector<Tensor> p) { return std::make_unique<Fading>(std::move(p), true); });
  // Two steps of one optimizer, and one of another, in one function; clipping between.
  const Net c, d;
  optim::Adam ca({c.w}), da({d.w});
  optim::SGD cb({c.b}), db({d.b});
  const auto body = [](const Net& net, optim::Optimizer& first, optim::Optimizer& second, const Tensor& x) {
    net.loss(x).backward();
    nn::clip_grad_norm(net.parameters(), 0.1);
    first.step();
    second.step();
    net.loss(x).backward();
    first.step();
    Tensor bias = net.b;
    bias.zero_grad();
  };
  auto both = jit([&](const Tensor& x) { body(d, da, db, x); });
  for (int i = 0; i < 8; ++i) {
    body(c, ca, cb, input(i));
    both(input(i));
    CHECK(same(all(c, ca), all(d, da)));
    CHECK(same(all(c, cb), all(d, db)));
  }
}

TEST_CASE("steps with and without jit go on from each other", "[nn][jit]") {
  const Net plain, mixed;
  optim::Adam a(plain.parameters()), b(mixed.parameters());
  auto step = jit([&](const Tensor& x) {
    mixed.loss(x).backward();
    b.step();
  });
  for (int i = 0; i < 12; ++i) {
    plain.loss(input(i)).backward();
    a.step();
    if (i % 5 == 4) {
      mixed.loss(input(i)).backward();
      b.step();
    } else {
      step(input(i));
    }
    CHECK(same(all(plain, a), all(mixed, b)));
  }
}

TEST_CASE("what a jitted step refuses", "[nn][jit]") {
  const Net net;
  const Tensor x = input(0);
  Fading unknown(net.parameters(), false);
  CHECK(contains(refusal([&] {
                   jit([&](const Tensor& t) {
                     net.loss(t).backward();
                     unknown.step();
                   })(x);
                 }),
                 "give number() a function of the step"));
  Tensor w = net.w, b = net.b;
  w.zero_grad();
  b.zero_grad();
  CHECK(contains(refusal([&] { jit([&](const Tensor& t) { net.loss(t).backward(); })(x); }),
                 "leaves a gradient in a tensor"));
  w.zero_grad();
  b.zero_grad();
  net.loss(x).backward();
  optim::SGD sgd(net.parameters());
  auto step = jit([&](const Tensor& t) {
    net.loss(t).backward();
    sgd.step();
  });
  CHECK(contains(refusal([&] { step(x); }), "has a gradient from before"));
  sgd.zero_grad();
  for (int i = 0; i < 4; ++i) step(x);
  const auto count = [&] { return numbers(sgd.state_dict()[1].second); };
  CHECK(same(count(), {4, 4}));
  optim::LRScheduler schedule(sgd, optim::StepLR{1});
  CHECK(contains(refusal([&] {
                   jit([&](const Tensor& t) {
                     schedule.step();
                     return t * 2.0;
                   })(x);
                 }),
                 "step the schedule outside"));
  // A function that throws after its step has counted nothing.
  CHECK_THROWS_AS(jit([&](const Tensor& t) {
                    net.loss(t).backward();
                    sgd.step();
                    throw std::runtime_error("mine");
                  })(x),
                  std::runtime_error);
  CHECK(same(count(), {4, 4}));
}
