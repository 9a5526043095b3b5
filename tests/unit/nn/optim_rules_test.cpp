// Update rules against what PyTorch's make of the same gradients (tests/reference/record_training.py), groups of
// parameters, and LBFGS.
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "catch.h"
#include "repository.h"
#include "sinter/nn/averaged_model.h"
#include "sinter/nn/lbfgs.h"
#include "sinter/nn/optim_rules.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;

namespace {

using Rule = std::unique_ptr<optim::Optimizer>;
using Make = std::function<Rule(const Tensor& p, const Tensor& q)>;

const std::map<std::string, Tensor>& recorded() {
  static const std::map<std::string, Tensor> tensors = [] {
    std::map<std::string, Tensor> all;
    for (auto& [name, t] : nn::load_file(repository_path("tests/reference/optim.safetensors"))) all[name] = t;
    return all;
  }();
  return tensors;
}

template <class O>
Make with(typename O::Options options = {}) {
  return [=](const Tensor& p, const Tensor& q) { return std::make_unique<O>(std::vector<Tensor>{p, q}, options); };
}

void check_close(const Tensor& got, const Tensor& want, double tolerance) {
  const std::vector<float> a = got.to_vector<float>(), b = want.to_vector<float>();
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(tolerance).margin(tolerance));
}

/// Seven steps with the recorded gradients; from the third on nothing is compiled, but where `changed` says so.
void check_rule(const std::string& name, const Make& make, double tolerance = 2e-5,
                const std::function<void(optim::Optimizer&, int)>& change = {}) {
  INFO(name);
  Tensor p = recorded().at("p").clone().realize().requires_grad(),
         q = recorded().at("q").clone().realize().requires_grad();
  const Rule rule = make(p, q);
  uint64_t compiles = 0;
  int compared = 0;
  for (int t = 1; t <= 7; ++t) {
    if (change) change(*rule, t);
    p.set_grad(recorded().at("grad.p." + std::to_string(t)));
    q.set_grad(recorded().at("grad.q." + std::to_string(t)));
    const uint64_t before = debug::counters().compiles;
    rule->step();
    if (t > 2) compiles += debug::counters().compiles - before;
    const std::string at = "." + std::to_string(t);
    if (!recorded().contains(name + "/p" + at)) continue;
    check_close(p, recorded().at(name + "/p" + at), tolerance);
    check_close(q, recorded().at(name + "/q" + at), tolerance);
    ++compared;
  }
  REQUIRE(compared == 3);  // the steps 1, 2 and 7 are recorded
  if (!change) CHECK(compiles == 0);
}

struct Pair {
  nn::Linear one{2, 3};
  nn::BatchNorm2d norm{3};
  Tensor operator()(const Tensor& x) const { return one(x); }
  SINTER_MODULE(one, norm)
};

}  // namespace

