// What the walks of include/sinter/nn/module.h do with one tensor.
#include "sinter/nn/module.h"

#include "tensor/core/cell_version.h"
#include "tensor/core/placement.h"

namespace sinter {
inline namespace v0 {
namespace nn::walk {

void move(Tensor& t, Device device, Loc where) {
  if (t.device() == device) return;
  const tensor::Call call("to", where);
  tensor::check_device(device);
  tensor::move_to_device(t.cell(), device);
}

}  // namespace nn::walk
}  // namespace v0
}  // namespace sinter
