// realize() up to the compiler.
#include "tensor/eval/explain.h"

#include "plan/plan_lookup.h"
#include "tensor/core/cell.h"
#include "tensor/core/cell_version.h"
#include "tensor/eval/realize.h"

namespace sinter::tensor {

schedule::Written explain(std::span<const Tensor> tensors, const runtime::Target& target) {
  schedule::Build build;
  {
    const Call call("explain", Loc::current());
    ir::TensorGraph::get().drain();
    ir::Sources asked;
    for (const Tensor& t : tensors) asked.push_back(node_of(t));
    schedule::Request request;
    request.roots = roots_for(asked);
    for (ir::UOp version : recorded([](const Cell&) { return false; })) request.roots.push_back(version);
    if (request.roots.empty()) usage_error("all of the tensors are computed already");
    std::unique_ptr<schedule::Parametrised> program = schedule::parametrise(request, debug::Executor::Compiled, target);
    if (program->claimed) usage_error("another thread computes one of the tensors at this moment; wait for it");
    if (program->mixed) usage_error("the tensors lie on several devices, or are copied from one to another");
    build = schedule::build_plan(*program, debug::Executor::Compiled);
    schedule::recycle(std::move(program));
  }
  return build.write();
}

}  // namespace sinter::tensor
