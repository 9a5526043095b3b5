// Numbers for the buffers and arguments of one step of a plan, for tests that launch its kernel by themselves.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"
#include "ir/scalar_eval.h"
#include "runtime/exec/array.h"
#include "runtime/exec/plan.h"

/// Numbers of both signs, bytes of all values; among whole ones some that are no index of anything. Each `filling` has
/// others.
inline sinter::runtime::Array filled(sinter::DType dtype, std::vector<int64_t> shape, int filling = 0) {
  using sinter::ir::Scalar;
  sinter::runtime::Array a(dtype, std::move(shape));
  for (int64_t i = 0; i < a.numel(); ++i)
    a.set(i, is_float(dtype)  ? Scalar::of(dtype, 0.8 - static_cast<double>((i + 13 * filling) * 37 % 101) / 40)
             : is_bool(dtype) ? Scalar::of(dtype, i % 2)
             : size_of(dtype) == 1
                 ? Scalar::of(dtype, (i + 13 * filling) * 37 % 257 % 256 - (is_unsigned(dtype) ? 0 : 128))
                 : Scalar::of(dtype, i % 5 == 2 ? int64_t{100} : i * 5 % 7));
  return a;
}

inline std::vector<int64_t> fixed_sizes(const auto& dims) {
  std::vector<int64_t> sizes;
  for (const sinter::runtime::PlanDim& d : dims) sizes.push_back(d.fixed);
  return sizes;
}

/// The buffers of a step, filled.
inline std::vector<sinter::runtime::Array> memory_of(const sinter::runtime::Plan& plan,
                                                     const sinter::runtime::PlanStep& step, int filling = 0) {
  std::vector<sinter::runtime::Array> memory;
  for (int b : step.buffers) {
    const sinter::runtime::PlanBuffer& buffer = plan.buffers[static_cast<size_t>(b)];
    memory.push_back(filled(buffer.dtype, fixed_sizes(buffer.shape), filling));
  }
  return memory;
}

/// The bits of a kernel's arguments.
inline std::vector<uint64_t> numbers_of(const sinter::codegen::Kernel& kernel) {
  using sinter::ir::Scalar;
  std::vector<uint64_t> numbers;
  for (sinter::DType t : kernel.args)
    numbers.push_back(sinter::ir::to_bits(t, is_float(t) ? Scalar::of(t, 1.5) : Scalar::of(t, int64_t{2})));
  return numbers;
}
