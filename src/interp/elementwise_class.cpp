// Elementwise ops: typed loops for the most common cases, with the same bits as ir::evaluate; all others through it.
#include <cmath>
#include <type_traits>

#include "interp/op_classes.h"
#include "ir/scalar_eval.h"

namespace sinter::runtime {
namespace {

using ir::Op;
using ir::Scalar;

/// One row: n results at `out`, sources at src[k] with strides of step[k] elements. Absent sources are never read.
struct ElementwiseRow {
  int64_t n;
  std::byte* out;
  const std::byte* src[3];
  int64_t step[3];
};
using RowLoop = void (*)(const ElementwiseRow&);

template <class T>
T element(const ElementwiseRow& r, int k, int64_t i) {
  return reinterpret_cast<const T*>(r.src[k])[i * r.step[k]];
}

template <class From, class To, class F>
void unary(const ElementwiseRow& r) {
  for (int64_t i = 0; i < r.n; ++i) reinterpret_cast<To*>(r.out)[i] = static_cast<To>(F{}(element<From>(r, 0, i)));
}
template <class T, class To, class F>
void binary(const ElementwiseRow& r) {
  To* out = reinterpret_cast<To*>(r.out);
  if (r.step[0] == 1 && r.step[1] == 1) {  // constant strides: this loop vectorizes
    const T *x = reinterpret_cast<const T*>(r.src[0]), *y = reinterpret_cast<const T*>(r.src[1]);
    for (int64_t i = 0; i < r.n; ++i) out[i] = static_cast<To>(F{}(x[i], y[i]));
    return;
  }
  for (int64_t i = 0; i < r.n; ++i) out[i] = static_cast<To>(F{}(element<T>(r, 0, i), element<T>(r, 1, i)));
}
template <class T>
void fused(const ElementwiseRow& r) {
  for (int64_t i = 0; i < r.n; ++i)
    reinterpret_cast<T*>(r.out)[i] = std::fma(element<T>(r, 0, i), element<T>(r, 1, i), element<T>(r, 2, i));
}
template <class T>
void select(const ElementwiseRow& r) {
  for (int64_t i = 0; i < r.n; ++i)
    reinterpret_cast<T*>(r.out)[i] = element<uint8_t>(r, 0, i) ? element<T>(r, 1, i) : element<T>(r, 2, i);
}

struct IdentityFn {
  template <class T>
  T operator()(T x) const {
    return x;
  }
};
struct NonZeroFn {
  template <class T>
  bool operator()(T x) const {
    return x != 0;
  }
};
struct NegFn {
  template <class T>
  T operator()(T x) const {
    return -x;
  }
};
struct SqrtFn {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct AbsFn {
  template <class T>
  T operator()(T x) const {
    return std::fabs(x);
  }
};
struct FloorFn {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct TruncFn {
  template <class T>
  T operator()(T x) const {
    return std::trunc(x);
  }
};
struct RoundFn {
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};
struct NotFn {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
struct LtFn {
  template <class T>
  bool operator()(T x, T y) const {
    return x < y;
  }
};
struct LeFn {
  template <class T>
  bool operator()(T x, T y) const {
    return x <= y;
  }
};
struct EqFn {
  template <class T>
  bool operator()(T x, T y) const {
    return x == y;
  }
};
struct NeFn {
  template <class T>
  bool operator()(T x, T y) const {
    return x != y;
  }
};
struct AndFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};
struct OrFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};
struct XorFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};
/// Shift counts are taken modulo the width.
template <class T>
uint64_t count(T y) {
  return static_cast<uint64_t>(y) % (8 * sizeof(T));
}
struct ShlFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<uint64_t>(x) << count(y));
  }
};
struct ShrFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x >> count(y));
  }
};
/// Integers wrap: their arithmetic is done in uint64.
template <class T>
using WrapType = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
struct AddFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(WrapType<T>(x) + WrapType<T>(y));
  }
};
struct SubFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(WrapType<T>(x) - WrapType<T>(y));
  }
};
struct MulFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(WrapType<T>(x) * WrapType<T>(y));
  }
};
struct DivFn {
  template <class T>
  T operator()(T x, T y) const {
    return x / y;
  }
};
struct LdexpFn {
  template <class T>
  T operator()(T x, T y) const {
    return ir::ldexp_clamped(x, y);
  }
};
struct MaxFn {
  template <class T>
  T operator()(T x, T y) const {
    return x >= y || x != x ? x : y;
  }
};
struct MinFn {
  template <class T>
  T operator()(T x, T y) const {
    return x <= y || x != x ? x : y;
  }
};

