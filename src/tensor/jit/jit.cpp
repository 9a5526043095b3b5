// Plans of jitted functions: when to run the function, when to replay its plan.
#include "sinter/jit.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "ir/denormals.h"
#include "ir/matmul_precision.h"
#include "runtime/base/env.h"
#include "sinter/debug.h"
#include "tensor/core/cell_version.h"
#include "tensor/core/user_call.h"
#include "tensor/eval/in_flight.h"
#include "tensor/eval/realize.h"
#include "tensor/jit/capture.h"
#include "tensor/jit/replay.h"
#include "tensor/jit/size_notice.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

constexpr int kMaxPrograms = 4;  ///< differing programs in a row: no longer an effect of the first calls
constexpr int kMaxWaits = 64;    ///< waits for plans in flight before the function runs instead of its plan

/// What the function is called with.
struct CallInputs {
  std::span<const Tensor> tensors;
  std::span<const Dim> given;  ///< sizes beside the tensors
  CallSizes sizes{tensors, given};
};

/// The inputs and settings that one plan is for.
struct Signature {
  struct Input {
    DType dtype;
    CapturedShape shape;
    Device device;
    size_t memory;  ///< index of the first input with the same memory
    bool requires_grad;
  };
  std::vector<Input> inputs;
  CapturedShape given;
  bool grad;
  bool flush;
  debug::Executor executor;
  DType autocast;
  bool tf32;
};

size_t memory_of(std::span<const Tensor> inputs, UOp n) {
  size_t memory = 0;
  while (inputs[memory].cell()->node->storage() != n->storage()) ++memory;
  return memory;
}

Signature signature_of(const CallInputs& call) {
  Signature out{{}, {}, grad_enabled(), flush_denormals(), debug::executor(), autocast_type(), allows_tf32()};
  for (const Tensor& t : call.tensors) {
    const UOp n = t.cell()->node.get();
    out.inputs.push_back(
        {n->dtype, call.sizes.capture(n->shape), n->device, memory_of(call.tensors, n), n->state.requires_grad});
  }
  for (const Dim& d : call.given) out.given.push_back(call.sizes.capture(d));
  return out;
}

/// Whether the inputs and the current settings have this signature, whatever the values of symbolic sizes.
bool matches(const Signature& signature, const CallInputs& call) {
  if (signature.grad != grad_enabled() || signature.flush != flush_denormals() ||
      signature.executor != debug::executor() || signature.autocast != autocast_type() ||
      signature.tf32 != allows_tf32())
    return false;
  const auto same = [&](const Signature::Input& a, const Tensor& t) {
    const UOp n = t.cell()->node.get();
    return a.dtype == n->dtype && call.sizes.match(a.shape, n->shape.dims()) && a.device == n->device &&
           a.memory == memory_of(call.tensors, n) && a.requires_grad == n->state.requires_grad;
  };
  return std::equal(signature.inputs.begin(), signature.inputs.end(), call.tensors.begin(), call.tensors.end(), same) &&
         call.sizes.match(signature.given, call.given);
}

/// A program and the caches of its runs. Runs share its ownership: another program may replace it meanwhile.
struct SharedPlan {
  CapturedPlan captured;
  std::vector<std::unique_ptr<InvariantCache>> idle = {};  ///< of runs that ended; one per concurrent run
};

struct JitEntry {
  Signature signature;
  std::shared_ptr<SharedPlan> plan;
  std::vector<Dim> sizes = {};                   ///< symbolic sizes of the last call that built it
  std::vector<uint8_t> varied = {};              ///< per size, whether it was built at another value too
  bool by_size = false;                          ///< other values gave other programs: it is only for these
  bool confirmed = false;                        ///< two calls in a row whose tensors fit it built it
  int mismatches = 0;                            ///< consecutive calls that each built another program
  std::optional<CapturedPlan> alternative = {};  ///< built by the last call, whose tensors did not fit this program

  /// Whether it is the program for these values: no number that the function made of a size has been seen to differ.
  bool covers(const CallSizes& now) const {
    for (size_t i = 0; i < sizes.size(); ++i)
      if (!(sizes[i] == now.all()[i]) && (by_size || !varied[i])) return false;
    return true;
  }
  void built_at(const CallSizes& now, bool same) {
    varied.resize(now.all().size());
    for (size_t i = 0; i < varied.size(); ++i)
      varied[i] = same && i < sizes.size() && (varied[i] || !(sizes[i] == now.all()[i]));
    sizes.assign(now.all().begin(), now.all().end());
  }
};

