// What every op does with its arguments before it builds a node: promotion of types, broadcasting of shapes, and the
// errors of both. One place, so that all ops agree (docs/dtypes.md).
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/build.h"
#include "sinter/arg.h"
#include "tensor/core/cell.h"
#include "tensor/core/placement.h"

namespace sinter::tensor {

using Args = std::initializer_list<const Arg*>;

/// "float32 [2, 3]", or "the number 2.5".
std::string describe(const Arg& a);
std::string describe(ir::UOp x);

/// The order in which kinds of types absorb each other: 0 is bool, 1 integers, 2 floats.
int kind_of(DType dtype);
/// Type of the scalar tensor that a number becomes by itself: bool, int64 (uint64 if that is too small), float32.
DType default_type(Arg::Kind kind);
/// The type in which the arguments meet: promote() over the tensors; a number only decides where its kind is higher.
DType common_type(Args args);
/// The same for ops of floats: integers and bools are computed in float32.
DType common_float_type(Args args);
/// UsageError for types that nothing computes with yet (8-bit floats) and for those that are no element types.
void check_usable(DType dtype);
/// The given type, or `fallback` when it was not given (DType::Void).
DType type_or(DType given, DType fallback);

/// UsageError for negative sizes, and for more elements than can be counted. For every shape that is made of sizes
/// which a user gave, before anything is computed from it.
void check_shape(const Shape& shape);
/// The sum of two sizes >= 0 on its way to check_shape(): the largest number where it overflows.
int64_t saturating_add(int64_t a, int64_t b);
/// NumPy's rule on two lists of sizes, from the last: conflict(x, y, axis) throws where two are neither equal nor 1.
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
/// The same on two shapes; checked; UsageError naming both. A symbolic size matches only itself and 1.
Shape common_shape(const Shape& a, const Shape& b);
/// What to do about two sizes that should agree and do not, or about two such shapes: `otherwise`, unless one
/// is symbolic.
std::string mismatch_hint(const Dim& x, const Dim& y, std::string_view otherwise);
std::string mismatch_hint(const Shape& a, const Shape& b, std::string_view otherwise);
/// The argument in that type: a tensor's node cast, a number as a constant of rank 0. A number that does not fit an
/// integer type is a UsageError.
ir::UOp operand(const Arg& a, DType dtype);
/// A tensor argument's node in its own type; a number in its default type.
ir::UOp operand(const Arg& a);
/// The operand of an op of floats alone: in its own type, or float32 for integers and bools. Functions of several ops
/// compute with ir::to_compute_type() of it and round once, at their end.
ir::UOp float_operand(const Arg& x);
/// All arguments in `dtype` and in their common shape.
ir::Sources operands(Args args, DType dtype);
/// In their common shape and on one device, types as they are.
void broadcast(std::span<ir::UOp> nodes);
/// A value as it is assigned to a part of `target`: beside it, and broadcast to the part's shape. UsageError if it does
/// not fit.
ir::UOp broadcast_to_part(ir::UOp value, ir::UOp target, const Shape& part);
/// UsageError when x has none of the allowed kinds; `what` says what is needed, such as "integers or bool".
void require_type(bool allowed, const Arg& x, std::string_view what);

/// A plain number in that type; UsageError for a tensor, and for a number that an integer type does not hold: 300 as
/// uint8, 1.5 as any.
ir::Scalar number_of(const Arg& a, DType dtype);

}  // namespace sinter::tensor
