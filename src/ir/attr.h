// Attributes: what a node carries besides its op, type, shape and sources. One small tagged value, part of the node's
// identity.
#pragma once

#include <bit>
#include <cstdint>
#include <variant>

#include "ir/lists.h"
#include "ir/mma_step.h"
#include "sinter/dtype.h"
#include "sinter/shape.h"

namespace sinter::ir {

/// One number of an element type. Floats are held as a double that is already rounded to the type, all else as an int64
/// (uint64 by its bits). Equal means equal bits: -0.0 is not 0.0, and a NaN equals itself.
class Scalar {
 public:
  Scalar() = default;
  /// Rounds, wraps or saturates `value` to the type as Op::Cast does.
  static Scalar of(DType dtype, double value);
  static Scalar of(DType dtype, int64_t value);
  static Scalar of(DType dtype, uint64_t value);
  static Scalar of(DType dtype, int value) { return of(dtype, static_cast<int64_t>(value)); }

  bool floating() const { return floating_; }
  double as_double() const { return floating_ ? std::bit_cast<double>(bits_) : static_cast<double>(as_int()); }
  int64_t as_int() const { return floating_ ? static_cast<int64_t>(as_double()) : static_cast<int64_t>(bits_); }
  uint64_t bits() const { return bits_; }
  friend bool operator==(const Scalar&, const Scalar&) = default;

