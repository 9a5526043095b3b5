// A beam search. Times are ratios to the heuristic's list, measured side by side: errors do not add up from one find to
// the next. At the end the beam is measured again, because the best of many readings is partly luck.
#include "plan/beam_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codegen/loopschedule/opt_parse.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/tune/heuristic/heuristic.h"
#include "codegen/tune/search/neighbours.h"
#include "codegen/tune/search/time_bound.h"
#include "ir/dump.h"
#include "runtime/base/build_id.h"
#include "runtime/base/disk_cache.h"
#include "runtime/base/log.h"
#include "runtime/cpu/roofline_cache.h"
#include "runtime/exec/kernel_timer.h"
#include "runtime/exec/step_cost.h"
#include "runtime/program/toolchain.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

using codegen::Opt;
using runtime::cpu::KernelTimer;
using Clock = std::chrono::steady_clock;

constexpr size_t kBatch =
    8;  ///< candidates per member of the beam that are compiled together and timed before it goes on
constexpr int kFruitless = 2;        ///< batches one after the other without a faster list
constexpr double kShort = 5e3;       ///< ns of a launch that mostly is its dispatch: one batch of candidates is enough
constexpr double kWorth = 0.97;      ///< of the heuristic's time: what is slower is not worth a decision
constexpr double kNear = 1.05;       ///< times the floor: nothing is left to be found
constexpr double kUncached = 128e6;  ///< bytes that no cache holds: such a launch takes at least as long as a copy

constexpr char kEntry[] = "opts";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A list of Opts that is timed.
struct BeamEntry {
  std::vector<Opt> opts;
  double bound = 0;  ///< ns
  std::unique_ptr<KernelTimer::Candidate> candidate = nullptr;
  double ns = 0;
};

bool faster(const BeamEntry& a, const BeamEntry& b) { return a.ns < b.ns; }

size_t step_of(const runtime::Plan& plan, size_t number) {
  const auto runs = [&](const runtime::PlanStep& s) { return s.program == static_cast<int>(number); };
  return static_cast<size_t>(std::find_if(plan.steps.begin(), plan.steps.end(), runs) - plan.steps.begin());
}

/// Values for the plan's variables: the largest of those that the kernel loops over, for which heuristics decide as
/// well.
std::vector<int64_t> vars_of(const schedule::KernelSchedule& scheduled, size_t number) {
  const runtime::PlanStep& step = scheduled.plan.steps[step_of(scheduled.plan, number)];
  std::vector<int64_t> values;
  const auto set = [&](int var, int64_t value) {
    if (values.size() <= static_cast<size_t>(var)) values.resize(static_cast<size_t>(var) + 1, 1);
    values[static_cast<size_t>(var)] = value;
  };
  for (int b : step.buffers)
    for (const runtime::PlanDim& d : scheduled.plan.buffers[static_cast<size_t>(b)].shape)
      if (d.var >= 0) set(d.var, 1);
  for (const runtime::PlanDim& d : step.outer)
    if (d.var >= 0) set(d.var, 1);
  for (size_t i = 0; i < step.vars.size(); ++i) set(step.vars[i], scheduled.kernels[number].vars[i].max());
  return values;
}

class BeamSearch {
 public:
  BeamSearch(const schedule::KernelSchedule& scheduled, size_t number, const codegen::NormalizedKernel& kernel,
             const runtime::Target& target, int beam, const SearchLimits& limits, const runtime::Toolchain& tools)
      : kernel_(kernel),
        target_(target),
        width_(static_cast<size_t>(beam)),
        limits_(limits),
        tools_(tools),
        timer_(scheduled.plan, step_of(scheduled.plan, number), vars_of(scheduled, number)),
        neighborhood_(kernel.main, target),
        bound_(kernel.main, target, limits.peak ? limits.peak : runtime::cpu::cached_roofline(1).flops * 1e-9) {}

