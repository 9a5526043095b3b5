// Reduced ranges whose stride is a whole number of pages.
#include "codegen/tune/heuristic/cache_sets.h"

#include <numeric>

namespace sinter::codegen {

bool conflicts_in_sets(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load) {
  constexpr int64_t kFewValues = 8;  // lines of one set that stay in the cache
  return load->op == Op::Load && std::ranges::any_of(product.reduced_ranges, [&](UOp r) {
           return analysis.size(r) > kFewValues && is_page_stride(analysis.byte_stride(load, r));
         });
}

bool evicts_own_lines(KernelAnalysis& analysis, const StatementAnalysis& product, UOp load,
                      const runtime::Target& target) {
  return load->op == Op::Load && std::ranges::any_of(product.reduced_ranges, [&](UOp r) {
           const int64_t stride = analysis.byte_stride(load, r);
           if (stride < runtime::kCacheLine) return false;
           const int64_t sets = runtime::kPage / std::max(runtime::kCacheLine, std::gcd(stride, runtime::kPage));
           return analysis.size(r) > sets * l1_associativity(target);
         });
}

}  // namespace sinter::codegen
