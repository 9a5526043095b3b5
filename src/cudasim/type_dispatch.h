// Types as PTX spells them, and selection of a template instance by such a name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <tuple>

#include "cudasim/decode.h"
#include "cudasim/warp_lanes.h"

namespace sinter::runtime::cuda::sim {

template <typename T>
struct NamedType {
  std::string_view word;
};

template <typename... Ts>
struct TypeList {
  constexpr explicit TypeList(NamedType<Ts>... named) : rows(named...) {}
  std::tuple<NamedType<Ts>...> rows;
};

// kIntegers where the sign matters, kWords where only the width does.
inline constexpr TypeList kIntegers{NamedType<uint16_t>{"u16"}, NamedType<int16_t>{"s16"},  NamedType<uint32_t>{"u32"},
                                    NamedType<int32_t>{"s32"},  NamedType<uint64_t>{"u64"}, NamedType<int64_t>{"s64"}};
inline constexpr TypeList kWords{NamedType<uint16_t>{"u16"}, NamedType<uint16_t>{"s16"}, NamedType<uint16_t>{"b16"},
                                 NamedType<uint32_t>{"u32"}, NamedType<uint32_t>{"s32"}, NamedType<uint32_t>{"b32"},
                                 NamedType<uint64_t>{"u64"}, NamedType<uint64_t>{"s64"}, NamedType<uint64_t>{"b64"}};
inline constexpr TypeList kFloats{NamedType<float>{"f32"}, NamedType<double>{"f64"}};

struct TypeMatch {
  WarpFunction run = nullptr;  ///< null: the type is not in the list
  int bytes = 0;
};

struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

/// Calls make.operator()<T>() for the type with this name.
template <typename... Ts, typename F>
TypeMatch pick(const TypeList<Ts...>& types, std::string_view word, F make) {
  TypeMatch found;
  std::apply(
      [&](const auto&... row) {
        const auto try_row = [&]<typename T>(const NamedType<T>& named) {
          if (named.word == word) found = { make.template operator()<T>(), sizeof(T) };
        };
        (try_row(row), ...);
      },
      types.rows);
  return found;
}

/// The function of the instruction by the type that ends the opcode. Returns the bytes of the type.
template <typename... Ts, typename F>
int take_function(Decoder& d, const TypeList<Ts...>& types, F make) {
  const TypeMatch picked = pick(types, d.take_type(), make);
  if (!picked.run) d.fail("this type is not supported here");
  d.out.run = picked.run;
  return picked.bytes;
}

/// Decodes an instruction whose result and `sources` sources have the type that ends the opcode.
template <typename... Ts, typename F>
void decode_same(Decoder& d, int sources, const TypeList<Ts...>& types, F make) {
  const int bytes = take_function(d, types, make);
  d.result(bytes);
  for (int i = 0; i < sources; ++i) d.source(i, bytes);
}

template <typename F, typename... Ts>
void decode_unary(Decoder& d, const TypeList<Ts...>& types) {
  decode_same(d, 1, types, []<typename T>() -> WarpFunction { return unary<F, T>; });
}
template <typename F, typename... Ts>
void decode_binary(Decoder& d, const TypeList<Ts...>& types) {
  decode_same(d, 2, types, []<typename T>() -> WarpFunction { return binary<F, T>; });
}
template <typename F, typename... Ts>
void decode_ternary(Decoder& d, const TypeList<Ts...>& types) {
  decode_same(d, 3, types, []<typename T>() -> WarpFunction { return ternary<F, T>; });
}

}  // namespace sinter::runtime::cuda::sim
