// What a launch costs the host.
#include <chrono>

#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

constexpr int64_t kSide = 16;  ///< rows and columns: a kernel that is done at once

/// launch:N: a plan of N kernels, each of which needs the one before, under jit(): a GPU runs it as one graph. The time is what the
/// calling thread takes to put it on its way, by N.
Work launches(const Arguments& arguments) {
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
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    finish();
    return passed.count() / static_cast<double>(count);
  };
  return {.run = run, .check = [=] { return run(), fingerprint(result->to_vector<float>()); }, .seconds = seconds};
}

}  // namespace

std::map<std::string, Family> host() { return {{"launch", {launches}}}; }

}  // namespace bench
