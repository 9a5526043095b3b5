// Products of two matrices.
#pragma once

#include <vector>

#include "unit/codegen_support.h"

namespace codegen_test {

/// x [m, k] times y [k, n], or y [n, k]; one row is a vector.
inline KernelHarness product(int64_t m, int64_t k, int64_t n, bool transposed = false) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {m, k}, 1));
  UOp y = b.buffer(random_array(DType::F32, transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 2));
  UOp out = b.buffer(Array(DType::F32, {m, n}));
  UOp i = m > 1 ? b.outer(m) : b.index(0), j = b.outer(n), l = b.over(k, 2);
  b.stores({b.put(out, {i, j},
                  b.reduce(Combine::Dot, {b.at(x, {i, l}), transposed ? b.at(y, {j, l}) : b.at(y, {l, j})}, {l}))});
  return b;
}

/// The reference target with a last cache that is far from its cores.
inline runtime::Target far_l3() {
  runtime::Target target = runtime::reference_target();
  target.near_l3 = false;
  return target;
}

}  // namespace codegen_test
