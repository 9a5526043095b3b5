// N6 of docs/semantics.md: what the caller's thread has set for its floats changes no number.
#include "float_modes.h"

#include <bit>
#include <cstring>
#include <sstream>

#include "semantics/support.h"
#include "sinter/custom_gradient.h"
#include "sinter/data.h"
#include "sinter/error.h"
#include "sinter/jit.h"
#include "sinter/memory.h"
#include "sinter/nn/clip.h"
#include "sinter/nn/grad_scaler.h"
#include "sinter/nn/init.h"
#include "sinter/nn/layers.h"
#include "sinter/nn/lbfgs.h"
#include "sinter/nn/lr_scheduler.h"
#include "sinter/nn/norm.h"
#include "sinter/random.h"
#include "sinter/transforms.h"

using namespace semantics;

namespace {

std::string bytes_of(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  return std::string(reinterpret_cast<const char*>(&bits), sizeof bits);
}
std::string bytes_of(const Tensor& t) {
  const std::vector<std::byte> bytes = t.to_bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

/// Bits as they lie in memory.
Tensor float_bits(uint32_t bits) { return from_bytes(&bits, float32, {1}); }
Tensor short_bits(uint16_t bits, DType dtype) { return from_bytes(&bits, dtype, {1}); }

/// Parameters after two steps.
template <class Rule, class Options>
std::string trained(const Options& options) {
  Tensor w = from({0.3f, -0.7f, 1.1f}).requires_grad();
  Rule rule({w}, options);
  for (int i = 0; i < 2; ++i) {
    (w * w * 0.37).sum().backward();
    rule.step();
  }
  return bytes_of(w);
}

std::string rate(const optim::Schedule& schedule) {
  std::string all;
  for (int64_t t = 0; t < 9; ++t) all += bytes_of(schedule(0.1, t));
  return all;
}

struct Way {
  const char* name;
  std::function<std::string()> bytes;
};

/// The ways in which numbers enter and leave. Each gives what it read, to the bit.
const std::vector<Way>& ways() {
  static const auto& all = *new std::vector<Way>{
      {"full",
       [] { return bytes_of(full({2}, 0.1)) + bytes_of(full({2}, 1e-42)) + bytes_of(full({2}, 5e-324, float64)); }},
      {"full in 16 bits", [] { return bytes_of(full({2}, 0.1, float16)) + bytes_of(full({2}, 1e-40, bfloat16)); }},
      {"a number beside a tensor", [] { return bytes_of(from({1.0f, 2.0f}) * 0.1 + 1e-42); }},
      {"Tensor(number)", [] { return bytes_of(Tensor(0.1)) + bytes_of(Tensor(1e-42)); }},
      {"a float", [] { return bytes_of(full({2}, std::bit_cast<float>(7u))) + bytes_of(full({2}, 0.1L)); }},
      {"number()", [] { return bytes_of(number(0.1) + number(1e-42)); }},
      {"a braced list", [] { return bytes_of(from({{0.1, 1e-42}, {1.0 / 3, 2e-310}})); }},
      {"doubles converted", [] { return bytes_of(from(std::vector<double>{0.1, 1e-42, 1e300}).to(float32)); }},
      {"doubles to 16 bits", [] { return bytes_of(from(std::vector<double>{0.1, 1e-7, 3.3}).to(float16)); }},
      {"arange", [] { return bytes_of(arange(0.0, 1.0, 0.1)) + bytes_of(arange(0.0, 1e-44, 1e-45)); }},
      {"linspace", [] { return bytes_of(linspace(0.1, 0.7, 7)); }},
      {"item of a denormal", [] { return bytes_of(float_bits(1).item()); }},
      {"item of 16 bits",
       [] { return bytes_of(short_bits(1, bfloat16).item()) + bytes_of(short_bits(3, float16).item()); }},
      {"to_vector of 16 bits",
       [] {
         return bytes_of(short_bits(1, bfloat16).to_vector<float>()) +
                bytes_of(short_bits(3, float16).to_vector<float>());
       }},
      {"text",
       [] {
         std::ostringstream out;
         out << from(std::vector<double>{0.1, 2e-310, 1.0 / 3}) << float_bits(7) << Tensor(0.125f)
             << from({2.345f, 6.785f});
         return out.str();
       }},
      {"text of an error",
       [] {
         try {
           return bytes_of(full({2}, 0.1, int32));
         } catch (const UsageError& error) { return std::string(error.what()); }
       }},
      {"text of memory",
       [] {
         memory::Report report;
         report.bytes = 123456789;
         return memory::to_string(report);
       }},
      {"constants folded",
       [] { return bytes_of(full({2}, 0.1) * full({2}, 0.3) + exp(full({2}, 0.7)) / full({2}, 3.0)); }},
      {"denormals folded", [] { return bytes_of(full({2}, 1e-30) * full({2}, 1e-12)); }},
      {"kernels", [] { return bytes_of(exp(from({0.1f, 0.2f, -90.0f})) * 0.3f + float_bits(5)); }},
      {"sums", [] { return bytes_of((arange(100) * 0.1).sum()) + bytes_of(from({0.1f, 0.2f, 0.4f}).var()); }},
      {"random numbers",
       [] {
         Generator one(5);
         return bytes_of(randn({5}, {.generator = &one})) + bytes_of(bernoulli(0.3, {9}, {.generator = &one}));
       }},
      {"initial values",
       [] {
         manual_seed(3);
         return bytes_of(nn::init::kaiming_uniform({3, 7})) + bytes_of(nn::init::xavier_normal({3, 7}, 1.1)) +
                bytes_of(nn::Linear(7, 3).weight);
       }},
      {"dropout",
       [] {
         manual_seed(3);
         return bytes_of(nn::Dropout(0.3)(ones({9})));
       }},
      {"running statistics",
       [] {
         nn::BatchNorm2d norm(1);
         (void)bytes_of(norm(from({0.1f, 0.2f, 0.4f, 0.7f}).reshape({1, 1, 2, 2})));
         return bytes_of(norm.running_mean) + bytes_of(norm.running_var);
       }},
      {"SGD", [] { return trained<optim::SGD>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.3}); }},
      {"Adam", [] { return trained<optim::Adam>(optim::AdamOptions{.lr = 0.1, .weight_decay = 0.01}); }},
      {"clipping",
       [] {
         Tensor w = from({0.3f, -0.7f}).requires_grad();
         (w * 1.7).sum().backward();
         (void)nn::clip_grad_norm({w}, 0.3, 3.0);
         return bytes_of(w.grad());
       }},
      {"schedules",
       [] {
         return rate(optim::StepLR{2}) + rate(optim::MultiStepLR{{2, 5}}) + rate(optim::ExponentialLR{0.9}) +
                rate(optim::ConstantLR{}) + rate(optim::LinearLR{}) + rate(optim::PolynomialLR{7, 0.9}) +
                rate(optim::CosineAnnealingLR{7}) + rate(optim::CosineAnnealingWarmRestarts{3}) +
                rate(optim::OneCycleLR{1.0, 9});
       }},
      {"a loss's scale",
       [] {
         optim::GradScaler scaler({.init_scale = 3, .growth_factor = 1.1, .growth_interval = 1});
         for (int i = 0; i < 9; ++i) scaler.update();
         return bytes_of(scaler.get_scale());
       }},
      {"a rate that is cut",
       [] {
         Tensor w = from({0.3f}).requires_grad();
         optim::SGD rule({w}, {.lr = 0.1});
         optim::ReduceLROnPlateau plateau(rule, {.factor = 0.3, .patience = 0});
         for (const double metric : {1.0, 0.9999, 0.99985}) plateau.step(metric);
         return bytes_of(rule.lr) + bytes_of(plateau.best());
       }},
      {"batches",
       [] {
         const data::Dataset set({0, 1, 100, 255}, {3}, 2, 2, 0.1307, 0.3081);
         std::string all;
         for (const data::Batch& batch : set.batches(1)) all += bytes_of(batch.x);
         return all;
       }},
      {"a jitted function",
       [] {
         auto f = jit([](const Tensor& x) { return x * 0.1 + 1e-42; });
         std::string all;
         for (int i = 0; i < 4; ++i) all += bytes_of(f(from({0.1f, 0.3f}).realize()));
         return all;
       }},
  };
  return all;
}

