// The number and the length of the steps follow from sizes and target.
#include "schedule/lower/sort_steps.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/build.h"
#include "ir/sort_runs.h"
#include "schedule/lower/plan_memory.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

using ir::UOp;

constexpr int64_t kShortestRun = 1 << 14;  ///< of a CPU's task: shorter ones cost more in merges than they gain
constexpr int64_t kFewRanks = 2;  ///< a CPU's task selects up to this part of a row in less time than several sort it
constexpr int64_t kBlockRun = 2048;  ///< of a block of threads, in shared memory

const FusionNode& node_of(const Partition& p, int kernel) {
  const int node = p.kernels[static_cast<size_t>(kernel)].outputs[0].node;
  return p.graph.nodes[static_cast<size_t>(node)];
}

/// Elements that one task sorts.
int64_t run_length(int64_t rows, int64_t row, int64_t ranks, const runtime::Target& target) {
  if (target.cuda()) return std::min(row, kBlockRun);
  if (ranks * kFewRanks <= row) return row;
  int64_t runs = 1;
  while (rows * runs < target.threads && row / (runs * 2) >= kShortestRun) runs *= 2;
  return (row + runs - 1) / runs;
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class SortWriter {
 public:
  SortWriter(const PlanGraph& graph, const Shape& shape) : graph_(graph), shape_(shape) {
    for (size_t i = 0; i + 1 < shape.rank(); ++i) {
      rows_.push_back(shape[i]);
      if (shape[i].symbolic() && std::find(vars_.begin(), vars_.end(), shape[i].var()) == vars_.end())
        vars_.push_back(shape[i].var());
    }
    // One range over all rows and the tasks of each, where the sizes are known.
    if (vars_.empty()) rows_ = {Dim(Shape(rows_).numel())};
  }

  KernelInstance write(const ir::SortRuns& step, std::pair<int, DType> to, std::pair<int, DType> from) {
    KernelInstance out;
    out.kernel.graph = std::make_shared<ir::Arena>();
    ir::Graph& g = *out.kernel.graph;
    const auto param = [&](int slot, DType type, bool elements) {
      std::vector<Dim> dims = rows_;
      dims.push_back(Dim(elements ? step.row * step.words : slot == 0 ? step.count : step.row));
      return ir::param(g, slot, type, Shape(std::move(dims)));
    };
    const UOp target = param(0, to.second, !step.last()), source = param(1, from.second, step.sorted > 0);
    out.kernel.sink = ir::sink(g, {ir::sort_runs(target, source, step)});
    out.kernel.name = fmt::format("{}_{}_{}", step.sorted ? "merge" : "sort", step.row, step.group);
    out.kernel.vars = vars_;
    out.kernel.params = 2;
    out.kernel.outer = rows_;
    if (vars_.empty())
      out.kernel.outer[0] = Dim(rows_[0].value() * step.tasks);
    else
      out.kernel.outer.push_back(Dim(step.tasks));
    out.buffers = {to.first, from.first};
    out.writes = {to.first};
    return out;
  }

  /// Memory for the elements between two steps.
  int buffer(const ir::SortRuns& step, runtime::Plan& plan) const {
    std::vector<Dim> dims = rows_;
    dims.push_back(Dim(step.row * step.words));
    return add_buffer(plan, runtime::PlanBuffer::Kind::Scratch, DType::U64, Shape(std::move(dims)), graph_.vars);
  }

 private:
  const PlanGraph& graph_;
  const Shape& shape_;
  std::vector<Dim> rows_;
  std::vector<Var> vars_;
};

}  // namespace

bool sorts(const Partition& p, int kernel) { return node_of(p, kernel).kind == FusionNodeKind::Sort; }

std::vector<KernelInstance> sort_steps(const PlanGraph& graph, const Partition& p, const Placement& placement,
                                       int kernel, const runtime::Target& target, runtime::Plan& plan) {
  const FusionNode& s = node_of(p, kernel);
  const FusionEdge& source = s.sources[0];
  if (source.node < 0 || p.kernels[static_cast<size_t>(kernel)].members.size() != 1)
    throw InternalError("the source of a sort is not in memory");
  const FusionNode& read = p.graph.nodes[static_cast<size_t>(source.node)];
  const int from = read.kind == FusionNodeKind::Buffer ? static_cast<int>(read.uop->integer())
                                                       : placement.node_buffers[static_cast<size_t>(source.node)];
  const int to = placement.node_buffers[static_cast<size_t>(p.kernels[static_cast<size_t>(kernel)].outputs[0].node)];
  const Shape &shape = s.uop->shape, &source_shape = s.uop->src[0]->shape;
  ir::SortRuns step;
  step.row = source_shape[source_shape.rank() - 1].value();
  step.first = s.uop->ints()[0];
  step.count = shape[shape.rank() - 1].value();
  if (step.count == 0) return {};
  step.group = run_length(source_shape.bound() / step.row, step.row, step.count, target);
  step.words = ir::sort_words(read.uop->dtype);
  step.descending = s.uop->ints()[1] != 0;
  const int64_t block = step.group;

  SortWriter writer(graph, shape);
  std::vector<KernelInstance> out;
  std::pair<int, DType> at{from, read.uop->dtype};
  int memory[] = {-1, -1};
  for (;;) {
    std::pair<int, DType> next{to, DType::I64};
    step.tasks = ceil_div(step.last() && step.sorted ? step.count : step.row, block);
    if (!step.last()) {
      int& here = memory[out.size() % 2];
      if (here < 0) here = writer.buffer(step, plan);
      next = {here, DType::U64};
    }
    out.push_back(writer.write(step, next, at));
    if (step.last()) return out;
    at = next;
    step.sorted = step.group;
    step.group *= 2;
  }
}

}  // namespace sinter::schedule
