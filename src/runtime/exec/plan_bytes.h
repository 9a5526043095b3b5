// A Plan as bytes, for the cache folder. The kernels' code is stored separately.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/exec/plan.h"
#include "runtime/program/program.h"

namespace sinter::runtime {

struct StoredPlan {
  Plan plan;                          ///< without programs
  std::vector<KernelSource> kernels;  ///< per program, without its text
  std::vector<Hash128> keys;          ///< per program
};

/// Both functions change together with kPlanFormat.
inline constexpr std::string_view kPlanFormat = "sinter plan 3";
std::string to_bytes(const StoredPlan& plan);
/// Nullopt for bytes that to_bytes() has not written or that refer to a missing buffer or kernel.
std::optional<StoredPlan> plan_from_bytes(std::string_view bytes);

}  // namespace sinter::runtime
