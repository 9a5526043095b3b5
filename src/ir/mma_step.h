// The arithmetic of a tensor core, bit for bit: one step adds several exact products to the accumulator at once. A
// longer sum is a chain of steps. Sums of bytes are exact modulo 2^32, so their steps could be any others.
//
// The rule for floats is that of NVIDIA's Hopper, for mma.sync and wgmma alike. It follows MMA-Sim (arXiv 2511.10909)
// and, where that differs, results recorded on an H100 (tests/unit/ir/mma_step_test.cpp).
#pragma once

#include <cstdint>
#include <span>

namespace sinter::ir {

/// The type of both factors. Elements stand in the low bits of a word. TF32 is a float32 whose low 13 bits are ignored.
/// Bytes have a sign or not, each factor by itself, and are extended to the word by it.
enum class MmaOperand : uint8_t { BF16, F16, TF32, Byte };

/// Products per step: 32 bytes of each operand.
constexpr size_t mma_step_length(MmaOperand type) {
  constexpr size_t kLengths[] = {16, 16, 8, 32};
  return kLengths[static_cast<size_t>(type)];
}

/// The TF32 next to a float32; of two equally near ones, the larger in size. NaN stays NaN, whatever its low bits.
constexpr uint32_t tf32_of(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits + 0x1000; }

/// Results of one instruction of a warp: a tile of so many rows and columns, each element a chain of steps.
inline constexpr int64_t kMmaTileRows = 16, kMmaTileColumns = 8;

/// c + a[0] b[0] + a[1] b[1] + ..., over mma_step_length() elements of each operand; c and the result are the bits of
/// float32 numbers, of bytes int32, which wrap.
///
/// Let R be the largest exponent among the terms (the products and c) that are not zero, at least -133. The exponent of
/// a product is the sum of its factors' exponents, without normalization. Each term is cut toward zero to a multiple of
/// 2^(R - 25). The sum of these is exact, and is cut toward zero to float32. Subnormal numbers are kept everywhere.
/// A zero result is +0. Infinities follow IEEE 754, where a product of finite factors is finite. NaN is 0x7fffffff.
uint32_t mma_step(MmaOperand type, std::span<const uint32_t> a, std::span<const uint32_t> b, uint32_t c);

}  // namespace sinter::ir
