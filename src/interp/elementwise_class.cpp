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

template <class From, class To, auto f>
void unary(const ElementwiseRow& r) {
  for (int64_t i = 0; i < r.n; ++i) reinterpret_cast<To*>(r.out)[i] = static_cast<To>(f(element<From>(r, 0, i)));
}
template <class T, class To, auto f>
void binary(const ElementwiseRow& r) {
  To* out = reinterpret_cast<To*>(r.out);
  if (r.step[0] == 1 && r.step[1] == 1) {  // constant strides: this loop vectorizes
    const T *x = reinterpret_cast<const T*>(r.src[0]), *y = reinterpret_cast<const T*>(r.src[1]);
    for (int64_t i = 0; i < r.n; ++i) out[i] = static_cast<To>(f(x[i], y[i]));
    return;
  }
  for (int64_t i = 0; i < r.n; ++i) out[i] = static_cast<To>(f(element<T>(r, 0, i), element<T>(r, 1, i)));
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

constexpr auto kIdentity = [](auto x) { return x; };
constexpr auto kNonZero = [](auto x) { return x != 0; };
constexpr auto kNeg = [](auto x) { return -x; };
constexpr auto kSqrt = [](auto x) { return std::sqrt(x); };
constexpr auto kAbs = [](auto x) { return std::fabs(x); };
constexpr auto kFloor = [](auto x) { return std::floor(x); };
constexpr auto kTrunc = [](auto x) { return std::trunc(x); };
constexpr auto kRound = [](auto x) { return std::nearbyint(x); };
constexpr auto kNot = []<class T>(T x) { return static_cast<T>(~x); };
constexpr auto kLt = [](auto x, auto y) { return x < y; };
constexpr auto kLe = [](auto x, auto y) { return x <= y; };
constexpr auto kEq = [](auto x, auto y) { return x == y; };
constexpr auto kNe = [](auto x, auto y) { return x != y; };
constexpr auto kAnd = []<class T>(T x, T y) { return static_cast<T>(x & y); };
constexpr auto kOr = []<class T>(T x, T y) { return static_cast<T>(x | y); };
constexpr auto kXor = []<class T>(T x, T y) { return static_cast<T>(x ^ y); };
/// Shift counts are taken modulo the width.
template <class T>
uint64_t count(T y) {
  return static_cast<uint64_t>(y) % (8 * sizeof(T));
}
constexpr auto kShl = []<class T>(T x, T y) { return static_cast<T>(static_cast<uint64_t>(x) << count(y)); };
constexpr auto kShr = []<class T>(T x, T y) { return static_cast<T>(x >> count(y)); };
/// Integers wrap: their arithmetic is done in uint64.
template <class T>
using WrapType = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
constexpr auto kAdd = []<class T>(T x, T y) { return static_cast<T>(WrapType<T>(x) + WrapType<T>(y)); };
constexpr auto kSub = []<class T>(T x, T y) { return static_cast<T>(WrapType<T>(x) - WrapType<T>(y)); };
constexpr auto kMul = []<class T>(T x, T y) { return static_cast<T>(WrapType<T>(x) * WrapType<T>(y)); };
constexpr auto kDiv = [](auto x, auto y) { return x / y; };
constexpr auto kLdexp = [](auto x, auto y) { return ir::ldexp_clamped(x, y); };
constexpr auto kMax = [](auto x, auto y) { return x >= y || x != x ? x : y; };
constexpr auto kMin = [](auto x, auto y) { return x <= y || x != x ? x : y; };

template <class T>
RowLoop loop_on(Op op) {
  switch (op) {
    case Op::Add: return binary<T, T, kAdd>;
    case Op::Sub: return binary<T, T, kSub>;
    case Op::Mul: return binary<T, T, kMul>;
    case Op::Max: return binary<T, T, kMax>;
    case Op::Min: return binary<T, T, kMin>;
    case Op::Lt: return binary<T, uint8_t, kLt>;
    case Op::Le: return binary<T, uint8_t, kLe>;
    case Op::Eq: return binary<T, uint8_t, kEq>;
    case Op::Ne: return binary<T, uint8_t, kNe>;
    case Op::Where: return select<T>;
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (op == Op::Div) return binary<T, T, kDiv>;
    if (op == Op::Ldexp) return binary<T, T, kLdexp>;
    if (op == Op::Neg) return unary<T, T, kNeg>;
    if (op == Op::Sqrt) return unary<T, T, kSqrt>;
    if (op == Op::Abs) return unary<T, T, kAbs>;
    if (op == Op::Floor) return unary<T, T, kFloor>;
    if (op == Op::Trunc) return unary<T, T, kTrunc>;
    if (op == Op::Round) return unary<T, T, kRound>;
    if (op == Op::Fma) return fused<T>;
  } else {
    if (op == Op::And) return binary<T, T, kAnd>;
    if (op == Op::Or) return binary<T, T, kOr>;
    if (op == Op::Xor) return binary<T, T, kXor>;
    if (op == Op::Shl) return binary<T, T, kShl>;
    if (op == Op::Shr) return binary<T, T, kShr>;
    if (op == Op::Not) return unary<T, T, kNot>;
  }
  return nullptr;
}

RowLoop boolean_loop(Op op) {
  switch (op) {
    case Op::And:
    case Op::Mul: return binary<uint8_t, uint8_t, kAnd>;
    case Op::Or:
    case Op::Add: return binary<uint8_t, uint8_t, kOr>;
    case Op::Eq: return binary<uint8_t, uint8_t, kEq>;
    case Op::Ne: return binary<uint8_t, uint8_t, kNe>;
    case Op::Where: return select<uint8_t>;
    default: return nullptr;
  }
}

/// Casts without saturation: none from float to integer.
template <class From>
RowLoop cast_from(DType to) {
  switch (to) {
    case DType::F32: return unary<From, float, kIdentity>;
    case DType::F64: return unary<From, double, kIdentity>;
    case DType::Bool: return unary<From, uint8_t, kNonZero>;
    default: break;
  }
  if constexpr (!std::is_floating_point_v<From>) {
    if (to == DType::I32) return unary<From, int32_t, kIdentity>;
    if (to == DType::I64 || to == DType::Index) return unary<From, int64_t, kIdentity>;
    if (to == DType::U8) return unary<From, uint8_t, kIdentity>;
    if (to == DType::U32) return unary<From, uint32_t, kIdentity>;
    if (to == DType::U64) return unary<From, uint64_t, kIdentity>;
  }
  return nullptr;
}

/// The typed loop of an op, or null.
RowLoop typed_loop(Op op, DType dtype, DType from) {
  if (op == Op::Bitcast && size_of(dtype) == 4) return unary<uint32_t, uint32_t, kIdentity>;
  if (op == Op::Bitcast && size_of(dtype) == 8) return unary<uint64_t, uint64_t, kIdentity>;
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