/// Takes an idle cache for one run, and returns it when the run ends. Null at first if none is idle.
class CacheLease {
 public:
  explicit CacheLease(std::shared_ptr<SharedPlan> plan) : plan_(std::move(plan)) {
    if (plan_->idle.empty()) return;
    cache_ = std::move(plan_->idle.back());
    plan_->idle.pop_back();
  }
  ~CacheLease() {
    if (cache_) plan_->idle.push_back(std::move(cache_));
  }
  CacheLease(const CacheLease&) = delete;
  CacheLease& operator=(const CacheLease&) = delete;
  std::unique_ptr<InvariantCache>& get() { return cache_; }

 private:
  const std::shared_ptr<SharedPlan> plan_;
  std::unique_ptr<InvariantCache> cache_;
};

/// Whether both write the same slots in place. That depends on who else holds the old values.
bool writes_alike(const CapturedPlan& a, const CapturedPlan& b) {
  const auto same = [](const SlotSource& x, const SlotSource& y) { return x.written == y.written; };
  return std::equal(a.slots.begin(), a.slots.end(), b.slots.begin(), b.slots.end(), same);
}

/// Throws UsageError if the programs of equal sizes differ only in numbers.
bool same_program(const CapturedPlan& a, const CapturedPlan& b, bool equal_sizes) {
  if (a.key != b.key || a.results != b.results || a.cells.size() != b.cells.size()) return false;
  for (size_t i = 0; i < a.cells.size(); ++i)
    if (a.cells[i].cell.lock() != b.cells[i].cell.lock() || a.cells[i].node != b.cells[i].node) return false;
  for (size_t i = 0; i < a.slots.size(); ++i)
    if (a.slots[i].input != b.slots[i].input || a.slots[i].number != b.slots[i].number) return false;
  for (size_t i = 0; i < a.vars.size(); ++i)
    if (!(a.vars[i] == b.vars[i])) {
      if (!equal_sizes || a.vars[i].number != b.vars[i].number) return false;
      usage_error(
          "a symbolic size that the jitted function binds itself was {} in one call and {} in the next, "
          "and what it will "
          "be is unknown; bind it to an axis of an input, or pass it: the function may take a const Dim& "
          "beside tensors",
          a.vars[i].dim.value(), b.vars[i].dim.value());
    }
  if (a.targets != b.targets || a.randoms != b.randoms || a.steps != b.steps) return false;
  for (size_t i = 0; i < a.numbers.size(); ++i)
    if (!(a.numbers[i] == b.numbers[i])) {
      if (!equal_sizes) return false;
      usage_error(
          "a number of the jitted function was {} in one call and {} in the next, and what it will be "
          "is unknown; pass it as a tensor",
          a.numbers[i].as_double(), b.numbers[i].as_double());
    }
  return a.entry == b.entry;
}

/// Realizes what the thread has assigned, and those of the tensors that wait. Neither is part of the function's
/// program.
void realize_pending(std::span<const Tensor> tensors) {
  for (std::vector<UOp> waiting = assigned_versions([](const Cell&) { return false; });; waiting.clear()) {
    for (const Tensor& t : tensors)  // repeat if another thread has assigned one meanwhile
      if (UOp n = node_of(t); !n->storage()) waiting.push_back(n);
    if (waiting.empty()) return;
    tensor::realize(waiting);
  }
}

/// Lets one thread at a time run the function and learn its program. While it compiles what the function built, others
/// would meet versions that are assigned and not yet computed. Inside a GraphScope.
class RunLock {
 public:
  /// Waits while another thread has the lock; false if none had.
  bool wait() {
    bool waited = false;
    while (taken_ && process_ == getpid()) {  // a forked child does not inherit that thread
      const GraphPause pause;
      taken_.wait(waited = true);
    }
    return waited;
  }
  void lock() {
    taken_ = true;
    process_ = getpid();
  }
  void unlock() {
    taken_ = false;
    taken_.notify_all();
  }

 private:
  std::atomic<bool> taken_ = false;
  pid_t process_ = 0;
};

}  // namespace

struct JitPlans::Known {
  std::vector<JitEntry> programs;
  RunLock run_lock;

