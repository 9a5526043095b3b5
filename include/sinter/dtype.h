// Element types, and the promotion of the types of two operands.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace sinter::inline v0 {

/// Element types. The 16-bit floats are storage types: values are computed in float32 and rounded once per function,
/// sums included. `Index` exists only inside kernels. The 8-bit floats are names only; nothing computes with them yet.
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
/// NumPy's names, except `boolean`.
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
/// The inverse of name_of; DType::Void if there is no such type.
DType dtype_named(std::string_view name);

/// A float of 8 to 64 bits.
constexpr bool is_float(DType d) { return d >= DType::F8E4M3 && d <= DType::F64; }
/// Signed or unsigned; not bool.
constexpr bool is_integer(DType d) { return (d >= DType::U8 && d <= DType::I64) || d == DType::Index; }
/// Only Bool.
constexpr bool is_bool(DType d) { return d == DType::Bool; }
/// Has no negative numbers; true for bool.
constexpr bool is_unsigned(DType d) {
  return d == DType::Bool || d == DType::U8 || d == DType::U16 || d == DType::U32 || d == DType::U64;
}

/// The common type of two tensors. Kinds are ordered bool < integers < floats, and within a kind the wider type wins.
/// An unsigned and a signed integer give the narrowest signed type that holds both (uint64 with a signed type: int64).
/// An integer never widens a float: int64 with float32 is float32. The table is in docs/dtypes.md.
DType promote(DType a, DType b);

/// The integer type of that many bytes.
constexpr DType integer_of_size(size_t bytes, bool is_signed) {
  switch (bytes) {
    case 1: return is_signed ? DType::I8 : DType::U8;
    case 2: return is_signed ? DType::I16 : DType::U16;
    case 4: return is_signed ? DType::I32 : DType::U32;
    default: return is_signed ? DType::I64 : DType::U64;
  }
}
/// A C++ integer type for numbers: `wchar_t` and the Unicode character types are excluded, `char` is included.
template <class T>
concept IntegerElement = std::integral<T> && std::same_as<T, std::remove_cv_t<T>> && !std::same_as<T, bool> &&
                         !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
                         !std::same_as<T, char32_t> && sizeof(T) <= sizeof(uint64_t);

/// The element type of a C++ type: dtype_of<float>::value. Defined for bool, float, double, and the integers by size
/// and sign: `long` and `long long` are both int64 if both have 64 bits. The 16-bit floats have no C++ type: they are
/// read and given as floats, or as bytes.
template <class T>
struct dtype_of;
template <>
struct dtype_of<bool> {
  static constexpr DType value = DType::Bool;
};
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::F64;
};
template <IntegerElement T>
struct dtype_of<T> {
  static constexpr DType value = integer_of_size(sizeof(T), std::is_signed_v<T>);
};
/// A C++ type that tensors can be made of and read as.
template <class T>
concept Element = requires { dtype_of<T>::value; };

}  // namespace sinter::inline v0
