// What the programs of these tests share: small networks, and counts of what happened in
// between.
#pragma once

#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.h"
#include "planted_faults.h"
#include "sinter/create.h"
#include "sinter/debug.h"
#include "sinter/gradient.h"
#include "sinter/nn/optim.h"
#include "sinter/ops.h"
#include "sinter/tensor.h"

namespace semantics {

using namespace sinter;
using Vec = std::vector<double>;

/// What happened since it was made.
struct CounterDelta {
  debug::Counters from = debug::counters();
  uint64_t plans() const { return debug::counters().plans - from.plans; }
  uint64_t misses() const { return debug::counters().plan_misses - from.plan_misses; }
  uint64_t moved() const { return debug::counters().moved - from.moved; }
  uint64_t in_place() const { return debug::counters().in_place - from.in_place; }
  uint64_t evaluated() const { return debug::counters().nodes_interpreted - from.nodes_interpreted; }
  int64_t nodes() const {
    return static_cast<int64_t>(debug::counters().live_nodes) - static_cast<int64_t>(from.live_nodes);
  }
  int64_t buffers() const {
    return static_cast<int64_t>(debug::counters().live_buffers) - static_cast<int64_t>(from.live_buffers);
  }
};

/// At its end nothing of the program may be left: no node, no buffer. Every cached plan is decided again on the way.
struct LeakCheck {
  const testing::PlantedFaults faults;
  CounterDelta count;
  LeakCheck() {
    faults->check_plans = true;
    debug::clear_plans();
  }
  ~LeakCheck() {
    CHECK(count.nodes() == 0);
    CHECK(count.buffers() == 0);
  }
};

/// Runs the test once per executor, and cleanly.
#define ON_EACH_EXECUTOR()                                                                \
  debug::set_executor(GENERATE(debug::Executor::Interpreter, debug::Executor::Compiled)); \
  const LeakCheck clean_

inline std::mt19937_64& random() {
  thread_local std::mt19937_64 engine(7);
  return engine;
}
inline Tensor noise(const Shape& shape, double scale = 1.0) {
  std::normal_distribution<double> normal;
  Vec values(static_cast<size_t>(shape.numel()));
  for (double& v : values) v = normal(random()) * scale;
  return from(values, shape);
}
inline Tensor weight(const Shape& shape) { return noise(shape, 0.3).requires_grad(); }
inline Tensor full64(const Shape& shape, double value) {
  return from(Vec(static_cast<size_t>(shape.numel()), value), shape);
}

inline Vec read(const Tensor& t) { return t.to_vector<double>(); }
inline bool close(const Vec& a, const Vec& b, double tolerance = 1e-9) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i])))) return false;
  return true;
}

struct Mlp {
  std::vector<Tensor> p{weight({6, 5}), weight({1, 5}), weight({5, 3}), weight({1, 3})};
  Tensor trunk(const Tensor& x) const { return relu(matmul(x, p[0]) + p[1]); }
  Tensor head(const Tensor& h) const { return matmul(h, p[2]) + p[3]; }
  Tensor operator()(const Tensor& x) const { return head(trunk(x)); }
};

struct Batch {
  Tensor x, y;
};
inline Batch batch(int64_t n = 8) {
  Vec labels(static_cast<size_t>(n) * 3);
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) labels[i * 3 + random()() % 3] = 1;
  return {noise({n, 6}), from(labels, {n, 3})};
}

/// Cross entropy written out, without the stabilising maximum: exp, log and their gradients.
inline Tensor xent(const Tensor& z, const Tensor& y) {
  return (log(exp(z).sum(1)) - (z * y).sum(1)).sum() * (1.0 / static_cast<double>(z.size(0).value()));
}
inline Tensor mse(const Tensor& z, const Tensor& y) {
  Tensor d = z - y;
  return (d * d).mean();
}
inline Tensor accuracy(const Tensor& z, const Tensor& y) { return (z.argmax(1) == y.argmax(1)).to(float64).mean(); }

/// A thread that runs what it is given, one thing after the other: what it assigned stays its own (V2).
class Worker {
 public:
  Worker() : thread_([this] { serve(); }) {}
  ~Worker() {
    run({});
    thread_.join();
  }
  /// Waits until it is done; throws what it threw.
  void run(std::function<void()> f) {
    std::unique_lock lock(mutex_);
    job_ = std::move(f);
    pending_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !pending_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (bool more = true; more;) {
      changed_.wait(lock, [this] { return pending_; });
      try {
        if (job_)
          job_();
        else
          more = false;
      } catch (...) { error_ = std::current_exception(); }
      job_ = {};
      pending_ = false;
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  std::exception_ptr error_;
  bool pending_ = false;
  std::thread thread_;
};

}  // namespace semantics