  JitEntry* find(const CallInputs& call) {
    for (JitEntry& p : programs)
      if (matches(p.signature, call) && (!p.by_size || p.covers(call.sizes))) return &p;
    return nullptr;
  }
  /// `known`: the entry of the signature, or null. `was_ready`: whether the call's tensors fitted the known program. If
  /// they did not, perhaps because somebody held an old value, the program built counts against the known one only if
  /// the next call builds it again.
  void learn(JitEntry* known, const CallInputs& call, CapturedPlan captured, bool was_ready) {
    auto plan = [&] { return std::make_shared<SharedPlan>(SharedPlan{std::move(captured)}); };
    if (!known) {
      const auto other = [&](const JitEntry& p) { return matches(p.signature, call); };
      const bool by_size = std::ranges::any_of(programs, other);
      known = &programs.emplace_back(JitEntry{.signature = signature_of(call), .plan = plan(), .by_size = by_size});
      return known->built_at(call.sizes, false);
    }
    const CapturedPlan& old = known->plan->captured;
    const bool equal_sizes = std::ranges::equal(known->sizes, call.sizes.all()),
               same = same_program(old, captured, equal_sizes),
               again = same ||
                       (!was_ready && known->alternative && same_program(*known->alternative, captured, equal_sizes));
    if (!again && !was_ready) return known->alternative = std::move(captured), void();
    known->alternative.reset();
    if (again) {
      known->confirmed = true;
      known->mismatches = 0;
    } else if (writes_alike(old, captured) && ++known->mismatches >= kMaxPrograms) {
      known->mismatches = 0;
      if (equal_sizes)
        usage_error(
            "the jitted function built another program at each of {} calls in a row; jit a part that does "
            "the same every time",
            kMaxPrograms + 1);
      notice_by_size(known->sizes, call.sizes.all());
      known->by_size = true;
      known->confirmed = false;
    } else {
      known->confirmed = false;
    }
    known->built_at(call.sizes, same);
    known->plan = plan();
  }
};

JitPlans::JitPlans() : known_(std::make_unique<Known>()) {}
JitPlans::~JitPlans() = default;
JitPlans::JitPlans(JitPlans&&) noexcept = default;
JitPlans& JitPlans::operator=(JitPlans&&) noexcept = default;

std::vector<Tensor> JitPlans::call(const Function& function, std::span<const Tensor> inputs, std::span<const Dim> given,
                                   Loc where) {
  const Call call("jit", where);
  if (Capture::current()) usage_error("a jitted function calls another one; jit the outer one alone");
  const CallInputs now{inputs, given};
  JitEntry* known = nullptr;
  bool was_ready = false;
  for (int waits = 0;;) {
    realize_pending(inputs);
    known = known_->find(now);
    was_ready = false;
    if (known) {
      const std::shared_ptr<SharedPlan> plan = known->plan;
      Replay replay(plan->captured, inputs, now.sizes);
      const Replay::Readiness ready = replay.ready();
      if (ready == Replay::Readiness::Later && waits++ < kMaxWaits) {
        InFlightPlan::wait();
        continue;
      }
      was_ready = ready == Replay::Readiness::Yes;
      if (was_ready && known->confirmed && known->covers(now.sizes) && !runtime::env().check &&
          !debug::detect_anomaly::enabled()) {
        known->alternative.reset();
        CacheLease cache(plan);
        return replay.run(cache.get());
      }
    }
    if (!known_->run_lock.wait()) break;
  }

  known_->run_lock.lock();
  struct RunLockGuard {
    RunLock& run_lock;
    ~RunLockGuard() { run_lock.unlock(); }
  };
  const RunLockGuard guard{known_->run_lock};
  // A model's new parameters: as part of the function's program they would be computed anew in each call.
  // Held as nodes: a handle to what another thread's function makes would look like one that escapes.
  for (std::vector<UOp> leaves; !(leaves = pending_leaves()).empty();) tensor::realize(leaves);
  std::vector<Tensor> fresh;  // cells that tell inputs from tensors that the function uses besides
  for (const Tensor& t : inputs) fresh.push_back(wrap(t.cell()->node.get()));
  Capture capture(fresh, now.sizes);
  std::vector<Tensor> results = call_program_in_scope([&] { return function(fresh); });
  capture.on_return(results);
  realize_pending(results);
  capture.keep_steps();
  if (capture.captured.entry) known_->learn(known, now, std::move(capture.captured), was_ready);
  return results;
}

}  // namespace sinter::inline v0
