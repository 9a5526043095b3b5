// Products of matrices: broadcast views, one elementwise product, one sum. No kernel is written by hand; codegen
// recognizes the contraction.
#include <algorithm>
#include <limits>
#include <span>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/reduce.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// sum(a * b) along one axis; on bools any(a & b). Operands are in the dtype of ir::to_compute_type().
UOp contract(UOp a, UOp b, int64_t axis) { return reduce(addition_of(a->dtype), a * b, {axis}); }

void check_inner(UOp a, UOp b, const Dim& k, const Dim& other) {
  if (!(k == other))
    usage_error("inner sizes differ: {} x {}, {} against {}; {}", describe(a), describe(b), to_string(k),
                to_string(other),
                mismatch_hint(k, other,
                              b->rank() == 1 ? "the last axis of the first must be the only one of the second"
                                             : "the last axis of the first must be the second last of the "
                                               "second, try transpose"));
}

/// The batch axes: those before the axes of the matrix.
std::span<const Dim> batch_of(UOp x) { return {x->shape.begin(), std::max<size_t>(x->rank(), 2) - 2}; }

/// The broadcast batch axes of both. Errors name the operands as given.
Shape batches(UOp a, UOp b) {
  return Shape(common_sizes(batch_of(a), batch_of(b), [&](const Dim& x, const Dim& y, size_t) {
    usage_error("batch sizes differ: {} x {}, {} against {}; {}", describe(a), describe(b), to_string(x), to_string(y),
                mismatch_hint(x, y, "they must be equal or 1"));
  }));
}

/// UsageError unless the operands have those ranks.
void require_ranks(const Arg& a, size_t rank_a, const Arg& b, size_t rank_b) {
  const UOp x = operand(a), y = operand(b);
  if (x->rank() != rank_a || y->rank() != rank_b)
    usage_error("{} x {}: they must have {} and {} axes; matmul takes other ranks", describe(x), describe(y), rank_a,
                rank_b);
}
void require_batches(const Arg& a, const Arg& b) {
  require_ranks(a, 3, b, 3);
  const UOp x = operand(a), y = operand(b);
  if (!(x->shape[0] == y->shape[0]))
    usage_error("batch sizes differ: {} x {}, {} against {}; {}", describe(x), describe(y), to_string(x->shape[0]),
                to_string(y->shape[0]),
                mismatch_hint(x->shape[0], y->shape[0], "they must be equal; matmul repeats a batch of 1"));
}

/// The argument in the type in which products of that type are computed.
Arg to_compute(const Arg& a, DType type) { return Arg(wrap(to_compute_type(operand(a, type))), a.where()); }

/// beta * input + alpha * (a x b), in the shape of the product.
Tensor add_product(const Arg& input, const Arg& a, const Arg& b, const Arg& beta, const Arg& alpha) {
  const DType type = common_type({&input, &a, &b});
  UOp y = node_of(matmul(to_compute(a, type), to_compute(b, type)));
  const Scalar scale = number_of(alpha, y->dtype), keep = number_of(beta, y->dtype);
  if (is_bool(type))
    usage_error("has no meaning on {} and {}; convert one with to(int64)", describe(input), describe(y));
  const Scalar zero = Scalar::of(y->dtype, 0), one = Scalar::of(y->dtype, 1);
  UOp x = cast(operand(input, type), y->dtype);
  unify_devices(x, y);
  if (x->rank() > y->rank() || common_shape(x->shape, y->shape) != y->shape)
    usage_error("the input {} does not broadcast to the product {}; reshape it first", describe(x),
                to_string(y->shape));
  if (!(scale == one)) y = y * like(y, scale);
  if (keep == zero) return wrap(cast(y, type));
  x = broadcast_to(x, y->shape);
  if (!(keep == one)) x = x * like(x, keep);
  return wrap(cast(x + y, type));
}

