// Integer and bit opcodes of the simulated GPU against C++.
#include <bit>
#include <limits>

#include "sim_ops.h"

using namespace cuda_sim_test;

namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

/// A bit at a time, as the PTX manual writes it.
template <typename T>
T field(T a, u32 start, u32 length) {
  const u32 top = sizeof(T) * 8 - 1;
  start &= 255, length &= 255;
  const auto bit = [&](u32 i) { return static_cast<u64>(a) >> i & 1; };
  const u64 sign = std::is_unsigned_v<T> || length == 0 ? 0 : bit(std::min(start + length - 1, top));
  u64 out = 0;
  for (u32 i = 0; i <= top; ++i) out |= (i < length && start + i <= top ? bit(start + i) : sign) << i;
  return static_cast<T>(out);
}

template <typename T>
T put_field(T a, T b, u32 start, u32 length) {
  start &= 255, length &= 255;
  for (u32 i = 0; i < length && start + i < sizeof(T) * 8; ++i)
    b = static_cast<T>((b & ~(T(1) << (start + i))) | (a >> i & 1) << (start + i));
  return b;
}

}  // namespace

TEST_CASE("integer arithmetic of the simulated GPU", "[cuda-sim]") {
  check_ops({
      op_case(
          "add.u16", +[](u16 a, u16 b) { return static_cast<u16>(a + b); }),
      op_case(
          "add.s32", +[](u32 a, u32 b) { return a + b; }),
      op_case(
          "add.s64", +[](u64 a, u64 b) { return a + b; }),
      op_case(
          "sub.s16", +[](u16 a, u16 b) { return static_cast<u16>(a - b); }),
      op_case(
          "sub.u32", +[](u32 a, u32 b) { return a - b; }),
      op_case(
          "sub.s64", +[](u64 a, u64 b) { return a - b; }),
      op_case(
          "mul.lo.s16", +[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }),
      op_case(
          "mul.lo.s32", +[](u32 a, u32 b) { return a * b; }),
      op_case(
          "mul.lo.s64", +[](u64 a, u64 b) { return a * b; }),
      op_case(
          "mul.hi.u16", +[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b >> 16); }),
      op_case(
          "mul.hi.s32", +[](s32 a, s32 b) { return static_cast<s32>(s64{a} * b >> 32); }),
      op_case(
          "mul.hi.u32", +[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }),
      op_case(
          "mul.hi.s64", +[](s64 a, s64 b) { return static_cast<s64>(static_cast<__int128>(a) * b >> 64); }),
      op_case(
          "mul.hi.u64", +[](u64 a, u64 b) { return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64); }),
      op_case(
          "mul.wide.s16", +[](s16 a, s16 b) { return s32{a} * b; }),
      op_case(
          "mul.wide.s32", +[](s32 a, s32 b) { return s64{a} * b; }),
      op_case(
          "mul.wide.u32", +[](u32 a, u32 b) { return u64{a} * b; }),
      op_case(
          "dp2a.lo.u32.u32",
          +[](u32 a, u32 b, u32 c) { return c + (a & 0xffff) * (b & 0xff) + (a >> 16) * (b >> 8 & 0xff); }),
      op_case(
          "dp2a.hi.s32.u32",
          +[](s32 a, u32 b, u32 c) {
            return c + static_cast<u32>(s16(a) * s32(b >> 16 & 0xff)) + static_cast<u32>((a >> 16) * s32(b >> 24));
          }),
      op_case(
          "dp4a.u32.s32",
          +[](u32 a, u32 b, u32 c) {
            for (int i = 0; i < 32; i += 8) c += static_cast<u32>(s32(a >> i & 0xff) * static_cast<int8_t>(b >> i));
            return c;
          }),
      op_case(
          "mad.lo.s32", +[](u32 a, u32 b, u32 c) { return a * b + c; }),
      op_case(
          "mad.lo.s64", +[](u64 a, u64 b, u64 c) { return a * b + c; }),
      op_case(
          "mad.hi.u32", +[](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{a} * b >> 32) + c; }),
      op_case(
          "mad.wide.s32", +[](s32 a, s32 b, u64 c) { return static_cast<u64>(s64{a} * b) + c; }),
      op_case(
          "mad.wide.u32", +[](u32 a, u32 b, u64 c) { return u64{a} * b + c; }),
      op_case(
          "div.u16", +[](u16 a, u16 b) { return static_cast<u16>(b ? a / b : 0xffff); }),
      op_case(
          "div.s32", +[](s32 a, s32 b) { return b ? static_cast<s32>(s64{a} / b) : -1; }),
      op_case(
          "div.u32", +[](u32 a, u32 b) { return b ? a / b : 0xffffffffu; }),
      op_case(
          "div.s64", +[](s64 a, s64 b) { return b ? static_cast<s64>(static_cast<__int128>(a) / b) : s64{-1}; }),
      op_case(
          "div.u64", +[](u64 a, u64 b) { return b ? a / b : ~u64{0}; }),
      op_case(
          "rem.s32", +[](s32 a, s32 b) { return b ? static_cast<s32>(s64{a} % b) : a; }),
      op_case(
          "rem.u32", +[](u32 a, u32 b) { return b ? a % b : a; }),
      op_case(
          "rem.s64", +[](s64 a, s64 b) { return b ? static_cast<s64>(static_cast<__int128>(a) % b) : a; }),
      op_case(
          "rem.u64", +[](u64 a, u64 b) { return b ? a % b : a; }),
      op_case(
          "min.s16", +[](s16 a, s16 b) { return std::min(a, b); }),
      op_case(
          "min.u32", +[](u32 a, u32 b) { return std::min(a, b); }),
      op_case(
          "min.s64", +[](s64 a, s64 b) { return std::min(a, b); }),
      op_case(
          "max.s32", +[](s32 a, s32 b) { return std::max(a, b); }),
      op_case(
          "max.u64", +[](u64 a, u64 b) { return std::max(a, b); }),
      op_case(
          "abs.s16", +[](s16 a) { return static_cast<s16>(a < 0 ? -a : a); }),
      op_case(
          "abs.s32", +[](s32 a) { return static_cast<s32>(a < 0 ? -s64{a} : a); }),
      op_case(
          "abs.s64", +[](s64 a) { return static_cast<s64>(a < 0 ? 0 - static_cast<u64>(a) : static_cast<u64>(a)); }),
      op_case(
          "neg.s16", +[](u16 a) { return static_cast<u16>(-a); }),
      op_case(
          "neg.s32", +[](u32 a) { return 0 - a; }),
      op_case(
          "neg.s64", +[](u64 a) { return 0 - a; }),
  });
}

