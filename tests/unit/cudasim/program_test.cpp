// What threads do together and how control flows on the simulated GPU, from PTX; the counters of what it costs.
#include <fmt/format.h>

#include <numeric>

#include "sim_support.h"

using namespace cuda_sim_test;
using Catch::Matchers::Contains;

namespace {

/// A kernel k(p) with %r0 = tid, %rd0 = p, %rd1 = p + 4 * tid, and registers to spare.
std::string kernel(const std::string& body, const std::string& before = "") {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .f32 "
         "%f<8>;\n"
         ".reg .b64 %rd<8>;\nld.param.u64 %rd0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 4;\n"
         "add.s64 %rd1, %rd1, %rd0;\n" +
         body + "\nret;\n}\n";
}

/// What a block of `threads` threads makes of p, which holds `start` in each of its words.
std::vector<uint32_t> run(const std::string& text, unsigned threads, uint32_t start = 0, uint64_t seed = 0) {
  Gpu gpu({.seed = seed});
  const auto p = gpu.upload(std::vector<uint32_t>(threads, start));
  const CudaResult result = gpu.launch(gpu.load(text, "k"), 1, threads, {p});
  INFO(sim::last_fault());
  REQUIRE(result == CudaResult::Success);
  return gpu.download<uint32_t>(p, threads);
}

template <typename F>
std::vector<uint32_t> each(unsigned threads, F f) {
  std::vector<uint32_t> out(threads);
  for (unsigned i = 0; i < threads; ++i) out[i] = static_cast<uint32_t>(f(i));
  return out;
}

}  // namespace

TEST_CASE("lanes that part at a branch meet again", "[cuda-sim]") {
  // Each lane counts down from its number; then all of them vote, which needs all of them.
  const auto result = run(kernel(R"(
    mov.u32 %r1, %r0;
    mov.u32 %r2, 0;
  LOOP:
    setp.eq.u32 %p0, %r1, 0;
    @%p0 bra DONE;
    add.u32 %r2, %r2, %r1;
    sub.u32 %r1, %r1, 1;
    bra LOOP;
  DONE:
    setp.ge.u32 %p1, %r0, 3;
    vote.sync.ballot.b32 %r3, %p1, 0xffffffff;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd1], %r2;
  )"),
                          64);
  CHECK(result == each(64, [](uint32_t i) { return i * (i + 1) / 2 + (i < 32 ? 0xfffffff8u : 0xffffffffu); }));
}

TEST_CASE("shuffles in every direction, in segments", "[cuda-sim]") {
  const auto shuffled = [](const std::string& kind, const std::string& operands) {
    return run(kernel("add.u32 %r1, %r0, 100;\nshfl.sync." + kind + ".b32 %r2|%p0, %r1, " + operands +
                      ", 0xffffffff;\nselp.u32 %r3, 1000, 0, %p0;\nadd.u32 %r2, %r2, %r3;\nst.global.u32 [%rd1], %r2;"),
               32);
  };
  CHECK(shuffled("up", "3, 0") == each(32, [](uint32_t i) { return i < 3 ? 100 + i : 1097 + i; }));
  CHECK(shuffled("down", "4, 31") == each(32, [](uint32_t i) { return i > 27 ? 100 + i : 1104 + i; }));
  CHECK(shuffled("bfly", "5, 31") == each(32, [](uint32_t i) { return 1100 + (i ^ 5); }));
  CHECK(shuffled("idx", "7, 31") == each(32, [](uint32_t) { return 1107; }));
  // Segments of 8 lanes.
  CHECK(shuffled("down", "2, 0x181f") == each(32, [](uint32_t i) { return i % 8 > 5 ? 100 + i : 1102 + i; }));
  CHECK(shuffled("idx", "3, 0x181f") == each(32, [](uint32_t i) { return 1103 + i / 8 * 8; }));
}

