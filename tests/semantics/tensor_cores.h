// What tests of products on tensor cores have in common.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "semantics/support.h"
#include "sinter/cuda.h"

namespace semantics {

/// Whether the device is a GPU with the tensor cores of ir/mma_step.h.
inline bool has_known_steps() {
  return default_device().kind() != Device::Kind::Cpu && cuda::properties().compute_capability >= 90;
}

/// Requires the same bits, fused and unfused.
inline void on_both(const std::function<Tensor()>& make) {
  std::vector<std::vector<float>> out;
  for (const debug::Executor e : {debug::Executor::Compiled, debug::Executor::Unfused}) {
    debug::set_executor(e);
    out.push_back(make().to(float32).to_vector<float>());
  }
  debug::set_executor(debug::Executor::Compiled);
  REQUIRE(out[0].size() == out[1].size());
  for (size_t i = 0; i < out[0].size(); ++i)
    CHECK((std::bit_cast<uint32_t>(out[0][i]) == std::bit_cast<uint32_t>(out[1][i]) ||
           (std::isnan(out[0][i]) && std::isnan(out[1][i]))));
}

}  // namespace semantics
