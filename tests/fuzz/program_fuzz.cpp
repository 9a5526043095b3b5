// Random programs three ways: interpreted, as fused kernels, and with every op a kernel of its own. FUZZ_PROGRAMS sets
// how many; FUZZ_SEED the first seed.
#include <fmt/core.h>

#include <cstdlib>

#include "catch.h"
#include "random_program.h"

using namespace sinter;

namespace {

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

}  // namespace

constexpr long kEnough = 3000;  ///< programs in which every op meets every type: what CI runs

TEST_CASE("random programs agree: interpreted, fused, unfused", "[programs]") {
  const long count = setting("FUZZ_PROGRAMS", kEnough), first = setting("FUZZ_SEED", 1);
  fuzz::Coverage coverage;
  int failures = 0;
  for (long i = 0; i < count && failures < 5; ++i) {
    const auto seed = static_cast<uint64_t>(first + i);
    const bool exact = i % 3 != 2;
    const fuzz::Program program(seed, exact, 4 + static_cast<int>(seed % 17));
    const std::string why = fuzz::disagreement(program, exact, &coverage);
    if (why.empty()) continue;
    ++failures;
    FAIL_CHECK(program.listing() << why);
  }
  fmt::print("{} programs; nodes per op and the type it computes on:\n{}", count, coverage.table());
  if (count < kEnough) return;
  CHECK(coverage.missing() == "");
  CHECK(coverage.cases().size() == fuzz::op_cases().size());
}
