// Spellings of the small enums in attributes, for dump and the partition's table.
#pragma once

#include <array>
#include <string_view>

#include "ir/attr.h"

namespace sinter::ir {

inline constexpr std::array<std::string_view, 10> kCombineNames = {"Add",    "Mul",    "Max",     "Min",    "Dot",
                                                                   "ArgMax", "ArgMin", "Moments", "ExpSum", "Affine"};
/// By mode; the first stands for a plain STORE, which no SCATTER is.
inline constexpr std::array<std::string_view, 6> kScatterNames = {"", "Add", "Set", "Mul", "Max", "Min"};
inline constexpr std::array<std::string_view, 2> kAxisNames = {"Outer", "Inner"};

constexpr std::string_view name_of(Combine c) { return kCombineNames[static_cast<size_t>(c)]; }
constexpr std::string_view name_of(ScatterMode m) { return kScatterNames[static_cast<size_t>(m)]; }
constexpr std::string_view name_of(AxisKind k) { return kAxisNames[static_cast<size_t>(k)]; }

}  // namespace sinter::ir
