// A node is evaluated once per iteration of the ranges that it depends on.
#include "schedule/lower/kernel_work.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "codegen/kernel/ranges.h"
#include "ir/combine.h"
#include "ir/lapack_call.h"
#include "ir/sort_runs.h"
#include "ir/walk.h"
#include "rewrite/interval.h"
#include "schedule/lower/dedup_kernels.h"

namespace sinter::schedule {
namespace {

using runtime::SizePolynomial;
using RangeIds = std::vector<uint64_t>;  ///< node ids, ascending

RangeIds merge(const RangeIds& a, const RangeIds& b) {
  RangeIds out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

/// Arithmetic operations on floats. Selects, comparisons and conversions do not count.
double operations(Op op) {
  switch (op) {
    case Op::Fma: return 2;
    case Op::Where:
    case Op::Lt:
    case Op::Le:
    case Op::Eq:
    case Op::Ne:
    case Op::Cast:
    case Op::Bitcast:
    case Op::Check: return 0;
    default: return ir::is_alu(op) ? 1 : 0;
  }
}
/// Per iteration. `counted`: reductions with several accumulators that were counted already.
double operations(UOp n, std::set<ir::Node*>& counted) {
  if (!is_float(n->dtype)) return 0;
  if (!codegen::has_accumulators(n)) return operations(n->op);
  if (!counted.insert(codegen::result_of(n, 0).get()).second) return 0;
  double sum = 0;
  for (Op op : ir::combine_step_ops(n).all()) sum += operations(op);
  return sum;
}

/// Trip counts.
class LoopSizes {
 public:
  explicit LoopSizes(const std::vector<Var>& vars) : vars_(vars) {}
  void add(UOp range) {
    const UOp bound = range->src[0];
    SizePolynomial::Term& size = size_[range->id] = {1, {}};
    if (bound->op == Op::Const)
      size.factor = static_cast<double>(bound->scalar().as_int());
    else if (bound->op == Op::Var)
      size.vars = {number(bound)};
    else if (const auto [var, blocks] = symbolic_blocks(bound); var && blocks)  // on average
      size = {1 / size_.at(blocks->id).factor, {number(var)}};
    else  // of blocks; the last may be shorter
      size.factor = static_cast<double>(std::max<int64_t>(bounds_.of(bound).hi, 0));
  }
  /// `each` per iteration.
  SizePolynomial::Term iterations(const RangeIds& ranges, double each) const {
    SizePolynomial::Term out{each, {}};
    for (uint64_t r : ranges) {
      const SizePolynomial::Term& size = size_.at(r);
      out.factor *= size.factor;
      out.vars.insert(out.vars.end(), size.vars.begin(), size.vars.end());
    }
    std::ranges::sort(out.vars);
    return out;
  }

 private:
  int number(UOp var) const { return static_cast<int>(std::ranges::find(vars_, var->get<Var>()) - vars_.begin()); }
  /// For the range inside a block of a symbolic axis: the symbolic size, and the range over the blocks.
  static std::pair<UOp, UOp> symbolic_blocks(UOp bound) {
    std::pair<UOp, UOp> out;
    for (UOp n : ir::topological(bound)) {
      if (n->op == Op::Var) out.first = n;
      if (n->op == Op::Range) out.second = n;
    }
    return out;
  }

  const std::vector<Var>& vars_;
  ir::IntervalAnalysis bounds_;
  std::unordered_map<uint64_t, SizePolynomial::Term> size_;
};

void multiply(SizePolynomial::Term& term, const Dim& d, const std::vector<Var>& vars) {
  if (!d.symbolic()) {
    term.factor *= static_cast<double>(d.value());
    return;
  }
  const auto number = static_cast<int>(std::ranges::find(vars, d.var()) - vars.begin());
  term.vars.insert(std::ranges::upper_bound(term.vars, number), number);
}

/// An opaque kernel reads and writes every element once.
runtime::KernelWork work_of_opaque(const codegen::Kernel& kernel) {
  runtime::KernelWork work;
  for (UOp param : kernel.sink->src[0]->src) {
    SizePolynomial::Term size{1, {}};
    for (const Dim& d : param->shape) multiply(size, d, kernel.vars);
    work.accesses.emplace_back().add(size);
  }
  return work;
}

runtime::KernelWork work_of_lapack(const codegen::Kernel& kernel) {
  runtime::KernelWork work = work_of_opaque(kernel);
  UOp n = kernel.sink->src[0];
  const ir::LapackSizes sizes = ir::lapack_sizes_of(n->src[1]->shape, n->src.size() > 2 ? &n->src[2]->shape : nullptr);
  SizePolynomial::Term all{ir::lapack_flops(ir::lapack_call_of(n), sizes), {}};
  for (const Dim& d : kernel.outer) multiply(all, d, kernel.vars);
  work.flops.add(all);
  return work;
}

}  // namespace

runtime::KernelWork work_of(const codegen::Kernel& kernel) {
  if (ir::sorts_runs(kernel.sink)) return work_of_opaque(kernel);
  if (ir::calls_lapack(kernel.sink)) return work_of_lapack(kernel);
  runtime::KernelWork work;
  work.accesses.resize(static_cast<size_t>(kernel.params));
  LoopSizes loops(kernel.vars);
  std::unordered_map<UOp, RangeIds> depends;
  std::set<ir::Node*> counted;
  for (UOp n : nodes_of(kernel)) {
    RangeIds all;
    for (UOp s : n->src) all = merge(all, depends[s]);
    if (n->op == Op::Range) {
      loops.add(n);
      all = {n->id};
    }
    if (const double each = operations(n, counted)) work.flops.add(loops.iterations(all, each));
    if (n->op == Op::Load || n->op == Op::Store) {
      RangeIds index;  // of the element, not of the stored value
      for (size_t i = 1; i <= n->src[0]->rank(); ++i) index = merge(index, depends[n->src[i]]);
      work.accesses[n->src[0]->integer()].add(loops.iterations(index, 1));
    }
    work.tensor |= n->op == Op::Reduce && n->reduction().tree.mma;
    if (n->op == Op::Reduce)
      for (size_t i = static_cast<size_t>(ir::value_count(n->reduction().combine)); i < n->src.size(); ++i)
        std::erase(all, n->src[i]->id);
    depends[n] = std::move(all);
  }
  return work;
}

}  // namespace sinter::schedule