 private:
  uint64_t bits_ = 0;
  bool floating_ = false;
};

using Ints = InlineVector<int64_t, 4>;

/// A box: [begin, end) per axis. A symbolic end has begin 0: it is the size of a symbolic axis, which is always whole,
/// or a part of a fixed axis that has room for its bound.
struct Extent {
  Dim begin, end;
  friend bool operator==(const Extent&, const Extent&) = default;
};
using Region = InlineVector<Extent, 2>;

/// A window: element (i, k) of `axis` and the tap axis behind it is element i + k*step of the source.
struct WindowAttr {
  int64_t axis = 0;
  int64_t step = 1;  ///< negative: the adjoint of the window with step -step
  friend bool operator==(const WindowAttr&, const WindowAttr&) = default;
};

/// How a reduction combines. The arithmetic of each combine, for one element and for merging two partial results, is
/// data: ir/combine.h.
enum class Combine : uint8_t {
  Add,
  Mul,
  Max,
  Min,
  Dot,      ///< sum of a*b over (a, b), as fma(a, b, sum): Add over a*b with the FMA chosen (SEMANTICS F1)
  ArgMax,   ///< (largest x, its smallest index) over (x, index); the first NaN wins
  ArgMin,   ///< the same with the smallest x
  Moments,  ///< (count, mean, sum of squared distances from the mean), merged from those of parts (Chan et al., 1979)
  ExpSum,   ///< (m, sum of exp(x - m) * v) over (x, v), m the largest x
  Affine    ///< the map s -> a*s + b as (a, b), the first element applied first: a recurrence is a scan of these
};

/// The operand type for factors of that type, in steps of a tensor core; a float32 is used as a TF32.
constexpr MmaOperand mma_operand(DType factor) {
  if (is_integer(factor)) return MmaOperand::Byte;
  return factor == DType::BF16 ? MmaOperand::BF16 : factor == DType::F16 ? MmaOperand::F16 : MmaOperand::TF32;
}
constexpr bool is_mma_factor(DType d) {
  return d == DType::F32 || d == DType::F16 || d == DType::BF16 || d == DType::I8 || d == DType::U8;
}
/// The type of the sum of products of such factors.
constexpr DType mma_sum(DType factor) { return is_float(factor) ? DType::F32 : DType::I32; }
constexpr size_t mma_step_length(DType factor) { return mma_step_length(mma_operand(factor)); }

/// The order of combination (SEMANTICS F2). The elements are those of the reduced axes, flattened in row-major order.
/// {1, 0}: one chain in index order.
/// lanes L > 1, a power of two: element i goes to chain i % L, each chain in index order. The chains are then halved,
/// c[j] = c[j] + c[j + L/2], until one is left.
/// block B > 0: consecutive blocks of B elements are reduced separately, then their results in one chain in block
/// order.
/// group G > 0: the block results are not reduced in one chain. Each G consecutive results form one chain, then each
/// kFanIn of their results, and so on until one is left.
/// mma, of a Dot: elements do not join one by one. Along the last reduced axis of more than one element, each
/// mma_step_length() consecutive ones join in one step of a tensor core (ir/mma_step.h), with zeros for what the last
/// step lacks. Factors have the type of its operands, the sum is of mma_sum(). There is one lane, and no block cuts a
/// step.
/// A SCAN is one chain. If `block` is set, it is the length of the row, which is a piece of a longer scan: fusion may
/// evaluate it where the pieces are joined.
struct ReductionTree {
  static constexpr int64_t kFanIn = 64;
  int lanes = 1;
  int64_t block = 0;
  int64_t group = 0;
  bool mma = false;
  friend bool operator==(const ReductionTree&, const ReductionTree&) = default;
};
/// The tree of the reduction that merges the block results of `tree`. `results`: an upper bound of their number.
inline ReductionTree merge_tree(const ReductionTree& tree, int64_t results) {
  return tree.group > 0 && results > tree.group ? ReductionTree{1, tree.group, ReductionTree::kFanIn} : ReductionTree{};
}

/// What a scatter makes of an element and an update of it. In a STORE, 0 is none of these: each element is written
/// once.
enum class ScatterMode : uint8_t {
  Add = 1,
  Set,  ///< the last update stays
  Mul,
  Max,  ///< NaN if either is, as Op::Max
  Min
};
struct ScatterAttr {
  int64_t axis = 0;
  ScatterMode mode = ScatterMode::Add;
  friend bool operator==(const ScatterAttr&, const ScatterAttr&) = default;
};

struct ReduceAttr {
  Combine combine = Combine::Add;
  Ints axes;  ///< before rangeify: ascending; afterwards empty, the ranges are the last sources
  ReductionTree tree;
  int result = 0;  ///< accumulator that is the node's value; nodes that differ only in this are one reduction
  friend bool operator==(const ReduceAttr&, const ReduceAttr&) = default;
};
/// Number of value sources of a combine. The sources after them are ranges.
constexpr int value_count(Combine c) {
  constexpr int kCounts[] = {1, 1, 1, 1, 2, 2, 2, 3, 2, 2};
  return kCounts[static_cast<int>(c)];
}
/// Number of accumulators of a combine. Source k has the type of accumulator k; both sources of Dot have the type of
/// the sum, unless they join in steps of a tensor core.
constexpr int accumulator_count(Combine c) { return c == Combine::Dot ? 1 : value_count(c); }

enum class AxisKind : uint8_t { Outer, Inner };
/// A loop of a kernel. Outer ranges are parallel; a store that lacks one runs in its first task only. Inner ranges run
/// inside one iteration of the outer ones: they belong to stores, or a REDUCE binds them.
struct RangeAttr {
  int id = 0;
  AxisKind kind = AxisKind::Outer;
  friend bool operator==(const RangeAttr&, const RangeAttr&) = default;
};

/// AttrKind (ir/op.h) names these.
using Attr = std::variant<std::monostate, int64_t, Scalar, Ints, Region, ReduceAttr, RangeAttr, sinter::Var, WindowAttr,
                          ScatterAttr>;

/// The attribute of nodes without one. Never destroyed: destructors of static objects make nodes (SEMANTICS V7).
inline const Attr& no_attr() {
  static const Attr& none = *new Attr;
  return none;
}

/// Mixes b into a. The order matters.
inline uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
  return a ^ (a >> 32);
}

/// Equal attributes have equal hashes. The hash depends on no address.
uint64_t hash_of(const Attr& attr);
uint64_t hash_of_symbolic(const Dim& d);
inline uint64_t hash_of(const Dim& d) { return d.symbolic() ? hash_of_symbolic(d) : static_cast<uint64_t>(d.value()); }
inline uint64_t hash_of(const Shape& shape) {
  uint64_t h = shape.rank();
  for (const Dim& d : shape) h = mix(h, hash_of(d));
  return h;
}
/// The same, blind to what may change between calls of one program: values of symbolic sizes, and offsets of boxes
/// (SEMANTICS N1, N3).
uint64_t order_hash_of(const Attr& attr);
uint64_t order_hash_of_symbolic(const Dim& d);
inline uint64_t order_hash_of(const Dim& d) {
  return d.symbolic() ? order_hash_of_symbolic(d) : static_cast<uint64_t>(d.value());
}
inline uint64_t order_hash_of(const Shape& shape) {
  uint64_t h = shape.rank();
  for (const Dim& d : shape) h = mix(h, order_hash_of(d));
  return h;
}

}  // namespace sinter::ir
