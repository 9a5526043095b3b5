// Functions of floats that are several ops: they compute in one type and round once.
#pragma once

#include "tensor/core/operands.h"

namespace sinter::tensor {

/// The call `name`: f of the operands, broadcast, in the type in which ops on their common float type compute.
template <class F>
Tensor in_floats(std::string_view name, Args args, F f) {
  const Call call(name, (*args.begin())->where());
  const DType dtype = common_float_type(args);
  ir::Sources n = operands(args, dtype);
  for (ir::UOp& x : n) x = ir::to_compute_type(x);
  return wrap(ir::cast(f(n), dtype));
}

}  // namespace sinter::tensor
