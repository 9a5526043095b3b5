// Horner's scheme over the dims, from the last.
#include "codegen/offset.h"

#include "uop/build.h"

namespace sinter::codegen {

using ir::UOp;

ir::Linear offset_of(UOp access) {
  const Shape& shape = access->src[0]->shape;
  ir::Linear stride = ir::linear_of(1), sum;
  for (size_t d = shape.rank(); d-- > 0;) {
    sum = ir::plus(sum, ir::product(ir::linear_of(access->src[1 + d]), stride));
    if (!shape[d].symbolic())
      stride = ir::times(stride, shape[d].value());
    else
      stride = ir::product(stride, ir::linear_of(ir::variable(*access->graph, shape[d].var(), DType::Index)));
  }
  return sum;
}

}  // namespace sinter::codegen
