// Plans in the cache folder, beside the objects of their kernels. A program that an earlier process has run is neither
// scheduled nor generated again.
#pragma once

#include <optional>
#include <span>

#include "runtime/base/hash.h"
#include "runtime/exec/plan.h"
#include "runtime/program/program.h"

namespace sinter::runtime {

/// The plan stored under this key by the same build of the library for the same compiler, with its programs. Nullopt if
/// there is none, it is damaged, or the object of one of its kernels is missing.
std::optional<Plan> load_plan(const Hash128& key, const Target& target);

/// `key` identifies everything that determined the plan except the library's build and the compiler. `kernels` are the
/// sources of its programs.
void store_plan(const Hash128& key, const Plan& plan, std::span<const KernelSource> kernels, const Target& target);

}  // namespace sinter::runtime