TEST_CASE("bits on the simulated GPU", "[cuda-sim]") {
  check_ops({
      op_case(
          "and.b16", +[](u16 a, u16 b) { return static_cast<u16>(a & b); }),
      op_case(
          "and.b32", +[](u32 a, u32 b) { return a & b; }),
      op_case(
          "or.b64", +[](u64 a, u64 b) { return a | b; }),
      op_case(
          "xor.b32", +[](u32 a, u32 b) { return a ^ b; }),
      op_case(
          "not.b16", +[](u16 a) { return static_cast<u16>(~a); }),
      op_case(
          "not.b64", +[](u64 a) { return ~a; }),
      op_case(
          "cnot.b32", +[](u32 a) { return static_cast<u32>(a == 0); }),
      op_case(
          "shl.b16", +[](u16 a, u32 n) { return static_cast<u16>(n > 15 ? 0 : a << n); }),
      op_case(
          "shl.b32", +[](u32 a, u32 n) { return n > 31 ? 0 : a << n; }),
      op_case(
          "shl.b64", +[](u64 a, u32 n) { return n > 63 ? 0 : a << n; }),
      op_case(
          "shr.u16", +[](u16 a, u32 n) { return static_cast<u16>(n > 15 ? 0 : a >> n); }),
      op_case(
          "shr.s16", +[](s16 a, u32 n) { return static_cast<s16>(a >> std::min(n, 15u)); }),
      op_case(
          "shr.u32", +[](u32 a, u32 n) { return n > 31 ? 0 : a >> n; }),
      op_case(
          "shr.s32", +[](s32 a, u32 n) { return a >> std::min(n, 31u); }),
      op_case(
          "shr.b32", +[](u32 a, u32 n) { return n > 31 ? 0 : a >> n; }),
      op_case(
          "shr.u64", +[](u64 a, u32 n) { return n > 63 ? 0 : a >> n; }),
      op_case(
          "shr.s64", +[](s64 a, u32 n) { return a >> std::min(n, 63u); }),
      op_case(
          "shf.l.wrap.b32", +[](u32 a, u32 b, u32 n) { return n & 31 ? b << (n & 31) | a >> (32 - (n & 31)) : b; }),
      op_case(
          "shf.l.clamp.b32", +[](u32 a, u32 b, u32 n) { return n == 0   ? b
                                                               : n > 31 ? a
                                                                        : b << n | a >> (32 - n); }),
      op_case(
          "shf.r.wrap.b32", +[](u32 a, u32 b, u32 n) { return n & 31 ? a >> (n & 31) | b << (32 - (n & 31)) : a; }),
      op_case(
          "shf.r.clamp.b32", +[](u32 a, u32 b, u32 n) { return n == 0   ? a
                                                               : n > 31 ? b
                                                                        : a >> n | b << (32 - n); }),
      op_case(
          "popc.b32", +[](u32 a) { return static_cast<u32>(std::popcount(a)); }),
      op_case(
          "popc.b64", +[](u64 a) { return static_cast<u32>(std::popcount(a)); }),
      op_case(
          "clz.b32", +[](u32 a) { return static_cast<u32>(std::countl_zero(a)); }),
      op_case(
          "clz.b64", +[](u64 a) { return static_cast<u32>(std::countl_zero(a)); }),
      op_case(
          "bfind.u32", +[](u32 a) { return a ? 31u - static_cast<u32>(std::countl_zero(a)) : 0xffffffffu; }),
      op_case(
          "bfind.s64",
          +[](s64 a) {
            const u64 bits = static_cast<u64>(a < 0 ? ~a : a);
            return bits ? 63u - static_cast<u32>(std::countl_zero(bits)) : 0xffffffffu;
          }),
      op_case(
          "brev.b32",
          +[](u32 a) {
            u32 out = 0;
            for (u32 i = 0; i < 32; ++i) out |= (a >> i & 1) << (31 - i);
            return out;
          }),
      op_case("bfe.u32", field<u32>),
      op_case("bfe.s32", field<s32>),
      op_case("bfe.u64", field<u64>),
      op_case("bfe.s64", field<s64>),
      op_case("bfi.b32", put_field<u32>),
      op_case("bfi.b64", put_field<u64>),
      op_case(
          "prmt.b32",
          +[](u32 a, u32 b, u32 choices) {
            u32 out = 0;
            for (u32 i = 0; i < 4; ++i) {
              const u32 c = choices >> (4 * i) & 7, byte = (c < 4 ? a >> (8 * c) : b >> (8 * (c - 4))) & 255;
              out |= (choices >> (4 * i + 3) & 1 ? (byte >> 7) * 255 : byte) << (8 * i);
            }
            return out;
          }),
      op_case(
          "lop3.b32",
          +[](u32 a, u32 b, u32 c, u32 table) {
            u32 out = 0;
            for (u32 i = 0; i < 32; ++i)
              out |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
            return out;
          }),
  });
}