  std::vector<Opt> run() {
    std::vector<Opt> heuristic = codegen::heuristic(kernel_.main, target_);
    seen_.insert(to_string(heuristic));
    beam_.push_back({heuristic});
    build(beam_);
    if (beam_.empty()) return heuristic;  // it does not compile: whoever asks finds out why
    reference_ = std::move(beam_[0].candidate);
    const double before = beam_[0].ns = reference_ns_ = KernelTimer::time(*reference_);
    const double near = kNear * floor_of(KernelTimer::cost(*reference_));
    const double most = limits_.seconds * static_cast<double>(width_);
    const size_t count = (before < kShort ? std::min(kBatch, limits_.candidates) : limits_.candidates) * width_;
    for (int fruitless = 0;
         fruitless < kFruitless && beam_[0].ns > near && timed_ < count && seconds_since(start_) < most;) {
      const double fastest = beam_[0].ns;
      std::vector<BeamEntry> batch = promising(std::min(kBatch * width_, count - timed_));
      if (batch.empty()) break;
      build(batch);
      compare(std::move(batch));
      fruitless = beam_[0].ns < fastest ? 0 : fruitless + 1;
    }
    for (BeamEntry& t : beam_)
      if (t.candidate) measure(t, 1);
    std::sort(beam_.begin(), beam_.end(), faster);
    const bool better = beam_[0].ns < kWorth * before;
    if (runtime::logging(2))
      runtime::log(
          2, fmt::format(
                 "search: {}: {:.1f} us instead of {:.1f} with {}; timed {} lists (at most {}), ruled out {} by their "
                 "bounds, in {:.1f} s (at most {:.0f})",
                 kernel_.main.name, (better ? beam_[0].ns : before) * 1e-3, before * 1e-3,
                 better ? to_string(beam_[0].opts) : "the heuristic's Opts", timed_, count, slower_,
                 seconds_since(start_), most));
    return better ? beam_[0].opts : heuristic;
  }

 private:
  /// ns below which no list can come: arithmetic at its peak, and memory where caches cannot help.
  double floor_of(const runtime::StepCost& cost) const {
    const runtime::cpu::Roofline roofs = runtime::cpu::cached_roofline(target_.threads);
    const auto bytes = static_cast<double>(cost.bytes);
    return std::max(cost.flops / roofs.flops, bytes < kUncached ? 0 : bytes / roofs.copy) * 1e9;
  }

  /// New neighbours of the beam that may be faster than its best: of each kind of change as many, those with the lowest
  /// bounds.
  std::vector<BeamEntry> promising(size_t most) {
    struct RankedEntry {
      BeamEntry tried;
      runtime::Hash128 tie;  ///< equal bounds: any of them, not those that were made first
    };
    std::map<std::string_view, std::vector<RankedEntry>> by_change;
    std::set<std::string> met;
    for (const BeamEntry& member : beam_)
      for (codegen::Neighbor& n : neighborhood_.of(member.opts)) {
        const std::string text = to_string(n.opts);
        if (seen_.contains(text) || !met.insert(text).second) continue;
        const double ns = bound_.ns(n.opts);
        if (ns < beam_[0].ns)
          by_change[n.change].push_back({{std::move(n.opts), ns}, runtime::hash_bytes(text)});
        else
          ++slower_, seen_.insert(text);
      }
    std::vector<BeamEntry> out;
    for (auto& [change, list] : by_change)
      std::sort(list.begin(), list.end(), [](const RankedEntry& a, const RankedEntry& b) {
        return std::pair(a.tried.bound, a.tie) < std::pair(b.tried.bound, b.tie);
      });
    for (size_t rank = 0, before = 1; out.size() < most && out.size() != before; ++rank) {
      before = out.size();
      for (auto& [change, list] : by_change)
        if (rank < list.size() && out.size() < most) out.push_back(std::move(list[rank].tried));
    }
    for (const BeamEntry& t : out) seen_.insert(to_string(t.opts));
    return out;
  }

  /// Programs for lists of Opts. Those that cannot be had, or are a program that was tried already, go.
  void build(std::vector<BeamEntry>& batch) {
    std::vector<runtime::KernelSource> sources;
    const std::vector<Opt> finish =
        kernel_.epilogue_kernel ? codegen::heuristic(*kernel_.epilogue_kernel, target_) : std::vector<Opt>{};
    std::erase_if(batch, [&](const BeamEntry& t) {
      try {
        runtime::KernelSource source = codegen::generate_source(kernel_, target_, t.opts, finish);
        if (!programs_.insert(source.name).second) return true;
        sources.push_back(std::move(source));
        return false;
      } catch (const codegen::IllegalOpt&) { return true; }
    });
    std::vector<const runtime::KernelSource*> list;
    for (const runtime::KernelSource& s : sources) list.push_back(&s);
    const std::vector<runtime::CompileResult> results = tools_.build(list);
    for (size_t i = 0; i < batch.size(); ++i)
      if (results[i].ok) batch[i].candidate = timer_.prepare(tools_.load(sources[i], {}, results[i].object));
    std::erase_if(batch, [](const BeamEntry& t) { return !t.candidate; });
  }

