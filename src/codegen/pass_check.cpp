// Samples buffer contents and runs kernels on the interpreter.
#include "codegen/pass_check.h"

#include <fmt/core.h>

#include "codegen/kernel/ranges.h"
#include "codegen/normalize/normalize.h"
#include "interp/interpreter.h"
#include "interp/sample.h"
#include "ir/walk.h"
#include "runtime/base/env.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

/// The interpreter handles bounds that are a Const or a Var.
bool is_interpretable(UOp sink) {
  for (UOp n : ir::topological(sink))
    if (n->op == Op::Range && n->src[0]->op != Op::Const && n->src[0]->op != Op::Var) return false;
  return true;
}

/// Total number of node evaluations: each node once per iteration of the ranges it depends on.
double count_evaluations(UOp sink, const std::map<std::string, int64_t>& vars) {
  FreeRanges ranges;
  std::vector<std::pair<size_t, double>> sizes;  // trip count of each range, with the range's number
  const std::vector<UOp> order = ir::topological(sink);
  for (UOp n : order)
    if (n->op == Op::Range)
      sizes.emplace_back(ranges.number(n),
                         static_cast<double>(n->src[0]->op == Op::Const ? n->src[0]->scalar().as_int()
                                                                        : vars.at(n->src[0]->get<Var>().name())));
  ranges.free(sink);
  double total = 0;
  for (UOp n : order) {
    RangeSet around = ranges.free(n);
    if (n->op == Op::Reduce)
      for (UOp r : ranges_of(n)) around.set(ranges.number(r));
    double iterations = 1;
    for (const auto& [number, size] : sizes)
      if (around[number]) iterations *= size;
    total += iterations;
  }
  return total;
}

}  // namespace

PassCheck::PassCheck(const Kernel& kernel) : kernel_(kernel.name) {
  if (!runtime::env().check || !is_interpretable(kernel.sink)) return;
  for (const Var& v : kernel.vars) vars_[v.name()] = runtime::sample_size(v);
  if (count_evaluations(kernel.sink, vars_) > kMaxEvaluations) return;
  sampled_inputs_.resize(static_cast<size_t>(kernel.params));
  double elements = 0;
  for (UOp n : ir::topological(kernel.sink)) {
    if (n->op != Op::Param) continue;
    std::vector<int64_t> shape;
    double count = 1;
    for (const Dim& d : n->shape) {
      // A dim whose variable the kernel does not use may have any size.
      const auto known = d.symbolic() ? vars_.find(d.var().name()) : vars_.end();
      shape.push_back(!d.symbolic() ? d.value() : known != vars_.end() ? known->second : runtime::sample_size(d.var()));
      count *= static_cast<double>(shape.back());
    }
    elements += count;
    if (elements > kMaxEvaluations) return;
    const auto slot = static_cast<size_t>(n->integer());
    sampled_inputs_[slot] = runtime::sample(n->dtype, std::move(shape), slot + 1);
  }
  for (DType d : kernel.args) args_.push_back(runtime::sample_argument(d));
  try {
    expected_ = run(kernel.sink);
    active_ = true;
  } catch (const InternalError&) {
    // The kernel indexes by buffer contents without a check, which no kernel of a plan does. Sampled contents may then
    // address out of bounds.
  }
}

PassCheck::KernelOutput PassCheck::run(UOp sink) const {
  KernelOutput out{sampled_inputs_, 0};
  std::vector<runtime::KernelBuffer> buffers;
  for (runtime::Array& a : out.buffers) buffers.push_back({a.data, a.dtype, a.shape});
  runtime::interpret_kernel(
      sink, {.params = buffers, .vars = vars_, .args = args_, .error = &out.error, .lower_combine = expand_math});
  return out;
}

void PassCheck::require_same_stores(UOp sink, std::string_view pass) const {
  if (!active_ || !is_interpretable(sink)) return;
  const KernelOutput got = run(sink);
  for (size_t slot = 0; slot < got.buffers.size(); ++slot)
    if (!runtime::same_values(got.buffers[slot], expected_.buffers[slot]))
      throw InternalError(fmt::format("codegen: {} changed what {} stores in buffer {}", pass, kernel_, slot));
  if (got.error & ~expected_.error)
    throw InternalError(fmt::format("codegen: after {} kernel {} raises errors that it did not raise", pass, kernel_));
}

void PassCheck::rebase(UOp sink) {
  if (active_) expected_ = run(sink);
}

}  // namespace sinter::codegen
