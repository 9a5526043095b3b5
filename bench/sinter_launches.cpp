// What the host pays for each tensor call, for each node of a program that ran before, and for each launch.
#include <chrono>
#include <functional>
#include <memory>

#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

constexpr int64_t kSide = 16;  ///< rows and columns: a kernel that is done at once

double seconds_of(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// x and N times x, one call and one node each, that one small kernel computes.
sn::Tensor sum_of(const sn::Tensor& x, int64_t count) {
  sn::Tensor y = x;
  for (int64_t i = 0; i < count; ++i) y = y + x;
  return y;
}

/// node:N: N tensor calls whose nodes are new. The time is that of the calls, by N.
/// walk:N: what realize() takes of their result when such a program ran before, by N: the walk over its nodes, one
/// launch, a kernel of N additions of one vector.
BenchCase calls(const Arguments& arguments) {
  const int64_t count = arguments.sizes(1).at(0);
  const bool walked = arguments.text(0) == "walk";
  const sn::Tensor x = input({kSide}, 1);
  auto result = std::make_shared<sn::Tensor>();
  const auto run = [=] {
    *result = sum_of(x, count);
    result->realize();
  };
  const auto seconds = [=] {
    finish();
    *result = {};
    sn::Tensor made;
    const double called = seconds_of([&] { made = sum_of(x, count); });
    return (walked ? seconds_of([&] { made.realize(); }) : called) / static_cast<double>(count);
  };
  return {.run = run, .check = [=] { return run(), fingerprint(result->to_vector<float>()); }, .seconds = seconds};
}

/// launch:N: a plan of N kernels, each of which needs the one before, under jit(): a GPU runs it as one graph. The time
/// is what the calling thread takes to put it on its way, by N; on a CPU that is until they ran.
BenchCase launches(const Arguments& arguments) {
  const int64_t count = arguments.sizes(1).at(0);
  const sn::Tensor x = input({kSide, kSide}, 1);
  const auto program = [count](sn::Tensor y) {
    for (int64_t i = 0; i < count; ++i) y = (y * 0.99).transpose().contiguous();
    return y;
  };
  auto jitted = std::make_shared<decltype(sn::jit(program))>(sn::jit(program));
  auto result = std::make_shared<sn::Tensor>();
  const auto run = [=] {
    *result = (*jitted)(x);
    result->realize();
  };
  const auto seconds = [=] {
    finish();
    const double passed = seconds_of(run);
    finish();
    return passed / static_cast<double>(count);
  };
  return {.run = run, .check = [=] { return run(), fingerprint(result->to_vector<float>()); }, .seconds = seconds};
}

}  // namespace

std::map<std::string, CaseFamily> host() { return {{"node", {calls}}, {"walk", {calls}}, {"launch", {launches}}}; }

}  // namespace bench
