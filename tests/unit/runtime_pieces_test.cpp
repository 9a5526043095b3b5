// How the points of kernels that run together are given to threads.
#include "runtime/exec/work_split.h"

#include <algorithm>

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

TEST_CASE("each point of kernels that run together is in one piece, and pieces are no smaller than is worth a thread",
          "[runtime]") {
  const std::vector<StepLoad> loads{load(17, 1, 80), load(290, 7, 40), load(1, 1, 1),
                                    load(5, 3, 1.5), load(0, 1, 0),    load(100000, 1, 3000)};
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
      CHECK((p.end - p.begin >= loads[k].grain || p.end - p.begin == loads[k].points));
      CHECK((p.party >= 0 && p.party < parties));
      next = p.end;
      time += p.time;
    }
    CHECK(next == loads[k].points);
    CHECK(time == Approx(loads[k].pieces));
    CHECK(own.size() <= static_cast<size_t>(16 * parties));
  }
}

TEST_CASE("a party has one part of each long kernel, as much as the others, and short kernels go where there is least",
          "[runtime]") {
  const StepLoad large = load(333, 10, 100), two = load(2, 1, 9), one = load(1, 1, 2), odd = load(31, 10, 3);
  const StepLoad* const given[] = {&one, &large, &two, &odd, &one};
  const int parties = GENERATE(2, 3, 4);
  const std::vector<Piece> pieces = pieces_of(given, parties);
  std::vector<std::pair<int64_t, int64_t>> part(static_cast<size_t>(parties), {333, 0});  // of the large one
  std::vector<double> busy(static_cast<size_t>(parties));
  for (const Piece& p : pieces) {
    busy[static_cast<size_t>(p.party)] += p.time;
    if (p.kernel != 1) continue;
    auto& [begin, end] = part[static_cast<size_t>(p.party)];
    begin = std::min(begin, p.begin), end = std::max(end, p.end);
  }
  for (int i = 0; i < parties; ++i)
    CHECK(part[static_cast<size_t>(i)] == std::pair(int64_t{333} * i / parties, int64_t{333} * (i + 1) / parties));
  CHECK(*std::max_element(busy.begin(), busy.end()) - *std::min_element(busy.begin(), busy.end()) <=
        4.5);  // the longest short piece
  for (size_t i = 1; i < pieces.size(); ++i)
    CHECK((pieces[i - 1].party < pieces[i].party ||
           (pieces[i - 1].party == pieces[i].party && pieces[i - 1].time >= pieces[i].time)));
}
