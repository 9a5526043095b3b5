// Compiles a program for any machine without running it.
#pragma once

#include <span>

#include "plan/plan_entry.h"
#include "runtime/base/target.h"
#include "sinter/tensor.h"

namespace sinter::testing {

/// The plan that realize() of these tensors would compile for `target`, and the text of its kernels. Passes log as
/// DEBUG asks. Computes nothing and changes no tensor. UsageError if all of them are computed already, or if another
/// thread is computing one.
plan::KernelSources explain(std::span<const Tensor> tensors, const runtime::Target& target);

}  // namespace sinter::testing