TEST_CASE("optimisers make of gradients what PyTorch's make", "[nn][optim]") {
  using namespace optim;
  check_rule("SGD", with<SGD>({.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1, .maximize = true}));
  check_rule("SGD nesterov", with<SGD>({.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true}));
  check_rule("Adam", with<Adam>({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.1, .amsgrad = true}));
  check_rule("Adam maximize", with<Adam>({.lr = 0.1, .maximize = true}));
  check_rule("AdamW", with<AdamW>({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .amsgrad = true}));
  check_rule("RMSprop", with<RMSprop>());
  check_rule("RMSprop centered",
             with<RMSprop>(
                 {.lr = 0.05, .alpha = 0.9, .weight_decay = 0.1, .momentum = 0.5, .centered = true, .maximize = true}));
  check_rule("Adagrad", with<Adagrad>());
  check_rule(
      "Adagrad decay",
      with<Adagrad>(
          {.lr = 0.2, .lr_decay = 0.3, .weight_decay = 0.1, .initial_accumulator_value = 0.5, .maximize = true}));
  check_rule("Adadelta", with<Adadelta>());
  check_rule("Adadelta decay",
             with<Adadelta>({.lr = 0.5, .rho = 0.8, .eps = 1e-3, .weight_decay = 0.1, .maximize = true}));
  check_rule("NAdam", with<NAdam>({.lr = 0.1}));
  check_rule("NAdam decay", with<NAdam>({.lr = 0.1, .weight_decay = 0.1, .momentum_decay = 0.1, .maximize = true}));
  check_rule("NAdam decoupled", with<NAdam>({.lr = 0.1, .weight_decay = 0.1, .decoupled_weight_decay = true}));
  check_rule("RAdam", with<RAdam>({.lr = 0.1}));
  check_rule("RAdam decay",
             with<RAdam>({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.1, .maximize = true}));
  check_rule("RAdam decoupled", with<RAdam>({.lr = 0.1, .weight_decay = 0.1, .decoupled_weight_decay = true}));
  check_rule("Adamax", with<Adamax>());
  check_rule("Adamax decay",
             with<Adamax>({.lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-2, .weight_decay = 0.1, .maximize = true}));
  check_rule("ASGD", with<ASGD>());
  check_rule("ASGD mean",
             with<ASGD>({.lr = 0.1, .lambd = 0.1, .alpha = 0.6, .t0 = 3, .weight_decay = 0.1, .maximize = true}));
  check_rule("Rprop", with<Rprop>());
  check_rule(
      "Rprop steps",
      with<Rprop>({.lr = 0.1, .etaminus = 0.4, .etaplus = 1.5, .step_min = 0.05, .step_max = 0.2, .maximize = true}));
  check_rule("Lion", with<Lion>({.lr = 0.1, .weight_decay = 0.1}));
  check_rule("LAMB", with<LAMB>({.lr = 0.1}));
  check_rule("Muon", with<Muon>({.lr = 0.1}), 2e-2);  // products in bfloat16
  check_rule("Muon wide", with<Muon>({.lr = 0.1,
                                      .momentum = 0.8,
                                      .nesterov = false,
                                      .adjust_lr = MuonOptions::AdjustLr::MatchRmsAdamW,
                                      .ns_dtype = float32}));
}

TEST_CASE("groups of parameters have options of their own, which may be written", "[nn][optim]") {
  const Make make = [](const Tensor& p, const Tensor& q) {
    return std::make_unique<optim::AdamW>(std::vector<optim::ParamGroup<optim::AdamWOptions>>{
        {{p}, {.lr = 0.1, .weight_decay = 0.2}}, {{q}, {.lr = 0.05, .beta1 = 0.8, .beta2 = 0.9}}});
  };
  check_rule("groups", make, 2e-5, [](optim::Optimizer& rule, int t) {
    auto& adam = dynamic_cast<optim::AdamW&>(rule);
    if (t == 4) adam.options(0).lr = 0.3, adam.options(1).weight_decay = 0.5;
  });

  Tensor a = ones({2}).requires_grad(), b = ones({3}).requires_grad(), c = ones({1}).requires_grad();
  optim::SGD sgd({{{a, b}, {.lr = 0.5}}, {{c}, {.lr = 0.25, .momentum = 0.9}}});
  CHECK(sgd.group_count() == 2);
  CHECK(sgd.parameters().size() == 3);
  CHECK(sgd.group_parameters(1).size() == 1);
  CHECK(sgd.lr == 0.5);
  CHECK(sgd.options(1).momentum == 0.9);
  CHECK_THROWS_WITH(sgd.options(2), Contains("group 2") && Contains("2;"));
  sgd.lr = 1;
  CHECK(sgd.options().lr == 1);
  optim::LRScheduler schedule(sgd, optim::ExponentialLR{0.5});
  schedule.step();
  CHECK(sgd.options(0).lr == 0.5);
  CHECK(sgd.group_lr(1) == 0.125);
  CHECK(schedule.base(1) == 0.25);
  (a.sum() + b.sum() + c.sum()).backward();
  sgd.step();
  CHECK(a.to_vector<float>()[0] == 0.5f);
  CHECK(c.item() == 0.875);

  const nn::NamedTensors state = sgd.state_dict();
  CHECK(state[0].second.to_vector<double>() == std::vector<double>{0.5, 0.125});
  optim::SGD again({{{a, b}, {.lr = 7}}, {{c}, {.lr = 7, .momentum = 0.9}}});
  again.load(state);
  CHECK(again.options(1).lr == 0.125);
  optim::SGD whole({a, b, c}, {.momentum = 0.9});
  CHECK_THROWS_WITH(whole.load(state), Contains("lr"));

  optim::ReduceLROnPlateau plateau(again, {.factor = 0.5, .patience = 0});
  plateau.step(1);
  plateau.step(1);
  CHECK(again.options(0).lr == 0.25);
  CHECK(again.options(1).lr == 0.0625);

  again.options(1).momentum = -1;
  (a.sum() + c.sum()).backward();
  CHECK_THROWS_WITH(again.step(), Contains("momentum is -1"));
  again.options(1).momentum = 0.9;
  again.options(0).momentum = 0.5;  // its state is there, since a group has one
  again.step();
  CHECK_THROWS_WITH(optim::SGD({{{a}, {}}, {{a}, {}}}), Contains("0 and 1") && Contains("same"));
  CHECK_THROWS_WITH(optim::Muon({a}), Contains("[2]"));
  CHECK_THROWS_WITH(optim::RMSprop({a}, {.alpha = 1}), Contains("alpha is 1"));
  CHECK_THROWS_WITH(optim::LAMB({a}, {.lr = -1}), Contains("LAMB: lr is -1"));
}

