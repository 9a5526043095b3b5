// Memory of a plan as arrays, a step after the other.
#include "schedule/interpret_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>

#include "runtime/interpreter.h"
#include "runtime/sample.h"
#include "sinter/error.h"
#include "uop/walk.h"

namespace sinter::schedule {
namespace {

using runtime::Array;

/// Elements of all nodes together above which a plan is not interpreted: about a second.
constexpr double kMostElements = 1 << 20;
constexpr std::byte kGarbage{0x5a};

std::vector<ir::UOp> values_of(const PlanGraph& plan) {
  std::vector<ir::UOp> values;
  for (const Output& o : plan.outputs) values.push_back(o.value);
  return values;
}

std::map<std::string, int64_t> named(const PlanGraph& plan, const std::vector<int64_t>& values) {
  std::map<std::string, int64_t> out;
  for (size_t i = 0; i < plan.vars.size(); ++i) out[plan.vars[i].name()] = values[i];
  return out;
}

}  // namespace

PlanValues interpret_plan(const PlanGraph& plan, const PlanInputs& in) {
  PlanValues out;
  out.outputs = runtime::interpret(values_of(plan), {in.slots, in.args, named(plan, in.vars), {}}, {.exact_tree = true},
                                   &out.error);
  return out;
}

PlanValues interpret_steps(const Scheduled& s, const PlanInputs& in) {
  std::vector<Array> memory = in.slots;
  for (size_t b = memory.size(); b < s.plan.buffers.size(); ++b) {
    std::vector<int64_t> shape;
    for (const runtime::PlanDim& d : s.plan.buffers[b].shape) shape.push_back(d.at(in.vars));
    memory.emplace_back(s.plan.buffers[b].dtype, std::move(shape));
    std::fill(memory.back().data.begin(), memory.back().data.end(),
              is_bool(memory.back().dtype) ? std::byte{1} : kGarbage);
  }
  PlanValues out;
  for (const runtime::Step& step : s.plan.steps) {
    const codegen::Kernel& kernel = s.kernels[static_cast<size_t>(step.program)];
    std::vector<runtime::KernelBuffer> params;
    for (int b : step.buffers) {
      Array& a = memory[static_cast<size_t>(b)];
      params.push_back({a.data, a.dtype, a.shape});
    }
    std::vector<ir::Scalar> args;
    for (int a : step.args) args.push_back(in.args[static_cast<size_t>(a)]);
    std::map<std::string, int64_t> vars;
    for (size_t v = 0; v < kernel.vars.size(); ++v)
      vars[kernel.vars[v].name()] = in.vars[static_cast<size_t>(step.vars[v])];
    runtime::interpret_kernel(kernel.sink, {params, vars, args, &out.error});
  }
  for (int b : s.plan.outputs) out.outputs.push_back(memory[static_cast<size_t>(b)]);
  for (size_t b = 0; b < in.slots.size(); ++b)
    if (std::find(s.plan.outputs.begin(), s.plan.outputs.end(), static_cast<int>(b)) == s.plan.outputs.end() &&
        memory[b].data != in.slots[b].data)
      throw InternalError(fmt::format("a plan wrote into slot {}, which is no output's home", b));
  return out;
}

void check_values(const PlanGraph& plan, const Scheduled& scheduled) {
  PlanInputs in;
  for (const Var& v : plan.vars) in.vars.push_back(runtime::sample_size(v));
  const auto sizes = [&](const Shape& shape) {
    std::vector<int64_t> out;
    for (const Dim& d : shape) {
      const auto v = d.symbolic() ? std::find(plan.vars.begin(), plan.vars.end(), d.var()) : plan.vars.end();
      out.push_back(v == plan.vars.end() ? d.value() : in.vars[static_cast<size_t>(v - plan.vars.begin())]);
    }
    return out;
  };
  double elements = 0;
  for (ir::UOp n : ir::topological(values_of(plan))) {
    double count = 1;
    for (int64_t d : sizes(n->shape)) count *= static_cast<double>(d);
    if ((elements += count) > kMostElements) return;
  }
  for (const Slot& s : plan.slots) in.slots.push_back(runtime::sample(s.dtype, sizes(s.shape), in.slots.size() + 1));
  for (DType d : plan.args) in.args.push_back(runtime::sample_argument(d));

  const PlanValues expected = interpret_plan(plan, in), got = interpret_steps(scheduled, in);
  for (size_t i = 0; i < got.outputs.size(); ++i)
    if (!runtime::same_values(got.outputs[i], expected.outputs[i]))
      throw InternalError(fmt::format("scheduling: the kernels of a plan give other values for output {}", i));
  // Nobody looks at indices of elements that no output wants.
  if (got.error & ~expected.error)
    throw InternalError("scheduling: the kernels of a plan raise errors that the plan does not raise");
}

}  // namespace sinter::schedule
