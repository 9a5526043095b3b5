// Walks both graphs in the same order: equal nodes have equal positions.
#include "schedule/lower/dedup_kernels.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ir/contains.h"
#include "ir/rebuild.h"
#include "ir/walk.h"
#include "schedule/graph/plan_graph.h"

namespace sinter::schedule {

using ir::mix;

void normalize_vars(codegen::Kernel& kernel) {
  std::vector<Var> before = kernel.vars, after;
  for (UOp n : nodes_of(kernel))  // variables in a buffer's outermost size only
    for (const Dim& d : n->shape)
      if (d.symbolic() && !ir::contains(before, d.var())) before.push_back(d.var());
  for (const Var& v : before) after.push_back(numbered(after.size(), v));
  if (after == before) return;
  const auto var = [&](const Var& v) { return after[std::ranges::find(before, v) - before.begin()]; };
  const auto dim = [&](const Dim& d) { return d.symbolic() ? var(d.var())(d.value()) : d; };
  const auto graph = std::make_shared<ir::Arena>();
  for (UOp* sink : {&kernel.sink, &kernel.epilogue_sink}) {
    if (!*sink) continue;
    *sink = ir::rebuild(*graph, *sink, [&](UOp n, const std::vector<UOp>& src) {
      auto shape = ir::mapped<Shape>(n->shape, [&](const Dim& d) { return dim(d); });
      const auto* v = std::get_if<Var>(&n->attr);
      return graph->make({n->op, n->dtype, std::move(shape), src, v ? ir::Attr(var(*v)) : n->attr, n->device});
    });
  }
  kernel.graph = graph;
  for (Var& v : kernel.vars) v = var(v);
  for (Dim& d : kernel.outer) d = dim(d);
}

std::vector<UOp> nodes_of(const codegen::Kernel& kernel) {
  std::vector<UOp> roots{kernel.sink};
  if (kernel.epilogue_sink) roots.push_back(kernel.epilogue_sink);
  return ir::topological(roots);
}

uint64_t hash_kernel(const codegen::Kernel& kernel) {
  std::vector<uint64_t> hashes;
  for (UOp n : nodes_of(kernel)) {
    uint64_t h = mix(mix(static_cast<uint64_t>(n->op), static_cast<uint64_t>(n->dtype)),
                     mix(ir::hash_of(n->attr), ir::hash_of(n->shape)));
    for (UOp s : n->src) h = mix(h, hashes[s->position]);
    hashes.push_back(h);
  }
  const uint64_t main = hashes[kernel.sink->position];
  return kernel.epilogue_sink ? mix(main, hashes[kernel.epilogue_sink->position]) : main;
}

bool same_kernel(const codegen::Kernel& a, const codegen::Kernel& b) {
  const std::vector<UOp> x = nodes_of(a), y = nodes_of(b);
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i]->op != y[i]->op || x[i]->dtype != y[i]->dtype || x[i]->src.size() != y[i]->src.size()) return false;
    if (!(x[i]->attr == y[i]->attr) || !(x[i]->shape == y[i]->shape)) return false;
    for (size_t k = 0; k < x[i]->src.size(); ++k)
      if (x[i]->src[k]->position != y[i]->src[k]->position) return false;
  }
  return true;
}

}  // namespace sinter::schedule
