#include "codegen/tune/gpu/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string_view>
#include <utility>

#include "codegen/nest/loop_tree.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "codegen/tune/heuristic/materialize_rows.h"
#include "runtime/base/log.h"

namespace sinter::codegen {
namespace {

constexpr int kMaxPredictedRegisters = 200;  ///< with more, ptxas may spill
constexpr double kSpillRisk = 3;             ///< by how much faster a kernel must be that may spill
constexpr double kEqualTime = 1.002;         ///< up to here wider accesses are preferred
constexpr double kSameTime = 1.04;           ///< the model cannot tell predictions apart that are closer
constexpr double kShorter = 0.5;             ///< of these, a text of at most this share is preferred,
constexpr double kLongText = 500;            ///< if the other has more instructions than this
// The same where memory bounds the other, and latencies take a share of its time at most: loads are under way.
constexpr double kSameCopy = 1.01, kLongCopy = 800;
constexpr double kShorterCopy = .6;    ///< half the rows under way: half the steps, and the exchange of their results
constexpr double kLatencyShare = .67;  ///< a larger one could decide: the model knows latencies roughly
constexpr size_t kRefined = 8;         ///< of the best candidates: those whose details are looked at

/// The candidates of a kernel, each once, with predictions.
class Ranking {
 public:
  Ranking(const Kernel& kernel, const runtime::Target& target) : kernel_(kernel), target_(target) {}

  void add(std::vector<Candidate> candidates) {
    for (Candidate& c : candidates) {
      if (!met_.insert(to_string(c.opts)).second) continue;
      if (std::optional<RankedCandidate> made = predict(std::move(c))) list.push_back(*std::move(made));
    }
    std::ranges::sort(list, [](const RankedCandidate& a, const RankedCandidate& b) {
      return std::pair(price(a), a.order) < std::pair(price(b), b.order);
    });
  }
  /// Moves the shortest text among the fastest to the front, if it is much shorter. Where memory bounds them, it has
  /// vectors as wide, and loads enough under way.
  void prefer_short_text() {
    if (list.empty()) return;
    const bool memory = std::string_view(list.front().terms.bound()) == "memory";
    if (list.front().terms.code < (memory ? kLongCopy : kLongText)) return;
    const int width = widest_vector(list.front().candidate);
    auto shortest = list.begin();
    for (auto r = list.begin(), end = end_within(memory ? kSameCopy : kSameTime); r != end; ++r)
      if (r->terms.code < shortest->terms.code &&
          (!memory || (widest_vector(r->candidate) == width && r->terms.latency <= kLatencyShare * r->terms.memory)))
        shortest = r;
    if (shortest->terms.code <= (memory ? kShorterCopy : kShorter) * list.front().terms.code)
      std::rotate(list.begin(), shortest, shortest + 1);
  }

  /// Puts a candidate to the front if the model cannot tell it from the fastest.
  bool prefer(Candidate candidate) {
    std::optional<RankedCandidate> made = predict(std::move(candidate));
    if (!made || price(*made) > kSameTime * price(list.front())) return false;
    list.insert(list.begin(), *std::move(made));
    return true;
  }

  /// Moves one among equals to the front: where memory bounds all of them, the one with the widest vectors, as fewer
  /// requests leave room for what else runs, else the one that asks L2 for the fewest bytes.
  void prefer_few_requests() {
    if (list.empty()) return;
    const bool memory = std::string_view(list.front().terms.bound()) == "memory";
    const auto best =
        std::min_element(list.begin(), end_within(kEqualTime), [&](const RankedCandidate& a, const RankedCandidate& b) {
          return memory ? widest_vector(a.candidate) > widest_vector(b.candidate) : a.terms.l2 < b.terms.l2;
        });
    std::rotate(list.begin(), best, best + 1);
  }

  /// Whether a candidate that takes so many clocks may be one of the fastest.
  bool has_room_for(double clocks) const { return list.empty() || clocks <= kSameTime * price(list.front()); }

  std::vector<RankedCandidate> list;  ///< the fastest first

 private:
  /// nullopt: it is illegal, or not one of its blocks fits a multiprocessor.
  std::optional<RankedCandidate> predict(Candidate c) const {
    const std::optional<ClockTerms> terms = predict_clocks(kernel_, c.opts, target_);
    if (!terms || terms->resident == 0) return std::nullopt;
    return RankedCandidate{std::move(c), *terms, terms->clocks(), list.size()};
  }
  /// Behind those that take at most so many times what the fastest takes.
  std::vector<RankedCandidate>::iterator end_within(double times) {
    return std::ranges::find_if(list, [&](const RankedCandidate& r) { return price(r) > times * price(list.front()); });
  }
  static int widest_vector(const Candidate& c) {
    int lanes = 1;
    for (const Opt& o : c.opts)
      if (const auto* vector = std::get_if<Lanes>(&o)) lanes = std::max(lanes, vector->count);
    return lanes;
  }
  static double price(const RankedCandidate& r) {
    return r.clocks * (r.terms.registers > kMaxPredictedRegisters ? kSpillRisk : 1);
  }

