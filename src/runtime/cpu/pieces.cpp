#include "runtime/cpu/pieces.h"

#include <algorithm>
#include <tuple>

namespace sinter::runtime::cpu {
namespace {

constexpr int64_t kPieces = 16;  ///< of one kernel for each party, at most

/// Those of one kernel, as long as each other but for the last one.
std::vector<Piece> cut(size_t kernel, const StepLoad& load, int parties) {
  const int64_t size = std::max({load.grain, (load.points - 1) / (kPieces * parties) + 1, int64_t{1}});
  std::vector<Piece> pieces;
  for (int64_t begin = 0; begin < load.points; begin += size) {
    const int64_t end = std::min(begin + size, load.points);
    pieces.push_back({kernel, begin, end, load.pieces * static_cast<double>(end - begin) / static_cast<double>(load.points)});
  }
  return pieces;
}

}  // namespace

std::vector<Piece> pieces_of(std::span<const StepLoad* const> loads, int parties) {
  std::vector<Piece> all, few;
  std::vector<double> busy(static_cast<size_t>(parties));
  const auto give = [&](Piece piece, int64_t party) {
    piece.party = static_cast<int>(party);
    busy[static_cast<size_t>(party)] += piece.time;
    all.push_back(piece);
  };
  for (size_t i = 0; i < loads.size(); ++i) {
    const std::vector<Piece> pieces = cut(i, *loads[i], parties);
    if (static_cast<int>(pieces.size()) < parties)
      few.insert(few.end(), pieces.begin(), pieces.end());
    else
      for (const Piece& p : pieces) give(p, (p.begin + p.end) * parties / (2 * loads[i]->points));
  }
  for (const Piece& p : few) give(p, std::min_element(busy.begin(), busy.end()) - busy.begin());
  std::sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) {
    return std::tuple(a.party, -a.time, a.kernel, a.begin) < std::tuple(b.party, -b.time, b.kernel, b.begin);
  });
  return all;
}

}  // namespace sinter::runtime::cpu
