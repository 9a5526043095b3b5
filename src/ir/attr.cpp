// Conversion of scalars to element types, and address-free hashes of attributes.
#include "ir/attr.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "ir/short_float.h"

namespace sinter::ir {
namespace {

uint64_t hash_text(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325u;  // FNV-1a
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
  return h;
}

/// Wraps an integer to the width and sign of the type.
int64_t wrap(DType dtype, int64_t v) {
  switch (dtype) {
    case DType::Bool: return v != 0;
    case DType::U8: return static_cast<uint8_t>(v);
    case DType::I8: return static_cast<int8_t>(v);
    case DType::U16: return static_cast<uint16_t>(v);
    case DType::I16: return static_cast<int16_t>(v);
    case DType::U32: return static_cast<uint32_t>(v);
    case DType::I32: return static_cast<int32_t>(v);
    default: return v;
  }
}

template <class T>
int64_t saturate(double v) {
  if (std::isnan(v)) return 0;
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<T>::max());  // of 64 bits: a power of two
  if (v <= kLow) return static_cast<int64_t>(std::numeric_limits<T>::min());
  if (v >= kHigh) return static_cast<int64_t>(std::numeric_limits<T>::max());
  return static_cast<int64_t>(static_cast<T>(v));
}

}  // namespace

uint64_t hash_of_symbolic(const Dim& d) {
  return mix(hash_text(d.var().name()), mix(static_cast<uint64_t>(d.value()), static_cast<uint64_t>(d.bound())));
}
uint64_t order_hash_of_symbolic(const Dim& d) {
  return mix(hash_text(d.var().name()), static_cast<uint64_t>(d.bound()));
}

Scalar Scalar::of(DType dtype, double value) {
  Scalar s;
  if (is_float(dtype)) {
    if (is_short_float(dtype))
      value = short_float_value(dtype, short_float_bits(dtype, value));
    else if (dtype != DType::F64)
      value = static_cast<double>(static_cast<float>(value));
    s.floating_ = true;
    s.bits_ = std::bit_cast<uint64_t>(value);
    return s;
  }
  int64_t i = 0;
  switch (dtype) {
    case DType::Bool: i = value != 0; break;
    case DType::U8: i = saturate<uint8_t>(value); break;
    case DType::I8: i = saturate<int8_t>(value); break;
    case DType::U16: i = saturate<uint16_t>(value); break;
    case DType::I16: i = saturate<int16_t>(value); break;
    case DType::U32: i = saturate<uint32_t>(value); break;
    case DType::I32: i = saturate<int32_t>(value); break;
    case DType::U64: i = saturate<uint64_t>(value); break;
    default: i = saturate<int64_t>(value); break;
  }
  s.bits_ = static_cast<uint64_t>(i);
  return s;
}

Scalar Scalar::of(DType dtype, int64_t value) {
  if (is_float(dtype))
    return of(dtype, dtype == DType::F64 ? static_cast<double>(value) : static_cast<double>(static_cast<float>(value)));
  Scalar s;
  s.bits_ = static_cast<uint64_t>(wrap(dtype, value));
  return s;
}
Scalar Scalar::of(DType dtype, uint64_t value) {
  if (is_float(dtype))
    return of(dtype, dtype == DType::F64 ? static_cast<double>(value) : static_cast<double>(static_cast<float>(value)));
  return of(dtype, static_cast<int64_t>(value));
}

uint64_t order_hash_of(const Attr& attr) {
  const auto* box = std::get_if<Region>(&attr);
  if (!box) return hash_of(attr);
  uint64_t h = mix(attr.index(), box->size());
  for (const Extent& e : *box)  // box sizes of fixed axes follow from the shapes
    if (e.end.symbolic()) h = mix(h, order_hash_of(e.end));
  return h;
}

uint64_t hash_of(const Attr& attr) {
  uint64_t seed = attr.index();
  return std::visit(
      [seed](const auto& a) -> uint64_t {
        using T = std::decay_t<decltype(a)>;
        uint64_t h = seed;
        if constexpr (std::is_same_v<T, int64_t>) h = mix(h, static_cast<uint64_t>(a));
        if constexpr (std::is_same_v<T, Scalar>) h = mix(h, a.bits());
        if constexpr (std::is_same_v<T, Ints>)
          for (int64_t i : a) h = mix(h, static_cast<uint64_t>(i));
        if constexpr (std::is_same_v<T, Region>)
          for (const Extent& e : a) h = mix(h, mix(hash_of(e.begin), hash_of(e.end)));
        if constexpr (std::is_same_v<T, WindowAttr>)
          h = mix(h, mix(static_cast<uint64_t>(a.axis), static_cast<uint64_t>(a.step)));
        if constexpr (std::is_same_v<T, ScatterAttr>)
          h = mix(h, mix(static_cast<uint64_t>(a.axis), static_cast<uint64_t>(a.mode)));
        if constexpr (std::is_same_v<T, ReduceAttr>) {
          h = mix(h, static_cast<uint64_t>(a.combine));
          for (int64_t i : a.axes) h = mix(h, static_cast<uint64_t>(i));
          h = mix(h, mix(static_cast<uint64_t>(a.tree.lanes), static_cast<uint64_t>(a.tree.block)));
          if (a.tree.group) h = mix(h, static_cast<uint64_t>(a.tree.group) << 1);
          if (a.tree.mma) h = mix(h, 1);
          if (a.result) h = mix(h, static_cast<uint64_t>(a.result));
        }
        if constexpr (std::is_same_v<T, RangeAttr>)
          h = mix(h, mix(static_cast<uint64_t>(a.id), static_cast<uint64_t>(a.kind)));
        if constexpr (std::is_same_v<T, sinter::Var>) h = mix(h, hash_text(a.name()));
        return h;
      },
      attr);
}

}  // namespace sinter::ir