template <class T>
RowLoop loop_on(Op op) {
  switch (op) {
    case Op::Add: return binary<T, T, AddFn>;
    case Op::Sub: return binary<T, T, SubFn>;
    case Op::Mul: return binary<T, T, MulFn>;
    case Op::Max: return binary<T, T, MaxFn>;
    case Op::Min: return binary<T, T, MinFn>;
    case Op::Lt: return binary<T, uint8_t, LtFn>;
    case Op::Le: return binary<T, uint8_t, LeFn>;
    case Op::Eq: return binary<T, uint8_t, EqFn>;
    case Op::Ne: return binary<T, uint8_t, NeFn>;
    case Op::Where: return select<T>;
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (op == Op::Div) return binary<T, T, DivFn>;
    if (op == Op::Ldexp) return binary<T, T, LdexpFn>;
    if (op == Op::Neg) return unary<T, T, NegFn>;
    if (op == Op::Sqrt) return unary<T, T, SqrtFn>;
    if (op == Op::Abs) return unary<T, T, AbsFn>;
    if (op == Op::Floor) return unary<T, T, FloorFn>;
    if (op == Op::Trunc) return unary<T, T, TruncFn>;
    if (op == Op::Round) return unary<T, T, RoundFn>;
    if (op == Op::Fma) return fused<T>;
  } else {
    if (op == Op::And) return binary<T, T, AndFn>;
    if (op == Op::Or) return binary<T, T, OrFn>;
    if (op == Op::Xor) return binary<T, T, XorFn>;
    if (op == Op::Shl) return binary<T, T, ShlFn>;
    if (op == Op::Shr) return binary<T, T, ShrFn>;
    if (op == Op::Not) return unary<T, T, NotFn>;
  }
  return nullptr;
}

RowLoop boolean_loop(Op op) {
  switch (op) {
    case Op::And:
    case Op::Mul: return binary<uint8_t, uint8_t, AndFn>;
    case Op::Or:
    case Op::Add: return binary<uint8_t, uint8_t, OrFn>;
    case Op::Eq: return binary<uint8_t, uint8_t, EqFn>;
    case Op::Ne: return binary<uint8_t, uint8_t, NeFn>;
    case Op::Where: return select<uint8_t>;
    default: return nullptr;
  }
}

/// Casts without saturation: none from float to integer.
template <class From>
RowLoop cast_from(DType to) {
  switch (to) {
    case DType::F32: return unary<From, float, IdentityFn>;
    case DType::F64: return unary<From, double, IdentityFn>;
    case DType::Bool: return unary<From, uint8_t, NonZeroFn>;
    default: break;
  }
  if constexpr (!std::is_floating_point_v<From>) {
    if (to == DType::I32) return unary<From, int32_t, IdentityFn>;
    if (to == DType::I64 || to == DType::Index) return unary<From, int64_t, IdentityFn>;
    if (to == DType::U8) return unary<From, uint8_t, IdentityFn>;
    if (to == DType::U32) return unary<From, uint32_t, IdentityFn>;
    if (to == DType::U64) return unary<From, uint64_t, IdentityFn>;
  }
  return nullptr;
}

/// The typed loop of an op, or null.
RowLoop typed_loop(Op op, DType dtype, DType from) {
  if (op == Op::Bitcast && size_of(dtype) == 4) return unary<uint32_t, uint32_t, IdentityFn>;
  if (op == Op::Bitcast && size_of(dtype) == 8) return unary<uint64_t, uint64_t, IdentityFn>;
  const bool cast = op == Op::Cast;
  switch (from) {
    case DType::F32: return cast ? cast_from<float>(dtype) : loop_on<float>(op);
    case DType::F64: return cast ? cast_from<double>(dtype) : loop_on<double>(op);
    case DType::I32: return cast ? cast_from<int32_t>(dtype) : loop_on<int32_t>(op);
    case DType::Index:
    case DType::I64: return cast ? cast_from<int64_t>(dtype) : loop_on<int64_t>(op);
    case DType::U8: return cast ? cast_from<uint8_t>(dtype) : loop_on<uint8_t>(op);
    case DType::U32: return cast ? cast_from<uint32_t>(dtype) : loop_on<uint32_t>(op);
    case DType::U64: return cast ? cast_from<uint64_t>(dtype) : loop_on<uint64_t>(op);
    case DType::Bool: return cast ? cast_from<uint8_t>(dtype) : boolean_loop(op);
    default: return nullptr;
  }
}

}  // namespace

Array elementwise(Op op, DType dtype, DType from, std::span<const StridedView> src) {
  Array out(dtype, src.back().shape);
  if (out.numel() == 0) return out;
  const std::vector<int64_t> step = row_major(out.shape);
  const StridedView& last = src.back();
  // Absent sources alias the last one. They are never read.
  const StridedView &a = src[0], &b = src.size() > 1 ? src[1] : last, &c = src.size() > 2 ? src[2] : last;
  const RowLoop typed = typed_loop(op, dtype, from);
  const int64_t size = static_cast<int64_t>(size_of(dtype));
  for_rows<4>(out.shape, {&step, &a.stride, &b.stride, &c.stride}, {0, a.offset, b.offset, c.offset},
              [&](int64_t n, const auto& at, const auto& by) {
                ElementwiseRow row{n,
                                   out.data.data() + at[0] * size,
                                   {a.address(at[1]), b.address(at[2]), c.address(at[3])},
                                   {by[1], by[2], by[3]}};
                if (typed) return typed(row);
                Scalar args[3];
                for (int64_t i = 0; i < n; ++i) {
                  for (size_t k = 0; k < src.size(); ++k)
                    args[k] = load_scalar(src[k].dtype,
                                          row.src[k] + i * row.step[k] * static_cast<int64_t>(size_of(src[k].dtype)));
                  store_scalar(dtype, row.out + i * size, ir::evaluate(op, dtype, from, {args, src.size()}));
                }
              });
  return out;
}

}  // namespace sinter::runtime
