// What all of linear algebra checks.
#include "tensor/ops/matrices.h"

#include <fmt/core.h>

#include "ir/matrix.h"
#include "runtime/base/log.h"
#include "runtime/cpu/lapack.h"
#include "sinter/error.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::tensor {
namespace {

void require_lapack() {
  if (const std::string& missing = runtime::cpu::lapack_missing(); !missing.empty()) throw BackendError(missing);
}

void check_matrix(UOp x) {
  const auto rank = static_cast<int64_t>(x->rank());
  if (rank < 2) usage_error("{} has {} axes and needs at least 2, those of a matrix", describe(x), rank);
  for (const int64_t axis : {rank - 2, rank - 1}) fixed_size(x, axis, "an axis of a matrix");
}
void check_square(UOp x) {
  check_matrix(x);
  if (!(x->shape[x->rank() - 1] == x->shape[x->rank() - 2]))
    usage_error("{} has matrices of {} rows and {} columns; it needs square ones", describe(x),
                to_string(x->shape[x->rank() - 2]), to_string(x->shape[x->rank() - 1]));
}

/// On the host, in the type that computes.
UOp on_host(UOp x) {
  if (x->device != Device::cpu() && runtime::logging(1))
    runtime::log(
        1, fmt::format("{} of {} travels to the host and back: LAPACK runs there", describe(x), to_string(x->device)));
  return copy(to_compute_type(x), Device::cpu());
}

Matrices host_matrices(UOp x) {
  require_lapack();
  return {on_host(x), x->dtype, x->device};
}

Shape with_batch(const Shape& batch, UOp x) {
  std::vector<Dim> dims(batch.begin(), batch.end());
  dims.insert(dims.end(), x->shape.end() - 2, x->shape.end());
  return Shape(dims);
}
Shape batch_of(UOp x) { return Shape(std::vector<Dim>(x->shape.begin(), x->shape.end() - 2)); }

/// Whether b is one vector per matrix: it has a's axes but the last.
bool is_vector(UOp a, UOp b) {
  if (b->rank() == 1) return true;
  if (b->rank() + 1 != a->rank()) return false;
  for (size_t i = 0; i < b->rank(); ++i)
    if (!(b->shape[i] == a->shape[i])) return false;
  return true;
}

Equation equation_of(UOp a, UOp b, bool left, bool vector) {
  if (vector) b = insert_axis(b, static_cast<int64_t>(b->rank()));
  check_matrix(b);
  if (!left) {
    a = matrix_transpose(a);
    b = matrix_transpose(b);
  }
  if (!(a->shape[a->rank() - 2] == b->shape[b->rank() - 2]))
    usage_error("{} and {}: {} rows against {}; they must be equal", describe(a), describe(b),
                to_string(a->shape[a->rank() - 2]), to_string(b->shape[b->rank() - 2]));
  const Shape batch = common_shape(batch_of(a), batch_of(b));
  a = broadcast_to(a, with_batch(batch, a));
  b = broadcast_to(b, with_batch(batch, b));
  const Matrices m = host_matrices(a);
  return {m, on_host(b), vector, left};
}

/// Both operands in one float type, on one device.
std::pair<UOp, UOp> both(const Arg& a, const Arg& b) {
  const DType type = common_float_type({&a, &b});
  UOp x = operand(a, type), y = operand(b, type);
  unify_devices(x, y);
  return {x, y};
}

}  // namespace

Tensor Matrices::back_as(UOp result, DType dtype) const { return wrap(copy(cast(result, dtype), device)); }

Matrices matrices(const Arg& a) {
  UOp x = float_operand(a);
  check_matrix(x);
  return host_matrices(x);
}
Matrices square_matrices(const Arg& a) {
  UOp x = float_operand(a);
  check_square(x);
  return host_matrices(x);
}

Equation equation(const Arg& a, const Arg& b, bool left, bool vectors) {
  const auto [x, y] = both(a, b);
  check_square(x);
  return equation_of(x, y, left, vectors && left && is_vector(x, y));
}
Equation least_squares(const Arg& a, const Arg& b) {
  const auto [x, y] = both(a, b);
  check_matrix(x);
  return equation_of(x, y, true, false);
}

Tensor Equation::back(UOp x) const {
  if (vector) return matrices.back(drop_axes(x, {static_cast<int64_t>(x->rank()) - 1}));
  return matrices.back(left ? x : matrix_transpose(x));
}

}  // namespace sinter::tensor
