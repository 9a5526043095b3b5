// A beam search. Times are ratios to the heuristic's list, measured side by side, so errors do not accumulate over
// steps. At the end the beam is measured again, because the best of many readings is partly luck.
#include "plan/beam_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "codegen/loopschedule/opt_parse.h"
#include "codegen/nest/loop_tree.h"
#include "ir/dump.h"
#include "plan/opt_source.h"
#include "runtime/base/build_id.h"
#include "runtime/base/disk_cache.h"
#include "runtime/base/log.h"
#include "runtime/exec/devices.h"
#include "runtime/exec/kernel_timer.h"
#include "runtime/program/toolchain.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

using codegen::Opt;
using runtime::KernelTimer;
using Clock = std::chrono::steady_clock;

constexpr size_t kBatch = 8;     ///< candidates per beam member that are compiled together, then timed
constexpr int kFruitless = 2;    ///< batches in a row without a faster list that end the search
constexpr double kShort = 5e3;   ///< ns; shorter launches are mostly dispatch, so one batch is enough
constexpr double kWorth = 0.97;  ///< of the heuristic's time: slower lists are not worth a decision
constexpr double kNear = 1.05;   ///< times the floor: nothing left to find

constexpr char kEntry[] = "opts";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A list of Opts that is timed.
struct BeamEntry {
  OptProposal list;
  std::unique_ptr<KernelTimer::Candidate> candidate = nullptr;
  double ns = 0;
};

bool faster(const BeamEntry& a, const BeamEntry& b) { return a.ns < b.ns; }

size_t step_of(const runtime::Plan& plan, size_t number) {
  const auto runs = [&](const runtime::PlanStep& s) { return s.program == static_cast<int>(number); };
  return static_cast<size_t>(std::ranges::find_if(plan.steps, runs) - plan.steps.begin());
}

/// Values for the plan's variables: the maximum for those that the kernel loops over, as heuristics assume too.
std::vector<int64_t> vars_of(const schedule::KernelSchedule& scheduled, size_t number) {
  const runtime::PlanStep& step = scheduled.plan.steps[step_of(scheduled.plan, number)];
  std::vector<int64_t> values;
  const auto set = [&](int var, int64_t value) {
    if (values.size() <= static_cast<size_t>(var)) values.resize(static_cast<size_t>(var) + 1, 1);
    values[var] = value;
  };
  for (int b : step.buffers)
    for (const runtime::PlanDim& d : scheduled.plan.buffers[b].shape)
      if (d.var >= 0) set(d.var, 1);
  for (const runtime::PlanDim& d : step.outer)
    if (d.var >= 0) set(d.var, 1);
  for (size_t i = 0; i < step.vars.size(); ++i) set(step.vars[i], scheduled.kernels[number].vars[i].max());
  return values;
}

