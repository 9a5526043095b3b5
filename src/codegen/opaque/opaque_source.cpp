// The text by the kernel's op.
#include "codegen/opaque/opaque_source.h"

#include "codegen/opaque/lapack_c.h"
#include "codegen/opaque/sort_text.h"
#include "ir/lapack_call.h"

namespace sinter::codegen {

bool is_opaque(const Kernel& kernel) { return ir::sorts_runs(kernel.sink) || ir::calls_lapack(kernel.sink); }

runtime::KernelSource opaque_source(const Kernel& kernel, const runtime::Target& target) {
  if (ir::calls_lapack(kernel.sink)) return lapack_c(kernel);
  const SortStep step(kernel);
  return target.cuda() ? sort_cuda(step, kernel) : sort_c(step, kernel, target);
}

}  // namespace sinter::codegen
