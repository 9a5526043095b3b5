// Plans on the interpreter. Each step reads memory, evaluates, and writes memory, so it is subject to the same hazards
// as kernels.
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "interp/interpreter.h"
#include "ir/denormals.h"
#include "ir/walk.h"
#include "plan/executable.h"
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

class InterpretedExecutable final : public Executable {
 public:
  InterpretedExecutable(const CanonicalProgram& plan, Materialization materialization, const PlanKey& plan_key,
                        const std::vector<uint8_t>& is_argument) {
    const std::vector<EvalStep> order = order_steps(plan, materialization);
    StepGraphs cut = build_step_graphs(plan, materialization, plan_key, is_argument, order);
    graph_ = std::move(cut.graph);
    slots_ = plan.storages.size();
    for (const StepGraph& s : cut.steps) {
      InterpreterStep step{s.value, s.mode, s.stored, {}, 0};
      const std::vector<UOp> nodes = ir::topological(s.value);
      step.nodes = nodes.size();
      for (UOp n : nodes)
        if (n->op == Op::Param) step.params.push_back(n);
      steps_.push_back(std::move(step));
    }
    for (size_t i = 0; i < plan.positions.size(); ++i)
      if (materialization.stored[i]) targets.push_back({static_cast<int32_t>(i), materialization.in_place[i]});
    values_.resize(targets.size());
    for (const InterpreterStep& s : steps_)
      if (s.stored >= 0) values_[static_cast<size_t>(s.stored)] = s.value;
    for (size_t i = 0; i < is_argument.size(); ++i)
      if (is_argument[i]) arg_numbers.push_back(static_cast<uint32_t>(i));
    for (const BoundVar& v : plan_key.vars) vars_.push_back(schedule::numbered(vars_.size(), v.var));
  }

  std::unique_ptr<Execution> make_execution() const override;

  std::map<std::string, int64_t> named(const std::vector<int64_t>& values) const {
    std::map<std::string, int64_t> out;
    for (size_t v = 0; v < vars_.size(); ++v) out[vars_[v].name()] = values[v];
    return out;
  }

  std::shared_ptr<ir::Arena> graph_;
  std::vector<InterpreterStep> steps_;
  std::vector<UOp> values_;  ///< per target
  std::vector<Var> vars_;
  size_t slots_ = 0;
  mutable std::mutex running_;  ///< serializes runs: walks mark the arena's nodes
};

class InterpretedExecution final : public Execution {
 public:
  explicit InterpretedExecution(const InterpretedExecutable& plan) : plan_(plan) {}

  void bind(const Bindings& bindings) override {
    bindings_ = bindings;
    vars_ = plan_.named(bindings_.vars);
    for (size_t i = 0; i < plan_.targets.size(); ++i) {
      if (plan_.targets[i].home >= 0) {
        fresh.push_back(nullptr);
        memory_.push_back(bindings_.slots[static_cast<size_t>(plan_.targets[i].home)]);
      } else {
        UOp v = plan_.values_[i];
        fresh.push_back(runtime::Buffer::allocate(
            static_cast<size_t>(runtime::count_of(sizes(v->shape))) * size_of(v->dtype), v->device));
        memory_.push_back(fresh.back().get());
      }
    }
    scratch_.resize(plan_.steps_.size());
  }
  void unbind() override {
    fresh.clear();
    memory_.clear();
    scratch_.clear();
    before_.clear();
  }

  /// Values between two stores need memory while the plan runs. If there is none, undoes the writes.
  uint32_t run() override {
    const std::lock_guard lock(plan_.running_);
    const ir::FlushDenormals zeros(plan_.flushes);
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
    for (size_t k = 0; k < plan_.steps_.size(); ++k) {
      const InterpreterStep& step = plan_.steps_[k];
      if (runtime::fault_injection().fail_at_launch == static_cast<int>(k)) {
        runtime::fault_injection().fail_at_launch = -1;
        throw BackendError("the launch failed (injected)");
      }
      Array result = evaluate(step, error);
      runtime::count(runtime::counters().nodes_interpreted, step.nodes);
      if (step.stored < 0) {
        scratch_[k] = std::move(result);
      } else if (!result.data.empty()) {
        runtime::Buffer& memory = *memory_[static_cast<size_t>(step.stored)];
        if (step.mode == EvalStep::InPlace) memory.read(before_.emplace_back(&memory, memory.bytes()).second.data());
        memory.write(result.data.data());
      }
    }
    runtime::count(runtime::counters().launches, plan_.steps_.size());
    return error;
  }
  void put_back() {
    for (const auto& [memory, bytes] : before_) memory->write(bytes.data());
  }
  std::vector<int64_t> sizes(const Shape& shape) const {
    std::vector<int64_t> out;
    for (const Dim& d : shape) out.push_back(d.symbolic() ? vars_.at(d.var().name()) : d.value());
    return out;
  }

  Array evaluate(const InterpreterStep& step, uint32_t& error) {
    std::vector<Array> params(plan_.slots_ + plan_.steps_.size());
    for (UOp p : step.params) {
      const auto number = static_cast<size_t>(p->integer());
      const size_t k = number - plan_.slots_;
      if (number >= plan_.slots_ && plan_.steps_[k].stored < 0) {
        params[number] = scratch_[k];
        continue;
      }
      const runtime::Buffer* b =
          number < plan_.slots_ ? bindings_.slots[number] : memory_[static_cast<size_t>(plan_.steps_[k].stored)];
      params[number] = Array::read(p->dtype, sizes(p->shape), *b);
    }
    const UOp roots[] = {step.value};
    runtime::GraphInputs inputs{.params = params, .args = bindings_.args, .vars = vars_};
    return std::move(runtime::interpret(roots, inputs, {}, &error)[0]);
  }

  const InterpretedExecutable& plan_;
  Bindings bindings_;
  std::map<std::string, int64_t> vars_;
  std::vector<runtime::Buffer*> memory_;                                             ///< per stored value
  std::vector<Array> scratch_;                                                       ///< per step
  std::vector<std::pair<runtime::Buffer*, runtime::PoolVector<std::byte>>> before_;  ///< overwritten contents
};

std::unique_ptr<Execution> InterpretedExecutable::make_execution() const {
  return std::make_unique<InterpretedExecution>(*this);
}

}  // namespace

std::unique_ptr<Executable> make_interpreted(const CanonicalProgram& plan, Materialization materialization,
                                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument) {
  return std::make_unique<InterpretedExecutable>(plan, std::move(materialization), plan_key, is_argument);
}

}  // namespace sinter::plan