std::unique_ptr<OptSource> source_for(const codegen::Kernel& kernel, const runtime::Target& target, double peak) {
  return target.cuda() ? best_by_model(kernel, target) : neighbors_of_heuristic(kernel, target, peak);
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
        source_(source_for(kernel.main, target, limits.peak)) {}

  std::vector<Opt> run() {
    const size_t batch = std::min(kBatch, limits_.candidates) * width_;
    std::vector<OptProposal> lists = source_->first(batch);
    std::vector<Opt> heuristic = lists.front().opts;
    std::vector<BeamEntry> started = build(std::move(lists));
    take_reference(started);
    if (!reference_ && !refusal_.empty()) throw BackendError(refusal_);
    if (!reference_) return heuristic;  // does not compile: the caller finds out why
    const std::vector<Opt> first = beam_[0].list.opts;
    const double near = kNear * source_->floor(KernelTimer::cost(*reference_));
    const double most = limits_.seconds * static_cast<double>(width_);
    const size_t count = reference_ns_ < kShort ? batch : limits_.candidates * width_;
    compare(std::move(started));
    for (int fruitless = 0;
         fruitless < kFruitless && beam_[0].ns > near && timed_ < count && seconds_since(start_) < most;) {
      const double fastest = beam_[0].ns;
      std::vector<OptProposal> more = source_->next(opts_of_beam(), fastest, std::min(kBatch * width_, count - timed_));
      if (more.empty()) break;
      compare(build(std::move(more)));
      fruitless = beam_[0].ns < fastest ? 0 : fruitless + 1;
    }
    for (BeamEntry& t : beam_)
      if (t.candidate) measure(t, 1);
    std::ranges::sort(beam_, faster);
    const bool better = beam_[0].ns < kWorth * reference_ns_;
    std::vector<Opt> chosen = better ? beam_[0].list.opts : first;
    if (runtime::logging(2))
      runtime::log(
          2, fmt::format(
                 "search: {}: {:.1f} us instead of {:.1f} with {}; timed {} lists (at most {}), ruled out {} by their "
                 "bounds, in {:.1f} s (at most {:.0f})",
                 kernel_.main.name, (better ? beam_[0].ns : reference_ns_) * 1e-3, reference_ns_ * 1e-3,
                 chosen == heuristic ? "the heuristic's Opts" : to_string(chosen), timed_, count, source_->ruled_out(),
                 seconds_since(start_), most));
    return chosen;
  }

 private:
  /// Compiles and loads programs for lists of Opts. Leaves out those that do not compile, those that the device
  /// rejects, and those whose program was tried already.
  std::vector<BeamEntry> build(std::vector<OptProposal> lists) {
    std::vector<BeamEntry> batch;
    std::vector<runtime::KernelSource> sources;
    for (OptProposal& list : lists) try {
        runtime::KernelSource source = codegen::generate_source(
            kernel_, target_, list.opts, codegen::choose_epilogue_opts(kernel_, target_, list.opts));
        if (!programs_.insert(source.name).second) continue;
        sources.push_back(std::move(source));
        batch.push_back({std::move(list)});
      } catch (const codegen::IllegalOpt&) {}
    std::vector<const runtime::KernelSource*> texts;
    for (const runtime::KernelSource& s : sources) texts.push_back(&s);
    const std::vector<runtime::CompileResult> results = tools_.build(texts);
    for (size_t i = 0; i < batch.size(); ++i)
      if (results[i].ok)
        runs(batch[i], [&] { batch[i].candidate = timer_.prepare(tools_.load(sources[i], {}, results[i].object)); });
    std::erase_if(batch, [](const BeamEntry& t) { return !t.candidate; });
    return batch;
  }

  /// Does something with a list's program. False if the device refuses it, as one that takes more registers or shared
  /// memory than there are. A lack of memory is the search's fault, not the list's.
  template <class Use>
  bool runs(const BeamEntry& t, Use use) try {
    use();
    return true;
  } catch (const OutOfMemory&) { throw; } catch (const BackendError& error) {
    if (refusal_.empty()) refusal_ = error.what();
    if (runtime::logging(2))
      runtime::log(2,
                   fmt::format("search: {}: left out {}: {}", kernel_.main.name, to_string(t.list.opts), error.what()));
    return false;
  }

  /// The first program that runs is what the others are compared with, and the beam. It leaves the batch, as do those
  /// before it.
  void take_reference(std::vector<BeamEntry>& batch) {
    while (!reference_ && !batch.empty()) {
      BeamEntry t = std::move(batch.front());
      batch.erase(batch.begin());
      if (!runs(t, [&] { t.ns = reference_ns_ = KernelTimer::time(*t.candidate); })) continue;
      reference_ = std::move(t.candidate);
      beam_.push_back(std::move(t));
    }
  }

  /// `best`: the ratio to the reference's time that the list should reach.
  void measure(BeamEntry& t, double best) const {
    t.ns = std::max(reference_ns_ * KernelTimer::ratio(*t.candidate, *reference_, best), t.list.bound);
  }

  /// Times a batch and keeps the fastest lists as the beam.
  void compare(std::vector<BeamEntry> batch) {
    for (BeamEntry& t : batch) {
      const double best = std::ranges::min_element(beam_, faster)->ns / reference_ns_;
      if (!runs(t, [&] { measure(t, best); })) continue;
      ++timed_;
      beam_.push_back(std::move(t));
    }
    std::ranges::sort(beam_, faster);
    if (beam_.size() > width_) beam_.erase(beam_.begin() + static_cast<long>(width_), beam_.end());
  }

  std::vector<std::vector<Opt>> opts_of_beam() const {
    return ir::mapped(beam_, [](const BeamEntry& t) { return t.list.opts; });
  }

  const codegen::NormalizedKernel& kernel_;
  const runtime::Target& target_;
  const size_t width_;
  const SearchLimits limits_;
  const runtime::Toolchain& tools_;
  const KernelTimer timer_;
  const std::unique_ptr<OptSource> source_;
  const Clock::time_point start_ = Clock::now();
  std::unique_ptr<KernelTimer::Candidate> reference_;  ///< the heuristic's program
  double reference_ns_ = 0;                            ///< and its time
  std::vector<BeamEntry> beam_;                        ///< fastest first
  std::set<std::string> programs_;                     ///< by name: equal names are equal sources
  std::string refusal_;                                ///< the first one of the device
  size_t timed_ = 0;
};

/// Everything a decision depends on: what is legal for the kernel, and what is measured.
runtime::Hash128 key_of(const codegen::NormalizedKernel& kernel, const runtime::Target& target, Device device, int beam,
                        const SearchLimits& limits, const std::string& compiler) {
  runtime::HashBuilder key;
  key.add("sinter search 3")
      .add(static_cast<uint64_t>(beam))
      .add(compiler)
      .add(target.key())
      .add(runtime::model_of(device))
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
    const std::unique_ptr<const runtime::Toolchain> tools = runtime::toolchain_for(target);
    const runtime::Hash128 key = key_of(kernel, target, scheduled.plan.device, beam, limits, tools->id());
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
