#include "runtime/exec/work_split.h"

#include <algorithm>
#include <tuple>

namespace sinter::runtime::cpu {
namespace {

constexpr int64_t kPieces = 16;  ///< of one kernel for each party, at most

/// Points from `begin` below `end` in pieces as long as each other, none shorter than is worth a thread if all of them
/// are not.
void cut(std::vector<Piece>& out, const Piece& all, const StepLoad& load) {
  const int64_t size = all.end - all.begin, pieces = std::clamp<int64_t>(size / load.grain, 1, kPieces);
  for (int64_t i = 0; i < pieces; ++i) {
    Piece p = all;
    p.begin = all.begin + size * i / pieces;
    p.end = all.begin + size * (i + 1) / pieces;
    p.time = load.pieces * static_cast<double>(p.end - p.begin) / static_cast<double>(load.points);
    out.push_back(p);
  }
}

}  // namespace

std::vector<Piece> pieces_of(std::span<const StepLoad* const> loads, int parties) {
  std::vector<Piece> all, few;
  for (size_t i = 0; i < loads.size(); ++i) {
    const StepLoad& load = *loads[i];
    if (load.points == 0) continue;
    if (load.points / load.grain < parties)
      cut(few, {i, 0, load.points, 0, 0}, load);
    else
      for (int p = 0; p < parties; ++p)
        cut(all, {i, load.points * p / parties, load.points * (p + 1) / parties, 0, p}, load);
  }
  const auto longer = [](const Piece& a, const Piece& b) {
    return std::tuple(-a.time, a.kernel, a.begin) < std::tuple(-b.time, b.kernel, b.begin);
  };
  std::vector<double> busy(static_cast<size_t>(parties));
  for (const Piece& p : all) busy[static_cast<size_t>(p.party)] += p.time;
  std::sort(few.begin(), few.end(), longer);
  for (Piece& p : few) {
    const auto least = std::min_element(busy.begin(), busy.end());
    *least += p.time;
    p.party = static_cast<int>(least - busy.begin());
    all.push_back(p);
  }
  std::sort(all.begin(), all.end(),
            [&](const Piece& a, const Piece& b) { return a.party != b.party ? a.party < b.party : longer(a, b); });
  return all;
}

}  // namespace sinter::runtime::cpu
