// The prices of launches against times that a machine took for them. tests/data/README.md has the table's format.
// LAUNCH_TIMES=FILE records it anew, on a machine that is what recorded_machine() says; SHOW_PRICES=1 lists each time
// with its price.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>

#include "catch.h"
#include "explain.h"
#include "fixed_target.h"
#include "network_programs.h"
#include "repository.h"
#include "runtime/exec/step_cost.h"
#include "runtime/program/host_target.h"
#include "tensor/core/nested_observer.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

constexpr const char* kTable = "tests/data/launch-times-zen2.tsv";
constexpr double kWithin = 3;        ///< factor between a price and the time, at most
constexpr double kShortest = 1000;   ///< us: of the launches that count
constexpr double kMostMissing = .2;  ///< share of the recorded time in launches that plans have no longer
constexpr int kRuns = 25;            ///< whose median is recorded

/// Two cores of an EPYC Zen 2.
runtime::Target recorded_machine() {
  runtime::Target zen2 = runtime::reference_target();
  runtime::set_isa(zen2, "x86-64-v3");
  zen2.multiply_latency = 5;
  zen2.l1 = 32 << 10;
  zen2.l2 = 512 << 10;
  zen2.l3 = 16 << 20;
  return zen2;
}

/// Inference, or a training step: the benchmark's model, optimizer and shapes. Returns the tensor whose realization
/// runs all of it.
using Program = std::function<Tensor()>;

template <class Model>
std::shared_ptr<Model> stored_model() {
  auto model = std::make_shared<Model>();
  for (Tensor& p : nn::parameters(*model)) p.realize();
  return model;
}

template <class Model, class Optimizer>
Program training(const typename Optimizer::Options& options, std::function<Tensor(const Model&)> loss_of) {
  auto model = stored_model<Model>();
  auto optimizer = std::make_shared<Optimizer>(nn::parameters(*model), options);
  return [=] {
    Tensor loss = loss_of(*model);
    loss.backward();
    optimizer->step();
    return loss;
  };
}
template <class Model, class Optimizer>
Program classifier_training(const typename Optimizer::Options& options, const Shape& images, const Shape& labels) {
  return training<Model, Optimizer>(options, [x = stored_images(images), y = stored_classes(labels)](const Model& m) {
    return cross_entropy(m(x), y);
  });
}
template <class Model, class Optimizer>
Program text_training() {
  const Shape shape{32, Model::kPositions};
  return training<Model, Optimizer>({}, [x = stored_tokens<Model>(shape), y = stored_tokens<Model>(shape)](
                                            const Model& m) { return text_loss(m, x, y); });
}
template <class Model>
Program inference(const Tensor& x) {
  auto model = stored_model<Model>();
  nn::eval(*model);
  return [=] {
    const no_grad guard;
    return (*model)(x);
  };
}
template <class Model>
Program text_inference() {
  return inference<Model>(stored_tokens<Model>({32, Model::kPositions}));
}

struct Named {
  const char* name;
  Program (*make)();
};
constexpr Named kPrograms[] = {
    {"train:resnet18:32",
     [] {
       return classifier_training<bench::ResNet18, optim::SGD>({.lr = 1e-3, .momentum = 0.9}, {32, 3, 32, 32}, {32});
     }},
    {"train:mobilenet:32",
     [] {
       return classifier_training<bench::MobileNetV2, optim::SGD>({.lr = 1e-3, .momentum = 0.9}, {32, 3, 32, 32}, {32});
     }},
    {"train:mixer:32", [] { return classifier_training<bench::Mixer, optim::Adam>({}, {32, 3, 32, 32}, {32}); }},
    {"train:unet:8",
     [] { return classifier_training<bench::UNet, optim::Adam>({.lr = 1e-4}, {8, 3, 64, 64}, {8, 64, 64}); }},
    {"train:gpt:32", text_training<bench::Gpt, optim::AdamW>},
    {"train:lstm:32", text_training<bench::LstmModel, optim::Adam>},
    {"train:vae:64",
     [] {
       return training<bench::Vae, optim::Adam>(
           {}, [x = stored_images({64, 1, 28, 28})](const bench::Vae& vae) { return vae.loss(x); });
     }},
    {"infer:resnet18:32", [] { return inference<bench::ResNet18>(stored_images({32, 3, 32, 32})); }},
    {"infer:mobilenet:32", [] { return inference<bench::MobileNetV2>(stored_images({32, 3, 32, 32})); }},
    {"infer:mixer:32", [] { return inference<bench::Mixer>(stored_images({32, 3, 32, 32})); }},
    {"infer:unet:32", [] { return inference<bench::UNet>(stored_images({32, 3, 64, 64})); }},
    {"infer:gpt:32", text_inference<bench::Gpt>},
    {"infer:lstm:32", text_inference<bench::LstmModel>},
    {"infer:vae:32", [] { return inference<bench::Vae>(stored_images({32, 1, 28, 28})); }},
};