TEST_CASE("votes and reductions of a warp", "[cuda-sim]") {
  const auto result = run(kernel(R"(
    setp.lt.u32 %p0, %r0, 5;
    setp.lt.u32 %p1, %r0, 100;
    vote.sync.all.pred %p2, %p0, 0xffffffff;
    vote.sync.any.pred %p3, %p0, 0xffffffff;
    vote.sync.uni.pred %p4, %p1, 0xffffffff;
    vote.sync.all.pred %p5, !%p0, 0xffffffff;
    selp.u32 %r1, 1, 0, %p2;
    selp.u32 %r2, 2, 0, %p3;
    selp.u32 %r3, 4, 0, %p4;
    selp.u32 %r4, 8, 0, %p5;
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4;
    redux.sync.add.u32 %r5, %r0, 0xffffffff;
    redux.sync.max.s32 %r6, %r0, 0xffffffff;
    mad.lo.u32 %r1, %r5, 100, %r1;
    mad.lo.u32 %r1, %r6, 1000000, %r1;
    st.global.u32 [%rd1], %r1;
  )"),
                          32);
  CHECK(result == each(32, [](uint32_t) { return 6 + 496 * 100 + 31 * 1000000; }));
  const auto sums = run(kernel("or.b32 %r1, %r0, 0x7fffffff;\nredux.sync.add.s32 %r2, %r1, 0xffffffff;\n"
                               "st.global.u32 [%rd1], %r2;"),
                        32);
  CHECK(sums == each(32, [](uint32_t) { return 32 * 0x7fffffffu; }));  // it wraps
}

TEST_CASE("atomics of all threads add up", "[cuda-sim]") {
  const auto updated = [](const std::string& operation, const std::string& operand, uint32_t start) {
    return run(kernel("add.u32 %r1, %r0, 1;\ncvt.rn.f32.u32 %f1, %r1;\natom.global." + operation + " %r2, [%rd0], " +
                      operand + ";"),
               96, start)[0];
  };
  CHECK(updated("add.u32", "%r1", 10) == 10 + 96 * 97 / 2);
  CHECK(updated("max.u32", "%r1", 50) == 96);
  CHECK(updated("min.s32", "%r1", 50) == 1);
  CHECK(updated("or.b32", "%r1", 0) == 127);
  CHECK(updated("and.b32", "%r1", 0xff) == 0);
  CHECK(updated("xor.b32", "%r1", 5) == (5 ^ 96));
  CHECK(updated("inc.u32", "1000", 0) == 96);
  CHECK(updated("dec.u32", "1000", 200) == 104);
  CHECK(updated("cas.b32", "9, 77", 9) == 77);
  CHECK(updated("cas.b32", "8, 77", 9) == 9);
  const auto sum = run(kernel("add.u32 %r1, %r0, 1;\ncvt.rn.f32.u32 %f1, %r1;\nred.global.add.f32 [%rd0], %f1;"), 96);
  float value;
  std::memcpy(&value, sum.data(), 4);
  CHECK(value == 96 * 97 / 2);
  // Each thread's old value is another one.
  auto old = run(kernel(".shared .align 4 .u32 n;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.u32 [n], 0;\nbar.sync 0;\n"
                        "atom.shared.add.u32 %r2, [n], 1;\nst.global.u32 [%rd1], %r2;"),
                 96, 0, 5);
  std::sort(old.begin(), old.end());
  CHECK(old == each(96, [](uint32_t i) { return i; }));
}

TEST_CASE("barriers count and combine predicates, and have numbers", "[cuda-sim]") {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto result = run(kernel(R"(
      setp.lt.u32 %p0, %r0, 70;
      bar.red.popc.u32 %r1, 0, %p0;
      bar.red.and.pred %p1, 0, %p0;
      bar.red.or.pred %p2, 0, !%p0;
      selp.u32 %r2, 1000, 0, %p1;
      selp.u32 %r3, 2000, 0, %p2;
      add.u32 %r1, %r1, %r2;
      add.u32 %r1, %r1, %r3;
      st.global.u32 [%rd1], %r1;
    )"),
                            90, 0, seed);
    CHECK(result == each(90, [](uint32_t) { return 2070; }));
    // The first two warps exchange words through barrier 1, the others through barrier 2.
    const auto pairs = run(kernel(R"(
      .shared .align 4 .b8 s[512];
      mov.u64 %rd2, s;
      mul.wide.u32 %rd3, %r0, 4;
      add.s64 %rd2, %rd2, %rd3;
      st.shared.u32 [%rd2], %r0;
      shr.u32 %r1, %r0, 6;
      add.u32 %r1, %r1, 1;
      bar.sync %r1, 64;
      xor.b32 %r2, %r0, 32;
      mul.wide.u32 %rd3, %r2, 4;
      mov.u64 %rd2, s;
      add.s64 %rd2, %rd2, %rd3;
      ld.shared.u32 %r3, [%rd2];
      st.global.u32 [%rd1], %r3;
    )"),
                           128, 0, seed);
    CHECK(pairs == each(128, [](uint32_t i) { return i ^ 32; }));
  }
}

