// Plan graphs by hand, and plans run on the kernel interpreter.
#pragma once

#include <memory>
#include <vector>

#include "ir/build.h"
#include "schedule/interpret_plan.h"

namespace sinter::schedule::testing {

/// What plans are cut for.
inline const runtime::Target kTarget = runtime::reference_target();

/// Builds a PlanGraph: slots and outputs in the order of the calls.
struct Program {
  PlanGraph plan;
  Program() { plan.graph = std::make_shared<ir::Arena>(); }

  ir::Graph& graph() { return *plan.graph; }
  ir::UOp slot(const Shape& shape, DType dtype = DType::F32) {
    plan.slots.push_back({dtype, shape});
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
  ir::UOp x = ir::expand(a, {m, n, k}, {1});
  ir::UOp y = ir::expand(ir::permute(b, {1, 0}), {m, n, k}, {0});
  return ir::sum(x * y, {2});
}
/// Accumulator `result` of one of the combines that have several.
inline ir::UOp tuple(ir::Combine combine, ir::UOp x, int64_t axis, int result) {
  if (combine == ir::Combine::Moments) {
    const ir::UOp values[] = {ir::like(x, 1.0), x, ir::like(x, 0.0)};
    return ir::reduce(combine, values, {axis}, result);
  }
  ir::UOp beside = ir::like(x, 1.0);
  if (combine != ir::Combine::ExpSum) {
    Shape along(std::vector<int64_t>(x->rank(), 1));
    along[axis] = x->shape[axis];
    beside = ir::broadcast_to(ir::reshape(ir::arange(*x->graph, x->shape[axis]), along), x->shape);
  }
  const ir::UOp values[] = {x, beside};
  return ir::reduce(combine, values, {axis}, result);
}
/// A row or a column, repeated as the matrix lies.
inline ir::UOp row_like(ir::UOp vector, ir::UOp matrix) { return ir::broadcast_to(vector, matrix->shape); }
inline ir::UOp column_like(ir::UOp vector, ir::UOp matrix) { return ir::expand(vector, matrix->shape, {1}); }
inline ir::UOp transpose(ir::UOp x) { return ir::permute(x, {1, 0}); }

using Inputs = PlanInputs;
using Result = PlanValues;
/// Random numbers in [0, 1) in each slot, equal for equal programs.
inline Inputs random_inputs(const Program& p) {
  Inputs in;
  uint32_t state = 1;
  for (const PlanSlot& s : p.plan.slots) {
    std::vector<int64_t> shape;
    for (const Dim& d : s.shape) shape.push_back(d.value());
    runtime::Array array(s.dtype, shape);
    for (int64_t i = 0; i < s.shape.numel(); ++i)
      array.set(i, ir::Scalar::of(s.dtype, static_cast<double>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24));
    in.slots.push_back(array);
  }
  return in;
}
inline Result run(const KernelSchedule& s, const Inputs& in) { return interpret_steps(s, in); }
inline Result oracle(const PlanGraph& plan, const Inputs& in) { return interpret_plan(plan, in); }

}  // namespace sinter::schedule::testing