TEST_CASE("comparisons of integers on the simulated GPU", "[cuda-sim]") {
  check_ops({
      op_case(
          "setp.eq.s32", +[](u32 a, u32 b) { return a == b; }),
      op_case(
          "setp.ne.s64", +[](u64 a, u64 b) { return a != b; }),
      op_case(
          "setp.lt.s32", +[](s32 a, s32 b) { return a < b; }),
      op_case(
          "setp.lt.u32", +[](u32 a, u32 b) { return a < b; }),
      op_case(
          "setp.le.s16", +[](s16 a, s16 b) { return a <= b; }),
      op_case(
          "setp.gt.s64", +[](s64 a, s64 b) { return a > b; }),
      op_case(
          "setp.ge.u64", +[](u64 a, u64 b) { return a >= b; }),
      op_case(
          "setp.lo.u32", +[](u32 a, u32 b) { return a < b; }),
      op_case(
          "setp.hs.u16", +[](u16 a, u16 b) { return a >= b; }),
  });
}

TEST_CASE("sums of several words carry on the simulated GPU", "[cuda-sim]") {
  // 96 bits from words of 32, and back; the carry of each lane is its own.
  Gpu gpu;
  const auto kernel = gpu.load(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<16>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 64;
  add.s64 %rd0, %rd0, %rd1;
  ld.global.v4.u32 {%r1, %r2, %r3, _}, [%rd0];
  ld.global.v4.u32 {%r4, %r5, %r6, _}, [%rd0+16];
  add.cc.u32 %r7, %r1, %r4;
  addc.cc.u32 %r8, %r2, %r5;
  addc.u32 %r9, %r3, %r6;
  st.global.v4.u32 [%rd0+32], {%r7, %r8, %r9, %r0};
  sub.cc.u32 %r7, %r1, %r4;
  subc.cc.u32 %r8, %r2, %r5;
  subc.u32 %r9, %r3, %r6;
  st.global.v4.u32 [%rd0+48], {%r7, %r8, %r9, %r0};
  ret;
}
)",
                               "k");
  std::mt19937 random(3);
  std::vector<u32> words(32 * 16);
  for (u32& word : words) word = random() % 3 == 0 ? 0xffffffffu : random() % 3 == 0 ? 0 : static_cast<u32>(random());
  const auto memory = gpu.upload(words);
  REQUIRE(gpu.launch(kernel, 1, 32, {memory}) == CudaResult::Success);
  const auto results = gpu.download<u32>(memory, words.size());
  using Wide = unsigned __int128;
  const auto wide = [](const u32* w) { return Wide{w[0]} | Wide{w[1]} << 32 | Wide{w[2]} << 64; };
  constexpr Wide kMask = ~Wide{0} >> 32;
  for (size_t lane = 0; lane < 32; ++lane) {
    const u32* w = &words[lane * 16];
    CHECK((wide(&results[lane * 16 + 8]) == ((wide(w) + wide(w + 4)) & kMask)));
    CHECK((wide(&results[lane * 16 + 12]) == ((wide(w) - wide(w + 4)) & kMask)));
  }
}