/// The cheapest order of a chain of matrices [sizes[i], sizes[i + 1]]: for each part i..j, where to cut it.
class ChainOrder {
 public:
  explicit ChainOrder(const std::vector<double>& sizes) : count_(sizes.size() - 1), cuts_(count_ * count_) {
    std::vector<double> cost(count_ * count_, 0.0);
    for (size_t length = 1; length < count_; ++length)
      for (size_t i = 0, j = length; j < count_; ++i, ++j) {
        double best = std::numeric_limits<double>::infinity();
        for (size_t k = i; k < j; ++k) {
          const double all = cost[i * count_ + k] + cost[(k + 1) * count_ + j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
          if (all < best) best = all, cuts_[i * count_ + j] = k;
        }
        cost[i * count_ + j] = best;
      }
  }
  /// The product of parts i..j.
  Tensor product(const std::vector<Tensor>& parts, size_t i, size_t j, Loc where) const {
    if (i == j) return parts[i];
    const size_t k = cuts_[i * count_ + j];
    return matmul(Arg(product(parts, i, k, where), where), Arg(product(parts, k + 1, j, where), where));
  }

 private:
  size_t count_;
  std::vector<size_t> cuts_;
};

}  // namespace

Tensor matmul(Arg a, Arg b) {
  Call call("matmul", a.where());
  const DType t = common_type({&a, &b});
  UOp x = operand(a, t), y = operand(b, t);
  unify_devices(x, y);
  if (!x->rank() || !y->rank())
    usage_error("{} x {}: a scalar has no axis to sum over; multiply with *", describe(x), describe(y));
  const size_t inner = y->rank() == 1 ? 0 : y->rank() - 2;
  check_inner(x, y, x->shape[x->rank() - 1], y->shape[inner]);
  // The product is [.., m, k, n]; a vector lacks m or n. Each operand is broadcast along the other's axis.
  const bool row = x->rank() == 1, column = y->rank() == 1;
  Shape shape = batches(x, y);
  const auto m = static_cast<int64_t>(shape.rank()), k = m + !row;
  if (!row) shape.push_back(x->shape[-2]);
  shape.push_back(x->shape[-1]);
  if (!column) shape.push_back(y->shape[-1]);
  check_shape(shape);
  as_factors(x, y);
  if (!column) x = broadcast_to(x, shape, {k + 1});
  if (!row) y = broadcast_to(y, shape, {m});
  return wrap(cast(contract(x, y, k), t));
}

Tensor mm(Arg a, Arg b) {
  Call call("mm", a.where());
  require_ranks(a, 2, b, 2);
  return matmul(a, b);
}
Tensor bmm(Arg a, Arg b) {
  Call call("bmm", a.where());
  require_batches(a, b);
  return matmul(a, b);
}
Tensor mv(Arg a, Arg b) {
  Call call("mv", a.where());
  require_ranks(a, 2, b, 1);
  return matmul(a, b);
}

Tensor linear(Arg x, const Tensor& weight, const Tensor& bias) {
  const Call call("linear", x.where());
  const Shape& w = node_of(weight)->shape;
  if (w.rank() != 2) usage_error("the weight has shape {}, {} axes; it must be [out, in]", to_string(w), w.rank());
  if (bias.defined())
    if (const Shape& b = node_of(bias)->shape; b.rank() != 1 || !(b[0] == w[0]))
      usage_error("the bias has shape {} beside a weight {}; it must be [{}]", to_string(b), to_string(w),
                  to_string(w[0]));
  Tensor y = matmul(x, Arg(weight.transpose(), x.where()));
  if (!bias.defined()) return y;
  return y + (autocast_type() == DType::Void ? bias : bias.to(y.dtype()));
}

Tensor addmm(Arg input, Arg a, Arg b, Arg beta, Arg alpha) {
  Call call("addmm", input.where());
  require_ranks(a, 2, b, 2);
  return add_product(input, a, b, beta, alpha);
}
Tensor baddbmm(Arg input, Arg a, Arg b, Arg beta, Arg alpha) {
  Call call("baddbmm", input.where());
  require_batches(a, b);
  return add_product(input, a, b, beta, alpha);
}
Tensor addmv(Arg input, Arg a, Arg b, Arg beta, Arg alpha) {
  Call call("addmv", input.where());
  require_ranks(a, 2, b, 1);
  return add_product(input, a, b, beta, alpha);
}

