// A step of a tensor core: what an H100 returned, and what follows from the rule.
#include "ir/mma_step.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "catch.h"
#include "recorded_steps.h"

using namespace sinter;
using ir::MmaOperand;

namespace {

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
float number(uint32_t x) { return std::bit_cast<float>(x); }

/// One step whose operands are zero but for the first elements.
uint32_t step(MmaOperand type, std::vector<uint32_t> a, std::vector<uint32_t> b, uint32_t c) {
  a.resize(mma_step_length(type));
  b.resize(a.size());
  return ir::mma_step(type, a, b, c);
}

}  // namespace

TEST_CASE("a step of a tensor core gives the bits of an H100", "[mma]") {
  for (const testing::RecordedSteps& table : testing::recorded_steps()) {
    INFO(table.name);
    CHECK(table.steps.size() >= 5994);
    size_t wrong = 0;
    for (const testing::RecordedStep& r : table.steps)
      wrong += ir::mma_step(table.type, testing::elements_of(table.type, r.a), testing::elements_of(table.type, r.b),
                            r.c) != r.result;
    CHECK(wrong == 0);
  }
}

TEST_CASE("a step cuts its terms and its sum toward zero, and keeps no sign of zero", "[mma]") {
  const uint32_t one = 0x3f80, minus_one = 0xbf80;  // bf16
  CHECK(step(MmaOperand::BF16, {one}, {one}, bits(1)) == bits(2));
  // 2^24 + 1 - 2^24: the terms keep 25 bits below the largest, so the one survives.
  CHECK(step(MmaOperand::BF16, {0x4b80, one, 0xcb80}, {one, one, one}, 0) == bits(1));
  // 1 + 3 * 2^-25 lies closer to the next number than to 1; it is cut.
  const float low = std::ldexp(3.0f, -25);
  CHECK(step(MmaOperand::BF16, {one}, {one}, bits(low)) == bits(1));
  CHECK(step(MmaOperand::BF16, {minus_one}, {one}, bits(-low)) == bits(-1));
  CHECK(step(MmaOperand::BF16, {0x8000}, {one}, bits(-0.0f)) == 0);
  CHECK(step(MmaOperand::BF16, {0x7f80}, {0}, bits(1)) == 0x7fffffff);                 // inf * 0
  CHECK(step(MmaOperand::BF16, {0x7f7f, 0x7f7f}, {0x7f7f, 0xff7f}, 0) == 0);           // huge products cancel
  CHECK(step(MmaOperand::F16, {0x0001}, {0x0001}, 0) == bits(std::ldexp(1.0f, -48)));  // subnormal factors count
  CHECK(step(MmaOperand::TF32, {bits(1) | 0x1fff}, {bits(1)}, 0) == bits(1));          // low bits are ignored
}

TEST_CASE("a step of bytes is exact and wraps", "[mma]") {
  const std::vector<uint32_t> lowest(32, static_cast<uint32_t>(-128)), largest(32, 255);
  CHECK(ir::mma_step(MmaOperand::Byte, lowest, lowest, 0) == 32 * 128 * 128);
  CHECK(ir::mma_step(MmaOperand::Byte, lowest, largest, 5) == static_cast<uint32_t>(5 - 32 * 128 * 255));
  CHECK(ir::mma_step(MmaOperand::Byte, largest, largest, 0x7fffffff) == 0x7fffffffu + 32 * 255 * 255);
}

TEST_CASE("a step is symmetric, and its products may stand in any order", "[mma]") {
  std::mt19937 random(7);
  for (const MmaOperand type : {MmaOperand::BF16, MmaOperand::F16, MmaOperand::TF32}) {
    const size_t length = ir::mma_step_length(type);
    for (int i = 0; i < 2000; ++i) {
      std::vector<uint32_t> a(length), b(length);
      for (size_t k = 0; k < length; ++k) {
        a[k] = type == MmaOperand::TF32 ? random() : random() & 0xffff;
        b[k] = type == MmaOperand::TF32 ? random() : random() & 0xffff;
      }
      const uint32_t c = random(), expected = ir::mma_step(type, a, b, c);
      CHECK(ir::mma_step(type, b, a, c) == expected);
      const size_t by = random() % length;
      std::rotate(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(by), a.end());
      std::rotate(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(by), b.end());
      CHECK(ir::mma_step(type, a, b, c) == expected);
    }
  }
}

TEST_CASE("a chain of steps stays within the bound of cut terms", "[mma]") {
  // Per step 16 terms lose less than 2^-25 and the sum less than 2^-23 of the largest partial sum.
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int trial = 0; trial < 50; ++trial) {
    uint32_t sum = 0;
    double exact = 0, magnitude = 0;
    const int steps = 64;
    for (int s = 0; s < steps; ++s) {
      std::vector<uint32_t> a(16), b(16);
      for (size_t k = 0; k < 16; ++k) {
        a[k] = bits(uniform(random)) >> 16;
        b[k] = bits(uniform(random)) >> 16;
        const double product = static_cast<double>(number(a[k] << 16)) * static_cast<double>(number(b[k] << 16));
        exact += product;
        magnitude += std::fabs(product);
      }
      sum = ir::mma_step(MmaOperand::BF16, a, b, sum);
    }
    CHECK(std::fabs(static_cast<double>(number(sum)) - exact) <= steps * 5 * std::ldexp(1.0, -23) * magnitude);
  }
}
