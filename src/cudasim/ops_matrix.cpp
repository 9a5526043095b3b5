// Instructions of a whole warp on matrices: ldmatrix, and mma.sync by the arithmetic of ir/mma_step.h. Their operands
// lie in fragments, which PTX defines: with g = lane / 4 and t = lane % 4, a register holds neighbors of row (or
// column) g.
#include <fmt/core.h>

#include "cudasim/lane_access.h"
#include "cudasim/poison.h"
#include "cudasim/requests.h"
#include "cudasim/type_dispatch.h"
#include "ir/mma_step.h"

namespace sinter::runtime::cuda::sim {
namespace {

/// Both are .aligned: every lane of the warp must execute them together.
void check_aligned(Warp& warp, uint32_t mask) {
  if (mask != kAllLanes)
    fail(warp, std::countr_zero(mask), CudaResult::LaunchFailed,
         fmt::format("only the lanes {:#010x} execute an instruction of the whole warp: inactive lane", mask));
}

constexpr uint64_t kRowBytes = 16;
constexpr int kRows8 = 8;  ///< of a matrix, each 8 elements of 16 bits

/// Lane i names row i % 8 of matrix i / 8. A lane gets row g, elements 2t and 2t + 1; with kTransposed, column g, rows
/// 2t and 2t + 1.
template <bool kTransposed>
void load_matrices(Warp& warp, const Instruction& in, uint32_t mask) {
  check_aligned(warp, mask);
  LaneAccess<2, AccessKind::Read> access(warp, in);
  for (int m = 0; m < in.vector; ++m) {
    uint64_t rows[kRows8];
    for (int r = 0; r < kRows8; ++r) {
      rows[r] = access.address(m * kRows8 + r);
      if (rows[r] % kRowBytes)
        fail(warp, m * kRows8 + r, CudaResult::MisalignedAddress,
             fmt::format("a row of a matrix at {:#x}, which is not a multiple of {}: misaligned", rows[r], kRowBytes));
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      uint32_t value = 0;
      for (int half = 0; half < 2; ++half) {
        const int along = lane % 4 * 2 + half, across = lane / 4;
        const int row = kTransposed ? along : across, element = kTransposed ? across : along;
        uint16_t bits;
        std::memcpy(&bits, access(lane, rows[row] + static_cast<uint64_t>(element) * 2), sizeof bits);
        value |= static_cast<uint32_t>(bits) << 16 * half;
        if (access.unwritten_lanes() >> lane & 1)
          add_unknown(warp, in.result[m], lane, uint64_t{0xffff} << 16 * half, warp.at);
        access.forget();
      }
      lanes<uint32_t>(warp, in.result[m])[lane] = value;
    }
    count_shared(warp.block->counters, rows, kRows8, kRowBytes);
  }
}

void decode_ldmatrix(Decoder& d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8")) d.fail("this form of ldmatrix is not supported");
  d.out.vector = d.take("x4") ? 4 : d.take("x2") ? 2 : 1;
  d.take("x1");
  d.out.run = d.take("trans") ? load_matrices<true> : load_matrices<false>;
  d.take_space();
  if (d.out.space != StateSpace::Shared) d.fail("matrices are loaded from .shared memory");
  if (!d.take("b16")) d.fail("matrices have elements of .b16");
  d.out.poison_rule = PoisonRule::Load;
  d.vector(d.out.result, d.out.vector, 4);
  d.address();
}

constexpr int kM = 16, kN = 8;  ///< of the result; it has 4 registers, A has 4, B 2
/// The place of a lane's register r in the result.
int row_of(int lane, int r) { return lane / 4 + r / 2 * 8; }
int column_of(int lane, int r) { return lane % 4 * 2 + r % 2; }

/// The operands of one mma.sync of depth kK, whose elements stand kPacked to a register.
template <int kK, int kPacked>
struct Fragments {
  uint32_t a[kM][kK], b[kN][kK], c[kM][kN];