/// Computed and decided from scratch.
std::string anew(const Way& way) {
  debug::clear_plans();
  return way.bytes();
}

/// A function of the program that Sinter calls. It calls `seen` inside.
struct Callback {
  const char* name;
  std::function<void(const std::function<void()>& seen)> run;
};

/// A rule of the program's own.
class PlainRule final : public optim::Optimizer {
 public:
  PlainRule(std::vector<Tensor> parameters, std::function<void()> seen)
      : Optimizer(std::move(parameters), 0.5, Loc::current(), "PlainRule"), seen_(std::move(seen)) {}

 private:
  Tensor updated(Update& now) override {
    seen_();
    return now.parameter() - now.gradient() * now.rate();
  }
  const std::function<void()> seen_;
};

const std::vector<Callback>& callbacks() {
  using Seen = std::function<void()>;
  static const auto squared = [](const Seen& seen) {
    return [&seen](const std::vector<Tensor>& x) {
      seen();
      return x[0] * x[0];
    };
  };
  static const auto& all = *new std::vector<Callback>{
      {"jit",
       [](const Seen& seen) {
         auto f = jit([&](const Tensor& x) {
           seen();
           return x + x;
         });
         f(from({1.0f}).realize());
       }},
      {"a schedule",
       [](const Seen& seen) {
         optim::SGD rule({from({0.5f}).requires_grad()}, {.lr = 0.5});
         const optim::LRScheduler scheduler(rule, [&](double base, int64_t) {
           seen();
           return base;
         });
       }},
      {"an optimizer's rule",
       [](const Seen& seen) {
         const Tensor w = from({0.5f}).requires_grad();
         PlainRule rule({w}, seen);
         (w * w).sum().backward();
         rule.step();
       }},
      {"the state of a replaced parameter",
       [](const Seen& seen) {
         Tensor w = from({0.5f}).requires_grad();
         optim::SGD rule({w}, {.lr = 0.5, .momentum = 0.9});
         (w * w).sum().backward();
         rule.step();
         rule.replace(w, from({0.25f}).requires_grad(), [&](const Tensor& before) {
           seen();
           return before;
         });
       }},
      {"the closure of LBFGS",
       [](const Seen& seen) {
         const Tensor w = from({0.5f}).requires_grad();
         optim::LBFGS rule({w}, {.max_iter = 2});
         rule.step([&] {
           seen();
           rule.zero_grad();
           const Tensor loss = (w * w).sum();
           loss.backward();
           return loss;
         });
       }},
      {"the forward function of custom_gradient",
       [](const Seen& seen) {
         const Tensor w = from({0.5f}).requires_grad();
         (void)transforms::custom_gradient(
             [&](const std::vector<Tensor>& x) {
               seen();
               return std::vector<Tensor>{x[0] * 2};
             },
             [](const transforms::BackwardCall& call) { return call.gradients; }, {w});
       }},
      {"the backward function of custom_gradient",
       [](const Seen& seen) {
         const Tensor w = from({0.5f}).requires_grad();
         const std::vector<Tensor> y =
             transforms::custom_gradient([](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[0] * 2}; },
                                         [&](const transforms::BackwardCall& call) {
                                           seen();
                                           return call.gradients;
                                         },
                                         {w});
         y[0].sum().backward();
       }},
      {"a hook of a gradient",
       [](const Seen& seen) {
         const Tensor w = from({0.5f}).requires_grad(), y = w * 2;
         y.register_hook([&](const Tensor&) { seen(); });
         y.sum().backward();
       }},
      {"vmap", [](const Seen& seen) { (void)transforms::vmap(squared(seen), {from({1.0f, 2.0f})}); }},
      {"vmap in jit",
       [](const Seen& seen) {
         auto f = jit([&](const Tensor& x) { return transforms::vmap(squared(seen), {x}); });
         f(from({1.0f, 2.0f}).realize());
       }},
      {"checkpoint",
       [](const Seen& seen) { (void)transforms::checkpoint(squared(seen), {from({1.0f}).requires_grad()}); }},
      {"checkpoint without gradients",
       [](const Seen& seen) {
         const no_grad off;
         (void)transforms::checkpoint(squared(seen), {from({1.0f})});
       }},
      {"value_and_grad", [](const Seen& seen) { (void)transforms::value_and_grad(squared(seen), {Tensor(2.0f)}); }},
      {"vjp", [](const Seen& seen) { (void)transforms::vjp(squared(seen), {Tensor(2.0f)}, Tensor(1.0f)); }},
      {"jvp", [](const Seen& seen) { (void)transforms::jvp(squared(seen), {Tensor(2.0f)}, {Tensor(1.0f)}); }},
      {"jacrev", [](const Seen& seen) { (void)transforms::jacrev(squared(seen), {from({1.0f, 2.0f})}); }},
  };
  return all;
}

}  // namespace

