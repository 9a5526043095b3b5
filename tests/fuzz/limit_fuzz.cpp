// Random programs where memory is short: what is asked for needs no more than if nobody held anything else, and all
// that somebody holds keeps its value.
#include <fmt/core.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "fuzz/fault.h"
#include "fuzz/random_program.h"
#include "ir/walk.h"
#include "short_memory.h"
#include "sinter/error.h"
#include "tensor/core/cell.h"

using namespace sinter;

namespace {

/// Handles to all memory that these values are made of: none of it goes with a plan, or is written in place.
std::vector<Tensor> memory_behind(const std::vector<Tensor>& values) {
  const ir::GraphScope scope;
  std::vector<ir::UOp> roots;
  for (const Tensor& t : values) roots.push_back(tensor::node_of(t));
  std::vector<Tensor> out;
  for (ir::UOp n : ir::topological(roots))
    if (n->storage()) out.push_back(tensor::wrap(n));
  return out;
}

/// Computes it with so many bytes: why that is not possible, or nothing.
std::string refusal(uint64_t bytes, const std::vector<Tensor>& asked) {
  const auto limit = memory_beyond(bytes);
  try {
    realize_all(asked);
    return {};
  } catch (const OutOfMemory& e) { return e.what(); }
}

/// So many bytes are enough for what a program asks for, where it holds nothing else.
uint64_t enough_for(const fuzz::Program& program) {
  const std::vector<Tensor> asked = program.build().asked_tensors(), memory = memory_behind(asked);
  uint64_t bytes = 0;
  while (!refusal(bytes, asked).empty()) bytes += bytes / 8 + 64;
  return bytes;
}

struct Tally {
  int refused = 0;  ///< tries with less
  int lazy = 0;     ///< values that stayed so
};

/// What is wrong with the program where memory is short; empty if nothing is.
std::string fault_of(const fuzz::Program& program, uint64_t seed, debug::Executor executor, Tally& tally) {
  try {
    debug::set_executor(debug::Executor::Interpreter);
    const std::vector<fuzz::Result> want = fuzz::read_all(program.build().made);
    debug::set_executor(executor);
    const uint64_t enough = enough_for(program);
    const fuzz::BuiltProgram built = program.build();
    const std::vector<Tensor> asked = built.asked_tensors();
    std::vector<Tensor> values;
    for (const auto& [made_by, x] : built.made) values.push_back(x.t);
    {
      const std::vector<Tensor> memory = memory_behind(values);
      const uint64_t less = enough * (seed % 8) / 8;
      if (!refusal(less, asked).empty()) {
        ++tally.refused;
        if (const std::string why = refusal(enough, asked); !why.empty())
          return fmt::format("{} bytes are enough where nothing else is held, but not here: {}", enough, why);
      }
    }
    for (const Tensor& t : values) tally.lazy += !tensor::node_of(t)->storage();
    return fuzz::difference(want, fuzz::read_all(built.made), true);
  } catch (const std::exception& e) { return e.what(); }
}

/// Of the program of this seed: what goes wrong.
std::string fault_of(uint64_t seed, Tally& tally) {
  const OnCpu cpu;
  debug::clear_plans();  // of other programs: a constant that has changed is an argument, which takes memory too
  const fuzz::Program program(seed, true, 3 + static_cast<int>(seed % 9));
  const auto executor = seed % 2 ? debug::Executor::Compiled : debug::Executor::Interpreter;
  std::string fault = fault_of(program, seed, executor, tally);
  debug::set_executor(debug::Executor::Compiled);
  return fault.empty() ? fault : program.listing() + fault;
}

uint64_t programs() {
  const char* wanted = std::getenv("LIMIT_FUZZ_PROGRAMS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 400 / SINTER_TEST_SHARE;
}

}  // namespace

TEST_CASE("random programs need no memory for what nobody asked for", "[limits]") {
  Tally tally;
  for (uint64_t seed = 1; seed <= programs(); ++seed)
    if (const std::string fault = fault_of(seed, tally); !fault.empty()) FAIL_CHECK(fault);
  CHECK(tally.refused > static_cast<int>(programs()) / 4);
  CHECK(tally.lazy > static_cast<int>(programs()));
}

TEST_CASE("each wrong rule of short memory is found by the random programs", "[.mutants]") {
  using fuzz::Mutant;
  struct Row {
    Mutant mutant;
    const char* name;
  };
  const Row row = GENERATE(values<Row>({{Mutant::NoSecondTry, "a plan is not tried with less"},
                                        {Mutant::SpareStored, "a lean plan stores what nobody asked for"}}));
  CAPTURE(row.name);
  Tally tally;
  std::string found;
  uint64_t seed = 0;
  {
    const fuzz::ScopedMutant fault(row.mutant);
    while (found.empty() && ++seed < 400) found = fault_of(seed, tally);
  }
  INFO(found);
  CHECK(found != "");
  CHECK(fault_of(seed, tally) == "");  // it was the fault
}
