// What to do is an array of numbers, a LapackJob.
#include "codegen/opaque/lapack_c.h"

#include <fmt/core.h>

#include "codegen/opaque/sort_text.h"
#include "ir/lapack_call.h"

namespace sinter::codegen {

runtime::KernelSource lapack_c(const Kernel& kernel) {
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

}  // namespace sinter::codegen
