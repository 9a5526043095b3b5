// The steps of a Sort: their number and their length follow from sizes and target.
#include "schedule/lower/opaque_steps.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/build.h"
#include "ir/ceil_div.h"
#include "ir/sort_runs.h"
#include "schedule/lower/plan_memory.h"

namespace sinter::schedule {
namespace {

constexpr int64_t kShortestRun = 1 << 14;        ///< of a CPU's task: shorter ones cost more in merges than they gain
constexpr int64_t kShortestVectorRun = 1 << 17;  ///< the same of values that vectors sort
constexpr int64_t kFewRanks = 2;  ///< a CPU's task selects up to this part of a row in less time than several sort it
constexpr int64_t kBlockRun = 2048;  ///< of a block of threads, in shared memory

/// Elements that one task sorts, at least `shortest`.
int64_t run_length(int64_t rows, int64_t row, int64_t ranks, int64_t shortest, const runtime::Target& target) {
  if (target.cuda()) return std::min(row, kBlockRun);
  if (ranks * kFewRanks <= row) return row;
  int64_t runs = 1;
  while (rows * runs < target.threads && row / (runs * 2) >= shortest) runs *= 2;
  return ceil_div(row, runs);
}

KernelInstance write(const ir::SortRuns& step, const OpaqueRows& rows, std::pair<int, DType> to,
                     std::pair<int, DType> from) {
  KernelInstance out;
  out.kernel.graph = std::make_shared<ir::Arena>();
  ir::Graph& g = *out.kernel.graph;
  const auto param = [&](int slot, DType type, bool elements) {
    return ir::param(g, slot, type,
                     rows.with({Dim(elements    ? step.row * step.words
                                    : slot == 0 ? step.count
                                                : step.row)}));
  };
  const UOp target = param(0, to.second, !step.last()), source = param(1, from.second, step.sorted > 0);
  out.kernel.sink = ir::sink(g, {ir::sort_runs(target, source, step)});
  out.kernel.name = fmt::format("{}_{}_{}", step.sorted ? "merge" : "sort", step.row, step.group);
  out.kernel.vars = rows.vars;
  out.kernel.params = 2;
  out.kernel.outer = rows.sizes;
  if (rows.vars.empty())
    out.kernel.outer[0] = Dim(rows.sizes[0].value() * step.tasks);
  else
    out.kernel.outer.push_back(Dim(step.tasks));
  out.buffers = {to.first, from.first};
  out.writes = {to.first};
  return out;
}

}  // namespace

std::vector<KernelInstance> sort_steps(const PlanGraph& graph, const OpaqueNode& node, const runtime::Target& target,
                                       runtime::Plan& plan) {
  const Shape &shape = node.uop->shape, &source_shape = node.uop->src[0]->shape;
  ir::SortRuns step;
  step.row = source_shape[source_shape.rank() - 1].value();
  step.first = node.uop->ints()[0];
  step.count = shape[shape.rank() - 1].value();
  if (step.count == 0) return {};
  step.values = ir::gives_values(node.uop);
  const bool vectors = step.values && ir::has_vector_sort(node.types[0], target.vector_bytes);
  step.group = run_length(source_shape.bound() / step.row, step.row, step.count,
                          vectors ? kShortestVectorRun : kShortestRun, target);
  step.words = step.values ? 1 : ir::sort_words(node.types[0]);
  step.descending = node.uop->ints()[1] != 0;
  const int64_t block = step.group;

  const OpaqueRows rows(shape);
  std::vector<KernelInstance> out;
  std::pair<int, DType> at{node.from[0], node.types[0]};
  int memory[] = {-1, -1};
  for (;;) {
    std::pair<int, DType> next{node.to, step.values ? at.second : DType::I64};
    step.tasks = ceil_div(step.last() && step.sorted ? step.count : step.row, block);
    if (!step.last()) {
      int& here = memory[out.size() % 2];
      next.second = step.values ? at.second : DType::U64;
      if (here < 0)  // memory for the elements between two steps
        here = add_buffer(plan, runtime::PlanBuffer::Kind::Scratch, next.second,
                          rows.with({Dim(step.row * step.words)}), graph.vars);
      next.first = here;
    }
    out.push_back(write(step, rows, next, at));
    if (step.last()) return out;
    at = next;
    step.sorted = step.group;
    step.group *= 2;
  }
}

}  // namespace sinter::schedule
