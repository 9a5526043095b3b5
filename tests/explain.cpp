// The steps of realize() up to the compiler.
#include "explain.h"

#include "plan/plan_lookup.h"
#include "tensor/core/cell.h"
#include "tensor/core/cell_version.h"
#include "tensor/eval/realize.h"

namespace sinter::testing {

using namespace tensor;

plan::KernelSources explain(std::span<const Tensor> tensors, const runtime::Target& target) {
  plan::PlanBuild build;
  {
    const Call call("explain", Loc::current());
    ir::TensorGraph::get().release_pool();
    ir::Sources asked;
    for (const Tensor& t : tensors) asked.push_back(node_of(t));
    plan::Request request;
    request.roots = roots_for(asked);
    for (ir::UOp version : assigned_versions([](const Cell&) { return false; })) request.roots.push_back(version);
    if (request.roots.empty()) usage_error("all of the tensors are computed already");
    plan::PlanLookup found = plan::lookup_plan(request, debug::Executor::Compiled, target);
    if (std::holds_alternative<plan::NodeClaimed>(found))
      usage_error("another thread computes one of the tensors at this moment; wait for it");
    if (std::holds_alternative<plan::SpansDevices>(found))
      usage_error("the tensors lie on several devices, or are copied from one to another");
    auto instance = std::get<std::unique_ptr<plan::PlanInstance>>(std::move(found));
    build = plan::build_plan(*instance, debug::Executor::Compiled);
    plan::keep_recent(std::move(instance));
  }
  return build.write();
}

}  // namespace sinter::testing
