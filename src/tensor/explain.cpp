// realize() up to the compiler: collect, key, decide and lift as schedule/parametrise.cpp does, then the scheduler's and codegen's lists.
#include "tensor/explain.h"

#include <algorithm>

#include "codegen/codegen.h"
#include "schedule/lift.h"
#include "tensor/cell.h"
#include "tensor/version.h"

namespace sinter::tensor {

Explained explain(std::span<const Tensor> tensors, const runtime::Target& target) {
  schedule::PlanGraph plan;
  {
    const Call call("explain", Loc::current());
    ir::TensorGraph::get().drain();
    schedule::Request request;
    for (const Tensor& t : tensors)
      if (ir::UOp n = node_of(t); !n->storage()) request.roots.push_back(n);
    for (ir::UOp version : recorded([](const Cell&) { return false; })) request.roots.push_back(version);
    if (request.roots.empty()) usage_error("all of the tensors are computed already");
    const schedule::Collected collected = schedule::collect(request);
    if (collected.claimed) usage_error("another thread computes one of the tensors at this moment; wait for it");
    const schedule::Canonical canonical = schedule::canonicalise(collected, target.key());
    std::vector<uint8_t> lifted;
    for (const schedule::Number& n : canonical.numbers) lifted.push_back(n.always);
    plan = schedule::lift(collected, schedule::decide(collected), canonical, lifted).graph;
  }
  Explained out{schedule::schedule(std::move(plan), target), {}};
  for (const codegen::Kernel& k : out.scheduled.kernels) out.sources.push_back(codegen::write(k, target));
  return out;
}

}  // namespace sinter::tensor
