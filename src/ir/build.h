// Builders: one function per op, on any graph. They infer shape and dtype and omit no-ops (a reshape to the same
// shape). A mismatch throws InternalError: src/tensor has checked user input before.
// No broadcasting and no promotion here: elementwise sources have one shape and one dtype.
#pragma once

#include <span>

#include "ir/axis_lists.h"
#include "ir/graph.h"

namespace sinter::ir {

// -- leaves
UOp constant(Graph& g, Scalar value, DType dtype, Device device = {});  ///< shape []
inline UOp constant(Graph& g, DType dtype, double value, Device device = {}) {
  return constant(g, Scalar::of(dtype, value), dtype, device);
}
inline UOp constant(Graph& g, DType dtype, int64_t value, Device device = {}) {
  return constant(g, Scalar::of(dtype, value), dtype, device);
}
inline UOp constant(Graph& g, DType dtype, int value, Device device = {}) {
  return constant(g, dtype, static_cast<int64_t>(value), device);
}
UOp full(Graph& g, const Shape& shape, DType dtype, double value, Device device = {});
/// A constant of x's shape, dtype and device.
UOp like(UOp x, double value);
UOp like(UOp x, Scalar value);
UOp arange(Graph& g, const Dim& size, Device device = {});                        ///< int64, shape [size]
UOp variable(Graph& g, const sinter::Var& var, DType dtype, Device device = {});  ///< the bound value, shape []
/// The value on `device`. A cast or broadcast Const, Num or Var is rebuilt there; anything else becomes a COPY.
UOp copy(UOp x, Device device);
/// int64, of the given shape: each element's index along `axis`.
UOp axis_iota(Graph& g, const Shape& shape, int64_t axis, Device device);
/// bool, true in the shape of x. Moved and padded like x, it marks the elements that come from x.
UOp true_like(UOp x);
/// The value that the symbolic `size` is bound to: int64, shape []. Tensor graph only.
UOp bound_size(Graph& g, const Dim& size, Device device = {});
UOp param(Graph& g, int64_t slot, DType dtype, const Shape& shape, Device device = {});
UOp argument(Graph& g, int64_t number, DType dtype, Device device = {});  ///< shape []

// -- elementwise
UOp alu(Op op, Sources src);
UOp cast(UOp x, DType dtype);
/// x in the type in which ops on it compute: 16-bit floats in float32.
UOp to_compute_type(UOp x);
UOp bitcast(UOp x, DType dtype);
UOp where(UOp condition, UOp x, UOp y);
inline UOp exp(UOp x) { return alu(Op::Exp, {x}); }
inline UOp log(UOp x) { return alu(Op::Log, {x}); }
inline UOp sqrt(UOp x) { return alu(Op::Sqrt, {x}); }
inline UOp maximum(UOp x, UOp y) { return alu(Op::Max, {x, y}); }
inline UOp minimum(UOp x, UOp y) { return alu(Op::Min, {x, y}); }
inline UOp lt(UOp x, UOp y) { return alu(Op::Lt, {x, y}); }
inline UOp le(UOp x, UOp y) { return alu(Op::Le, {x, y}); }
inline UOp eq(UOp x, UOp y) { return alu(Op::Eq, {x, y}); }
inline UOp ne(UOp x, UOp y) { return alu(Op::Ne, {x, y}); }
inline UOp ldexp(UOp x, UOp y) { return alu(Op::Ldexp, {x, y}); }
inline UOp fma(UOp x, UOp y, UOp z) { return alu(Op::Fma, {x, y, z}); }
inline UOp idiv(UOp x, UOp y) { return alu(Op::IDiv, {x, y}); }
inline UOp mod(UOp x, UOp y) { return alu(Op::Mod, {x, y}); }

inline UOp operator-(UOp x) { return alu(Op::Neg, {x}); }
inline UOp operator+(UOp x, UOp y) { return alu(Op::Add, {x, y}); }
inline UOp operator-(UOp x, UOp y) { return alu(Op::Sub, {x, y}); }
inline UOp operator*(UOp x, UOp y) { return alu(Op::Mul, {x, y}); }
inline UOp operator/(UOp x, UOp y) { return alu(Op::Div, {x, y}); }
inline UOp operator&(UOp x, UOp y) { return alu(Op::And, {x, y}); }
inline UOp operator|(UOp x, UOp y) { return alu(Op::Or, {x, y}); }
inline UOp operator^(UOp x, UOp y) { return alu(Op::Xor, {x, y}); }
inline UOp operator~(UOp x) { return alu(Op::Not, {x}); }
inline UOp operator+(UOp x, double c) { return x + like(x, c); }
inline UOp operator-(UOp x, double c) { return x - like(x, c); }
inline UOp operator*(UOp x, double c) { return x * like(x, c); }
inline UOp operator/(UOp x, double c) { return x / like(x, c); }
inline UOp operator-(double c, UOp x) { return like(x, c) - x; }
inline UOp operator/(double c, UOp x) { return like(x, c) / x; }

// -- movement
/// Outside the tensor graph, consecutive reshapes merge into one node; so do consecutive permutes.
UOp reshape(UOp x, const Shape& shape);
UOp permute(UOp x, const Ints& order);
/// Repeats x along new axes. `axes`, ascending, are those of `shape` that x lacks.
UOp expand(UOp x, const Shape& shape, const Ints& axes);
/// NumPy broadcasting: x is repeated along the leading axes that it lacks, and along its axes of size 1. `lacked` names
/// further axes of `shape`, behind the leading ones, that x lacks.
UOp broadcast_to(UOp x, const Shape& shape, const Ints& lacked = {});
UOp shrink(UOp x, const Region& box);
/// Places x in `box` of `shape`, zero elsewhere.
UOp pad(UOp x, const Region& box, const Shape& shape);
UOp flip(UOp x, const Ints& axes);
/// Parts of a cat() that one kernel reads. With the result, that is the most a kernel may access
/// (schedule/graph/fusion_cost.h).
inline constexpr size_t kMaxCatParts = 30;
/// Concatenates along an axis: at least one part, of fixed sizes along the axis. Elements are selected by index, never
/// added to zeros, so -0.0 and NaN survive.
UOp cat(std::span<const UOp> parts, int64_t axis);
/// out[.., i, k, ..] = x[.., i + k*step, k, ..] with i along `axis`, which gets length `size`, and k along the next
/// axis. Zero where i + k*step is out of range. The adjoint is a slide with step -step and the size of x.
UOp slide(UOp x, int64_t axis, int64_t step, int64_t size);
/// The windows of x along `axis`, which becomes two axes (windows, size): tap k of window o is x[o*stride +
/// k*dilation]. As many windows as fit; at least one must. Built from slides of step `dilation`. A stride first splits
/// the axis into rows of `stride`, so that the adjoint visits no element that no tap reaches.
UOp window(UOp x, int64_t axis, int64_t size, int64_t stride, int64_t dilation);
/// The adjoint of window(): x, (windows, taps) at `axis` and the next, summed where taps overlap, to an axis of `size`.
UOp overlap_add(UOp x, int64_t axis, int64_t stride, int64_t dilation, int64_t size, Combine addition);
/// The box that covers all of `shape`.
Region full_region(const Shape& shape);

// -- reduce, pick, state
/// The result lacks the reduced axes. Axes of size 1 are reduced as well, because the op may change the value (Max of
/// NaN does not).
/// Reductions, scans and scatters of 16-bit floats compute in float32 and round the result once; a scatter that sets
/// computes nothing.
UOp reduce(Combine combine, UOp x, Ints axes);
UOp sum(UOp x, Ints axes);
/// Accumulator `result` of a reduction of several values of one shape.
UOp reduce(Combine combine, std::span<const UOp> values, Ints axes, int result);
/// x's shape: each element combined with those before it along `axis`.
UOp scan(Combine combine, UOp x, int64_t axis);
/// Accumulator `result` of a scan of several values of one shape.
UOp scan(Combine combine, std::span<const UOp> values, int64_t axis, int result);
UOp gather(UOp x, UOp index, int64_t axis);
UOp scatter(UOp base, UOp index, UOp value, int64_t axis, ScatterMode mode);
inline UOp scatter_add(UOp base, UOp index, UOp value, int64_t axis) {
  return scatter(base, index, value, axis, ScatterMode::Add);
}
/// int64: the positions in x, along its last axis, of its elements of ranks `first` to `first + count` - 1. x is stored
/// before.
UOp sort_positions(UOp x, int64_t first, int64_t count, bool descending);
/// x itself if it has no history (SEMANTICS G6).
UOp detach(UOp x);
/// The value below the movements on top of x.
UOp below_movements(UOp x);
/// x with `value` in place of below_movements(x); their types may differ.
UOp with_movements_of(UOp x, UOp value);
/// Whether one of the movements on top of x is an EXPAND.
bool is_expanded(UOp x);
/// The 16-bit float that the cast x widens to float32, or the byte that it widens to int32; null if x is no such cast.
UOp widened_source(UOp x);
/// x, float32, as a factor that tensor cores may round to tf32 (Op::Tf32).
UOp tf32(UOp x);
/// What a factor is below its movements and the TF32 on top of it; null if there is none.
UOp tf32_source(UOp factor);
UOp contiguous(UOp x);
/// x, computed after `y` and as if nothing equal had been computed before (Op::Barrier). y has an element.
UOp barrier(UOp x, UOp y);

// -- kernels
UOp range(UOp bound, int id, AxisKind kind);
/// predicate and other are both given or both null.
UOp load(UOp param, std::span<const UOp> index, UOp predicate = {}, UOp other = {});
UOp store(UOp param, std::span<const UOp> index, UOp value, ScatterMode mode = {}, UOp predicate = {});
/// The dtype is that of accumulator `result`.
UOp reduce_over(Combine combine, std::span<const UOp> values, std::span<const UOp> ranges, ReductionTree tree,
                int result = 0);
/// The value at the current iteration of the ranges.
UOp scan_over(Combine combine, std::span<const UOp> values, std::span<const UOp> ranges, int result = 0);
UOp sink(Graph& g, Sources stores);

/// x with other sources, in `g`: same op, dtype, shape, attribute and device.
UOp with_sources(Graph& g, UOp x, Sources src);

}  // namespace sinter::ir