  const Kernel& kernel_;
  const runtime::Target& target_;
  std::set<std::string> met_;
};

/// The same values in fewer tiles: one that takes the place of another, wherever that is legal.
std::vector<Materialize> share_tiles(const Kernel& kernel, std::vector<Materialize> values) {
  for (Materialize& m : values)
    for (const Materialize& old : values) {
      if (m.over >= 0 || old.value >= m.value) continue;
      m.over = old.value;
      if (!is_legal(kernel, {values.begin(), values.end()})) m.over = -1;
    }
  return values;
}

/// Clocks that a kernel takes at least if threads compute the steps of tensor cores, by a lenient estimate: predicates
/// may leave out most of them.
double clocks_without_tensor_cores(const TuneSpace& space) {
  constexpr double kLeftOut = 8;
  double products = 0;
  for (const StatementAnalysis& w : space.analysis.statements())
    if (w.is_reduce() && w.node->reduction().tree.mma) products += w.iterations;
  return products * kStepInstructions / (kLeftOut * 4 * kWarp * std::max(space.target.threads, 1));
}

/// Blocks that a multiprocessor holds if a thread takes somewhat more registers than predicted: ptxas, which likes to
/// take all that it may, is held to the number that the prediction rests on, without being made to spill.
int occupancy_of(const ClockTerms& terms, const runtime::Target& target) {
  constexpr double kSlack = 1.25;
  constexpr int kFewRegisters = 80;  // not worth a limit
  constexpr int kEnoughBlocks = 16;  // asked for more, NVRTC 13.0 spills in blocks of a warp that need 70 registers
  const int registers = std::max(kFewRegisters, static_cast<int>(kSlack * terms.registers));
  return std::clamp(resident_by_registers(registers, terms.threads, target), 1,
                    std::clamp(terms.resident, 1, kEnoughBlocks));
}

}  // namespace

std::vector<RankedCandidate> rank_candidates(const Kernel& kernel, const runtime::Target& target) {
  std::deque<TuneSpace> spaces;  // candidates that can be refined refer to theirs
  const std::vector<Materialize> rows = legal_materializations(kernel, target, target.shared / 2);
  spaces.emplace_back(kernel, target, share_tiles(kernel, rows));
  for (const std::vector<Materialize>& parts : partial_sums(spaces.front())) {
    std::vector<Materialize> values = rows;
    values.insert(values.end(), parts.begin(), parts.end());
    if (is_legal(kernel, {values.begin(), values.end()}))
      spaces.emplace_back(kernel, target, share_tiles(kernel, std::move(values)));
  }
  Ranking ranking(kernel, target);
  const auto propose = [&](const auto&... generators) {
    std::vector<Candidate> all;
    for (TuneSpace& space : spaces) (generators(space, all), ...);
    ranking.add(std::move(all));
  };
  propose(propose_mma);
  TuneSpace without_rows(kernel, target, {});  // registers hold the values
  std::vector<Candidate> pairs;
  propose_mma_pairs(without_rows, pairs);
  ranking.add(std::move(pairs));
  if (ranking.has_room_for(clocks_without_tensor_cores(spaces.front())))
    propose(propose_shares, propose_products, propose_windows, propose_window_sums, propose_transposes);
  std::vector<Candidate> details;
  size_t refined = 0;
  for (RankedCandidate& r : ranking.list) {
    if (r.candidate.refine && refined++ < kRefined) r.candidate.refine(details);
    r.candidate.refine = nullptr;
  }
  ranking.add(std::move(details));
  ranking.prefer_few_requests();
  ranking.prefer_short_text();
  if (ranking.list.empty()) return {};
  for (size_t i = 0; i < std::min(kRefined, ranking.list.size()); ++i) {
    // Without room beside the tiles of one candidate, the next one is tried. Without results to stage, none is.
    std::optional<Candidate> staged = with_staged_results(spaces.front(), ranking.list[i].candidate);
    if (!staged || ranking.prefer(*std::move(staged))) break;
  }
  if (std::optional<Candidate> padded = with_padded_tiles(spaces.front(), ranking.list.front().candidate))
    ranking.prefer(*std::move(padded));
  const RankedCandidate& best = ranking.list.front();
  if (std::optional<Candidate> banded = with_task_band(spaces.front(), best.candidate, best.terms))
    ranking.prefer(*std::move(banded));
  return std::move(ranking.list);
}

std::vector<std::vector<Opt>> best_for_gpu(const Kernel& kernel, const runtime::Target& target, size_t most) {
  return best_for_gpu(rank_candidates(kernel, target), kernel, target, most);
}

std::vector<std::vector<Opt>> best_for_gpu(const std::vector<RankedCandidate>& ranked, const Kernel& kernel,
                                           const runtime::Target& target, size_t most) {
  if (ranked.empty()) {
    // A join of parts into one result has no work for a second thread.
    if (!kernel.outer.empty())
      runtime::log(
          1, fmt::format("slow: {} runs with one thread in a block, no other list of Opts is legal", kernel.name));
    return {std::vector<Opt>{}};
  }
  const RankedCandidate& best = ranked.front();
  if (runtime::logging(3))
    runtime::log(3, fmt::format("{}: {} of {} candidates, {}\n  {}", kernel.name, best.candidate.generator,
                                ranked.size(), to_string(best.terms), to_string(best.candidate.opts)));
  std::vector<std::vector<Opt>> lists;
  for (size_t i = 0; i < std::min(most, ranked.size()); ++i) {
    lists.push_back(ranked[i].candidate.opts);
    lists.back().push_back(Occupancy{occupancy_of(ranked[i].terms, target)});
  }
  return lists;
}

std::vector<Opt> tune_for_gpu(const Kernel& kernel, const runtime::Target& target) {
  return best_for_gpu(kernel, target, 1).front();
}

}  // namespace sinter::codegen
