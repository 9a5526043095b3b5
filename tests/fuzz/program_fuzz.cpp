// Random programs three ways: interpreted, as fused kernels, and with every op a kernel of its own. FUZZ_PROGRAMS sets
// how many; FUZZ_SEED the first seed; FUZZ_LONG of how many one is long.
#include <fmt/core.h>

#include <cstdlib>

#include "catch.h"
#include "plan_coverage.h"
#include "random_program.h"
#include "unit/tensor_support.h"

using namespace sinter;

namespace {

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

constexpr long kEnough = 1500;  ///< programs with every form of plan: what CI runs
constexpr long kMore = 20000;   ///< of so many further ones, those run that are the first with an op in a type
constexpr int kFew = 5;         ///< plans of a form that are no chance hit
constexpr long kLongEach = 8;   ///< of so many programs one is long
constexpr long kReport = 5000;  ///< of so many there is a line, so that a run which is stopped says how far it came

struct Trial {
  bool exact;
  fuzz::Program program;
};

Trial trial(long i) {
  const auto seed = static_cast<uint64_t>(setting("FUZZ_SEED", 1) + i),
             each = static_cast<uint64_t>(setting("FUZZ_LONG", kLongEach));
  const bool is_long = seed % each == each / 2;
  const bool exact = is_long ? seed / each % 2 == 0 : i % 3 != 2;
  return {exact, fuzz::Program(seed, exact, 4 + static_cast<int>(seed % (is_long ? 7 : 17)), {},
                               is_long ? fuzz::Sizes::Long : fuzz::Sizes::Small)};
}

/// Whether a program agrees with itself.
bool agrees(const Trial& t, fuzz::Coverage& coverage) {
  const std::string why = fuzz::disagreement(t.program, t.exact, &coverage);
  if (!why.empty()) FAIL_CHECK(t.program.listing() << why);
  return why.empty();
}

/// Whether a program has an op in a type that none has had. It is interpreted: most of a run's time is for compiling.
bool covers_more(const Trial& t, fuzz::Coverage coverage) {
  const std::string missing = coverage.missing();
  const testing::ScopedExecutor executing(debug::Executor::Interpreter);
  static_cast<void>(t.program.run(&coverage));
  return coverage.missing() != missing;
}

}  // namespace

TEST_CASE("random programs agree: interpreted, fused, unfused", "[programs]") {
  const long count = setting("FUZZ_PROGRAMS", kEnough);
  fuzz::Coverage coverage;
  fuzz::PlanCoverage plans;
  int failures = 0;
  for (long i = 0; i < count && failures < 5; ++i) {
    if (i > 0 && i % kReport == 0) fmt::print(stderr, "{} programs, {} disagree\n", i, failures);
    failures += !agrees(trial(i), coverage);
  }
  if (count >= kEnough)
    for (long i = count; i < count + kMore && failures < 5 && !coverage.missing().empty(); ++i)
      if (const Trial t = trial(i); covers_more(t, coverage)) failures += !agrees(t, coverage);
  fmt::print("{} programs; nodes per op and the type it computes on:\n{}\nfused plans of each form:\n{}", count,
             coverage.table(), plans.table());
  if (count < kEnough) return;
  CHECK(coverage.missing() == "");
  CHECK(plans.rare(kFew) == "");
  CHECK(coverage.cases().size() == fuzz::op_cases().size());
}
