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

TEST_CASE("random programs agree: interpreted, fused, unfused", "[programs]") {
  const long count = setting("FUZZ_PROGRAMS", 3000), first = setting("FUZZ_SEED", 1);
  fuzz::Coverage coverage;
  int failures = 0;
  for (long i = 0; i < count && failures < 5; ++i) {
    const auto seed = static_cast<uint64_t>(first + i);
    const bool exact = i % 3 != 2;
    const fuzz::Program program(seed, exact, 4 + static_cast<int>(seed % 17));
    const std::string why = fuzz::disagreement(program, exact, &coverage);
    if (why.empty()) continue;
    ++failures;
    FAIL_CHECK(program.listing() << ": " << why);
  }
  std::map<std::string, std::map<DType, int>> by_op;
  for (const auto& [key, times] : coverage) by_op[key.first][key.second] = times;
  std::string table;
  for (const auto& [op, dtypes] : by_op) {
    table += fmt::format("{:14}", op);
    for (const auto& [dtype, times] : dtypes) table += fmt::format("  {} {}", name_of(dtype), times);
    table += '\n';
  }
  WARN(count << " programs; results per op and dtype:\n" << table);
  if (count >= 1000) CHECK(by_op.size() == fuzz::op_cases().size());
}
