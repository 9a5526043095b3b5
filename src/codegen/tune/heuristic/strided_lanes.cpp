// Stores before copies are chosen, sums when all else stands.
#include "codegen/tune/heuristic/strided_lanes.h"

#include <utility>

#include "codegen/emit/register_transpose.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/unroll_jam.h"

namespace sinter::codegen {
namespace {

using ir::UOp;

constexpr double kLongTransposed = 320;  ///< operations of copies whose vectors are transposed, at most
constexpr int64_t kStreamedRow =
    128;                          ///< bytes of each row that a transpose touches at once where it goes through memory,
constexpr int64_t kStreams = 32;  ///< and rows, as many as a core foresees side by side, unless they make no line of
constexpr int64_t kStreamedLine = 64;  ///< bytes, the fewest with which its stores go past the caches
constexpr int kTurnedSum = 4;          ///< copies of a sum whose operands are transposed,
constexpr int kTurnedRow = 8;          ///< and where its row is stored, too: 16 take 1.8 of the time for rows of 16

/// Whether memory lies strided along `vector`, and side by side along `range`.
bool lies_across(View& view, UOp access, UOp vector, UOp range) {
  const int64_t stride = view.lane_stride(access, vector);
  return stride != 0 && stride != 1 && stride != View::kScattered && view.stride(access, range) == 1;
}

void transpose(Choice& c, const Work& w, UOp access, UOp vector, UOp range) {
  bool summed = false, copied = true;  // whether a sum goes along the range too, and all of those may have copies there
  for (const Work& other : c.view.works()) {
    if (!other.is_reduce() || !other.runs_over(range)) continue;
    const bool turned = other.chains() == 1 && in(other.own, range) && in(other.outs, vector);
    summed |= turned;
    copied &= turned || (one_by_one(c, other) && c.view.size(range) <= kShortLoop);
  }
  if (!copied || c.tiled(range) || in(c.fixed, range) || in(c.vectors, range) || c.width_of(range) > 1) return;
  const auto bytes = static_cast<int64_t>(size_of(access->src[0]->dtype));
  const bool streams = static_cast<double>(bytes) * w.iterations >= kScatteredRows * static_cast<double>(c.target.l3);
  const int64_t streamed = std::max(std::min(kStreams, kStreamedRow / bytes), kStreamedLine / bytes);
  int copies = static_cast<int>(streams ? streamed : std::min(summed ? kTurnedRow : 16, c.width(vector).lanes));
  while (copies > 4 && copies * w.operations > kLongTransposed) copies /= 2;
  while (copies / 2 >= c.view.size(range)) copies /= 2;
  if (copies < 2) return;
  c.scattered |= streams && copies * bytes >= kStreamedLine;
  c.width(range).copies = copies;
  c.transposed.push_back(vector);
}

}  // namespace

void choose_transposes(Choice& c) {
  for (const Work& w : c.view.works()) {
    if (w.is_reduce()) continue;
    const auto vector = std::find_if(c.vectors.begin(), c.vectors.end(), [&](UOp v) { return in(w.outs, v); });
    if (vector == c.vectors.end() || c.tiled(*vector)) continue;
    for (UOp a : w.accesses)
      for (UOp r : w.outs)
        if (!(r == *vector) && lies_across(c.view, a, *vector, r)) transpose(c, w, a, *vector, r);
  }
}

std::vector<Opt> turn_sums(Choice& c, std::vector<Opt> opts) {
  for (const Work& w : c.view.works()) {
    const auto vector = std::find_if(c.vectors.begin(), c.vectors.end(), [&](UOp v) { return in(w.outs, v); });
    if (!w.is_reduce() || w.own.empty() || vector == c.vectors.end() || w.chains() > 1 ||
        kTurnedSum * w.operations > kLongTransposed)
      continue;
    UOp r = w.own.back();
    const bool across =
        std::any_of(w.accesses.begin(), w.accesses.end(), [&](UOp a) { return lies_across(c.view, a, *vector, r); });
    const bool repeated =
        std::any_of(c.view.works().begin(), c.view.works().end(), [&](const Work& other) { return in(other.outs, r); });
    if (!across || repeated || c.tiled(r) || c.is_product(w) || in(c.fixed, r) || c.width_of(r) > 1 ||
        c.view.size(r) % kTurnedSum)
      continue;
    opts.push_back(Unroll{range_id(r), kTurnedSum});
    if (!is_legal(c.kernel, opts)) opts.pop_back();
  }
  return opts;
}

}  // namespace sinter::codegen
