// How the points of kernels that run together are given to threads.
#include "runtime/cpu/pieces.h"

#include <algorithm>
#include <map>

#include "catch.h"

using sinter::runtime::StepLoad;
using sinter::runtime::cpu::Piece, sinter::runtime::cpu::pieces_of;

namespace {

StepLoad load(int64_t points, int64_t grain, double pieces) {
  StepLoad made;
  made.points = points, made.grain = grain, made.pieces = pieces;
  return made;
}

}  // namespace

TEST_CASE("each point of kernels that run together is in one piece, and pieces are no smaller than is worth a thread", "[runtime]") {
  const std::vector<StepLoad> loads{load(17, 1, 80), load(290, 7, 40), load(1, 1, 1), load(5, 3, 1.5), load(0, 1, 0), load(100000, 1, 3000)};
  std::vector<const StepLoad*> given;
  for (const StepLoad& l : loads) given.push_back(&l);
  const int parties = GENERATE(1, 2, 3, 7, 64);
  const std::vector<Piece> pieces = pieces_of(given, parties);
  for (size_t k = 0; k < loads.size(); ++k) {
    std::vector<Piece> own;
    std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(own), [k](const Piece& p) { return p.kernel == k; });
    std::sort(own.begin(), own.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    int64_t next = 0;
    double time = 0;
    for (const Piece& p : own) {
      CHECK(p.begin == next);
      CHECK(p.end > p.begin);
      CHECK((p.end - p.begin >= loads[k].grain || p.end == loads[k].points));
      CHECK((p.party >= 0 && p.party < parties));
      next = p.end;
      time += p.time;
    }
    CHECK(next == loads[k].points);
    CHECK(time == Approx(loads[k].pieces));
    CHECK(own.size() <= static_cast<size_t>(16 * parties));
  }
}

TEST_CASE("a party has one part of each long kernel, and short kernels go where there is least", "[runtime]") {
  const StepLoad large = load(33, 1, 100), three = load(3, 1, 9), one = load(1, 1, 1);
  const StepLoad* const given[] = {&one, &large, &three, &one};
  const std::vector<Piece> pieces = pieces_of(given, 2);
  std::map<int, std::pair<int64_t, int64_t>> part;  // of the large one, by party
  std::map<int, double> busy;
  for (const Piece& p : pieces) {
    busy[p.party] += p.time;
    if (p.kernel != 1) continue;
    auto [at, first] = part.emplace(p.party, std::pair(p.begin, p.end));
    if (!first) at->second = {std::min(at->second.first, p.begin), std::max(at->second.second, p.end)};
  }
  REQUIRE(part.size() == 2);
  CHECK(part[0].second == part[1].first);
  CHECK(std::abs(busy[0] - busy[1]) <= 9);
  for (size_t i = 1; i < pieces.size(); ++i)
    CHECK((pieces[i - 1].party < pieces[i].party || (pieces[i - 1].party == pieces[i].party && pieces[i - 1].time >= pieces[i].time)));
  CHECK(std::none_of(pieces.begin(), pieces.end(), [&](const Piece& p) { return (p.kernel == 0 || p.kernel == 3) && p.party == (busy[0] < busy[1]); }));
}
