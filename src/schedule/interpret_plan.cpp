// The buffers of a plan are arrays; the steps run one after the other.
#include "schedule/interpret_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "codegen/normalize/normalize.h"
#include "interp/interpreter.h"
#include "interp/sample.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "rewrite/rewriter.h"
#include "rewrite/rules/rules.h"
#include "runtime/base/counters.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/log.h"
#include "runtime/exec/buffer.h"
#include "runtime/exec/devices.h"
#include "runtime/exec/executable_plan.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

using runtime::Array;

/// Elements of all nodes together above which a plan is not interpreted: about a second. The lower limit is for graphs
/// with expanded math functions, which take about ten nodes each.
constexpr double kMaxElements = 1 << 20, kMaxExpanded = 1 << 16;
constexpr std::byte kGarbage{0x5a};

std::map<std::string, int64_t> named(const PlanGraph& plan, const std::vector<int64_t>& values) {
  std::map<std::string, int64_t> out;
  for (size_t i = 0; i < plan.vars.size(); ++i) out[plan.vars[i].name()] = values[i];
  return out;
}

struct NullLogSink final : runtime::LogSink {
  void write(int, std::string_view) override {}
};

/// Hides a checking run from the program: no counts, no log lines, no injected failure. One at a time. Counts and log
/// lines of other threads may be lost meanwhile.
class QuietRun {
 public:
  QuietRun() : alone_(mutex()), log_(runtime::set_log_sink(&silence())) {}
  ~QuietRun() {
    runtime::set_log_sink(log_);
    runtime::counters().launches = launches_;
    runtime::counters().bytes_moved = moved_;
    runtime::fault_injection().fail_at_launch = failing_;
  }
  QuietRun(const QuietRun&) = delete;
  QuietRun& operator=(const QuietRun&) = delete;

 private:
  static std::mutex& mutex() {
    static auto& only = *new std::mutex;
    return only;
  }
  static NullLogSink& silence() {  // never destroyed: others may write to it late
    static auto& only = *new NullLogSink;
    return only;
  }

  const std::lock_guard<std::mutex> alone_;
  runtime::LogSink* const log_;
  const uint64_t launches_ = runtime::counters().launches, moved_ = runtime::counters().bytes_moved;
  const int failing_ = std::exchange(runtime::fault_injection().fail_at_launch, -1);
};

/// Sampled inputs; none if the plan has more elements than `most_elements`.
std::optional<PlanInputs> sample_inputs(const PlanGraph& plan, double most_elements) {
  PlanInputs in;
  for (const Var& v : plan.vars) in.vars.push_back(runtime::sample_size(v));
  const auto sizes = [&](const Shape& shape) {
    std::vector<int64_t> out;
    for (const Dim& d : shape) {
      const auto v = d.symbolic() ? std::ranges::find(plan.vars, d.var()) : plan.vars.end();
      out.push_back(v == plan.vars.end() ? d.value() : in.vars[v - plan.vars.begin()]);
    }
    return out;
  };
  double elements = 0;
  for (UOp n : ir::topological(values_of(plan))) {
    double count = 1;
    for (int64_t d : sizes(n->shape)) count *= static_cast<double>(d);
    if ((elements += count) > most_elements) return {};
  }
  for (const PlanSlot& s : plan.slots)
    in.slots.push_back(runtime::sample(s.dtype, sizes(s.shape), in.slots.size() + 1));
  for (DType d : plan.args) in.args.push_back(runtime::sample_argument(d));
  return in;
}

}  // namespace

PlanValues interpret_plan(const PlanGraph& plan, const PlanInputs& in) {
  PlanValues out;
  out.outputs = runtime::interpret(values_of(plan), {in.slots, in.args, named(plan, in.vars), {}}, {.exact_tree = true},
                                   &out.error);
  return out;
}