  /// `best`: a time that it should reach, over the heuristic's.
  void measure(BeamEntry& t, double best) {
    t.ns = std::max(reference_ns_ * KernelTimer::ratio(*t.candidate, *reference_, best), t.bound);
  }

  /// Times a batch. The fastest of all are the beam then.
  void compare(std::vector<BeamEntry> batch) {
    for (BeamEntry& t : batch) {
      measure(t, std::min_element(beam_.begin(), beam_.end(), faster)->ns / reference_ns_);
      ++timed_;
      beam_.push_back(std::move(t));
    }
    std::sort(beam_.begin(), beam_.end(), faster);
    if (beam_.size() > width_) beam_.erase(beam_.begin() + static_cast<long>(width_), beam_.end());
  }

  const codegen::NormalizedKernel& kernel_;
  const runtime::Target& target_;
  const size_t width_;
  const SearchLimits limits_;
  const runtime::Toolchain& tools_;
  const KernelTimer timer_;
  codegen::Neighborhood neighborhood_;
  codegen::TimeBound bound_;
  const Clock::time_point start_ = Clock::now();
  std::unique_ptr<KernelTimer::Candidate> reference_;  ///< the heuristic's,
  double reference_ns_ = 0;                            ///< and its time
  std::vector<BeamEntry> beam_;                        ///< the fastest first
  std::set<std::string> seen_;                         ///< lists that were timed or ruled out
  std::set<std::string> programs_;                     ///< by name: equal names are equal texts
  size_t slower_ = 0, timed_ = 0;
};

/// All that a decision depends on: what is legal for the kernel, and what was measured.
runtime::Hash128 key_of(const codegen::NormalizedKernel& kernel, const runtime::Target& target, int beam,
                        const SearchLimits& limits, const std::string& compiler) {
  runtime::HashBuilder key;
  key.add("sinter search 2")
      .add(static_cast<uint64_t>(beam))
      .add(compiler)
      .add(target.key())
      .add(codegen::opt_vocabulary());
  key.add(limits.candidates).add(std::bit_cast<uint64_t>(limits.seconds)).add(std::bit_cast<uint64_t>(limits.peak));
  key.add(runtime::build_id());
  key.add(ir::dump(kernel.main.sink)).add(kernel.epilogue_kernel ? ir::dump(kernel.epilogue_kernel->sink) : "");
  for (const Dim& d : kernel.main.outer) key.add(static_cast<uint64_t>(d.symbolic() ? -1 : d.value()));
  for (const Var& v : kernel.main.vars)
    key.add(v.name()).add(static_cast<uint64_t>(v.min())).add(static_cast<uint64_t>(v.max()));
  return key.hash();
}

/// What was decided before, if it still is legal.
std::optional<std::vector<Opt>> known(const codegen::NormalizedKernel& kernel, const runtime::Hash128& key) {
  const auto text = runtime::DiskCache::current()->load(kEntry, key);
  if (!text) return std::nullopt;
  try {
    std::vector<Opt> opts = codegen::parse_opts(*text);
    if (codegen::is_legal(kernel.main, opts)) return opts;
  } catch (const UsageError&) {}
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<Opt>> search_opts(const schedule::KernelSchedule& scheduled, size_t number,
                                            const codegen::NormalizedKernel& kernel, const runtime::Target& target,
                                            int beam, const SearchLimits& limits) {
  // Not held at fork(): a search is part of a compilation, and fork() waits until that has ended (GraphUnlockedScope).
  static std::mutex& one_at_a_time = *new std::mutex;
  const std::lock_guard lock(one_at_a_time);
  for (;;) {
    const std::unique_ptr<const runtime::Toolchain> tools = runtime::cpu::toolchain(target);
    const runtime::Hash128 key = key_of(kernel, target, beam, limits, tools->id());
    if (std::optional<std::vector<Opt>> opts = known(kernel, key)) {
      if (runtime::logging(2))
        runtime::log(2, fmt::format("search: {}: decided before: {}", kernel.main.name, to_string(*opts)));
      return opts;
    }
    if (tools->fall_back()) continue;  // the key is that of another compiler then
    try {
      std::vector<Opt> opts = BeamSearch(scheduled, number, kernel, target, beam, limits, *tools).run();
      runtime::DiskCache::current()->store(kEntry, key, to_string(opts), "");
      return opts;
    } catch (const BackendError& error) {  // no memory beside the program's, or no threads to measure with
      if (runtime::logging(2))
        runtime::log(2, fmt::format("search: {}: the heuristic's Opts: {}", kernel.main.name, error.what()));
      return std::nullopt;
    }
  }
}

}  // namespace sinter::plan