TEST_CASE("groups are walked by PyTorch's name, and a rate stands alone", "[nn][optim]") {
  const Tensor a = ones({2}).requires_grad(), b = ones({3}).requires_grad();
  optim::SGD sgd({{{a}, {.lr = 0.5}}, {{b}, {.lr = 0.25, .momentum = 0.9}}});
  for (auto& group : sgd.param_groups()) group.options().lr *= 0.1;
  CHECK(sgd.options(0).lr == 0.05);
  CHECK(sgd.group_lr(1) == 0.025);
  REQUIRE(sgd.param_groups().size() == 2);
  CHECK(sgd.param_groups()[1].options().momentum == 0.9);
  CHECK(sgd.param_groups()[1].params()[0].cell() == b.cell());
  CHECK(optim::SGD({a}, 0.1).lr == 0.1);
  CHECK(optim::SGD({a}, 1).lr == 1);
  CHECK(optim::SGD({a}, {}).lr == 1e-2);
  CHECK(optim::RMSprop({a}, 0.1).lr == 0.1);
  CHECK(optim::Adam({a}, 0.1).options().beta2 == 0.999);
  CHECK(optim::AdamW({a}, 0.1F).options().weight_decay == 1e-2);
  CHECK(optim::LBFGS({a}, 2).lr == 2);
  CHECK_THROWS_WITH(optim::SGD({a}, -0.1), Contains("lr"));
  CHECK_FALSE(std::is_constructible_v<optim::SGD, std::vector<Tensor>, bool>);
}

TEST_CASE("a group may join an optimizer", "[nn][optim]") {
  Tensor a = ones({2}).requires_grad(), b = ones({3}).requires_grad();
  optim::Adam adam({a}, {.lr = 0.5});
  a.sum().backward();
  adam.step();
  adam.add_param_group({{b}, {.lr = 0.25}});
  CHECK(adam.group_count() == 2);
  CHECK(adam.lr == 0.5);
  CHECK(adam.options(1).lr == 0.25);
  CHECK(adam.state_dict().size() == 2 + 2 * 2);
  (a.sum() + b.sum()).backward();
  adam.step();
  CHECK(adam.state_dict()[1].second.to_vector<int64_t>() == std::vector<int64_t>{2, 1});
  CHECK(b.to_vector<float>()[0] == Approx(0.75));
  CHECK_THROWS_WITH(adam.add_param_group({{a}, {}}), Contains("0 and 2") && Contains("same"));
  CHECK_THROWS_WITH(adam.add_param_group({{}, {}}), Contains("0 parameters"));
  CHECK_THROWS_WITH(adam.add_param_group({{ones({1}).requires_grad()}, {.beta1 = 2}}), Contains("beta1 is 2"));
  CHECK(adam.group_count() == 2);
  CHECK(adam.parameters().size() == 2);
}

