// Types as PTX spells them, and the choice of a template's instance by such a name.
#pragma once

#include <cstdint>
#include <string_view>

#include "cudasim/decode.h"
#include "cudasim/warp_lanes.h"

namespace sinter::runtime::cuda::sim {

template <typename T>
struct Named {
  std::string_view word;
};

template <typename... Ts>
struct Types {
  constexpr explicit Types(Named<Ts>... named) : rows(named...) {}
  std::tuple<Named<Ts>...> rows;
};

// Where the sign matters, and where only the width does.
inline constexpr Types kIntegers{Named<uint16_t>{"u16"}, Named<int16_t>{"s16"},  Named<uint32_t>{"u32"},
                                 Named<int32_t>{"s32"},  Named<uint64_t>{"u64"}, Named<int64_t>{"s64"}};
inline constexpr Types kWords{Named<uint16_t>{"u16"}, Named<uint16_t>{"s16"}, Named<uint16_t>{"b16"},
                              Named<uint32_t>{"u32"}, Named<uint32_t>{"s32"}, Named<uint32_t>{"b32"},
                              Named<uint64_t>{"u64"}, Named<uint64_t>{"s64"}, Named<uint64_t>{"b64"}};
inline constexpr Types kFloats{Named<float>{"f32"}, Named<double>{"f64"}};

struct Picked {
  Run run = nullptr;  ///< null: the type is not among these
  int bytes = 0;
};

/// make.operator()<T>() for the type with this name.
template <typename... Ts, typename F>
Picked pick(const Types<Ts...>& types, std::string_view word, F make) {
  Picked found;
  std::apply(
      [&](const auto&... row) {
        const auto try_row = [&]<typename T>(const Named<T>& named) {
          if (named.word == word) found = { make.template operator()<T>(), sizeof(T) };
        };
        (try_row(row), ...);
      },
      types.rows);
  return found;
}

/// An instruction whose result and `sources` sources have the type that the opcode ends with.
template <typename... Ts, typename F>
void decode_same(Decoder& d, int sources, const Types<Ts...>& types, F make) {
  const Picked picked = pick(types, d.take_type(), make);
  if (!picked.run) d.fail("this type is not supported here");
  d.out.run = picked.run;
  d.result(picked.bytes);
  for (int i = 0; i < sources; ++i) d.source(i, picked.bytes);
}

template <typename F, typename... Ts>
void decode_unary(Decoder& d, const Types<Ts...>& types) {
  decode_same(d, 1, types, []<typename T>() -> Run { return unary<F, T>; });
}
template <typename F, typename... Ts>
void decode_binary(Decoder& d, const Types<Ts...>& types) {
  decode_same(d, 2, types, []<typename T>() -> Run { return binary<F, T>; });
}
template <typename F, typename... Ts>
void decode_ternary(Decoder& d, const Types<Ts...>& types) {
  decode_same(d, 3, types, []<typename T>() -> Run { return ternary<F, T>; });
}

}  // namespace sinter::runtime::cuda::sim
