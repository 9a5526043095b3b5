// Products: broadcast views, one elementwise product, one sum. No kernel is written by hand; codegen recognizes the
// contraction.
#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"

namespace sinter {
inline namespace v0 {
namespace {

using ir::UOp;
using tensor::Call;
using tensor::describe;
using tensor::usage_error;
using tensor::wrap;

/// sum(a * b) along one axis; on bools any(a & b). Operands are in the dtype of ir::to_compute_type().
UOp contract(UOp a, UOp b, int64_t axis) { return ir::reduce(tensor::addition_of(a->dtype), a * b, {axis}); }

void check_inner(UOp a, UOp b, const Dim& k, const Dim& other) {
  if (!(k == other))
    usage_error(fmt::format(
        "inner sizes differ: {} x {}, {} against {}; {}", describe(a), describe(b), to_string(k), to_string(other),
        tensor::mismatch_hint(k, other,
                              b->rank() == 1 ? "the last axis of the first must be the only one of the second"
                                             : "the last axis of the first must be the second last of the "
                                               "second, try transpose")));
}

/// The batch axes: those before the axes of the matrix.
std::span<const Dim> batch_of(UOp x) { return {x->shape.begin(), std::max<size_t>(x->rank(), 2) - 2}; }

/// The broadcast batch axes of both. Errors name the operands as given.
Shape batches(UOp a, UOp b) {
  return Shape(tensor::common_sizes(batch_of(a), batch_of(b), [&](const Dim& x, const Dim& y, size_t) {
    usage_error(fmt::format("batch sizes differ: {} x {}, {} against {}; {}", describe(a), describe(b), to_string(x),
                            to_string(y), tensor::mismatch_hint(x, y, "they must be equal or 1")));
  }));
}

}  // namespace

Tensor matmul(Arg a, Arg b) {
  Call call("matmul", a.where());
  const DType t = tensor::common_type({&a, &b});
  UOp x = tensor::operand(a, t), y = tensor::operand(b, t);
  tensor::unify_devices(x, y);
  if (!x->rank() || !y->rank())
    usage_error(fmt::format("{} x {}: a scalar has no axis to sum over; multiply with *", describe(x), describe(y)));
  const size_t inner = y->rank() == 1 ? 0 : y->rank() - 2;
  check_inner(x, y, x->shape[x->rank() - 1], y->shape[inner]);
  // The product is [.., m, k, n]; a vector lacks m or n. Each operand is broadcast along the other's axis.
  const bool row = x->rank() == 1, column = y->rank() == 1;
  Shape shape = batches(x, y);
  const auto m = static_cast<int64_t>(shape.rank()), k = m + !row;
  if (!row) shape.push_back(x->shape[-2]);
  shape.push_back(x->shape[-1]);
  if (!column) shape.push_back(y->shape[-1]);
  tensor::check_shape(shape);
  x = ir::to_compute_type(x), y = ir::to_compute_type(y);
  if (!column) x = ir::broadcast_to(x, shape, {k + 1});
  if (!row) y = ir::broadcast_to(y, shape, {m});
  return wrap(ir::cast(contract(x, y, k), t));
}

Tensor dot(Arg a, Arg b) {
  Call call("dot", a.where());
  const DType t = tensor::common_type({&a, &b});
  UOp x = tensor::operand(a, t), y = tensor::operand(b, t);
  tensor::unify_devices(x, y);
  if (x->rank() != 1 || y->rank() != 1)
    usage_error(fmt::format("{} and {}: both must be vectors; use matmul", describe(x), describe(y)));
  if (!(x->shape == y->shape))
    usage_error(fmt::format("{} and {}: {}", describe(x), describe(y),
                            tensor::mismatch_hint(x->shape, y->shape, "the lengths must be equal")));
  return wrap(ir::cast(contract(ir::to_compute_type(x), ir::to_compute_type(y), 0), t));
}

}  // namespace v0
}  // namespace sinter