TEST_CASE("a barrier of some warps orders these and no others", "[cuda-sim]") {
  // All three warps write shared memory. Then the first two wait for each other, without the third.
  const auto text = [](const char* before, const char* behind, const char* third) {
    return kernel(fmt::format(R"(
      .shared .align 4 .b8 s[384];
      mov.u64 %rd2, s;
      mul.wide.u32 %rd3, %r0, 4;
      add.s64 %rd2, %rd2, %rd3;
      st.shared.u32 [%rd2], %r0;
      setp.ge.u32 %p0, %r0, 64;
      setp.eq.u32 %p1, %r0, 0;
      bar.sync 0;
      @%p0 bra THIRD;
      {}
      bar.sync 1, 64;
      {}
      bra END;
    THIRD:
      {}
    END:
    )",
                              before, behind, third));
  };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    run(text("ld.shared.u32 %r1, [s];", "@%p1 st.shared.u32 [s], %r0;", ""), 96, 0, seed);
    run(text("st.shared.u32 [%rd2], %r0;", "@%p1 ld.shared.u32 %r1, [s+128];", "st.shared.u32 [%rd2], %r0;"), 96, 0,
        seed);
    Gpu gpu({.seed = seed});
    const std::string race = text("", "@%p1 ld.shared.u32 %r1, [s+256];", "st.shared.u32 [%rd2], %r0;");
    CHECK(gpu.launch(gpu.load(race, "k"), 1, 96, {gpu.allocate(4)}) == CudaResult::LaunchFailed);
    CHECK_THAT(sim::last_fault(), Contains("race") && Contains("no barrier stands between"));
  }
}

TEST_CASE("functions are called, tables branched by, arrays kept in local memory", "[cuda-sim]") {
  // twice(x) = x < 10 ? 2 * x : x, through parameters in memory and two returns.
  const std::string twice = R"(
.func (.param .b32 out) twice(.param .b32 in)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  ld.param.u32 %r0, [in];
  setp.ge.u32 %p0, %r0, 10;
  @%p0 bra BIG;
  add.u32 %r1, %r0, %r0;
  st.param.b32 [out], %r1;
  ret;
BIG:
  st.param.b32 [out], %r0;
  ret;
}
)";
  const std::string call = R"(
    {
    .param .b32 a0;
    st.param.b32 [a0+0], %r0;
    .param .b32 r0;
    call.uni (r0), twice, (a0);
    ld.param.b32 %r0, [r0+0];
    }
)";
  CHECK(run(kernel(call + call + "st.global.u32 [%rd1], %r0;", twice), 16) == each(16, [](uint32_t i) {
          return i >= 10 ? i : i >= 5 ? 2 * i : 4 * i;
        }));
  CHECK(run(kernel(R"(
    rem.u32 %r1, %r0, 3;
  targets: .branchtargets A, B, C;
    brx.idx %r1, targets;
  A:
    mov.u32 %r2, 10;
    bra END;
  B:
    mov.u32 %r2, 20;
    bra END;
  C:
    mov.u32 %r2, 30;
  END:
    st.global.u32 [%rd1], %r2;
  )"),
            40) == each(40, [](uint32_t i) { return 10 + i % 3 * 10; }));
  CHECK(run(kernel(R"(
    .local .align 8 .b8 depot[16];
    mov.u64 %rd2, depot;
    cvta.local.u64 %rd2, %rd2;
    st.local.u32 [depot+4], %r0;
    st.u8 [%rd2+8], %r0;
    ld.u32 %r1, [%rd2+4];
    ld.local.s8 %r2, [depot+8];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%rd1], %r1;
  )"),
            200) == each(200, [](uint32_t i) { return i + static_cast<uint32_t>(static_cast<int8_t>(i)); }));
}

