// The text by the kernel's op.
#include "codegen/opaque/opaque_source.h"

#include <fmt/core.h>

#include "codegen/opaque/sort_text.h"
#include "ir/lapack_call.h"

namespace sinter::codegen {
namespace {

/// C that passes its buffers to sinter_lapack(), which the loader binds (runtime/cpu/lapack.h). What to do is an array
/// of numbers, a LapackJob. A task is a matrix.
runtime::KernelSource lapack_source(const Kernel& kernel) {
  const UOp n = kernel.sink->src[0];
  const ir::Ints& call = n->ints();
  const bool second = n->src.size() > 2;
  const ir::LapackSizes sizes = ir::lapack_sizes_of(n->src[1]->shape, second ? &n->src[2]->shape : nullptr);
  runtime::KernelSource source;
  finish(source,
         "extern int sinter_lapack(const long long*, void*, const void*, const void*, long long, long long);\n"
         "int $N(void* const* bufs, const long long* vars, long long begin, long long end) {\n"
         "  static const long long job[] = {$JOB};\n"
         "  return sinter_lapack(job, bufs[1], bufs[2], $B, begin, end);\n"
         "}\n",
         kernel.name,
         {{"$JOB", fmt::format("{}, {}, {}ll, {}, {}, {}, {}", call[0], call[1], call[2], size_of(n->src[0]->dtype),
                               sizes.m, sizes.n, sizes.r)},
          {"$B", second ? "bufs[3]" : "0"}});
  return source;
}

}  // namespace

bool is_opaque(const Kernel& kernel) { return ir::sorts_runs(kernel.sink) || ir::calls_lapack(kernel.sink); }

runtime::KernelSource opaque_source(const Kernel& kernel, const runtime::Target& target) {
  if (ir::calls_lapack(kernel.sink)) return lapack_source(kernel);
  const SortStep step(kernel);
  return target.cuda() ? sort_cuda(step, kernel) : sort_c(step, kernel, target);
}

}  // namespace sinter::codegen
