// What every op does with its arguments before it builds a node: dtype promotion, broadcasting, and the errors of both.
// It is in one place so that all ops agree (docs/dtypes.md).
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "ir/build.h"
#include "sinter/arg.h"
#include "tensor/core/cell.h"
#include "tensor/core/placement.h"

namespace sinter::tensor {

using Args = std::initializer_list<const Arg*>;

/// "float32 [2, 3]", or "the number 2.5".
std::string describe(const Arg& a);
std::string describe(ir::UOp x);

/// Rank of a kind of dtype in promotion: 0 bool, 1 integers, 2 floats.
int kind_of(DType dtype);
/// Dtype of the scalar tensor that a plain number becomes: bool, int64 (uint64 if int64 is too small), float32.
DType default_type(Arg::Kind kind);
/// The common dtype: promote() over the tensors, in the types in which autocast takes them. A number counts only if its
/// kind is higher than theirs.
DType common_type(Args args);
/// The common dtype of an op on floats: integers and bools are computed in float32.
DType common_float_type(Args args);
/// From 1 to the next larger number of a float type.
double epsilon_of(DType dtype);
/// UsageError for dtypes that nothing computes with yet (8-bit floats), and for those that are not element types.
void check_usable(DType dtype);
/// The given dtype, or `fallback` if it was not given (DType::Void).
DType type_or(DType given, DType fallback);

/// UsageError for negative sizes, and for more elements than can be counted. Called for every shape with sizes from the
/// user, before anything is computed from it.
void check_shape(const Shape& shape);
/// The sum of two sizes >= 0, for check_shape(). On overflow, the largest number.
int64_t saturating_add(int64_t a, int64_t b);
/// NumPy's broadcasting of two lists of sizes, from the last one. conflict(x, y, axis) throws where two sizes differ
/// and neither is 1.
template <class Conflict>
Shape::Dims common_sizes(std::span<const Dim> a, std::span<const Dim> b, Conflict conflict) {
  Shape::Dims out(std::max(a.size(), b.size()), Dim(1));
  for (size_t i = 1; i <= out.size(); ++i) {
    const Dim x = i <= a.size() ? a[a.size() - i] : Dim(1), y = i <= b.size() ? b[b.size() - i] : Dim(1);
    if (!(x == y || x == 1 || y == 1)) conflict(x, y, out.size() - i);
    out[out.size() - i] = x == 1 ? y : x;
  }
  return out;
}
/// NumPy's broadcasting of two shapes, checked. UsageError names both. A symbolic size matches only itself and 1.
Shape common_shape(const Shape& a, const Shape& b);
/// The remedy for two sizes, or two shapes, that should agree and do not: `otherwise`, unless a size is symbolic.
std::string mismatch_hint(const Dim& x, const Dim& y, std::string_view otherwise);
std::string mismatch_hint(const Shape& a, const Shape& b, std::string_view otherwise);
/// The argument in that dtype: a tensor's node is cast, a number becomes a constant of rank 0. UsageError for a number
/// that does not fit an integer dtype.
ir::UOp operand(const Arg& a, DType dtype);
/// A tensor's node in its own dtype; a number in its default dtype.
ir::UOp operand(const Arg& a);
/// The operand of an op on floats alone: in its own dtype; float32 for integers and bools. Functions of several ops
/// compute in ir::to_compute_type() of it and round once, at their end. A dtype, if given, is its type: UsageError
/// unless it is a float.
ir::UOp float_operand(const Arg& x, DType dtype = DType::Void);
/// Both factors of a sum of products, in the type in which it is computed. Tensor cores may round float32 ones to tf32
/// if the program allows it, but for those that both widen one type of 16-bit floats.
void as_factors(ir::UOp& x, ir::UOp& y);
/// All arguments in `dtype` and broadcast to their common shape.
ir::Sources operands(Args args, DType dtype);
/// Broadcasts the nodes to their common shape and moves them to one device. Dtypes stay.
void broadcast(std::span<ir::UOp> nodes);
/// A value to assign to a part of `target`: on its device, and broadcast to the part's shape. UsageError if it does not
/// fit.
ir::UOp broadcast_to_part(ir::UOp value, ir::UOp target, const Shape& part);
/// UsageError unless `allowed`. `what` says what is needed, such as "integers or bool".
void require_type(bool allowed, const Arg& x, std::string_view what);

/// A plain number in that dtype. UsageError for a tensor, and for a number that an integer dtype does not hold: 300 as
/// uint8, 1.5 as any.
ir::Scalar number_of(const Arg& a, DType dtype);

}  // namespace sinter::tensor
