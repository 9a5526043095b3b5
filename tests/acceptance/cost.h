// What realising costs, whether its values are right, and whether fusion changed a bit: shared by the tests that count
// launches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "sinter/sinter.h"

struct Cost {
  uint64_t launches, bytes;
};

/// What code costs that realises, when all its inputs are stored.
inline Cost cost_of(const std::function<void()>& code) {
  sinter::debug::reset_counters();
  code();
  const sinter::debug::Counters c = sinter::debug::counters();
  return {c.launches, c.bytes_moved};
}

template <class... T>
Cost cost(const T&... tensors) {
  return cost_of([&] { sinter::realize(tensors...); });
}

inline sinter::Tensor stored(const sinter::Tensor& t) { return t.contiguous().realize(); }

using MakeTensors = std::function<std::vector<sinter::Tensor>()>;

/// What the tensors that `make` builds hold when one executor runs them.
inline std::vector<std::vector<float>> values_by(sinter::debug::Executor executor, const MakeTensors& make) {
  using namespace sinter;
  debug::set_executor(executor);
  std::vector<Tensor> made = make();
  realize_all(made);
  std::vector<std::vector<float>> values;
  for (const Tensor& t : made) values.push_back(t.to(float32).to_vector<float>());
  debug::set_executor(debug::Executor::Compiled);
  return values;
}

/// Whether they hold what the interpreter finds, but for roundings: within `tolerance` of the largest number of each.
inline bool same_as_interpreted(const MakeTensors& make, float tolerance = 1e-5f) {
  const auto got = values_by(sinter::debug::Executor::Compiled, make);
  const auto wanted = values_by(sinter::debug::Executor::Interpreter, make);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (got[i].size() != wanted[i].size()) return false;
    float largest = 1;
    for (float x : wanted[i])
      if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
    for (size_t k = 0; k < wanted[i].size(); ++k) {
      const float x = wanted[i][k], y = got[i][k];
      if (x != y && !(std::isnan(x) && std::isnan(y)) && !(std::abs(x - y) <= tolerance * largest)) return false;
    }
  }
  return true;
}

/// Whether the tensors that `make` builds have the same bits when every op is a kernel of its own.
inline bool same_when_unfused(const MakeTensors& make) {
  const auto fused = values_by(sinter::debug::Executor::Compiled, make);
  const auto unfused = values_by(sinter::debug::Executor::Unfused, make);
  for (size_t i = 0; i < fused.size(); ++i)
    if (fused[i].size() != unfused[i].size() ||
        std::memcmp(fused[i].data(), unfused[i].data(), fused[i].size() * sizeof(float)) != 0)
      return false;
  return true;
}