Tensor matrix_power(Arg x, int64_t n) {
  Call call("matrix_power", x.where());
  const DType t = common_type({&x});
  UOp matrix = operand(x, t);
  if (matrix->rank() < 2 || !(matrix->shape[-1] == matrix->shape[-2]))
    usage_error("{} to the power of {}: the last two axes must have one size", describe(matrix), n);
  if (n < 0) {
    if (!is_float(t))
      usage_error("{} to the power of {}: integers have no inverse; convert with to(float32)", describe(matrix), n);
    matrix = node_of(inverse(Arg(wrap(to_compute_type(matrix)), x.where())));
    n = -n;
  }
  const auto last = static_cast<int64_t>(matrix->rank()) - 1;
  if (!n)
    return wrap(
        cast(eq(position(matrix->shape, last - 1, matrix->device), position(matrix->shape, last, matrix->device)), t));
  Tensor square = wrap(to_compute_type(matrix)), result;
  for (;; square = matmul(Arg(square, x.where()), Arg(square, x.where()))) {
    if (n & 1) result = result.defined() ? matmul(Arg(result, x.where()), Arg(square, x.where())) : square;
    if (!(n >>= 1)) return wrap(cast(node_of(result), t));
  }
}

Tensor multi_dot(const std::vector<Tensor>& matrices, Loc where) {
  Call call("multi_dot", where);
  const size_t count = matrices.size();
  if (count < 2) usage_error("{} matrices given; give at least {}", count, 2);
  DType t = autocast_type(node_of(matrices[0])->dtype);
  for (const Tensor& m : matrices) t = promote(t, autocast_type(node_of(m)->dtype));
  std::vector<Tensor> parts;
  std::vector<double> sizes;
  Dim rows = 1;  // of the next matrix
  for (size_t i = 0; i < count; ++i) {
    UOp m = node_of(matrices[i]);
    const bool vector = m->rank() == 1 && (i == 0 || i + 1 == count);
    if (m->rank() != 2 && !vector)
      usage_error("matrix {} is {}, which has {} axes; the first and the last may have 1, the others have 2", i,
                  describe(m), m->rank());
    if (vector) m = insert_axis(m, i == 0 ? 0 : 1);
    if (i && !(m->shape[0] == rows))
      usage_error("matrix {} is {} and follows one of {} columns; {}", i, describe(node_of(matrices[i])),
                  to_string(rows), mismatch_hint(rows, m->shape[0], "inner sizes must be equal"));
    rows = m->shape[1];
    sizes.push_back(static_cast<double>(m->shape[0].bound()));
    parts.push_back(wrap(to_compute_type(cast(m, t))));
  }
  sizes.push_back(static_cast<double>(rows.bound()));
  UOp all = node_of(ChainOrder(sizes).product(parts, 0, count - 1, where));
  Ints ones;
  if (node_of(matrices[0])->rank() == 1) ones.push_back(0);
  if (node_of(matrices[count - 1])->rank() == 1) ones.push_back(1);
  return wrap(cast(drop_axes(all, ones), t));
}

Tensor dot(Arg a, Arg b) {
  Call call("dot", a.where());
  const DType t = common_type({&a, &b});
  UOp x = operand(a, t), y = operand(b, t);
  unify_devices(x, y);
  if (x->rank() != 1 || y->rank() != 1)
    usage_error("{} and {}: both must be vectors; use matmul", describe(x), describe(y));
  if (!(x->shape == y->shape))
    usage_error("{} and {}: {}", describe(x), describe(y),
                mismatch_hint(x->shape, y->shape, "the lengths must be equal"));
  return wrap(cast(contract(to_compute_type(x), to_compute_type(y), 0), t));
}

}  // namespace sinter::inline v0