PlanValues interpret_steps(const KernelSchedule& s, const PlanInputs& in, bool written) {
  std::vector<Array> memory = in.slots;
  for (size_t b = memory.size(); b < s.plan.buffers.size(); ++b) {
    std::vector<int64_t> shape;
    for (const runtime::PlanDim& d : s.plan.buffers[b].shape) shape.push_back(d.at(in.vars));
    memory.emplace_back(s.plan.buffers[b].dtype, std::move(shape));
    std::ranges::fill(memory.back().data, is_bool(memory.back().dtype) ? std::byte{1} : kGarbage);
  }
  PlanValues out;
  for (const runtime::PlanStep& step : s.plan.steps) {
    const codegen::Kernel& kernel = s.kernels[step.program];
    std::vector<runtime::KernelBuffer> params;
    for (int b : step.buffers) {
      Array& a = memory[b];
      params.push_back({a.data, a.dtype, a.shape});
    }
    std::vector<ir::Scalar> args;
    for (int a : step.args) args.push_back(in.args[a]);
    for (int64_t offset : step.offsets) args.push_back(ir::Scalar::of(DType::Index, offset));
    std::map<std::string, int64_t> vars;
    for (size_t v = 0; v < kernel.vars.size(); ++v) vars[kernel.vars[v].name()] = in.vars[step.vars[v]];
    runtime::KernelInputs inputs{params, vars, args, &out.error};
    if (written) inputs.lower_combine = codegen::expand_math;
    for (UOp sink : {kernel.sink, kernel.epilogue_sink})
      if (sink) runtime::interpret_kernel(sink, inputs);
  }
  for (int b : s.plan.outputs) out.outputs.push_back(memory[b]);
  for (size_t b = 0; b < in.slots.size(); ++b)
    if (!ir::contains(s.plan.outputs, static_cast<int>(b)) && memory[b].data != in.slots[b].data)
      throw InternalError(fmt::format("a plan wrote into slot {}, which is no output's home", b));
  return out;
}

void check_values(const PlanGraph& plan, const KernelSchedule& scheduled) {
  const std::optional<PlanInputs> in = sample_inputs(plan, kMaxElements);
  if (!in) return;
  const PlanValues expected = interpret_plan(plan, *in), got = interpret_steps(scheduled, *in);
  for (size_t i = 0; i < got.outputs.size(); ++i)
    if (!runtime::same_values(got.outputs[i], expected.outputs[i]))
      throw InternalError(fmt::format("scheduling: the kernels of a plan give other values for output {}", i));
  // The kernels may raise fewer errors: no output needs the indices of dead elements.
  if (got.error & ~expected.error)
    throw InternalError("scheduling: the kernels of a plan raise errors that the plan does not raise");
}

void check_programs(const PlanGraph& plan, KernelSchedule scheduled) {
  const std::optional<PlanInputs> in = sample_inputs(plan, kMaxExpanded);
  if (!in) return;
  for (codegen::Kernel& k : scheduled.kernels)  // as codegen begins; its later passes preserve every bit
    for (UOp* sink : {&k.sink, &k.epilogue_sink})
      if (*sink) {
        *sink = codegen::widen_short_floats(*k.graph, ir::rewrite(*k.graph, *sink, ir::simplify_rules(), "check"));
        *sink = codegen::expand_math(*k.graph, *sink);
      }
  const PlanValues expected = interpret_steps(scheduled, *in, true);

  const QuietRun quiet;
  std::vector<std::unique_ptr<runtime::Buffer>> memory;
  runtime::Bindings bindings{.slots = {}, .args = in->args, .vars = in->vars, .origins = {}, .unchanged_slots = {}};
  for (const Array& a : in->slots) {
    bindings.slots.push_back(
        memory.emplace_back(runtime::Buffer::allocate(a.data.size(), scheduled.plan.device)).get());
    bindings.slots.back()->write(a.data.data());
  }
  runtime::PlanSignature signature{plan.args, {}};
  for (const int buffer : scheduled.plan.outputs)
    signature.results.push_back({buffer, static_cast<size_t>(buffer) < memory.size() ? buffer : -1});
  const runtime::ExecutablePlan executable(scheduled.plan, signature);
  const std::unique_ptr<runtime::Execution> run = executable.make_execution();
  run->bind(bindings);
  uint32_t error = run->run();
  if (run->error) run->error->read(&error);

  for (size_t i = 0; i < expected.outputs.size(); ++i) {
    Array got(expected.outputs[i].dtype, expected.outputs[i].shape);
    const int home = signature.results[i].home;
    const runtime::Buffer& from = home >= 0 ? *memory[home] : *run->fresh[i];
    runtime::copy(Device::cpu(), got.data.data(), scheduled.plan.device, from.data(), got.data.size());
    if (!runtime::same_values(got, expected.outputs[i]))
      throw InternalError(fmt::format("compiling: the programs of a plan give other values for output {}", i));
  }
  if (error != expected.error)
    throw InternalError("compiling: the programs of a plan raise other errors than their kernels");
}

}  // namespace sinter::schedule
