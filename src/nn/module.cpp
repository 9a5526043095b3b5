// What the walks of include/sinter/nn/module.h do with one tensor.
#include "sinter/nn/module.h"

#include "tensor/core/cell_version.h"
#include "tensor/core/operands.h"
#include "tensor/core/placement.h"

namespace sinter::inline v0::nn::walk {

using namespace tensor;

void move(Tensor& t, Device device, Loc where) {
  if (t.device() == device) return;
  const Call call("to", where);
  check_device(device);
  move_to_device(t.cell(), device);
}

void convert(Tensor& t, DType dtype, Loc where) {
  if (t.dtype() == dtype || !is_float(t.dtype()) || !is_float(dtype)) return;
  const Call call("to", where);
  convert_dtype(t.cell(), dtype);
}

void require_float(DType dtype, Loc where) {
  const Call call("to", where);
  check_usable(dtype);
  if (!is_float(dtype))
    usage_error("{} is no type of parameters, which are floats; give one such as {}", name_of(dtype), name_of(float32));
}

}  // namespace sinter::inline v0::nn::walk
