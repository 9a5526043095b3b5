// The way of a program through the compiler without running it, for any machine: tests and tools look at it.
#pragma once

#include <span>
#include <vector>

#include "runtime/program.h"
#include "runtime/target.h"
#include "schedule/schedule.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

struct Explained {
  schedule::Scheduled scheduled;
  std::vector<runtime::KernelSource> sources;  ///< of scheduled.kernels
};

/// What realize() of these tensors would launch on `target`, if no program of its kind had been seen before: its plan and the text
/// of its kernels. Passes log as DEBUG asks. Computes nothing and changes no tensor. UsageError when all of them
/// are computed already, or when another thread is about to.
Explained explain(std::span<const Tensor> tensors, const runtime::Target& target);

}  // namespace sinter::tensor
