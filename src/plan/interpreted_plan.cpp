// Plans on the interpreter. Each step reads memory, evaluates, and writes memory, so it is subject to the same hazards
// as kernels.
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "interp/interpreter.h"
#include "ir/walk.h"
#include "plan/plan_entry.h"
#include "runtime/base/counters.h"
#include "runtime/base/fault_injection.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

using ir::Op;
using ir::UOp;
using runtime::Array;

struct InterpreterStep {
  UOp value;
  EvalStep::Mode mode;
  int32_t stored;
  std::vector<UOp> params;  ///< Params it reads
  size_t nodes;
};

/// A result: the position's value, and the slot that takes it, or -1.
struct InterpreterResult {
  UOp value;
  int32_t home;
};

/// What runs share.
struct InterpreterProgram {
  std::shared_ptr<ir::Arena> graph;
  std::vector<InterpreterStep> steps;
  std::vector<InterpreterResult> results;
  std::vector<Var> vars;
  size_t slots = 0;
  mutable std::mutex running;  ///< serializes runs: walks mark the arena's nodes

  std::map<std::string, int64_t> named(const std::vector<int64_t>& values) const {
    std::map<std::string, int64_t> out;
    for (size_t v = 0; v < vars.size(); ++v) out[vars[v].name()] = values[v];
    return out;
  }
};

class InterpretedExecution final : public runtime::Execution {
 public:
  explicit InterpretedExecution(const InterpreterProgram& program) : program_(program) {}

  void bind(const runtime::Bindings& bindings) override {
    bindings_ = bindings;
    vars_ = program_.named(bindings_.vars);
    for (const auto [v, home] : program_.results) {
      if (home >= 0) {
        fresh.push_back(nullptr);
        memory_.push_back(bindings_.slots[home]);
      } else {
        fresh.push_back(runtime::Buffer::allocate(
            static_cast<size_t>(runtime::count_of(sizes(v->shape))) * size_of(v->dtype), v->device));
        memory_.push_back(fresh.back().get());
      }
    }
    scratch_.resize(program_.steps.size());
  }
  void unbind() override {
    fresh.clear();
    memory_.clear();
    scratch_.clear();
    before_.clear();
  }

  /// Values between two stores need memory while the plan runs. If there is none, undoes the writes.
  uint32_t run() override {
    const std::lock_guard lock(program_.running);
    try {
      return steps();
    } catch (const OutOfMemory&) {
      put_back();
      throw;
    } catch (const std::bad_alloc&) {
      put_back();
      throw OutOfMemory("out of memory on the host, which interprets a plan");
    }
  }

 private:
  uint32_t steps() {
    uint32_t error = 0;
    for (size_t k = 0; k < program_.steps.size(); ++k) {
      const InterpreterStep& step = program_.steps[k];
      if (runtime::fault_injection().fail_at_launch == static_cast<int>(k)) {
        runtime::fault_injection().fail_at_launch = -1;
        throw BackendError("the launch failed (injected)");
      }
      Array result = evaluate(step, error);
      runtime::count(runtime::counters().nodes_interpreted, step.nodes);
      if (step.stored < 0) {
        scratch_[k] = std::move(result);
      } else if (!result.data.empty()) {
        runtime::Buffer& memory = *memory_[step.stored];
        if (step.mode == EvalStep::InPlace) memory.read(before_.emplace_back(&memory, memory.bytes()).second.data());
        memory.write(result.data.data());
      }
    }
    runtime::count(runtime::counters().launches, program_.steps.size());
    return error;
  }
  void put_back() {
    for (const auto& [memory, bytes] : before_) memory->write(bytes.data());
  }
  std::vector<int64_t> sizes(const Shape& shape) const {
    return ir::mapped(shape, [&](const Dim& d) { return d.symbolic() ? vars_.at(d.var().name()) : d.value(); });
  }

  Array evaluate(const InterpreterStep& step, uint32_t& error) {
    std::vector<Array> params(program_.slots + program_.steps.size());
    for (UOp p : step.params) {
      const auto number = static_cast<size_t>(p->integer());
      const size_t k = number - program_.slots;
      if (number >= program_.slots && program_.steps[k].stored < 0) {
        params[number] = scratch_[k];
        continue;
      }
      const runtime::Buffer* b = number < program_.slots ? bindings_.slots[number] : memory_[program_.steps[k].stored];
      params[number] = Array::read(p->dtype, sizes(p->shape), *b);
    }
    const UOp roots[] = {step.value};
    runtime::GraphInputs inputs{.params = params, .args = bindings_.args, .vars = vars_};
    return std::move(runtime::interpret(roots, inputs, {}, &error)[0]);
  }

  const InterpreterProgram& program_;
  runtime::Bindings bindings_;
  std::map<std::string, int64_t> vars_;
  std::vector<runtime::Buffer*> memory_;                                             ///< per stored value
  std::vector<Array> scratch_;                                                       ///< per step
  std::vector<std::pair<runtime::Buffer*, runtime::PoolVector<std::byte>>> before_;  ///< overwritten contents
};

class InterpretedExecutable final : public runtime::Executable {
 public:
  explicit InterpretedExecutable(std::unique_ptr<const InterpreterProgram> program) : program_(std::move(program)) {}
  std::unique_ptr<runtime::Execution> make_execution() const override {
    return std::make_unique<InterpretedExecution>(*program_);
  }

 private:
  const std::unique_ptr<const InterpreterProgram> program_;
};

}  // namespace

PlanEntry make_interpreted(const CanonicalProgram& plan, Materialization materialization, const PlanKey& plan_key,
                           const std::vector<uint8_t>& is_argument) {
  PlanEntry out;
  auto program = std::make_unique<InterpreterProgram>();
  const std::vector<EvalStep> order = order_steps(plan, materialization);
  StepGraphs cut = build_step_graphs(plan, materialization, plan_key, is_argument, order);
  program->graph = std::move(cut.graph);
  program->slots = plan.storages.size();
  for (size_t i = 0; i < plan.positions.size(); ++i)
    if (materialization.stored[i]) out.targets.push_back({static_cast<int32_t>(i), materialization.in_place[i]});
  for (const StoreTarget& t : out.targets) program->results.push_back({nullptr, t.home});
  for (const StepGraph& s : cut.steps) {
    InterpreterStep step{s.value, s.mode, s.stored, {}, 0};
    const std::vector<UOp> nodes = ir::topological(s.value);
    step.nodes = nodes.size();
    for (UOp n : nodes)
      if (n->op == Op::Param) step.params.push_back(n);
    if (s.stored >= 0) program->results[s.stored].value = s.value;
    program->steps.push_back(std::move(step));
  }
  for (size_t i = 0; i < is_argument.size(); ++i)
    if (is_argument[i]) out.arg_numbers.push_back(static_cast<uint32_t>(i));
  for (const BoundVar& v : plan_key.vars) program->vars.push_back(schedule::numbered(program->vars.size(), v.var));
  out.executable = std::make_unique<InterpretedExecutable>(std::move(program));
  return out;
}

}  // namespace sinter::plan
