#include "codegen/tune/gpu/last_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/tune/gpu/gpu_clocks.h"
#include "codegen/tune/gpu/tuner.h"
#include "ir/ceil_div.h"
#include "ir/walk.h"
#include "runtime/base/log.h"

namespace sinter::codegen {
namespace {

/// One task runs all of the epilogue, in `threads` threads.
std::vector<Opt> for_last_block(const Kernel& epilogue, std::vector<Opt> opts, int threads) {
  for (size_t id = 0; id < epilogue.outer.size(); ++id)
    opts.push_back(TaskBlock{static_cast<int>(id), epilogue.outer[id].value()});
  opts.push_back(LastBlock{threads});
  return opts;
}

/// The Opts with all elements of one sum side by side, and no other copies: a single block waits for its loads, and no
/// other block fills the time.
std::vector<std::vector<Opt>> with_whole_sums(const Kernel& epilogue, const std::vector<Opt>& opts) {
  std::vector<std::vector<Opt>> out;
  std::set<int> met;
  for (UOp n : ir::topological(epilogue.sink)) {
    if (n->op != ir::Op::Reduce || ranges_of(n).empty()) continue;
    const UOp range = ranges_of(n).back(), size = range->src[0];
    const int id = range_id(range);
    if (size->op != ir::Op::Const || size->scalar().as_int() < 2 || size->scalar().as_int() > Unroll::kMax) continue;
    if (find_opt<ThreadBind>(opts, id) || find_opt<Lanes>(opts, id) || !met.insert(id).second) continue;
    std::vector<Opt> list = opts;
    std::erase_if(list, [](const Opt& o) { return std::holds_alternative<Unroll>(o); });
    list.push_back(Unroll{id, static_cast<int>(size->scalar().as_int())});
    out.push_back(std::move(list));
  }
  return out;
}

/// Clocks that one multiprocessor takes at least to touch what a launch touches.
double clocks_on_one(const ClockTerms& t, const runtime::Target& target) {
  return t.touched / gpu_clocks(target).l2_bytes;
}

/// What the epilogue may be in a block of the main kernel, which has `threads` threads, if it takes `most` clocks.
std::vector<std::vector<Opt>> lists_in_last_block(const Kernel& epilogue, const std::vector<RankedCandidate>& ranked,
                                                  int threads, double most, const runtime::Target& target) {
  std::vector<std::pair<int, std::vector<Opt>>> found{{1, {}}};  // with the threads that they need
  for (const RankedCandidate& r : ranked)
    if (clocks_on_one(r.terms, target) <= most) found.emplace_back(r.terms.threads, r.candidate.opts);
  std::vector<std::vector<Opt>> lists;
  for (auto& [needed, opts] : found) {
    std::set<int> counts{threads};  // all, or some warps
    if (const auto warps = static_cast<int>(round_up(needed, kWarp)); warps < threads) counts.insert(warps);
    for (const int count : counts) {
      if (needed > count) continue;
      lists.push_back(for_last_block(epilogue, opts, count));
      for (std::vector<Opt>& whole : with_whole_sums(epilogue, opts))
        lists.push_back(for_last_block(epilogue, std::move(whole), count));
    }
  }
  return lists;
}

}  // namespace

std::optional<ClockTerms> predict_epilogue(const Kernel& epilogue, const std::vector<Opt>& opts, const ClockTerms& main,
                                           const runtime::Target& target) {
  std::optional<ClockTerms> terms = predict_clocks(epilogue, opts, target);
  const bool last = std::ranges::any_of(opts, [](const Opt& o) { return std::holds_alternative<LastBlock>(o); });
  if (!terms || !last) return terms;
  const int64_t together = int64_t{std::max(target.threads, 1)} * std::max(main.resident, 1);
  terms->start = static_cast<double>(ceil_div(main.blocks, together)) * (kTicketClocks + 2 * kFenceClocks);
  return terms;
}

std::vector<Opt> tune_epilogue(const Kernel& epilogue, const Kernel& main, const std::vector<Opt>& opts,
                               const runtime::Target& target) {
  const std::vector<RankedCandidate> ranked = rank_candidates(epilogue, target);
  std::vector<Opt> alone = best_for_gpu(ranked, epilogue, target, 1).front();
  if (!always_has_tasks(main)) return alone;  // a launch without blocks has no last one
  const std::optional<ClockTerms> before = predict_clocks(main, opts, target);
  if (!before) return alone;  // refused anyway
  const LoopSchedule schedule = make_loop_schedule(main, opts);
  // The epilogue gets the registers and the shared memory that the main part leaves it.
  const auto fits = [&](const ClockTerms& t) {
    return std::min(t.resident, resident_by_registers(t.registers, schedule.threads, target)) >=
           std::max(schedule.occupancy, 1);
  };
  const std::optional<ClockTerms> launch = predict_epilogue(epilogue, alone, *before, target);
  const double most = launch ? launch->clocks() : std::numeric_limits<double>::max();
  std::optional<std::pair<ClockTerms, std::vector<Opt>>> best;
  for (std::vector<Opt>& list : lists_in_last_block(epilogue, ranked, schedule.threads, most, target)) {
    const std::optional<ClockTerms> terms = predict_epilogue(epilogue, list, *before, target);
    if (terms && fits(*terms) && (!best || terms->clocks() < best->first.clocks())) best = {*terms, std::move(list)};
  }
  if (!best || most < best->first.clocks()) return alone;
  if (runtime::logging(3))
    runtime::log(3, fmt::format("{}: in the last block, {}\n  {}", epilogue.name, to_string(best->first),
                                to_string(best->second)));
  return std::move(best->second);
}

}  // namespace sinter::codegen
