// Forking and ending (V7 of docs/semantics.md): what a child gets from a process whose other threads are busy.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "semantics/support.h"
#include "sinter/jit.h"
#include "tensor/core/cell.h"

using namespace semantics;

namespace {

Tensor survivor;  // dies after main, with an assign that is owed

/// Whether `check` holds in a child, which has a minute.
bool holds_in_child(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int status = 1;
    try {
      status = check() ? 0 : 2;
    } catch (...) { status = 3; }
    _exit(status);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  INFO("the child ended with status " << status);
  CHECK(WIFEXITED(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A meeting of two threads: one is at work, the other is about to fork.
struct Meeting {
  std::atomic<bool> at_work{false}, forking{false};
  /// In the thread at work: begins, and ends some time after the fork has begun.
  void work() {
    at_work = true;
    while (!forking) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  void fork_now() {
    while (!at_work) std::this_thread::yield();
    forking = true;
  }
};

}  // namespace

TEST_CASE("V7 a forked child computes, and handles may die after main", "[semantics]") {
  survivor = full64({3}, 1);
  survivor += 1.0;
  Tensor x = noise({64, 64});
  const Vec before = read(matmul(x, x));
  CHECK(holds_in_child([&] { return close(read(matmul(x, x) + 1.0 - 1.0), before, 1e-12); }));
}

TEST_CASE("V7 fork waits for a thread that holds the graph", "[semantics]") {
  ON_EACH_EXECUTOR();
  const Tensor x = full64({3}, 1);
  Meeting meeting;
  std::thread other([&] {
    const ir::GraphScope scope;
    meeting.work();
  });
  meeting.fork_now();
  CHECK(holds_in_child([&] { return read(x + 1.0) == Vec{2, 2, 2}; }));
  other.join();
  const ir::GraphScope scope;  // of the thread that forks: it has it in the child too
  CHECK(holds_in_child([&] { return read(x + 2.0) == Vec{3, 3, 3} && ir::TensorGraph::get().depth() == 1; }));
}

TEST_CASE("V7 fork waits for compilations", "[semantics]") {
  ON_EACH_EXECUTOR();
  Tensor x = full64({3}, 1), y = exp(x).sum() + x;
  Meeting meeting;
  runtime::fault_injection().while_compiling = [&] { meeting.work(); };
  std::thread other([&] { y.realize(); });
  meeting.fork_now();
  CHECK(holds_in_child([&] { return close(read(y), Vec(3, 3 * std::exp(1.0) + 1)); }));
  other.join();
}

TEST_CASE("V7 a child has what plans in flight have computed", "[semantics]") {
  ON_EACH_EXECUTOR();
  const bool fails = GENERATE(false, true);
  Tensor x = full64({3}, 1);
  x.realize();
  std::atomic<int> waiting{0};
  Tensor y = exp(x).sum() + x;
  Meeting meeting;
  runtime::fault_injection().before_launch = [&] { meeting.work(); };
  if (fails) runtime::fault_injection().fail_at_launch = 0;
  std::thread other([&] {
    x += 1.0;
    try {
      y.realize();
    } catch (const BackendError&) {}
  });
  while (!meeting.at_work) std::this_thread::yield();
  std::thread third([&] {
    ++waiting;
    try {
      y.realize();  // of the other's plan
    } catch (const BackendError&) {}
  });
  while (!waiting) std::this_thread::yield();
  meeting.fork_now();
  const bool holds = holds_in_child([&] {
    try {
      return read(x) == Vec{2, 2, 2} && close(read(y), Vec(3, 3 * std::exp(1.0) + 1)) && !fails;
    } catch (const BackendError&) { return fails; }
  });
  CHECK(holds);
  other.join();
  third.join();
  if (fails) CHECK_THROWS_AS(read(y), BackendError);
}

TEST_CASE("V7 a child has what a jitted function's kernels have computed", "[semantics]") {
  debug::set_executor(debug::Executor::Compiled);
  const bool fails = GENERATE(false, true);
  Tensor w = full64({3}, 1);
  w.realize();
  const Tensor one = full64({3}, 1).contiguous().realize();
  auto step = jit([&](const Tensor& t) { w += t; });
  for (int i = 0; i < 3; ++i) step(one);
  Meeting meeting;
  runtime::fault_injection().before_launch = [&] { meeting.work(); };
  if (fails) runtime::fault_injection().fail_at_launch = 0;
  std::thread other([&] {
    try {
      step(one);
    } catch (const BackendError&) {}
  });
  while (!meeting.at_work) std::this_thread::yield();
  meeting.fork_now();
  const bool holds = holds_in_child([&] {
    try {
      if (read(w) != Vec{5, 5, 5} || fails) return false;
      step(one);
      return read(w) == Vec{6, 6, 6};
    } catch (const BackendError&) { return fails; }
  });
  CHECK(holds);
  other.join();
  if (fails)
    CHECK_THROWS_AS(read(w), BackendError);
  else
    CHECK(read(w) == Vec{5, 5, 5});
}

TEST_CASE("V7 fork among threads that train", "[semantics]") {
  debug::set_executor(debug::Executor::Compiled);
  std::atomic<bool> stop{false};
  std::vector<std::thread> trainers;
  for (int t = 0; t < 2; ++t)
    trainers.emplace_back([&] {
      for (int i = 0; !stop; ++i) {
        Tensor w = weight({4, 3 + i % 5});
        (w * w).sum().backward();
        w.grad().realize();
      }
    });
  const Tensor x = full64({3}, 1);
  for (int i = 0; i < 20; ++i)
    CHECK(holds_in_child([&] {
      Tensor w = weight({2, 2 + i % 3});
      matmul(w, w.transpose()).sum().backward();
      return read(w.grad()).size() == static_cast<size_t>(4 + 2 * (i % 3)) && read(x + i)[2] == 1 + i;
    }));
  stop = true;
  for (std::thread& t : trainers) t.join();
}
