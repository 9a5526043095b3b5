// The proof that random programs find miscompilations: each fault of mutant.h that concerns kernels is switched on, and
// programs rich in the ops named beside it are run until the ways of running them disagree. MUTANT_PROGRAMS sets how
// many are tried; MUTANT: only faults whose name has that text.
#include <fmt/core.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "catch.h"
#include "fault.h"
#include "random_program.h"

namespace {

using fuzz::Mutant;
using fuzz::ScopedMutant;

struct Row {
  Mutant mutant;
  const char* what;
  bool exact;
  std::vector<std::string_view> often;
  fuzz::Sizes sizes = fuzz::Sizes::Small;
};

constexpr fuzz::Sizes kLong = fuzz::Sizes::Long;

const Row kRows[] = {
    {Mutant::LostTail, "lost tail element", true, {"add", "mul", "long sum", "cast"}},
    {Mutant::ReaderEdgeDropped, "dropped WAR edge", true, {"update"}},
    {Mutant::InPlaceOverReads, "in place with a live reader", true, {"update"}},
    {Mutant::ArenaOverlap, "arena slots overlap", true, {"matmul", "long sum", "softmax", "add"}},
    {Mutant::StaleNumber, "stale lifted number", true, {"repeat"}},
    {Mutant::WrongBuffers, "a shared body bound to the wrong buffers", true, {"twins"}},
    {Mutant::MaxFromZero, "wrong identity of max", true, {"max"}},
    {Mutant::MinFromZero, "wrong identity of min", true, {"min"}},
    {Mutant::ProductFromZero, "wrong identity of a product", true, {"prod"}},
    {Mutant::SecondInitLost, "a second reduction is not initialised", true, {"long sum", "sum", "twins"}},
    {Mutant::CombineInOrder, "wrong combine order", false, {"long sum"}},
    {Mutant::FmaTooMany, "one FMA too many", false, {"mul", "add", "long sum"}},
    {Mutant::SubSwapped, "swapped operands of sub", true, {"sub"}},
    {Mutant::PadOffByOne, "off-by-one pad", true, {"pad", "cat"}},
    {Mutant::WindowClose, "a dilated window's taps side by side", true, {"conv2d"}},
    {Mutant::GateLost, "missing gate", true, {"pad", "cat", "add"}},
    {Mutant::FlipOffByOne, "flip off by one", true, {"flip"}},
    {Mutant::PermuteInverse, "permute by the inverse", true, {"permute", "add"}},
    {Mutant::ReshapeExtent, "reshape with the wrong extent", true, {"reshape", "permute"}},
    {Mutant::ArangeOffByOne, "arange off by one", true, {"where"}},
    {Mutant::NegativeIndex, "a negative index does not wrap", true, {"gather", "index"}},
    {Mutant::ScatterAssigns, "scatter assigns instead of adding", true, {"scatter_add"}},
    {Mutant::ScatterModeLost, "scatter adds in every mode", true, {"scatter"}},
    {Mutant::SortTurned, "sorted elements in one direction only", true, {"sort"}},
    {Mutant::NanByBits, "NaNs sorted by their bits", true, {"sort nan"}},
    {Mutant::NansFirst, "NaNs at the other end of a sort", true, {"sort nan"}},
    {Mutant::DivisionTruncates, "integer division truncates", true, {"floor_divide", "cast"}},
    {Mutant::RemainderTruncates, "integer remainder truncates", true, {"remainder", "cast"}},
    {Mutant::UnsignedCompare, "integers compared without sign", true, {"lt", "gt", "cast"}},
    {Mutant::NanLost, "NaN lost in maximum", true, {"nan"}},
    {Mutant::CastToLowest, "a cast that does not saturate", true, {"saturate"}},
    {Mutant::TruthTruncates, "cast to bool by truncation", true, {"truth"}},
    {Mutant::AnyCentre, "distances from no mean", false, {"var"}, kLong},
    {Mutant::OtherMaximum, "the maximum of other rows", false, {"exponents"}, kLong},
    {Mutant::MomentsOfOne, "moments joined without the cross term", false, {"var"}, kLong},
    {Mutant::ExpSumGrows, "exponents scaled the wrong way", false, {"exponents", "softmax"}, kLong},
    {Mutant::TieToLater, "a tie not to the earlier element", true, {"argmax", "argmin"}, kLong},
    {Mutant::LateUnmarked, "a late member not marked", true, {"sums both ways"}, kLong},
    {Mutant::BlocksTooLong, "points that cover two blocks", false, {"sums both ways", "row gradient"}, kLong},
    {Mutant::LastBlockDropped, "a short last block dropped", true, {"sums both ways"}, kLong},
    {Mutant::PartMissing, "a sum of parts with one missing", true, {"sums both ways"}, kLong},
    {Mutant::OwnBlockTwice, "what comes before a block of a scan includes it", true, {"cumsum", "running"}, kLong},
    {Mutant::UpdatesDropped, "updates behind the last whole block dropped", true, {"tally"}},
    {Mutant::TablesFromZero, "blocks of a scatter begin with zeros", true, {"tally"}},
    {Mutant::MergeAcrossLevels, "kernels of two levels merged", true, {"detour"}},
    {Mutant::MergeKeepsRanges, "a merged kernel under the wrong ranges", true, {"sums both ways"}, kLong},
    {Mutant::StoreEdgeDropped, "a reader before the store", true, {"matmul", "update"}},
    {Mutant::DependentLaunch, "dependent kernels in one launch", true, {"matmul", "update"}},
};

fuzz::Program program_of(const Row& row, uint64_t seed, int number) {
  return {seed + static_cast<uint64_t>(number), row.exact, 2 + number % 4, row.often, row.sizes};
}

/// The number of the first program that shows the fault, or 0.
int program_that_finds(const Row& row, uint64_t seed, int most) {
  const ScopedMutant fault(row.mutant);
  for (int i = 1; i <= most; ++i)
    if (!fuzz::disagreement(program_of(row, seed, i), row.exact).empty()) return i;
  return 0;
}

}  // namespace

TEST_CASE("each seeded miscompilation is found under three seeds", "[.mutants]") {
  const char* wanted = std::getenv("MUTANT_PROGRAMS");
  const int most = wanted ? std::atoi(wanted) : 400;
  const char* only = std::getenv("MUTANT");
  std::string table;
  for (const Row& row : kRows) {
    if (only && std::string_view(row.what).find(only) == std::string_view::npos) continue;
    table += fmt::format("{:44}", row.what);
    for (const uint64_t seed : {1'000'000u, 2'000'000u, 3'000'000u}) {
      const int found = program_that_finds(row, seed, most);
      table += fmt::format("{:5}", found);
      INFO(row.what << ", seed " << seed << ", program " << found);
      CHECK(found > 0);
      if (found > 0) CHECK(fuzz::disagreement(program_of(row, seed, found), row.exact).empty());  // it was the fault
    }
    table += "\n";
  }
  WARN("the programs that found each fault, under three seeds:\n" << table);
}
