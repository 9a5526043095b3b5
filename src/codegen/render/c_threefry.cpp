// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011),
// the counter-based generator behind rand(): exact, in 32-bit lanes.
#include <fmt/format.h>

#include "codegen/render/c_spelling.h"

namespace sinter::codegen {

/// On CPUs the rounds are not inlined: they take about a hundred instructions, more than most code around them, and the
/// kernels of a file share them. Arguments are 32-bit lanes, because only vectors of at most 64 bytes are passed in
/// registers.
std::string CSpelling::threefry(Type t) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::string wide = type(t), half = type({DType::U32, t.lanes});
  const auto as = [&](const std::string& to, const char* x) {
    return t.lanes > 1 ? fmt::format("__builtin_convertvector({}, {})", x, to) : fmt::format("({})({})", to, x);
  };
  std::string body = fmt::format("  const {} k2 = k0 ^ k1 ^ 0x1bd11bdau;\n  a += k0;\n  b += k1;\n", half);
  for (int block = 0; block < 5; ++block) {
    for (int by : kRotations[block % 2])
      body += fmt::format("  a += b;\n  b = (b << {} | b >> {}) ^ a;\n", by, 32 - by);
    body += fmt::format("  a += k{};\n  b += k{} + {}u;\n", (block + 1) % 3, (block + 2) % 3, block + 1);
  }
  body += fmt::format("  return {} | {} << 32;\n", as(wide, "a"), as(wide, "b"));
  const std::string rounds =
      function("sn_rounds_" + wide, wide, fmt::format("({0} a, {0} b, {0} k0, {0} k1) {{\n{1}}}", half, body), true);
  const std::string halves =
      fmt::format("{}, {}, {}, {}", as(half, "x"), as(half, "x >> 32"), as(half, "y"), as(half, "y >> 32"));
  return function("sn_threefry_" + wide, wide,
                  fmt::format("({0} x, {0} y) {{ return {1}({2}); }}", wide, rounds, halves));
}

}  // namespace sinter::codegen
