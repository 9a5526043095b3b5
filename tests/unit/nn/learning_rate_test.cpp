// Schedules at the steps for which PyTorch's documentation names rates, and against their formulas.
#include <cmath>
#include <numbers>

#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;
using namespace sinter::optim;
using Catch::Matchers::Contains;

namespace {

SGD optimizer(double lr) { return SGD({zeros({2}).requires_grad()}, {.lr = lr}); }

/// Rates of steps 0, 1, ... as a scheduler sets them.
void check_rates(Schedule schedule, double base, const std::vector<double>& want) {
  SGD opt = optimizer(base);
  LRScheduler scheduler(opt, std::move(schedule));
  for (size_t t = 0; t < want.size(); ++t) {
    CAPTURE(t);
    CHECK(opt.lr == Approx(want[t]).epsilon(1e-12).margin(1e-15));
    scheduler.step();
  }
  for (size_t t = want.size(); t-- > 0;) {  // and in any order
    scheduler.seek(static_cast<int64_t>(t));
    CHECK(opt.lr == Approx(want[t]).epsilon(1e-12).margin(1e-15));
  }
  CHECK(scheduler.base() == base);
}

}  // namespace

TEST_CASE("schedules give the rates of PyTorch's documentation", "[nn][lr]") {
  check_rates(StepLR{.step_size = 2}, 0.05, {0.05, 0.05, 0.005, 0.005, 0.0005});
  check_rates(MultiStepLR{.milestones = {1, 3}}, 0.05, {0.05, 0.005, 0.005, 0.0005, 0.0005});
  check_rates(ExponentialLR{.gamma = 0.5}, 0.8, {0.8, 0.4, 0.2, 0.1});
  check_rates(ConstantLR{.factor = 0.5, .total_iters = 4}, 0.05, {0.025, 0.025, 0.025, 0.025, 0.05, 0.05});
  check_rates(LinearLR{.start_factor = 0.5, .total_iters = 4}, 0.05, {0.025, 0.03125, 0.0375, 0.04375, 0.05, 0.05});
  check_rates(PolynomialLR{.total_iters = 4}, 0.001, {0.001, 0.00075, 0.0005, 0.00025, 0, 0});
  check_rates(SequentialLR{{ConstantLR{.factor = 0.1, .total_iters = 2}, ExponentialLR{0.9}}, {2}}, 0.05,
              {0.005, 0.005, 0.05, 0.045, 0.0405});
  check_rates([](double base, int64_t t) { return base / static_cast<double>(1 + t); }, 1.0, {1.0, 0.5, 1.0 / 3});
}

TEST_CASE("cosine schedules", "[nn][lr]") {
  const auto half = [](double from, double to, double share) {
    return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
  };
  check_rates(CosineAnnealingLR{.t_max = 4, .eta_min = 0.2}, 1.0,
              {1.0, half(1, 0.2, 0.25), 0.6, half(1, 0.2, 0.75), 0.2, half(1, 0.2, 1.25)});
  check_rates(CosineAnnealingWarmRestarts{.t_0 = 2, .t_mult = 2}, 1.0,
              {1, 0.5, 1, half(1, 0, 0.25), 0.5, half(1, 0, 0.75), 1, half(1, 0, 0.125)});
  CHECK(CosineAnnealingWarmRestarts{.t_0 = 2, .t_mult = int64_t{1} << 40}(1.0, int64_t{1} << 50) ==
        Approx(1.0));  // the third length has no number
  check_rates(CosineAnnealingWarmRestarts{.t_0 = 2}, 1.0, {1, 0.5, 1, 0.5, 1, 0.5});
  // 10 steps: up to step 2, down to step 9.
  check_rates(OneCycleLR{.max_lr = 1.0, .total_steps = 10, .div_factor = 4, .final_div_factor = 10}, 123.0,
              {0.25, 0.625, 1.0, half(1, 0.025, 1.0 / 7), half(1, 0.025, 2.0 / 7), half(1, 0.025, 3.0 / 7),
               half(1, 0.025, 4.0 / 7), half(1, 0.025, 5.0 / 7), half(1, 0.025, 6.0 / 7), 0.025, 0.025});
}

TEST_CASE("a schedule acts on the parameters", "[nn][lr]") {
  Tensor p = ones({1}).requires_grad();
  SGD opt({p}, {.lr = 1.0});
  LRScheduler scheduler(opt, ExponentialLR{0.5});
  for (int i = 0; i < 3; ++i) {
    p.sum().backward();
    opt.step();
    scheduler.step();
  }
  CHECK(p.item() == 1.0 - 1.0 - 0.5 - 0.25);
}

