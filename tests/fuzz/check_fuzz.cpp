// SINTER_CHECK=1: silent on right programs, and it refuses a plan whose kernels are wrong before a wrong number is
// stored.
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"
#include "fault.h"
#include "random_program.h"
#include "sinter/debug.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
using Catch::Matchers::Contains;
using fuzz::Mutant;

namespace {

/// What realising a program throws, or nothing.
std::string complaint(const fuzz::Program& program, debug::Executor executor = debug::Executor::Compiled) {
  debug::clear_plans();
  debug::set_executor(executor);
  std::string said;
  try {
    program.run();
  } catch (const std::exception& e) { said = e.what(); }
  debug::set_executor(debug::Executor::Compiled);
  return said;
}

struct Row {
  Mutant mutant;
  std::vector<std::string_view> often;
};

/// A part of the product, what its check says, and its faults.
struct Part {
  std::string_view says;
  std::vector<Row> rows;
};
const Part kParts[] = {
    {"the kernels of a plan",
     {
         {Mutant::PadOffByOne, {"pad", "cat"}},
         {Mutant::FlipOffByOne, {"flip"}},
         {Mutant::PermuteInverse, {"permute", "add"}},
         {Mutant::ReshapeExtent, {"reshape", "permute"}},
         {Mutant::ArangeOffByOne, {"where"}},
         {Mutant::GateLost, {"pad", "cat", "add"}},
         {Mutant::NegativeIndex, {"gather", "index"}},
         {Mutant::WindowClose, {"conv2d"}},
         {Mutant::WrongBuffers, {"twins"}},
     }},
    {"launch of", {{Mutant::ArenaOverlap, {"matmul", "long sum", "softmax", "add"}}}},  // before it runs
    {"the programs of a plan",
     {{Mutant::LostTail, {"add", "mul", "long sum", "cast"}},
      {Mutant::MaxFromZero, {"max"}},
      {Mutant::SecondInitLost, {"long sum", "sum", "twins"}},
      {Mutant::SubSwapped, {"sub"}},
      {Mutant::ScatterAssigns, {"scatter_add"}},
      {Mutant::ScatterModeLost, {"scatter"}},
      {Mutant::DivisionTruncates, {"floor_divide", "cast"}},
      {Mutant::UnsignedCompare, {"lt", "gt", "cast"}}}},
};

}  // namespace

TEST_CASE("SINTER_CHECK passes random programs", "[check]") {
  const runtime_test::ScopedEnv check("SINTER_CHECK", "1");
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const fuzz::Program program(seed, seed % 3 != 0, 4 + static_cast<int>(seed % 9));
    const std::string said = complaint(program);
    INFO("seed " << seed);
    CHECK(said == "");
  }
  debug::clear_plans();
}

TEST_CASE("SINTER_CHECK names what a seeded fault does to a plan", "[.mutants]") {
  const runtime_test::ScopedEnv check("SINTER_CHECK", "1");
  for (const Part& part : kParts)
    for (const Row& row : part.rows) {
      const auto complaint_of = [&](uint64_t seed) {
        return complaint(fuzz::Program(seed, true, 2 + static_cast<int>(seed % 4), row.often),
                         seed / 4 % 2 ? debug::Executor::Unfused : debug::Executor::Compiled);
      };
      std::string said;
      uint64_t seed = 0;
      {
        const fuzz::ScopedMutant fault(row.mutant);
        while (said.find(part.says) == std::string::npos && ++seed <= 100) said = complaint_of(seed);
      }
      INFO("fault " << static_cast<int>(row.mutant) << ": " << said);
      CHECK(said.find(part.says) != std::string::npos);
      CHECK(complaint_of(seed) == "");  // it was the fault
    }
}

TEST_CASE("kernels that give other values than their plan are found", "[.mutants]") {
  const runtime_test::ScopedEnv on("SINTER_CHECK", "1");
  const Tensor x = arange(12).to(float32).reshape({3, 4}).contiguous().realize();
  const auto padded = [&] { return x.pad({{1, 0}, {0, 2}}).sum(1).to_vector<float>(); };
  const std::vector<float> right{0, 6, 22, 38};
  CHECK(padded() == right);
  {
    const fuzz::ScopedMutant fault(Mutant::PadOffByOne);
    CHECK_THROWS_WITH(padded(), Contains("other values"));
  }
  CHECK(padded() == right);
}

TEST_CASE("programs that give other values than their kernels are found, and count for nobody", "[.mutants]") {
  const runtime_test::ScopedEnv on("SINTER_CHECK", "1");
  const Tensor x = arange(12).to(float32).reshape({3, 4}).contiguous().realize();
  const auto less = [&] { return (x.sum(1) - exp(x * 0.0f).sum(1)).to_vector<float>(); };
  const std::vector<float> right{2, 18, 34};
  {
    const fuzz::ScopedMutant fault(Mutant::SubSwapped);
    CHECK_THROWS_WITH(less(), Contains("other values"));
  }
  debug::reset_counters();
  CHECK(less() == right);
  const uint64_t launches = debug::counters().launches;
  debug::reset_counters();
  CHECK(less() == right);
  CHECK(debug::counters().launches == launches);
}