TEST_CASE("registers are packed, unpacked and stored in parts", "[cuda-sim]") {
  CHECK(run(kernel(R"(
    {
    .reg .b64 inner;  // as inline assembly has them
    mov.b64 inner, {%r0, 7};
    add.s64 inner, inner, 1;
    mov.b64 {%r1, %r2}, inner;
    }
    mov.b32 {%h0, %h1}, 0x00050003;
    mov.b32 %r3, {%h1, %h0};
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    st.global.u16 [%rd1], %r1;
  )"),
            8) == each(8, [](uint32_t i) { return (i + 1 + 7 + 0x00030005) & 0xffff; }));
}

TEST_CASE("constants and variables of a module have their values", "[cuda-sim]") {
  CHECK(run(kernel(R"(
    mov.u64 %rd2, table;
    mul.wide.u32 %rd3, %r0, 4;
    add.s64 %rd2, %rd2, %rd3;
    ld.const.u32 %r1, [%rd2];
    ld.global.f32 %f0, [half];
    cvt.rn.f32.u32 %f1, %r1;
    mul.f32 %f1, %f1, %f0;
    cvt.rzi.u32.f32 %r1, %f1;
    st.global.u32 [%rd1], %r1;
  )",
                   ".const .align 4 .u32 table[4] = {10, 20, 0x1e, 40};\n.global .align 4 .f32 half = 0f3F000000;\n"),
            4) == each(4, [](uint32_t i) { return 5 * (i + 1); }));
}

TEST_CASE("the simulated GPU counts bank conflicts and sectors", "[cuda-sim]") {
  const auto counted = [](const std::string& body) {
    Gpu gpu;
    const auto p = gpu.upload(std::vector<uint32_t>(32 * 33));
    REQUIRE(gpu.launch(gpu.load(kernel(body), "k"), 1, 32, {p}) == CudaResult::Success);
    return sim::counters("k");
  };
  // Thread t stores to word 4 t, or to word 4 t with its row's number added by exclusive-or: rows of 32 words.
  const auto column = [&](bool swizzled) {
    std::string body = ".shared .align 16 .b8 s[4096];\nmul.lo.u32 %r1, %r0, 4;\n";
    if (swizzled) body += "shr.u32 %r2, %r1, 5;\nxor.b32 %r1, %r1, %r2;\n";
    body += "mul.wide.u32 %rd2, %r1, 4;\nmov.u64 %rd3, s;\nadd.s64 %rd2, %rd2, %rd3;\nst.shared.u32 [%rd2], %r0;";
    return counted(body);
  };
  CHECK(column(false).shared_requests == 1);
  CHECK(column(false).wavefronts == 4);
  CHECK(column(false).ideal_wavefronts == 1);
  CHECK(column(true).wavefronts == 1);
  // 16 bytes per lane: four passes at best. A word that all lanes read: one.
  const auto wide = counted(
      ".shared .align 16 .b8 s[512];\nmul.wide.u32 %rd2, %r0, 16;\nmov.u64 %rd3, s;\nadd.s64 %rd2, %rd2, %rd3;\n"
      "st.shared.v4.u32 [%rd2], {%r0, %r0, %r0, %r0};\nbar.sync 0;\nld.shared.u32 %r1, [s+4];");
  CHECK(wide.wavefronts == 5);
  CHECK(wide.ideal_wavefronts == 5);
  // 32 words in a row are 4 sectors; at distances of 8 words each is a sector of its own.
  const auto rows = counted("ld.global.u32 %r1, [%rd1];");
  CHECK(rows.global_requests == 1);
  CHECK(rows.sectors == 4);
  CHECK(rows.ideal_sectors == 4);
  const auto strided = counted("mul.wide.u32 %rd2, %r0, 32;\nadd.s64 %rd2, %rd2, %rd0;\nld.global.u32 %r1, [%rd2];");
  CHECK(strided.sectors == 32);
  CHECK(strided.ideal_sectors == 4);
  CHECK(strided.lane_instructions == 32 * 8);
}
