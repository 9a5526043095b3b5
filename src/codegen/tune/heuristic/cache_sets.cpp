// Which summed ranges go from page to page.
#include "codegen/tune/heuristic/cache_sets.h"

namespace sinter::codegen {

using ir::Op;
using ir::UOp;

bool share_sets(View& view, const Work& product, UOp load) {
  constexpr int64_t kFewValues = 8;  // lines that share a set and stay
  return load->op == Op::Load && std::any_of(product.own.begin(), product.own.end(), [&](UOp r) {
           return view.size(r) > kFewValues && pages_apart(view.byte_stride(load, r));
         });
}

}  // namespace sinter::codegen
