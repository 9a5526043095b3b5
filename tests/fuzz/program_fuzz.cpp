// Random programs three ways: interpreted, as fused kernels, and with every op a kernel of its own. FUZZ_PROGRAMS sets
// how many; FUZZ_SEED the first seed; FUZZ_LONG of how many one is long.
#include <fmt/core.h>

#include <cstdlib>

#include "catch.h"
#include "plan_coverage.h"
#include "random_program.h"

using namespace sinter;

namespace {

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

}  // namespace

constexpr long kEnough = 3000;  ///< programs in which every op meets every type, and every form of plan: what CI runs
constexpr int kFew = 5;         ///< plans of a form that are no chance hit
constexpr long kLongEach = 16;  ///< of so many programs one is long
constexpr long kReport = 5000;  ///< of so many there is a line, so that a run which is stopped says how far it came

TEST_CASE("random programs agree: interpreted, fused, unfused", "[programs]") {
  const long count = setting("FUZZ_PROGRAMS", kEnough), first = setting("FUZZ_SEED", 1);
  const auto each = static_cast<uint64_t>(setting("FUZZ_LONG", kLongEach));
  fuzz::Coverage coverage;
  fuzz::PlanCoverage plans;
  int failures = 0;
  for (long i = 0; i < count && failures < 5; ++i) {
    const auto seed = static_cast<uint64_t>(first + i);
    if (i > 0 && i % kReport == 0) fmt::print(stderr, "{} programs, {} disagree\n", i, failures);
    const bool is_long = seed % each == each / 2;
    const bool exact = is_long ? seed / each % 2 == 0 : i % 3 != 2;
    const fuzz::Program program(seed, exact, 4 + static_cast<int>(seed % (is_long ? 7 : 17)), {},
                                is_long ? fuzz::Sizes::Long : fuzz::Sizes::Small);
    const std::string why = fuzz::disagreement(program, exact, &coverage);
    if (why.empty()) continue;
    ++failures;
    FAIL_CHECK(program.listing() << why);
  }
  fmt::print("{} programs; nodes per op and the type it computes on:\n{}\nfused plans of each form:\n{}", count,
             coverage.table(), plans.table());
  if (count < kEnough) return;
  CHECK(coverage.missing() == "");
  CHECK(plans.rare(kFew) == "");
  CHECK(coverage.cases().size() == fuzz::op_cases().size());
}
