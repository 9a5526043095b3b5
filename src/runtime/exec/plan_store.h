// Plans in the cache folder, beside the objects of their kernels: a program that an earlier process has run is neither
// scheduled nor written again.
#pragma once

#include <optional>
#include <span>

#include "runtime/base/hash.h"
#include "runtime/exec/plan.h"
#include "runtime/program/program.h"

namespace sinter::runtime {

/// The plan that was stored under this key by the same build of the library for the same compiler, with its programs.
/// Nothing if there is none, it is damaged, or the object of one of its kernels is gone.
std::optional<Plan> load_plan(const Hash128& key, const Target& target);

/// `key` says everything that decided the plan but the library's build and the compiler; `kernels` are those that its
/// programs are made of.
void store_plan(const Hash128& key, const Plan& plan, std::span<const KernelSource> kernels, const Target& target);

}  // namespace sinter::runtime
