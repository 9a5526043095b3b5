// Parameters that change their size while they are trained, as points that are added to a scene and taken from it.
#include <memory>

#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;

namespace {

/// A pull of each element to its target: elements do not depend on each other.
Tensor loss_of(const Tensor& p, const Tensor& target) { return (square(p - target) * (p + 3.0)).sum() * 0.1; }

std::vector<float> numbers_of(const Tensor& t) { return t.to_vector<float>(); }

template <class Rule>
struct Scene {
  Tensor p = from({1.0, -2.0, 0.5, 3.0}).requires_grad(), other = from({2.0, 1.0}).requires_grad();
  Tensor target = from({0.0, 1.0, 2.0, 0.5});
  Rule opt;
  explicit Scene(typename Rule::Options options) : opt({p, other}, options) {}
  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      (loss_of(p, target) + square(other).sum()).backward();
      opt.step();
    }
  }
};

/// Elements 0 and 2 go on as if nothing had happened, to the bit.
template <class Rule>
void check_surgery(typename Rule::Options options) {
  Scene<Rule> plain(options), cut(options);
  plain.train(5);
  cut.train(5);

  // prune: elements 1 and 3 go; densify: two zeros come
  const Tensor keep = from({0, 2});
  const auto pruned = [&](const Tensor& t) { return index_select(t, 0, keep); };
  const auto grown = [&](const Tensor& t) { return cat({t, zeros({2}, t.dtype())}, 0); };
  Tensor handle = cut.p;
  {
    const no_grad guard;
    cut.opt.replace(cut.p, pruned(cut.p).requires_grad(), pruned);
    CHECK(cut.p.shape() == Shape{2});
    CHECK(handle.shape() == Shape{4});
    CHECK(cut.opt.parameters()[0].cell() == cut.p.cell());
    CHECK(cut.opt.group_parameters(0)[0].cell() == cut.p.cell());
    cut.opt.replace(cut.p, grown(cut.p).requires_grad(), grown);
  }
  cut.target = grown(pruned(cut.target));
  const nn::NamedTensors state = cut.opt.state_dict();
  CHECK(state[1].second.to_vector<int64_t>() == std::vector<int64_t>{5, 5});
  for (const auto& [name, t] : state)
    if (name.starts_with("0.")) CHECK(t.shape() == Shape{4});

  plain.train(5);
  cut.train(5);
  const std::vector<float> want = numbers_of(plain.p), got = numbers_of(cut.p);
  CHECK(got[0] == want[0]);
  CHECK(got[1] == want[2]);
  CHECK(got[2] == got[3]);
  CHECK(numbers_of(cut.other) == numbers_of(plain.other));
  CHECK(numbers_of(handle).size() == 4);
}

}  // namespace

TEST_CASE("a replaced parameter keeps the states of its elements", "[nn]") {
  check_surgery<optim::Adam>({.lr = 0.1});
  check_surgery<optim::Adam>({.lr = 0.1, .amsgrad = true});
  check_surgery<optim::AdamW>({.lr = 0.1});
  check_surgery<optim::SGD>({.lr = 0.05, .momentum = 0.9, .nesterov = true});
  check_surgery<optim::RMSprop>({.lr = 0.05, .momentum = 0.9});
}

TEST_CASE("a replaced parameter begins anew without a function of states", "[nn]") {
  Scene<optim::Adam> scene({.lr = 0.1});
  scene.train(3);
  scene.opt.replace(scene.p, zeros({4}).requires_grad());
  const nn::NamedTensors state = scene.opt.state_dict();
  CHECK(state[1].second.to_vector<int64_t>() == std::vector<int64_t>{0, 3});
  CHECK(state[2].first == "0.exp_avg");
  CHECK(state[2].second.to_vector<float>() == std::vector<float>(4, 0));
  Scene<optim::Adam> fresh({.lr = 0.1});
  fresh.opt.replace(fresh.p, zeros({4}).requires_grad());
  scene.train(4);
  fresh.train(4);
  CHECK(scene.p.to_vector<float>() == fresh.p.to_vector<float>());
}

TEST_CASE("a step after a replacement is the program of the steps that follow", "[nn]") {
  Scene<optim::Adam> scene({.lr = 0.1});
  scene.train(2);
  const auto more = [](const Tensor& t) { return cat({t, zeros({3})}, 0); };
  {
    const no_grad guard;
    scene.opt.replace(scene.p, more(scene.p).requires_grad(), more);
    scene.target = more(scene.target).realize();
  }
  scene.train(1);
  const uint64_t before = debug::counters().plan_misses;
  scene.train(3);
  CHECK(debug::counters().plan_misses == before);
}

TEST_CASE("a jitted step follows a replacement", "[nn]") {
  Scene<optim::Adam> scene({.lr = 0.1}), plain({.lr = 0.1});
  auto step = jit([&] {
    const Tensor loss = loss_of(scene.p, scene.target);
    loss.backward();
    scene.opt.step();
    return loss;
  });
  for (int i = 0; i < 8; ++i) {
    if (i == 4) {
      const auto twice = [](const Tensor& t) { return cat({t, t}, 0); };
      const no_grad guard;
      scene.opt.replace(scene.p, twice(scene.p).requires_grad(), twice);
      scene.target = twice(scene.target).realize();
    }
    step();
    loss_of(plain.p, plain.target).backward();
    plain.opt.step();
  }
  const std::vector<float> got = scene.p.to_vector<float>(), want = plain.p.to_vector<float>();
  REQUIRE(got.size() == 8);
  for (size_t i = 0; i < 8; ++i) CHECK(got[i] == Approx(want[i % 4]).epsilon(1e-6));
  CHECK(scene.opt.state_dict()[1].second.to_vector<int64_t>() == std::vector<int64_t>{8, 0});
}

