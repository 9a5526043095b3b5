// Element types and the promotion of two types that meet in one operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace sinter {
inline namespace v0 {

/// Element types. The 16-bit floats are types of storage: what is computed with them is computed in float32 and rounded
/// once per function, sums included. `Index` exists only inside kernels; the 8-bit floats are names that nothing
/// computes with yet.
enum class DType : uint8_t {
  Bool,
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F8E4M3,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64,
  Index,
  Void
};

/// @name Names of element types
/// Those of NumPy, but for `boolean`.
/// @{
inline constexpr DType boolean = DType::Bool;   ///< a byte, 0 or 1
inline constexpr DType uint8 = DType::U8;       ///< 0 to 255
inline constexpr DType int8 = DType::I8;        ///< -128 to 127
inline constexpr DType uint16 = DType::U16;     ///< 0 to 2^16 - 1
inline constexpr DType int16 = DType::I16;      ///< -2^15 to 2^15 - 1
inline constexpr DType uint32 = DType::U32;     ///< 0 to 2^32 - 1
inline constexpr DType int32 = DType::I32;      ///< -2^31 to 2^31 - 1
inline constexpr DType uint64 = DType::U64;     ///< 0 to 2^64 - 1
inline constexpr DType int64 = DType::I64;      ///< -2^63 to 2^63 - 1
inline constexpr DType float16 = DType::F16;    ///< IEEE half: 11 digits, up to 65504
inline constexpr DType bfloat16 = DType::BF16;  ///< the upper half of a float32: 8 digits
inline constexpr DType float32 = DType::F32;    ///< IEEE single
inline constexpr DType float64 = DType::F64;    ///< IEEE double
/// @}

/// Bytes of one element.
size_t size_of(DType dtype);
/// "float32", "int64", "bool", ...: NumPy's names.
std::string_view name_of(DType dtype);
std::ostream& operator<<(std::ostream& os, DType dtype);  ///< name_of(dtype)
/// The inverse of name_of; DType::Void when there is no such type.
DType dtype_named(std::string_view name);

/// Of 8 to 64 bits.
constexpr bool is_float(DType d) { return d >= DType::F8E4M3 && d <= DType::F64; }
/// Signed or unsigned; bool is none.
constexpr bool is_integer(DType d) { return (d >= DType::U8 && d <= DType::I64) || d == DType::Index; }
/// Bool alone.
constexpr bool is_bool(DType d) { return d == DType::Bool; }
/// Has no negative numbers: bool too.
constexpr bool is_unsigned(DType d) {
  return d == DType::Bool || d == DType::U8 || d == DType::U16 || d == DType::U32 || d == DType::U64;
}

/// The type in which two tensors meet: the wider of one kind; bool < integers < floats; an unsigned and a signed
/// integer meet in the narrowest signed type that holds both (uint64 with a signed type: int64). An integer never
/// widens a float: int64 with float32 is float32. The table is in docs/dtypes.md.
DType promote(DType a, DType b);

/// The element type of a C++ type: dtype_of<float>::value. Only for those that have one: bool, the integers, float,
/// double. The 16-bit floats have none: they are read and given as floats, or as bytes.
template <class T>
struct dtype_of;
template <>
struct dtype_of<bool> {
  static constexpr DType value = DType::Bool;
};
template <>
struct dtype_of<uint8_t> {
  static constexpr DType value = DType::U8;
};
template <>
struct dtype_of<int8_t> {
  static constexpr DType value = DType::I8;
};
template <>
struct dtype_of<uint16_t> {
  static constexpr DType value = DType::U16;
};
template <>
struct dtype_of<int16_t> {
  static constexpr DType value = DType::I16;
};
template <>
struct dtype_of<uint32_t> {
  static constexpr DType value = DType::U32;
};
template <>
struct dtype_of<int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct dtype_of<uint64_t> {
  static constexpr DType value = DType::U64;
};
template <>
struct dtype_of<int64_t> {
  static constexpr DType value = DType::I64;
};
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::F64;
};

}  // namespace v0
}  // namespace sinter