  Fragments(Warp& warp, const Instruction& in) {
    constexpr uint32_t kMask = kPacked == 1 ? ~0u : (1u << 32 / kPacked) - 1;
    const auto element = [&](int source, int lane, int i) {
      return lanes<uint32_t>(warp, in.source[source])[lane] >> 32 / kPacked * i % 32 & kMask;
    };
    for (int lane = 0; lane < kLanes; ++lane) {
      const int g = lane / 4, first = lane % 4 * kPacked;
      for (int i = 0; i < kPacked; ++i)
        for (int half = 0; half < 2; ++half) {
          const int k = first + i + half * kK / 2;
          a[g][k] = element(2 * half, lane, i);
          a[g + 8][k] = element(2 * half + 1, lane, i);
          b[g][k] = element(4 + half, lane, i);
        }
      for (int r = 0; r < 4; ++r)
        c[row_of(lane, r)][column_of(lane, r)] = lanes<uint32_t>(warp, in.source[6 + r])[lane];
    }
  }

  /// Stores f(row of A, column of B, element of C) for every element of the result.
  template <typename F>
  void multiply(Warp& warp, const Instruction& in, F&& f) const {
    ++warp.block->counters.matrix_steps;
    for (int lane = 0; lane < kLanes; ++lane)
      for (int r = 0; r < 4; ++r) {
        const int row = row_of(lane, r), column = column_of(lane, r);
        lanes<uint32_t>(warp, in.result[r])[lane] = f(a[row], b[column], c[row][column]);
      }
  }
};

template <ir::MmaOperand kType>
void multiply_floats(Warp& warp, const Instruction& in, uint32_t mask) {
  check_aligned(warp, mask);
  constexpr int kK = static_cast<int>(ir::mma_step_length(kType));
  const Fragments<kK, kK / 8> all(warp, in);
  all.multiply(warp, in,
               [](const uint32_t(&a)[kK], const uint32_t(&b)[kK], uint32_t c) { return ir::mma_step(kType, a, b, c); });
}

/// Exact modulo 2^32. A and B: int8_t or uint8_t.
template <typename A, typename B>
void multiply_bytes(Warp& warp, const Instruction& in, uint32_t mask) {
  check_aligned(warp, mask);
  constexpr int kK = static_cast<int>(ir::mma_step_length(ir::MmaOperand::Byte));
  const Fragments<kK, 4> all(warp, in);
  all.multiply(warp, in, [](const uint32_t(&a)[kK], const uint32_t(&b)[kK], uint32_t c) {
    for (int k = 0; k < kK; ++k)
      c += static_cast<uint32_t>(static_cast<A>(a[k])) * static_cast<uint32_t>(static_cast<B>(b[k]));
    return c;
  });
}

struct MmaForm {
  std::string_view shape, a, b, result;
  WarpFunction run;
};
constexpr MmaForm kMmaForms[] = {
    {"m16n8k16", "bf16", "bf16", "f32", multiply_floats<ir::MmaOperand::BF16>},
    {"m16n8k16", "f16", "f16", "f32", multiply_floats<ir::MmaOperand::F16>},
    {"m16n8k8", "tf32", "tf32", "f32", multiply_floats<ir::MmaOperand::TF32>},
    {"m16n8k32", "s8", "s8", "s32", multiply_bytes<int8_t, int8_t>},
    {"m16n8k32", "s8", "u8", "s32", multiply_bytes<int8_t, uint8_t>},
    {"m16n8k32", "u8", "s8", "s32", multiply_bytes<uint8_t, int8_t>},
    {"m16n8k32", "u8", "u8", "s32", multiply_bytes<uint8_t, uint8_t>},
};

void decode_mma(Decoder& d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("row") || !d.take("col"))
    d.fail("only mma.sync.aligned with A by rows and B by columns is supported");
  const std::string_view c = d.take_type(), b = d.take_type(), a = d.take_type(), result = d.take_type();
  for (const MmaForm& form : kMmaForms)
    if (a == form.a && b == form.b && c == form.result && result == form.result && d.take(form.shape))
      d.out.run = form.run;
  d.out.poison_rule = PoisonRule::Tile;
  d.vector(d.out.result, 4, 4);
  d.vector(d.out.source, 4, 4);
  d.vector(d.out.source + 4, 2, 4);
  d.vector(d.out.source + 6, 4, 4);
}

constexpr Opcode kOpcodes[] = {{"ldmatrix", decode_ldmatrix}, {"mma", decode_mma}};

}  // namespace

std::span<const Opcode> matrix_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
