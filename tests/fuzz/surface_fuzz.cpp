// Random programs of all functions of the table of tests/surface, three ways: interpreted, as fused kernels, and with
// every op a kernel of its own. FUZZ_SEED sets the first seed; FUZZ_PASSES how often each function is drawn;
// FUZZ_PROGRAMS how many programs at most.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "fault.h"
#include "surface_program.h"

using namespace sinter;
using fuzz::Mutant;
using fuzz::SurfaceProgram;
using Rows = std::vector<const surface::Row*>;

namespace {

constexpr size_t kFunctions = 6;  ///< of a program

long setting(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

/// A program per so many rows.
std::vector<Rows> dealt(const Rows& rows) {
  std::vector<Rows> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % kFunctions == 0) out.emplace_back();
    out.back().push_back(rows[i]);
  }
  return out;
}

/// Each row that is in none of them.
std::string missing_from(const std::set<const surface::Row*>& drawn) {
  std::string out;
  for (const surface::Row* row : fuzz::shuffled_rows(0))
    if (!drawn.contains(row)) out += row->name + "\n";
  return out;
}

}  // namespace

TEST_CASE("random programs of all functions agree: interpreted, fused, unfused", "[programs][functions]") {
  const bool simulated = !(default_device() == Device::cpu());
  const long passes = setting("FUZZ_PASSES", 1), most = std::max(1L, setting("FUZZ_PROGRAMS", 1'000'000));
  const auto first = static_cast<uint64_t>(setting("FUZZ_SEED", 1));
  std::set<const surface::Row*> drawn;
  long programs = 0, steady = 0;
  int failures = 0;
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(passes); ++seed)
    for (const Rows& rows : dealt(fuzz::shuffled_rows(seed))) {
      if (programs == most || failures == 5) break;
      const SurfaceProgram program(1000 * seed + static_cast<uint64_t>(programs++), rows);
      bool is_steady = false;
      const std::string why = program.disagreement(&is_steady, !simulated);
      if (!why.empty()) FAIL_CHECK(program.listing() << why);
      failures += !why.empty();
      steady += is_steady;
      drawn.insert(rows.begin(), rows.end());
    }
  fmt::print("{} programs of {} functions, {} of them compared with the interpreter\n", programs, drawn.size(), steady);
  if (programs >= 10) CHECK(steady > programs * 3 / 4);
  if (programs < most && failures == 0) CHECK(missing_from(drawn) == "");
}

TEST_CASE("each fault of a function's kernel is found by random programs of functions", "[.mutants]") {
  struct Fault {
    Mutant mutant;
    const char* family;
  };
  const Fault fault = GENERATE(values<Fault>({{Mutant::ScatterModeLost, "indexing"},
                                              {Mutant::FlipOffByOne, "rearranging"},
                                              {Mutant::WindowClose, "convolution"},
                                              {Mutant::GateLost, "pooling"},
                                              {Mutant::MaxFromZero, "reductions"},
                                              {Mutant::TriangleLost, "linalg"}}));
  CAPTURE(fault.family, static_cast<int>(fault.mutant));
  Rows rows;
  for (const surface::Family* family : surface::Family::all())
    if (family->name() == fault.family)
      for (const surface::Row& row : family->rows()) rows.push_back(&row);
  REQUIRE(!rows.empty());
  uint64_t seed = 0;
  std::string found;
  const auto program = [&] {
    Rows some = rows;
    std::shuffle(some.begin(), some.end(), std::mt19937_64(seed));
    some.resize(std::min(some.size(), kFunctions));
    return SurfaceProgram(seed, some);
  };
  {
    const fuzz::ScopedMutant scope(fault.mutant);
    while (found.empty() && seed < 100) {
      ++seed;
      found = program().disagreement();
    }
  }
  CHECK(found != "");
  CHECK(program().disagreement() == "");  // it was the fault
}