TEST_CASE("a state that options ask for later is made then", "[nn][optim]") {
  Tensor a = ones({2}).requires_grad();
  optim::SGD sgd({a}, {.lr = 1});
  CHECK(sgd.state_dict().size() == 2);
  for (const double want : {0.0, -1.0, -2.5}) {
    a.sum().backward();
    sgd.step();
    CHECK(a.to_vector<float>()[1] == want);
    sgd.options().momentum = 0.5;
  }
  CHECK(sgd.state_dict()[2].first == "0.momentum_buffer");
}

TEST_CASE("LBFGS follows PyTorch's", "[nn][optim]") {
  const auto run = [](const char* name, optim::LBFGSOptions options) {
    INFO(name);
    Tensor p = from({-1.5, 2.0}).requires_grad();
    optim::LBFGS lbfgs({p}, options);
    int64_t calls = 0;
    for (int i = 0; i < 3; ++i)
      lbfgs.step([&] {
        ++calls;
        lbfgs.zero_grad();
        const Tensor x = p[0], y = p[1];
        const Tensor loss = square(1.0 - x) + 10.0 * square(y - square(x));
        loss.backward();
        return loss;
      });
    check_close(p, recorded().at(std::string(name) + "/p"), 2e-3);
    CHECK(calls == recorded().at(std::string(name) + "/calls").item<int64_t>());
  };
  run("LBFGS", {.lr = 0.1, .max_iter = 6});
  run("LBFGS wolfe", {.max_iter = 10, .history_size = 3, .line_search = optim::LBFGSOptions::LineSearch::StrongWolfe});

  Tensor p = ones({2}).requires_grad();
  optim::LBFGS lbfgs({p});
  CHECK_THROWS_WITH(lbfgs.step([&] { return p; }), Contains("[2]"));
  p.sum().backward();
  CHECK_THROWS_WITH(static_cast<optim::Optimizer&>(lbfgs).step(), Contains("closure"));
  CHECK_THROWS_WITH(optim::LBFGS({p}, {.history_size = 0}), Contains("history_size is 0"));
}

TEST_CASE("LBFGS searches also in a step of one iteration", "[nn][optim]") {
  Tensor x = from({3.0}).requires_grad();
  optim::LBFGS lbfgs({x}, {.max_iter = 1, .line_search = optim::LBFGSOptions::LineSearch::StrongWolfe});
  for (int i = 0; i < 20; ++i)
    lbfgs.step([&] {
      lbfgs.zero_grad();
      const Tensor loss = sqrt(1.0 + x * x).sum();
      loss.backward();
      return loss;
    });
  CHECK(std::abs(x.item()) < 1e-3);
}

TEST_CASE("averaged models", "[nn][optim]") {
  Pair model;
  nn::AveragedModel<Pair> ema(model, {.ema_decay = 0.75}), swa(model);
  std::vector<double> values;
  for (const double v : {1.0, 2.0, 4.0}) {
    no_grad guard;
    model.one.weight.assign(full({3, 2}, v));
    model.norm.running_mean.assign(full({3}, v));
    const debug::Counters before = debug::counters();
    ema.update(model);
    CHECK(debug::counters().plans - before.plans == 1);
    swa.update(model);
  }
  CHECK(ema.module.one.weight[0][0].item() == Approx((1.0 * 0.75 + 2.0 * 0.25) * 0.75 + 4.0 * 0.25));
  CHECK(swa.module.one.weight[0][0].item() == Approx(7.0 / 3));
  CHECK(ema.module.norm.running_mean[0].item() == 4);
  CHECK(nn::state_dict(ema)[0].first == "n_averaged");
  CHECK(nn::state_dict(ema)[0].second.item<int64_t>() == 3);
  CHECK(nn::state_dict(ema)[1].first == "module.one.weight");
  CHECK(ema(ones({1, 2})).shape() == Shape{1, 3});
  CHECK(model.one.weight[0][0].item() == 4);
  CHECK_THROWS_WITH((nn::AveragedModel<Pair>(model, {.ema_decay = 1.5})), Contains("1.5"));
}
