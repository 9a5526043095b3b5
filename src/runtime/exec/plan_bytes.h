// A Plan as bytes, for the cache folder: all but the code of its kernels, which lies there by itself.
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
  Plan plan;                          ///< without its programs
  std::vector<KernelSource> kernels;  ///< of each program, without its text
  std::vector<Hash128> keys;          ///< of each program
};

/// Both change with kPlanFormat.
inline constexpr std::string_view kPlanFormat = "sinter plan 2";
std::string to_bytes(const StoredPlan& plan);
/// Nothing for bytes that to_bytes() has not written, or which name a buffer or kernel that is not there.
std::optional<StoredPlan> plan_from_bytes(std::string_view bytes);

}  // namespace sinter::runtime
