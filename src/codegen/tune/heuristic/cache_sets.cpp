// Reduced ranges whose stride is a whole number of pages.
#include "codegen/tune/heuristic/cache_sets.h"

namespace sinter::codegen {

using ir::Op;
using ir::UOp;

bool conflicts_in_sets(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load) {
  constexpr int64_t kFewValues = 8;  // lines of one set that stay in the cache
  return load->op == Op::Load && std::any_of(product.reduced_ranges.begin(), product.reduced_ranges.end(), [&](UOp r) {
           return analysis.size(r) > kFewValues && is_page_stride(analysis.byte_stride(load, r));
         });
}

}  // namespace sinter::codegen