TEST_CASE("a plateau cuts the rate", "[nn][lr]") {
  SGD opt = optimizer(1.0);
  ReduceLROnPlateau plateau(opt, {.factor = 0.5, .patience = 1, .threshold = 0.1, .cooldown = 1, .min_lr = 0.2});
  const auto after = [&](double metric) {
    plateau.step(metric);
    return opt.lr;
  };
  CHECK(after(10.0) == 1.0);
  CHECK(after(9.5) == 1.0);  // better, but by less than a tenth
  CHECK(after(9.5) == 0.5);  // two in a row
  CHECK(after(9.5) == 0.5);  // cools down
  CHECK(after(9.5) == 0.5);
  CHECK(after(8.0) == 0.5);  // better
  CHECK(plateau.best() == 8.0);
  CHECK(after(NAN) == 0.5);
  CHECK(after(NAN) == 0.25);
  for (int i = 0; i < 9; ++i) after(8.0);
  CHECK(opt.lr == 0.2);
  ReduceLROnPlateau rising(opt, {.mode = ReduceLROnPlateau::Mode::Max, .factor = 0.5, .patience = 0});
  CHECK(after(8.0) == 0.2);
  rising.step(-2.0);
  rising.step(-1.0);
  CHECK(opt.lr == 0.2);
  rising.step(-1.0);
  CHECK(opt.lr == 0.1);
}

TEST_CASE("a plateau without options is PyTorch's", "[nn][lr]") {
  SGD opt = optimizer(1.0);
  ReduceLROnPlateau plateau(opt);
  for (int i = 0; i < 11; ++i) plateau.step(1.0);
  CHECK(opt.lr == 1.0);
  plateau.step(1.0);
  CHECK(opt.lr == Approx(0.1));
}

TEST_CASE("schedules refuse numbers without a meaning, where they are given", "[nn][lr]") {
  SGD opt = optimizer(0.1);
  const auto refused = [&](Schedule schedule, const char* text) {
    uint32_t line = 0;
    std::string message;
    try {
      line = __LINE__ + 1;
      LRScheduler scheduler(opt, std::move(schedule));
    } catch (const UsageError& e) {
      message = e.what();
      CHECK(e.where().line() == line);
    }
    CHECK_THAT(message, Contains(text));
    CHECK(opt.lr == 0.1);
  };
  refused(StepLR{.step_size = 0}, "StepLR: step_size is 0");
  refused(LinearLR{.total_iters = -1}, "LinearLR: total_iters is -1");
  refused(CosineAnnealingLR{.t_max = 0}, "CosineAnnealingLR: t_max is 0");
  refused(CosineAnnealingWarmRestarts{.t_0 = 1, .t_mult = 0}, "t_mult is 0");
  refused(OneCycleLR{.max_lr = 1, .total_steps = 5, .pct_start = 2}, "pct_start is 2");
  CHECK_THROWS_WITH((SequentialLR{{StepLR{1}}, {3}}), Contains("SequentialLR: 1 schedules") && Contains(__FILE__));
  CHECK_THROWS_WITH((SequentialLR{{}, {}}), Contains("SequentialLR: 0 schedules"));
  CHECK_THROWS_WITH((SequentialLR{{StepLR{2}, Schedule()}, {1}}), Contains("schedule 1 of 2") && Contains("is empty"));
  CHECK_THROWS_WITH((SequentialLR{{StepLR{1}, StepLR{1}, StepLR{1}}, {3, 3}}), Contains("milestone 3 comes before 3"));
  refused({}, "the schedule is empty");
  CHECK_THROWS_WITH(LRScheduler(opt, StepLR{1}).seek(-1), Contains("step -1"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(opt, {.factor = 1.0}), Contains("factor is 1"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(opt, {.patience = -5}), Contains("patience is -5"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(opt, {.cooldown = -1}), Contains("cooldown -1"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(opt, {.threshold = NAN}), Contains("ReduceLROnPlateau: threshold is nan"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(opt, {.min_lr = -0.5}), Contains("ReduceLROnPlateau: min_lr is -0.5"));
  CHECK_THROWS_WITH(ReduceLROnPlateau(opt, {.eps = -1}), Contains("ReduceLROnPlateau: eps is -1"));
}
