// Random programs whose kernels get their Opts by trying: the same numbers as interpreted. FUZZ_SEARCHES sets how many,
// FUZZ_SEED the first seed.
#include "catch.h"
#include "random_program.h"
#include "setting.h"
#include "unit/runtime_support.h"

using namespace sinter;

TEST_CASE("random programs agree when their kernels are searched for", "[search]") {
  const uint64_t count = setting("FUZZ_SEARCHES", 20), first = setting("FUZZ_SEED", 1);
  const runtime_test::FreshCache cache;
  const runtime_test::ScopedEnv beam("SINTER_BEAM", "2");
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const bool exact = seed % 3 != 2;
    const fuzz::Program program(seed, exact, 4 + static_cast<int>(seed % 17));
    const std::string why = fuzz::disagreement(program, exact, nullptr);
    INFO(program.listing());
    CHECK(why == "");
  }
  CHECK(cache.folder.files(".o").size() > count);  // decisions and kernels
}