TEST_CASE("N6 numbers enter and leave as ever, whatever the caller has set for its floats", "[semantics]") {
  ON_EACH_EXECUTOR();
  for (const Way& way : ways()) {
    const std::string expected = anew(way);
    for (const float_modes::FloatMode& mode : float_modes::kModes) {
      std::string got;
      bool held;
      {
        const float_modes::ScopedFloatMode scope(mode);
        got = anew(way);
        held = scope.holds();
      }
      INFO(way.name << ", " << mode.name);
      CHECK(got == expected);
      CHECK(held);
    }
  }
}

TEST_CASE("N6 functions of the program see what it has set for its floats", "[semantics]") {
  const LeakCheck clean;
  for (const float_modes::FloatMode& mode : float_modes::kModes) {
    for (const Callback& callback : callbacks()) {
      int calls = 0, held = 0;
      bool returned;
      {
        const float_modes::ScopedFloatMode scope(mode);
        callback.run([&] {
          ++calls;
          held += scope.holds();
        });
        returned = scope.holds();
      }
      INFO(callback.name << ", " << mode.name);
      CHECK(calls > 0);
      CHECK(held == calls);
      CHECK(returned);
    }
    bool thrown = false;
    {
      const float_modes::ScopedFloatMode scope(mode);
      try {
        (void)from({1.5f}).item<int64_t>();
      } catch (const UsageError&) { thrown = scope.holds(); }
    }
    INFO(mode.name);
    CHECK(thrown);
  }
}
