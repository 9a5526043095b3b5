// Opts as text and back.
#include "codegen/loopschedule/opt_parse.h"
#include "unit/codegen/random_kernels.h"

using namespace codegen_test;
using codegen::parse_opts;

TEST_CASE("every kind of Opt is read back from its text", "[codegen][opts]") {
  const std::vector<Opt> kinds = parse_opts(codegen::opt_vocabulary());
  CHECK(kinds.size() == std::variant_size_v<Opt>);
  for (size_t i = 0; i < kinds.size(); ++i) CHECK(kinds[i].index() == i);
  CHECK(to_string(kinds) == codegen::opt_vocabulary());

  const std::vector<Opt> opts = {
      codegen::Lanes{12, 16},
      codegen::Unroll{-1, 6},
      codegen::Unroll{2, 4, 96},
      codegen::Cut{4, {16, 48}},
      codegen::Split{3, int64_t{1} << 40},
      codegen::LoopOrder{{{2, 0}, {0, 1}, {12, 3}}},
      codegen::Materialize{7, {1, 22}},
      codegen::Materialize{9, {1}, 7, 4},
      codegen::TaskBlock{0, 96},
      codegen::TaskBand{0, 8},
      codegen::ThreadBind{1, 32, 4},
      codegen::TileCopy{9, {{2, 0}, {0, -1, 16, 4, 32, 2}}, 64},
      codegen::TileCopy{8, {{1}, {2, 0}}, 0, 4},
      codegen::TileCopy{8, {{4}, {.range = 2, .level = 0, .lanes = 8, .taps = 5}}},
      codegen::TileCopy{8, {{.range = 4, .level = 0, .joined = true}, {.range = 2, .taps = 5}, {1}}},
      codegen::TileCopy{7, {{1}, {2, 0}}, 0, 0, 8, 2, 2},
      codegen::TileCopy{.value = 5, .dims = {{1}, {2, 0}}, .slots = 4, .async = true},
      codegen::Mma{0, 1},
      codegen::NonTemporal{2},
      codegen::Prefetch{31, 0, -2},
      codegen::Prefetch{6, 1, 1024, 1},
      codegen::Occupancy{2},
      codegen::LastBlock{256}};
  CHECK(to_string(opts) ==
        "lanes(12, 16) unroll(-1, 6) unroll(2, 4, 96) cut(4, 16, 48) split(3, 1099511627776) order(2, 0.1, 12.3) "
        "materialize(#7, 1, 22) "
        "materialize(#9, 1, over #7, pad 4) "
        "block(0, "
        "96) band(0, 8) thread_bind(1, 32, 4) "
        "tile_copy(#9, 2.0, 0 lanes 16 unroll 4 threads 32 by 2, panel 64) "
        "tile_copy(#8, 1, 2.0, pad 4) tile_copy(#8, 4, 2.0 + 5 lanes 8) tile_copy(#8, 4.0 & 2 + 5, 1) "
        "tile_copy(#7, 1, 2.0, swizzle 8 by 2, slots 2) "
        "tile_copy(#5, 1, 2.0, slots 4 "
        "async) mma(0, 1) nontemporal(2) prefetch(#31, 0, "
        "-2) prefetch(#6, "
        "1, 1024, loop 1) occupancy(2) last_block(256)");
  CHECK(parse_opts(to_string(opts)) == opts);
  CHECK(parse_opts("").empty());
  CHECK(parse_opts(" \torder( ) ") == std::vector<Opt>{codegen::LoopOrder{}});
}

TEST_CASE("random Opts are read back from their text", "[codegen][opts]") {
  int read = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    KernelGenerator maker(seed);
    KernelHarness b = maker.make();
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel);
    const std::vector<Opt> opts = maker.opts(normalized.main, true);
    INFO(to_string(opts));
    CHECK(parse_opts(to_string(opts)) == opts);
    read += static_cast<int>(opts.size());
  }
  CHECK(read > 300);
}

TEST_CASE("text that no Opt writes is a UsageError with the place", "[codegen][opts]") {
  const auto refused = [](const char* text, const char* why) {
    INFO(text);
    CHECK_THROWS_WITH(parse_opts(text), Catch::Matchers::Contains(why));
    CHECK_THROWS_AS(parse_opts(text), UsageError);
  };
  refused("lanes(1, 16) warp(1, 2)", "expected one of lanes, unroll");
  refused("lanes(1, 16", "expected \")\" at \"\"");
  refused("lanes(1 16)", "expected \",\" at \"16)\"");
  refused("lanes(1, 99999999999)", "expected a number at \"99999999999)\"");
  refused("lanes(1, 16, 3)", "expected \")\" at \", 3)\"");
  refused("materialize(7)", "expected \"#\" at \"7)\"");
  refused("order(1,)", "expected a number at \")\"");
  refused("split(1, 2)x", "expected one of");
}
