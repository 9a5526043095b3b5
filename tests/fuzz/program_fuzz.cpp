// Random programs three ways: interpreted, as fused kernels, and with every op a kernel of its own. FUZZ_PROGRAMS sets
// how many; FUZZ_SEED the first seed.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "catch.h"
#include "random_program.h"

using namespace sinter;

namespace {

std::vector<fuzz::Result> run(const fuzz::Program& program, debug::Executor executor, fuzz::Coverage* coverage = nullptr) {
  debug::set_executor(executor);
  std::vector<fuzz::Result> results = program.run(coverage);
  debug::set_executor(debug::Executor::Compiled);
  return results;
}

bool same_bits(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

/// Empty when the two agree: to the bit, or within the bounds that the program propagated.
std::string difference(const std::vector<fuzz::Result>& a, const std::vector<fuzz::Result>& b, bool bitwise) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].values.size() != b[i].values.size()) return fmt::format("output {} ({}): sizes differ", i, a[i].name);
    for (size_t j = 0; j < a[i].values.size(); ++j) {
      const double x = a[i].values[j], y = b[i].values[j];
      const bool good = bitwise ? same_bits(x, y) : std::isnan(x) == std::isnan(y) && !(std::abs(x - y) > a[i].error);
      if (!good)
        return fmt::format("output {} ({} {} {}), element {}: {} and {}, allowed {}", i, a[i].name, name_of(a[i].dtype),
                           to_string(a[i].shape), j, x, y, bitwise ? 0.0 : a[i].error);
    }
  }
  return {};
}

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
    std::string why;
    try {
      const auto interpreted = run(program, debug::Executor::Interpreter, &coverage), fused = run(program, debug::Executor::Compiled);
      why = difference(interpreted, fused, exact);
      if (why.empty()) why = difference(fused, run(program, debug::Executor::Unfused), true);
    } catch (const Error& e) {
      why = e.what();
    }
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