TEST_CASE("LBFGS begins its history anew when a parameter is replaced", "[nn]") {
  Tensor p = from({1.0, 2.0}).requires_grad();
  optim::LBFGS opt({p}, {.max_iter = 4});
  const auto closure = [&] {
    opt.zero_grad();
    const Tensor loss = square(p - 3.0).sum();
    loss.backward();
    return loss;
  };
  opt.step(closure);
  opt.replace(p, from({5.0, -1.0, 0.0}).requires_grad());
  for (int i = 0; i < 5; ++i) opt.step(closure);
  CHECK(abs(p - 3.0).max().item() < 1e-3);
}

TEST_CASE("replace refuses what could not be a parameter", "[nn]") {
  Scene<optim::Adam> scene({.lr = 0.1});
  scene.train(1);
  Tensor stranger = ones({2}).requires_grad(), none;
  const Tensor good = ones({2}).requires_grad();
  const auto same = [](const Tensor& t) { return t; };
  CHECK_THROWS_WITH(scene.opt.replace(stranger, good), Contains("[2]") && Contains("2 parameters"));
  CHECK_THROWS_WITH(scene.opt.replace(none, good), Contains("empty handle"));
  CHECK_THROWS_WITH(scene.opt.replace(scene.p, ones({2})), Contains("requires_grad"));
  CHECK_THROWS_WITH(scene.opt.replace(scene.p, scene.p * 2.0), Contains("leaf"));
  CHECK_THROWS_WITH(scene.opt.replace(scene.p, scene.other), Contains("same tensor"));
  CHECK_THROWS_WITH(scene.opt.replace(scene.p, good, same), Contains("[4] for exp_avg") && Contains("[2]"));
  CHECK(scene.p.shape() == Shape{4});
  CHECK(scene.opt.state_dict()[2].second.shape() == Shape{4});
  auto inside = jit([&](const Tensor& x) {
    scene.opt.replace(scene.p, good);
    return x + 1.0;
  });
  CHECK_THROWS_WITH(inside(ones({1})), Contains("jitted"));
  CHECK_THROWS_WITH(scene.opt.group_parameters(1), Contains("group 1 among 1"));
}

TEST_CASE("Muon takes matrices only, also those that come later", "[nn]") {
  Tensor p = ones({2, 3}).requires_grad(), q = ones({3}).requires_grad();
  CHECK_THROWS_WITH(optim::Muon({p, q}), Contains("Muon: parameter 1 of 2 has shape [3]") && Contains("AdamW"));
  optim::Muon muon({p});
  CHECK_THROWS_WITH(muon.add_param_group({{q}, {}}),
                    Contains("add_param_group: parameter 1 of 2 has shape [3]") && Contains("AdamW"));
  CHECK_THROWS_WITH(muon.replace(p, q), Contains("replace: parameter 0 of 1 has shape [3]") && Contains("AdamW"));
  CHECK(muon.group_count() == 1);
  CHECK(p.shape() == Shape{2, 3});
  muon.replace(p, ones({4, 3}).requires_grad());
  muon.add_param_group({{ones({1, 1}).requires_grad()}, {}});
  CHECK(muon.parameters().size() == 2);
}

TEST_CASE("points that are split and pruned while they are fitted", "[nn]") {
  // A sum of bumps fits a curve. A bump with a large gradient is doubled, one of small height is removed.
  manual_seed(7);
  const Tensor x = linspace(-1.0, 1.0, 64).reshape({64, 1});
  const Tensor y = (exp(square(x - 0.5) * -30.0) - exp(square(x + 0.4) * -60.0) * 0.7).reshape({64}).realize();
  Tensor center = linspace(-0.9, 0.9, 4).requires_grad(), height = full({4}, 0.1).requires_grad();
  optim::Adam opt({{{center}, {.lr = 0.01}}, {{height}, {.lr = 0.03}}});
  const auto loss_of_fit = [&] { return square((exp(square(x - center) * -40.0) * height).sum(1) - y).mean(); };
  const double first = loss_of_fit().item();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) {
      loss_of_fit().backward();
      opt.step();
    }
    const no_grad guard;
    const Tensor keep = nonzero(abs(height) > 0.02).flatten();
    const auto pruned = [&](const Tensor& t) { return index_select(t, 0, keep); };
    opt.replace(center, pruned(center).requires_grad(), pruned);
    opt.replace(height, pruned(height).requires_grad(), pruned);
    const auto split = [&](const Tensor& t) { return cat({t, zeros_like(t)}, 0); };
    opt.replace(center, cat({center - 0.03, center + 0.03}, 0).requires_grad(), split);
    opt.replace(height, cat({height * 0.5, height * 0.5}, 0).requires_grad(), split);
  }
  for (int i = 0; i < 40; ++i) {
    loss_of_fit().backward();
    opt.step();
  }
  CHECK(center.numel() == height.numel());
  CHECK(center.numel() >= 4);
  CHECK(loss_of_fit().item() < 0.1 * first);
}
