// A beam search. Times are ratios to the heuristic's list, measured side by side, so errors do not accumulate over
// steps. At the end the beam is measured again, because the best of many readings is partly luck.
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
#include "codegen/tune/choose_opts.h"
#include "codegen/tune/search/neighbors.h"
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
using runtime::KernelTimer;
using Clock = std::chrono::steady_clock;

constexpr size_t kBatch = 8;         ///< candidates per beam member that are compiled together, then timed
constexpr int kFruitless = 2;        ///< batches in a row without a faster list that end the search
constexpr double kShort = 5e3;       ///< ns; shorter launches are mostly dispatch, so one batch is enough
constexpr double kWorth = 0.97;      ///< of the heuristic's time: slower lists are not worth a decision
constexpr double kNear = 1.05;       ///< times the floor: nothing left to find
constexpr double kUncached = 128e6;  ///< bytes that no cache holds: such a launch takes at least as long as a copy

constexpr char kEntry[] = "opts";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A list of Opts to time.
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

/// Values for the plan's variables: the maximum for those that the kernel loops over, as heuristics assume too.
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
    std::vector<Opt> heuristic = codegen::choose_opts(kernel_.main, target_);
    seen_.insert(to_string(heuristic));
    beam_.push_back({heuristic});
    build(beam_);
    if (beam_.empty()) return heuristic;  // does not compile: the caller finds out why
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
  /// Lower bound in ns for any list: arithmetic at its peak, and memory traffic that no cache can hold.
  double floor_of(const runtime::StepCost& cost) const {
    const runtime::cpu::Roofline roofs = runtime::cpu::cached_roofline(target_.threads);
    const auto bytes = static_cast<double>(cost.bytes);
    return std::max(cost.flops / roofs.flops, bytes < kUncached ? 0 : bytes / roofs.copy) * 1e9;
  }

  /// New neighbors of the beam whose time bound is below its best time: equally many of each kind of change, those with
  /// the lowest bounds.
  std::vector<BeamEntry> promising(size_t most) {
    struct RankedEntry {
      BeamEntry tried;
      runtime::Hash128 tie;  ///< arbitrary but stable order among equal bounds
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

  /// Compiles programs for lists of Opts. Drops those that do not compile and those whose program was tried already.
  void build(std::vector<BeamEntry>& batch) {
    std::vector<runtime::KernelSource> sources;
    const std::vector<Opt> finish =
        kernel_.epilogue_kernel ? codegen::choose_opts(*kernel_.epilogue_kernel, target_) : std::vector<Opt>{};
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

  /// `best`: the ratio to the heuristic's time that the list should reach.
  void measure(BeamEntry& t, double best) {
    t.ns = std::max(reference_ns_ * KernelTimer::ratio(*t.candidate, *reference_, best), t.bound);
  }

  /// Times a batch and keeps the fastest lists as the beam.
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
  std::unique_ptr<KernelTimer::Candidate> reference_;  ///< the heuristic's program
  double reference_ns_ = 0;                            ///< and its time
  std::vector<BeamEntry> beam_;                        ///< fastest first
  std::set<std::string> seen_;                         ///< lists that were timed or ruled out
  std::set<std::string> programs_;                     ///< by name: equal names are equal sources
  size_t slower_ = 0, timed_ = 0;
};

/// Everything a decision depends on: what is legal for the kernel, and what is measured.
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

/// The stored decision, if it is still legal.
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
  // Not held at fork(): a search is part of a compilation, and fork() waits for its end (GraphUnlockedScope).
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
    if (tools->fall_back()) continue;  // the key names another compiler now
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
