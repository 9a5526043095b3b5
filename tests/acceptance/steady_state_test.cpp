// What a training loop costs once it runs: nothing but its launches, and no memory.
#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "catch.h"
#include "cost.h"
#include "sinter/data.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

struct Net {
  nn::Linear l1{784, 32}, l2{32, 10};
  nn::Dropout drop{0.1};
  SINTER_MODULE(l1, drop, l2)
  Tensor operator()(const Tensor& x) const { return l2(drop(relu(l1(x)))); }
};

/// Losses of some steps; calls after(step) behind each.
template <class After>
std::vector<double> train(int steps, After after) {
  manual_seed(11);
  data::Mnist m = data::mnist();
  m.train.seed(11);
  Net net;
  optim::Adam opt(nn::parameters(net), {.lr = 1e-3});
  std::vector<double> losses;
  while (static_cast<int>(losses.size()) < steps)
    for (auto [x, y] : m.train.batches(32, shuffle)) {
      if (x.shape()[0] != Dim(32)) break;
      opt.lr = 1e-3 / (1.0 + 0.01 * static_cast<double>(losses.size()));
      Tensor loss = cross_entropy(net(x), y);
      opt.zero_grad();
      loss.backward();
      opt.step();
      losses.push_back(loss.item());
      after(static_cast<int>(losses.size()));
      if (static_cast<int>(losses.size()) == steps) break;
    }
  return losses;
}

long resident_kb() {
  malloc_trim(0);
  long pages = 0, ignored = 0;
  std::ifstream("/proc/self/statm") >> ignored >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace

TEST_CASE("from the third step on nothing is planned, rewritten or compiled", "[steady]") {
  train(12, [](int step) {
    if (step >= 3) {
      const debug::Counters c = debug::counters();
      CHECK(c.plan_misses == 0);
      CHECK(c.partition_runs == 0);
      CHECK(c.rewrite_runs == 0);
      CHECK(c.compiles == 0);
      CHECK(c.launches > 0);
    }
    debug::reset_counters();
  });
}

TEST_CASE("schedules and clipping compile nothing either", "[steady]") {
  manual_seed(3);
  nn::Linear l1(20, 16), l2(16, 3);
  const std::vector<Tensor> parameters{l1.weight, l1.bias, l2.weight, l2.bias};
  optim::AdamW opt(parameters, {.lr = 1e-2});
  optim::LRScheduler schedule(
      opt, optim::SequentialLR{{optim::LinearLR{.total_iters = 4}, optim::CosineAnnealingLR{16}}, {4}});
  double before = -1;
  for (int step = 1; step <= 20; ++step) {
    debug::reset_counters();
    Tensor loss = cross_entropy(l2(relu(l1(randn({32, 20})))), zeros({32}, int64));
    loss.backward();
    const Tensor norm = nn::clip_grad_norm(parameters, 0.05);
    opt.step();
    schedule.step();
    CHECK(opt.lr != before);
    before = opt.lr;
    CHECK(norm.item() > 0);
    if (step < 3) continue;
    const debug::Counters c = debug::counters();
    CHECK(c.plan_misses == 0);
    CHECK(c.partition_runs == 0);
    CHECK(c.rewrite_runs == 0);
    CHECK(c.compiles == 0);
    CHECK(c.plans == 1);  // the norm was stored by the step
  }
}

TEST_CASE("losses agree with the interpreter's, and to the bit with the unfused run's", "[steady]") {
  auto nothing = [](int) {};
  const std::vector<double> fused = train(20, nothing);
  debug::set_executor(debug::Executor::Unfused);
  const std::vector<double> unfused = train(20, nothing);
  CHECK(fused == unfused);
  debug::set_executor(debug::Executor::Interpreter);
  const std::vector<double> interpreted = train(20, nothing);
  debug::set_executor(debug::Executor::Compiled);
  for (size_t i = 0; i < fused.size(); ++i)
    CHECK(std::abs(fused[i] - interpreted[i]) <= 1e-4 * std::abs(interpreted[i]));
  CHECK(fused.back() < 0.8 * fused.front());
}

TEST_CASE("in steady state no result is touched for the first time", "[steady]") {
  const Tensor x = stored(rand({2048, 4096}));
  const auto run = [&] { (tanh(x) * 2.0).realize(); };  // 32 MiB: 8192 pages of 4 KiB
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  for (int i = 0; i < 3; ++i) run();
  const long before = faults();
  for (int i = 0; i < 20; ++i) run();
  CHECK(faults() - before < 100);
}

TEST_CASE("between steps 1,000 and 10,000 nothing grows", "[steady][slow]") {
  manual_seed(1);
  nn::Linear l1(20, 16), l2(16, 3);
  optim::Adam opt({l1.weight, l1.bias, l2.weight, l2.bias}, {.lr = 1e-3});
  std::vector<float> numbers(32 * 20);
  std::vector<int64_t> labels(32);
  struct Held {
    size_t nodes;
    uint64_t buffers, bytes;
    size_t plans;
    long kb;
  } early{}, late{};
  std::string printed;
  for (int step = 1; step <= 10000; ++step) {
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>((i * 7 + static_cast<size_t>(step)) % 13) / 13.0f;
    for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int64_t>((i + static_cast<size_t>(step)) % 3);
    Tensor loss = cross_entropy(l2(relu(l1(from(numbers, {32, 20})))), from(labels));
    opt.zero_grad();
    loss.backward();
    opt.step();
    if (step % 100 == 0) printed = loss.to_string();
    if (step == 1000 || step == 10000) {
      const debug::Counters c = debug::counters();
      (step == 1000 ? early : late) = {c.live_nodes, c.live_buffers, c.live_bytes, c.plan_entries, resident_kb()};
    }
  }
  CHECK(early.nodes == late.nodes);
  CHECK(early.buffers == late.buffers);
  CHECK(early.bytes == late.bytes);
  CHECK(early.plans == late.plans);
  CHECK(std::abs(late.kb - early.kb) <= 1024);
  CHECK_FALSE(printed.empty());
}

TEST_CASE("one model with a symbolic batch is compiled once", "[steady]") {
  manual_seed(4);
  nn::Linear l1(12, 8), l2(8, 4);
  realize(l1.weight, l1.bias, l2.weight, l2.bias);
  const Var batch("batch", 1, 256);
  std::vector<float> numbers(256 * 12);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i));
  auto run = [&](Dim n) { return softmax(l2(relu(l1(from(numbers.data(), Shape{n, 12}))))); };
  std::vector<float> first;
  for (int64_t n : {7, 1, 256, 100}) {
    debug::reset_counters();
    const std::vector<float> got = run(batch(n)).to_vector<float>();
    if (!first.empty()) {
      CHECK(debug::counters().compiles == 0);
      CHECK(debug::counters().plan_misses == 0);
    }
    CHECK(got == run(Dim(n)).to_vector<float>());
    if (first.empty()) first = got;
    for (size_t i = 0; i < std::min(first.size(), got.size()); ++i) CHECK(got[i] == first[i]);
  }
}
