// Threefry-2x32 with 20 rounds, the counter-based generator behind rand(): exact, in 32-bit lanes.
#include "codegen/math_ops.h"
#include "codegen/math_support.h"

namespace sinter::codegen {

using ir::UOp;

UOp expand_threefry(UOp counter, UOp key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  constexpr uint64_t kParity = 0x1bd11bda;
  auto low = [](UOp u) { return cast(u, DType::U32); };
  auto high = [](UOp u) { return cast(shr(u, 32), DType::U32); };

  UOp k0 = low(key), k1 = high(key);
  const UOp keys[3] = {k0, k1, k0 ^ k1 ^ word(k0, kParity)};
  UOp a = low(counter) + k0, b = high(counter) + k1;
  for (int block = 0; block < 5; ++block) {
    for (int by : kRotations[block % 2]) {
      a = a + b;
      b = (shl(b, by) | shr(b, 32 - by)) ^ a;
    }
    a = a + keys[(block + 1) % 3];
    b = b + keys[(block + 2) % 3] + word(b, static_cast<uint64_t>(block + 1));
  }
  return cast(a, DType::U64) | shl(cast(b, DType::U64), 32);
}

}  // namespace sinter::codegen
