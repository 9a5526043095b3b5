// Lapack, by the library that kernels call: what it computes is defined by it. What the tests compare it with are the
// equations of each routine, and PyTorch's numbers.
#include "interp/op_classes.h"
#include "runtime/cpu/lapack.h"

namespace sinter::runtime {
namespace {

/// All matrices of some memory. Returns whether the routine failed for one of them.
bool call_all(const ir::LapackCall& call, DType dtype, const ir::LapackSizes& sizes, int64_t matrices, std::byte* to,
              const std::byte* a, const std::byte* b) {
  const int64_t job[] = {static_cast<int64_t>(call.routine),
                         call.options,
                         std::bit_cast<int64_t>(call.cutoff),
                         static_cast<int64_t>(size_of(dtype)),
                         sizes.m,
                         sizes.n,
                         sizes.r};
  return sinter_lapack(job, to, a, b, 0, matrices) != 0;
}

int64_t matrices_of(const std::vector<int64_t>& rows) { return count_of(std::span(rows).first(rows.size() - 1)); }

ir::LapackSizes sizes_of(const std::vector<int64_t>& a, const std::vector<int64_t>* b) {
  return {a[a.size() - 2], a.back(), b ? b->back() : 0};
}

}  // namespace

Array lapack_view(const ir::LapackCall& call, std::span<const StridedView* const> values,
                  const std::vector<int64_t>& shape, bool& error) {
  const Array a = values[0]->copy(), b = values.size() > 1 ? values[1]->copy() : Array();
  Array out(a.dtype, shape);
  error |= call_all(call, a.dtype, sizes_of(a.shape, values.size() > 1 ? &b.shape : nullptr), matrices_of(shape),
                    out.data.data(), a.data.data(), values.size() > 1 ? b.data.data() : nullptr);
  return out;
}

void call_lapack(const ir::LapackCall& call, std::span<const KernelBuffer> params, uint32_t* error) {
  const KernelBuffer &to = params[0], &a = params[1], *b = params.size() > 2 ? &params[2] : nullptr;
  const bool failed = call_all(call, a.dtype, sizes_of(a.shape, b ? &b->shape : nullptr), matrices_of(to.shape),
                               to.bytes.data(), a.bytes.data(), b ? b->bytes.data() : nullptr);
  if (failed && error) *error |= kMatrixError;
}

}  // namespace sinter::runtime
