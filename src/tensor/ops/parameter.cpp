#include "tensor/ops/parameter.h"

#include <numeric>

#include "tensor/core/operands.h"

namespace sinter::tensor {

UOp param_of(const Tensor& t, const char* role, UOp x, const Shape& sizes) {
  if (!t.defined()) return {};
  UOp n = node_of(t);
  if (!(n->shape == sizes))
    usage_error("the {} is {}, what it belongs to has the sizes {}; {}", role, describe(n), to_string(sizes),
                mismatch_hint(n->shape, sizes, "they must be equal"));
  return cast(on_device(n, x->device, x->shape), x->dtype);
}

UOp broadcast_at(UOp n, UOp x, size_t at) {
  if (!n) return {};
  Ints own(n->rank());
  std::iota(own.begin(), own.end(), static_cast<int64_t>(at));
  return expand(n, x->shape, others(x->rank(), own));
}

UOp broadcast_param(const Tensor& t, const char* role, UOp x, const Shape& sizes, size_t at) {
  return broadcast_at(param_of(t, role, x, sizes), x, at);
}

}  // namespace sinter::tensor
