// The kernel of a call of LAPACK.
#include <fmt/core.h>

#include "ir/build.h"
#include "ir/lapack_call.h"
#include "schedule/lower/opaque_steps.h"

namespace sinter::schedule {

KernelInstance lapack_step(const OpaqueNode& node) {
  const ir::LapackCall call = ir::lapack_call_of(node.uop);
  const Shape& result = node.uop->shape;
  const OpaqueRows rows(result);
  KernelInstance out;
  out.kernel.graph = std::make_shared<ir::Arena>();
  ir::Graph& g = *out.kernel.graph;
  ir::Sources from;
  for (size_t i = 0; i < node.from.size(); ++i) {
    const Shape& shape = node.uop->src[i]->shape;
    from.push_back(ir::param(g, static_cast<int64_t>(i) + 1, node.types[i],
                             rows.with({shape[shape.rank() - 2], shape[shape.rank() - 1]})));
  }
  const UOp to = ir::param(g, 0, node.uop->dtype, rows.with({result[result.rank() - 1]}));
  out.kernel.sink = ir::sink(g, {ir::lapack_in_kernel(call, to, from)});
  const Shape& a = from[0]->shape;
  out.kernel.name =
      fmt::format("{}_{}_{}", ir::lapack_function(call.routine), a[a.rank() - 2].value(), a[a.rank() - 1].value());
  out.kernel.vars = rows.vars;
  out.kernel.params = static_cast<int>(node.from.size()) + 1;
  out.kernel.outer = rows.sizes;
  out.buffers = {node.to};
  out.buffers.insert(out.buffers.end(), node.from.begin(), node.from.end());
  out.writes = {node.to};
  return out;
}

}  // namespace sinter::schedule
