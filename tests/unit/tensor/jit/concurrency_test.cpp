// Launches of jitted functions beside other threads: nobody waits for one who does not need what it stores, and who
// does need it sees it whole.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "catch.h"
#include "jit_support.h"
#include "on_cpu.h"
#include "planted_faults.h"
#include "skip.h"
#include "unit/runtime_support.h"

using namespace sinter;
using jit_test::numbers;
using jit_test::values;
using runtime_test::ScopedEnv;
using testing::PlantedFaults;

namespace {

/// Holds each thread that is about to end a plan's launches, which DEBUG=1 logs, until another one is there too:
/// launches that exclude one another would wait for ever, and are told apart after a while.
class Meeting final : public runtime::LogSink {
 public:
  Meeting() { before_ = runtime::set_log_sink(this); }
  ~Meeting() override { runtime::set_log_sink(before_); }

  void write(int, std::string_view text) override {
    if (text.substr(0, 5) != "plan:") return;
    std::unique_lock lock(mutex_);
    there_.insert(std::this_thread::get_id());
    changed_.notify_all();
    all_ &= changed_.wait_for(lock, std::chrono::seconds(30), [&] { return there_.size() > 1; });
  }
  bool met() {
    const std::lock_guard lock(mutex_);
    return all_ && there_.size() > 1;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::thread::id> there_;
  bool all_ = true;
  runtime::LogSink* before_;
};

/// Work that is worth giving the graph to others for.
Tensor large(double from) { return (numbers({256, 256}, from) * 1e-4f).contiguous().realize(); }

/// A thread that the test waits for; what it throws is its text.
class Other {
 public:
  explicit Other(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          try {
            work();
          } catch (const std::exception& error) { text_ = error.what(); }
          done_ = true;
        }) {}
  ~Other() {
    if (thread_.joinable()) thread_.join();
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  /// Gives it the time to come to where it waits; false if it did not wait.
  bool waits() const {
    for (int i = 0; i < 200 && !done_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return !done_;
  }
  std::string join() {
    thread_.join();
    return text_;
  }

 private:
  std::string text_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("two threads, each its jitted model, launch at the same time", "[jit][threads]") {
  const std::string kind = GENERATE("own models", "a common weight", "one model", "own state", "own models on GPUs");
  const bool gpu = kind == "own models on GPUs";
  std::optional<ScopedEnv> simulated;
  std::optional<OnCpu> host;
  if (gpu)
    simulated.emplace("SINTER_DEVICE", "cuda-sim");
  else
    host.emplace();
  if (gpu && !cuda::is_available()) SKIP_TEST("no compiler of CUDA text");
  INFO(kind);
  const Tensor common = large(0.5);
  struct Model {
    Tensor weight, state, x;
    std::function<Tensor(const Tensor&)> call;
  };
  std::vector<Model> models(2);
  std::vector<std::vector<float>> expected;
  std::atomic<int> runs = 0;
  for (size_t m = 0; m < 2; ++m) {
    Model& model = models[m];
    model.weight = kind == "a common weight" ? common : large(static_cast<double>(m) + 1);
    model.state = large(static_cast<double>(m) + 3);
    model.x = large(static_cast<double>(m) - 1);
    if (kind == "one model" && m == 1) {
      model = models[0];
    } else {
      const bool updates = kind == "own state";
      runs = 0;
      auto fast = std::make_shared<Jitted<std::function<Tensor(const Tensor&)>>>(
          jit(std::function<Tensor(const Tensor&)>([&, updates](const Tensor& x) {
            ++runs;
            if (updates) model.state += x * 0.5f;
            return softmax(matmul(x, model.weight), 1) + model.state;
          })));
      model.call = [fast](const Tensor& x) { return (*fast)(x); };
      for (int i = 0; i < 3; ++i) model.call(model.x);
      REQUIRE(runs == 2);  // from now on its kernels alone
    }
    const Tensor state = kind == "own state" ? model.state + model.x * 0.5f : model.state;
    expected.push_back(values(softmax(matmul(model.x, model.weight), 1) + state));
  }
  const int learned = runs;
  const ScopedEnv level("DEBUG", "1");
  Meeting meeting;
  std::vector<Tensor> results(2);
  Other first([&] { results[0] = models[0].call(models[0].x); });
  Other second([&] { results[1] = models[1].call(models[1].x); });
  CHECK(first.join() == "");
  CHECK(second.join() == "");
  CHECK(meeting.met());
  CHECK(runs == learned);
  for (size_t m = 0; m < 2; ++m) CHECK(values(results[m]) == expected[m]);
}

TEST_CASE("a thread builds, compiles and reads while a jitted function's kernels run", "[jit][threads]") {
  const PlantedFaults faults;
  const Tensor x = numbers({4, 4});
  auto fast = jit([](const Tensor& t) { return exp(t).sum(0); });
  for (int i = 0; i < 3; ++i) fast(x);
  std::vector<float> seen;
  std::string error = "did not run";
  faults->before_launch = [&] {  // would wait for ever if the mutex were held
    Other other([&] { seen = values(log(numbers({3, 5}, 1)).sum(1)); });
    error = other.join();
  };
  const std::vector<float> got = values(fast(x));
  CHECK(error == "");
  CHECK(seen == values(log(numbers({3, 5}, 1)).sum(1)));
  CHECK(got == values(exp(x).sum(0)));
}

TEST_CASE("who needs what a jitted function assigns waits until its kernels have stored it", "[jit][threads]") {
  const PlantedFaults faults;
  const bool fails = GENERATE(false, true);
  Tensor w = numbers({4}), moved = numbers({4}, 8);
  int runs = 0, uses = 0;
  auto step = jit([&](const Tensor& t) { return ++runs, w += t, moved.assign(w.flip({0}) + moved), w * 3.0; });
  auto use = jit([&](const Tensor& t) { return ++uses, w * t + moved; });
  const Tensor one = full({4}, 1.0).contiguous().realize();
  for (int i = 0; i < 3; ++i) step(one), use(one);
  const int before = runs, used = uses;
  const std::vector<float> old = values(w), old_moved = values(moved);
  std::vector<float> want, want_moved, want_used;
  for (size_t i = 0; i < 4; ++i) want.push_back(old[i] + 1);
  for (size_t i = 0; i < 4; ++i) want_moved.push_back(want[3 - i] + old_moved[i]);
  for (size_t i = 0; i < 4; ++i) want_used.push_back(want[i] + want_moved[i]);

  std::vector<std::vector<float>> seen(4);
  std::vector<std::unique_ptr<Other>> others;
  faults->before_launch = [&] {
    others.push_back(std::make_unique<Other>([&] { seen[0] = values(w); }));
    others.push_back(std::make_unique<Other>([&] { seen[1] = values(moved.reshape({2, 2}) * 1.0f); }));
    others.push_back(std::make_unique<Other>([&] { seen[2] = values(use(one)); }));
    others.push_back(std::make_unique<Other>([&] { seen[3] = values(w.detach()); }));
    for (const auto& other : others) CHECK(other->waits());
    if (fails) faults->fail_at_launch = 0;
  };
  if (fails)
    CHECK_THROWS_AS(step(one), BackendError);
  else
    step(one);
  for (const auto& other : others) CHECK((other->join() != "") == fails);
  if (fails) {
    CHECK_THROWS_AS(values(w), BackendError);
    w.assign(numbers({4}));
    moved.assign(numbers({4}, 8));
    step(one);
    CHECK(values(w) == values(numbers({4}, 1)));
  } else {
    CHECK(seen == std::vector<std::vector<float>>{want, want_moved, want_used, want});
    CHECK(uses == used);  // it waited for the plan, and was not run for another one
  }
  CHECK(runs == before);
}

TEST_CASE("what a jitted function's kernels read is not written meanwhile", "[jit][threads]") {
  const PlantedFaults faults;
  Tensor x = numbers({4}), w = numbers({4}, 2);
  int updates = 0;
  auto fast = jit([&](const Tensor& t) { return exp(t) * w; });
  auto update = jit([&](const Tensor& t) { ++updates, w += t; });
  const Tensor one = full({4}, 1.0).contiguous().realize();
  for (int i = 0; i < 3; ++i) fast(x), update(one);
  const int before = updates;
  const std::vector<float> want = values(exp(x) * w), next = values(w + one);
  std::string error;
  std::unique_ptr<Other> updating;
  const uint64_t in_place = debug::counters().in_place, moved = debug::counters().moved;
  faults->before_launch = [&] {
    Other assigning([&] {
      x += 1.0;
      x.realize();
    });
    error = assigning.join();
    // This one does not run its function for a program that stores elsewhere: it waits.
    updating = std::make_unique<Other>([&] { update(one); });
    CHECK(updating->waits());
  };
  CHECK(values(fast(x)) == want);
  CHECK(error == "");
  CHECK(updating->join() == "");
  CHECK(debug::counters().in_place == in_place);
  CHECK(debug::counters().moved == moved + 1);
  CHECK(values(x) == values(numbers({4}, 1)));
  CHECK(values(w) == next);
  CHECK(updates == before);
}

TEST_CASE("threads see what jitted functions assign whole, and all of a call at once", "[jit][threads]") {
  constexpr int kCalls = 40, kThreads = 2;
  Tensor count = (numbers({1 << 16}) * 0.0f).contiguous().realize(), twice = count.clone().contiguous().realize();
  twice = (count * 2.0f).contiguous().realize();
  const Tensor one = full({1 << 16}, 1.0).contiguous().realize();
  auto tick = jit([&](const Tensor& t) {
    count += t;
    twice += t * 2.0f;
    return count.sum();
  });
  auto look = jit([&](const Tensor& t) { return (count * 2.0f - twice) * t; });
  std::atomic<int> ended = 0, torn = 0;
  std::vector<std::unique_ptr<Other>> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.push_back(std::make_unique<Other>([&] {
      for (int i = 0; i < kCalls; ++i) tick(one);
      ++ended;
    }));
  threads.push_back(std::make_unique<Other>([&] {
    while (ended < kThreads) {
      const std::vector<float> seen = values(count);
      torn += std::any_of(seen.begin(), seen.end(), [&](float v) { return v != seen[0]; });
    }
  }));
  threads.push_back(std::make_unique<Other>([&] {
    while (ended < kThreads) torn += abs(look(one)).max().item<float>() != 0;
  }));
  for (const auto& thread : threads) CHECK(thread->join() == "");
  CHECK(torn == 0);
  CHECK(values(count)[1 << 15] == kCalls * kThreads);
  CHECK(values(twice)[7] == 2 * kCalls * kThreads);
}

TEST_CASE("a jitted function is captured while other threads make parameters", "[jit][threads]") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> makers;
  for (int t = 0; t < 2; ++t)
    makers.emplace_back([&] {
      while (!stop) (ones({4}) * 3.0).detach().requires_grad();
    });
  for (int i = 0; i < 300; ++i) {
    auto f = jit([](const Tensor& x) { return x + x; });
    CHECK(f(full({1}, i).realize()).item<float>() == 2 * i);
  }
  stop = true;
  for (std::thread& maker : makers) maker.join();
}
