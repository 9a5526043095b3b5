// Matrices as linear algebra takes them: along the last two axes, of fixed sizes, in float32 or float64, on the host.
#pragma once

#include "ir/build.h"
#include "sinter/arg.h"
#include "sinter/tensor.h"

namespace sinter::tensor {

/// An operand, and the way back for results.
struct Matrices {
  ir::UOp x;      ///< [.., rows, columns] on the host
  DType type;     ///< of float results
  Device device;  ///< of results
  int64_t rows() const { return x->shape[x->rank() - 2].value(); }
  int64_t columns() const { return x->shape[x->rank() - 1].value(); }
  Tensor back(ir::UOp result) const { return back_as(result, type); }
  Tensor back_as(ir::UOp result, DType dtype) const;
};
/// UsageError for fewer than two axes and symbolic sizes of a matrix; BackendError if there is no LAPACK.
Matrices matrices(const Arg& a);
/// UsageError for other than square ones too.
Matrices square_matrices(const Arg& a);

/// a x = b: both with the same batches, in one type. An equation x a = b is turned around.
struct Equation {
  Matrices matrices;  ///< a
  ir::UOp right;      ///< b, [.., rows, r]
  bool vector = false, left = true;
  ir::UOp a() const { return matrices.x; }
  ir::UOp b() const { return right; }
  Tensor back(ir::UOp x) const;
};
/// a is square. `vectors`: b may lack the last axis.
Equation equation(const Arg& a, const Arg& b, bool left, bool vectors);
/// a is any matrix.
Equation least_squares(const Arg& a, const Arg& b);

}  // namespace sinter::tensor