/// A launch is known by the name of its first kernel and by its work, as DEBUG=2 prints them.
using LaunchKey = std::string;
LaunchKey key_of(const std::string& name, size_t count, double mflop, double mb) {
  return fmt::format("{}{}\t{:.4f}\t{:.4f}", name, count > 1 ? fmt::format(" and {} more", count - 1) : "", mflop, mb);
}

/// Prices of a program's launches, in us.
std::map<LaunchKey, double> priced(const Program& program) {
  const tensor::NestedObserver lazy;  // under an observer step() records its updates instead of running them
  const plan::KernelSources written = testing::explain(std::vector{program()}, runtime::host_target());
  const runtime::Plan& plan = written.scheduled.plan;
  std::map<LaunchKey, double> prices;
  size_t next = 0;
  for (const int count : plan.launches) {
    const std::string& name = written.scheduled.kernels[static_cast<size_t>(plan.steps[next].program)].name;
    double flops = 0, bytes = 0, ns = 0;
    for (const size_t end = next + static_cast<size_t>(count); next < end; ++next) {
      const runtime::PlanStep& step = plan.steps[next];
      flops += plan.work[static_cast<size_t>(step.program)].flops.at({});
      for (const double moved : runtime::bytes_moved(plan, step, {})) bytes += moved;
      ns += step.price;
    }
    prices[key_of(name, static_cast<size_t>(count), flops * 1e-6, bytes * 1e-6)] = ns * 1e-3;
  }
  return prices;
}

/// Median times of the launches of a program that repeats, in us.
std::map<LaunchKey, double> timed(const Program& program) {
  const tensor::NestedObserver lazy;
  program().realize();  // compiles
  runtime_test::CapturedLog log;
  const runtime_test::ScopedEnv setting("DEBUG", "2");
  for (int i = 0; i < kRuns; ++i) program().realize();
  std::map<LaunchKey, std::vector<double>> times;
  static const std::regex line(
      R"( *(\w+?)_[0-9a-f]{16}(?: and (\d+) more)? +\d+ tasks +([\d.]+) us +([\d.]+) MB +([\d.]+) MFLOP.*)");
  std::istringstream lines(log.text());
  std::smatch m;
  for (std::string text; std::getline(lines, text);)
    if (std::regex_match(text, m, line)) {
      const size_t count = m[2].matched ? std::stoul(m[2]) + 1 : 1;
      times[key_of(m[1], count, std::stod(m[5]), std::stod(m[4]))].push_back(std::stod(m[3]));
    }
  std::map<LaunchKey, double> medians;
  for (auto& [key, all] : times) {
    std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    medians[key] = all[all.size() / 2];
  }
  return medians;
}

void record(const char* path) {
  REQUIRE(runtime::host_target().key() == recorded_machine().key());
  std::ofstream table(path);
  for (const auto& [name, make] : kPrograms)
    for (const auto& [launch, us] : timed(make()))
      if (us > kShortest) table << fmt::format("{}\t{}\t{:.0f}\n", name, launch, us);
}

}  // namespace

TEST_CASE("prices of the networks' launches are near the times that a Zen 2 took", "[networks]") {
  manual_seed(0);
  if (const char* path = std::getenv("LAUNCH_TIMES")) return record(path);
  const FixedTarget fixed(kSmallPrograms, recorded_machine());
  std::map<std::string, std::map<LaunchKey, double>> recorded;
  std::istringstream table(repository_text(kTable));
  for (std::string row; std::getline(table, row);) {
    const size_t name = row.find('\t'), time = row.rfind('\t');
    recorded[row.substr(0, name)][row.substr(name + 1, time - name - 1)] = std::stod(row.substr(time + 1));
  }
  CHECK(recorded.size() == std::size(kPrograms));
  for (const auto& [name, make] : kPrograms) {
    const std::map<LaunchKey, double> prices = priced(make());
    double all = 0, missing = 0;
    for (const auto& [launch, us] : recorded[name]) {
      INFO(name << ": " << launch);
      all += us;
      const auto found = prices.find(launch);
      if (found == prices.end()) {
        missing += us;
        continue;
      }
      if (std::getenv("SHOW_PRICES"))
        fmt::print("{:.2f}\t{:.0f} us\t{:.0f} us\t{} {}\n", us / found->second, us, found->second, name, launch);
      INFO("took " << us << " us, priced at " << found->second << " us");
      CHECK(us < kWithin * found->second);
      CHECK(us > found->second / kWithin);
    }
    INFO(name << ": of " << all << " us, " << missing << " in launches that the plan no longer has: record anew");
    CHECK(missing <= kMostMissing * all);
  }
}
