// What realising costs, and whether fusion changed a bit: shared by the tests that count launches.
#pragma once

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

/// Whether the tensors that `make` builds have the same bits when every op is a kernel of its own.
inline bool same_when_unfused(const std::function<std::vector<sinter::Tensor>()>& make) {
  using namespace sinter;
  const auto run = [&](debug::Executor executor) {
    debug::set_executor(executor);
    std::vector<Tensor> made = make();
    realize_all(made);
    std::vector<std::vector<float>> values;
    for (const Tensor& t : made) values.push_back(t.to(float32).to_vector<float>());
    debug::set_executor(debug::Executor::Compiled);
    return values;
  };
  const auto fused = run(debug::Executor::Compiled), unfused = run(debug::Executor::Unfused);
  for (size_t i = 0; i < fused.size(); ++i)
    if (fused[i].size() != unfused[i].size() ||
        std::memcmp(fused[i].data(), unfused[i].data(), fused[i].size() * sizeof(float)) != 0)
      return false;
  return true;
}
