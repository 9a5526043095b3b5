// The way of a program through the compiler without running it, for any machine: tests and tools look at it.
#pragma once

#include <span>

#include "plan/executable.h"
#include "runtime/base/target.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

/// What realize() of these tensors would compile for `target`: its plan and the text of its kernels. Passes log as
/// DEBUG asks. Computes nothing and changes no tensor. UsageError when all of them are computed already, or when
/// another thread is about to.
plan::KernelSources explain(std::span<const Tensor> tensors, const runtime::Target& target);

}  // namespace sinter::tensor
