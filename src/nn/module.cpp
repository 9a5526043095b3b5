// What the walks of include/sinter/nn/module.h do to one tensor.
#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn::walk {

void move(Tensor& t, Device device, Loc where) {
  if (t.device() == device) return;
  const no_grad off;  // so that a parameter stays the leaf that it is (SEMANTICS V5)
  t.assign(t.detach().to(device, where), where);
}

}  // namespace nn::walk
}  // namespace v0
}  // namespace sinter
