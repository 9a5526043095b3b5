// Random programs with products of 16-bit floats three ways, as program_fuzz.cpp runs others. On a GPU with tensor
// cores these sum in steps. FUZZ_PRODUCTS sets how many, FUZZ_SEED the first seed.
#include "cases.h"
#include "catch.h"
#include "plan_coverage.h"
#include "random_program.h"
#include "semantics/tensor_cores.h"
#include "setting.h"

using namespace sinter;

TEST_CASE("random programs of 16-bit products agree: interpreted, fused, unfused", "[programs]") {
  const uint64_t count = setting("FUZZ_PRODUCTS", cases(24)), first = setting("FUZZ_SEED", 1);
  std::vector<std::string_view> names;
  for (const fuzz::OpCase& c : fuzz::product_cases()) names.emplace_back(c.name);
  fuzz::PlanCoverage plans;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const bool exact = seed % 2 == 0;
    const fuzz::Program program(seed, exact, 2 + static_cast<int>(seed % 5), names);
    const std::string why = fuzz::disagreement(program, exact);
    if (!why.empty()) FAIL_CHECK(program.listing() << why);
  }
  const auto in_steps = static_cast<uint64_t>(plans.count(fuzz::kTensorCoreForm));
  INFO(in_steps << " plans of " << count << " programs have sums in steps");
  if (semantics::has_known_steps()) CHECK(in_steps >= count / 2);
}
