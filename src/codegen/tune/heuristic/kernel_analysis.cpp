// Counts the work of statements.
#include "codegen/tune/heuristic/kernel_analysis.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/kernel/offset.h"
#include "ir/combine.h"
#include "ir/walk.h"
#include "rewrite/interval.h"

namespace sinter::codegen {

double operations_of(UOp n) {
  constexpr double kDivision = 4, kThreefry = 125;
  if (!ir::is_alu(n->op) || n->dtype == DType::Index) return 0;
  return n->op == Op::Div || n->op == Op::Sqrt ? kDivision : n->op == Op::Threefry ? kThreefry : 1;
}

namespace {
UOp value_of_sum(UOp reduce) { return values_of(reduce)[0]; }
}  // namespace

bool StatementAnalysis::runs_over(UOp range) const {
  return contains(result_ranges, range) || contains(reduced_ranges, range);
}

KernelAnalysis::KernelAnalysis(const Kernel& kernel) : params_(kernel.params) {
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  for (UOp n : nodes)
    if (n->op == Op::Range) {
      sizes_[n.get()] = max_trip_count(n);
      if (size(n) > 1) ranges_.push_back(n);
    }
  std::ranges::sort(ranges_, [](UOp a, UOp b) { return range_id(a) < range_id(b); });
  for (UOp n : nodes)
    if (n->op == Op::Reduce || n->op == Op::Store) add(n);
}

/// The product whose blocks `node` joins; null if it joins none.
StatementAnalysis* KernelAnalysis::joined_by(UOp node) {
  if (node->op != Op::Reduce || node->reduction().combine != ir::Combine::Add ||
      !(node->reduction().tree == ir::ReductionTree{}))
    return nullptr;
  const auto it = numbers_.find(value_of_sum(node).get());
  if (it == numbers_.end()) return nullptr;
  StatementAnalysis& w = statements_[it->second];
  const std::vector<UOp> factors = values_of(w.node);
  if (w.node->reduction().combine != ir::Combine::Dot || w.chains() > 1) return nullptr;
  // A matrix product: each factor is used by several of the results, whatever the predicate of both depends on.
  const bool reused = std::ranges::all_of(factors, [&](UOp factor) {
    return std::ranges::any_of(w.result_ranges,
                               [&](UOp r) { return !dependences_.depends(without_predicate(factor), r); });
  });
  return reused ? &w : nullptr;
}

void KernelAnalysis::add(UOp node) {
  if (StatementAnalysis* product = joined_by(node)) {
    std::vector<UOp> blocks = ranges_of(node);
    std::erase_if(blocks, [&](UOp r) { return size(r) == 1; });
    product->blocks += blocks.size();
    product->reduced_ranges.insert(product->reduced_ranges.begin(), blocks.begin(), blocks.end());
    std::erase_if(product->result_ranges, [&](UOp r) { return contains(blocks, r); });
    numbers_[node.get()] = numbers_.at(product->node.get());
    return;
  }
  StatementAnalysis w{node, {}, {}, {}, {}};
  if (node->op == Op::Reduce)
    for (UOp r : ranges_of(node))
      if (size(r) > 1) w.reduced_ranges.push_back(r);
  for (UOp r : ranges_)
    if (dependences_.depends(node, r)) w.result_ranges.push_back(r);
  for (const std::vector<UOp>* list : {&w.result_ranges, &w.reduced_ranges})
    for (UOp r : *list) w.iterations *= static_cast<double>(size(r));
  const std::vector<UOp> body =
      ir::topological(std::span<const UOp>(&node, 1), [&](UOp n) { return n == node || n->op != Op::Reduce; });
  // A predicate that all factors of a product have is not counted for each of them: it skips them.
  const UOp predicate = common_predicate(node);
  std::vector<UOp> skipping = predicate ? ir::topological(predicate) : std::vector<UOp>{};
  for (UOp value : predicate ? values_of(node) : std::vector<UOp>{})
    if (!(without_predicate(value) == value)) skipping.push_back(value);
  for (UOp n : body) {
    if (n->op == Op::Load || n->op == Op::Store) w.accesses.push_back(n);
    if (n->op == Op::Reduce && !(n == node)) w.sums.push_back(statement_of(n).node);
    if (!contains(skipping, n)) w.operations += operations_of(n);
  }
  if (node->op == Op::Reduce) w.operations += static_cast<double>(ir::combine_step_ops(node).all().size());
  numbers_[node.get()] = statements_.size();
  statements_.push_back(std::move(w));
}

std::vector<UOp> sequential_ranges(const Kernel& kernel, KernelAnalysis& analysis) {
  std::vector<UOp> out;
  for (UOp r : analysis.ranges())  // unrolled copies of such a range would have different bounds inside
    for (UOp other : analysis.ranges())
      if (analysis.depends(other->src[0], r)) out.push_back(r);
  for (UOp n : ir::topological(kernel.sink))
    if (n->op == Op::Scan)
      for (UOp r : ranges_of(n)) out.push_back(r);
  return out;
}

double KernelAnalysis::bytes_read(UOp load) {
  double elements = 1;
  for (UOp r : ranges_)
    if (depends(load, r)) elements *= static_cast<double>(size(r));
  return std::min(elements, static_cast<double>(load->src[0]->shape.bound())) *
         static_cast<double>(size_of(load->dtype));
}

int64_t KernelAnalysis::stride(UOp access, UOp range) {
  auto [it, fresh] = offsets_.try_emplace(access.get());
  if (fresh) it->second = offset_of(access);
  return stride_along(it->second, range, dependences_).value_or(kScattered);
}

bool KernelAnalysis::is_masked_along(UOp access, UOp range) {
  const UOp predicate = access->op == Op::Load ? predicate_of(access) : UOp();
  return predicate && depends(predicate, range);
}

std::optional<int64_t> KernelAnalysis::steps_apart(UOp access, UOp copies, UOp range) {
  const int64_t copy = stride(access, copies), step = stride(access, range);
  if (step == 0 || step == kScattered || copy == kScattered || copy % step) return {};
  return std::abs(copy / step);
}

int64_t KernelAnalysis::byte_stride(UOp access, UOp range) {
  const int64_t elements = stride(access, range);
  return elements == kScattered ? kScattered
                                : std::abs(elements) * static_cast<int64_t>(size_of(access->src[0]->dtype));
}

int64_t KernelAnalysis::lane_stride(UOp access, UOp range) {
  if (slot_of(access) < params_) return stride(access, range);
  return depends(access, range) ? 1 : 0;
}

}  // namespace sinter::codegen
