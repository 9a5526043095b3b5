// Plan graphs by hand, and plans run on the kernel interpreter.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/interpreter.h"
#include "schedule/schedule.h"
#include "uop/build.h"

namespace sinter::schedule::testing {

/// Builds a PlanGraph: slots and outputs in the order of the calls.
struct Program {
  PlanGraph plan;
  Program() { plan.graph = std::make_shared<ir::Arena>(); }

  ir::Graph& graph() { return *plan.graph; }
  ir::UOp slot(const Shape& shape, DType dtype = DType::F32) {
    plan.slots.push_back({dtype, shape, true});
    for (const Dim& d : shape) {
      if (!d.symbolic()) continue;
      bool known = false;
      for (const Var& v : plan.vars) known |= v == d.var();
      if (!known) plan.vars.push_back(d.var());
    }
    return ir::param(graph(), static_cast<int64_t>(plan.slots.size()) - 1, dtype, shape);
  }
  ir::UOp arg(DType dtype) {
    plan.args.push_back(dtype);
    return ir::argument(graph(), static_cast<int64_t>(plan.args.size()) - 1, dtype);
  }
  void store(ir::UOp value, int home = -1) { plan.outputs.push_back({value, home}); }
  /// A version of `old` with `value` in the box; begins may be arguments.
  ir::UOp after(ir::UOp old, ir::UOp value, const ir::Region& box, std::vector<ir::UOp> begins = {}) {
    std::vector<ir::UOp> src{old, value};
    src.insert(src.end(), begins.begin(), begins.end());
    return graph().make({ir::Op::After, old->dtype, old->shape, std::move(src), box});
  }
};

/// a[m, k] times b[k, n].
inline ir::UOp matmul(ir::UOp a, ir::UOp b) {
  const Dim m = a->shape[0], k = a->shape[1], n = b->shape[1];
  ir::UOp x = ir::expand(ir::reshape(a, {m, 1, k}), {m, n, k});
  ir::UOp y = ir::expand(ir::reshape(ir::permute(b, {1, 0}), {1, n, k}), {m, n, k});
  return ir::reshape(ir::sum(x * y, {2}), {m, n});
}
inline ir::UOp transpose(ir::UOp x) { return ir::permute(x, {1, 0}); }

struct Inputs {
  std::vector<runtime::Array> slots;
  std::vector<ir::Scalar> args;
  std::vector<int64_t> vars;  ///< values of plan.vars
};

struct Result {
  std::vector<runtime::Array> outputs;
  uint32_t error = 0;
};

inline std::map<std::string, int64_t> named(const PlanGraph& plan, const std::vector<int64_t>& values) {
  std::map<std::string, int64_t> out;
  for (size_t i = 0; i < plan.vars.size(); ++i) out[plan.vars[i].name()] = values[i];
  return out;
}

/// Runs the steps in order on fresh memory; scratch and new outputs start as garbage.
inline Result run(const Scheduled& s, const Inputs& in) {
  std::vector<runtime::Array> memory;
  for (size_t b = 0; b < s.plan.buffers.size(); ++b) {
    if (b < in.slots.size()) {
      memory.push_back(in.slots[b]);
      continue;
    }
    std::vector<int64_t> shape;
    for (const runtime::PlanDim& d : s.plan.buffers[b].shape) shape.push_back(d.at(in.vars));
    memory.emplace_back(s.plan.buffers[b].dtype, shape);
    for (std::byte& byte : memory.back().data)
      byte = s.plan.buffers[b].dtype == DType::Bool ? std::byte{1} : std::byte{0x5a};
  }
  Result out;
  for (const runtime::Step& step : s.plan.steps) {
    const codegen::Kernel& kernel = s.kernels[static_cast<size_t>(step.program)];
    std::vector<runtime::KernelBuffer> params;
    for (int b : step.buffers) {
      runtime::Array& a = memory[static_cast<size_t>(b)];
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
  return out;
}

/// The values of the plan graph itself, reductions in the order of their trees.
inline Result oracle(const PlanGraph& plan, const Inputs& in) {
  std::vector<ir::UOp> roots;
  for (const Output& o : plan.outputs) roots.push_back(o.value);
  Result out;
  out.outputs =
      runtime::interpret(roots, {in.slots, in.args, named(plan, in.vars), {}}, {.exact_tree = true}, &out.error);
  return out;
}

}  // namespace sinter::schedule::testing
