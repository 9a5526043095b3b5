// Reductions: in double and rounded once, or in the type itself in the order of a Tree (uop/attr.h, SEMANTICS F2).
#include <algorithm>
#include <cmath>

#include "runtime/interpret_ops.h"
#include "runtime/interpreter.h"
#include "uop/build.h"
#include "uop/scalar_eval.h"

namespace sinter::runtime {
namespace {

using ir::Combine;
using ir::Scalar;

ir::Op op_of(Combine combine) {
  switch (combine) {
    case Combine::Add:
    case Combine::Dot: return ir::Op::Add;
    case Combine::Mul: return ir::Op::Mul;
    case Combine::Max: return ir::Op::Max;
    case Combine::Min: return ir::Op::Min;
  }
  return ir::Op::Add;
}

Scalar combine_two(Combine combine, DType dtype, Scalar x, Scalar y) {
  const Scalar args[] = {x, y};
  return ir::evaluate(op_of(combine), dtype, args);
}

/// What one row feeds to its accumulators: a, or a*b rounded to T.
template <class T, class Acc, class F>
void accumulate(const View& a, const View* b, std::span<const int64_t> acc_step, PooledVector<Acc>& acc, F combine) {
  const std::vector<int64_t> steps(acc_step.begin(), acc_step.end());
  if (!b) {
    for_rows<2>(a.shape, {&a.step, &steps}, {a.offset, 0}, [&](int64_t n, const auto& at, const auto& by) {
      const T* x = reinterpret_cast<const T*>(a.address(at[0]));
      Acc* out = acc.data() + at[1];
      if (by[1] == 0) {
        Acc sum = *out;
        for (int64_t i = 0; i < n; ++i) sum = combine(sum, x[i * by[0]], T{});
        *out = sum;
      } else {
        for (int64_t i = 0; i < n; ++i) out[i * by[1]] = combine(out[i * by[1]], x[i * by[0]], T{});
      }
    });
    return;
  }
  for_rows<3>(a.shape, {&a.step, &b->step, &steps}, {a.offset, b->offset, 0},
              [&](int64_t n, const auto& at, const auto& by) {
                const T* x = reinterpret_cast<const T*>(a.address(at[0]));
                const T* y = reinterpret_cast<const T*>(b->address(at[1]));
                Acc* out = acc.data() + at[2];
                if (by[2] == 0) {
                  Acc sum = *out;
                  for (int64_t i = 0; i < n; ++i) sum = combine(sum, x[i * by[0]], y[i * by[1]]);
                  *out = sum;
                } else {
                  for (int64_t i = 0; i < n; ++i) out[i * by[2]] = combine(out[i * by[2]], x[i * by[0]], y[i * by[1]]);
                }
              });
}

/// Floats in one chain per result, accumulated in Acc.
template <class T, class Acc>
Array chain(const Reduction& r, const View& a, const View* b, Array out, std::span<const int64_t> acc_step) {
  const Scalar identity = ir::identity_of(r.attr.combine, a.dtype);
  PooledVector<Acc> acc(static_cast<size_t>(out.numel()), static_cast<Acc>(identity.as_double()));
  const bool product = r.product;
  auto value = [product](T x, T y) { return static_cast<Acc>(product ? x * y : x); };
  switch (r.attr.combine) {
    case Combine::Add: accumulate<T>(a, b, acc_step, acc, [&](Acc s, T x, T y) { return s + value(x, y); }); break;
    case Combine::Dot:
      accumulate<T>(a, b, acc_step, acc, [](Acc s, T x, T y) {
        if constexpr (sizeof(T) < sizeof(Acc))
          return s + static_cast<Acc>(x) * static_cast<Acc>(y);  // the product is exact
        else
          return std::fma(x, y, s);
      });
      break;
    case Combine::Mul: accumulate<T>(a, b, acc_step, acc, [&](Acc s, T x, T y) { return s * value(x, y); }); break;
    case Combine::Max:
      accumulate<T>(a, b, acc_step, acc, [&](Acc s, T x, T y) {
        Acc v = value(x, y);
        return s >= v || s != s ? s : v;
      });
      break;
    case Combine::Min:
      accumulate<T>(a, b, acc_step, acc, [&](Acc s, T x, T y) {
        Acc v = value(x, y);
        return s <= v || s != s ? s : v;
      });
      break;
  }
  std::span<T> to = out.as<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(acc[i]);
  return out;
}

/// Any type and any tree: the elements of each result are brought together, then combined.
Array one_by_one(const Reduction& r, const View& a, const View* b, Array out) {
  ir::Ints order;
  for (int64_t i = 0; i < static_cast<int64_t>(a.rank()); ++i)
    if (std::find(r.attr.axes.begin(), r.attr.axes.end(), i) == r.attr.axes.end()) order.push_back(i);
  order.insert(order.end(), r.attr.axes.begin(), r.attr.axes.end());
  const Array x = a.permuted(order).copy();
  const Array y = b ? b->permuted(order).copy() : Array();
  const int64_t results = out.numel(), length = results ? x.numel() / results : 0;
  std::vector<Scalar> values, others;
  for (int64_t i = 0; i < results; ++i) {
    values.clear();
    others.clear();
    for (int64_t k = i * length; k < (i + 1) * length; ++k) {
      values.push_back(r.product ? combine_two(Combine::Mul, x.dtype, x.at(k), y.at(k)) : x.at(k));
      if (b && !r.product) others.push_back(y.at(k));
    }
    out.set(i, reduce_in_tree(r.attr.combine, r.attr.tree, x.dtype, values, others));
  }
  return out;
}

}  // namespace

Scalar reduce_in_tree(Combine combine, ir::Tree tree, DType dtype, std::span<const Scalar> a,
                      std::span<const Scalar> b) {
  const Scalar identity = ir::identity_of(combine, dtype);
  const size_t lanes = static_cast<size_t>(tree.lanes);
  auto block = [&](size_t begin, size_t end) {
    std::vector<Scalar> chains(lanes, identity);
    for (size_t i = begin; i < end; ++i) {
      Scalar& c = chains[(i - begin) % lanes];
      if (combine != Combine::Dot) {
        c = combine_two(combine, dtype, c, a[i]);
      } else if (is_float(dtype)) {
        const Scalar args[] = {a[i], b[i], c};
        c = ir::evaluate(ir::Op::Fma, dtype, args);
      } else {
        c = combine_two(combine, dtype, c, combine_two(Combine::Mul, dtype, a[i], b[i]));
      }
    }
    for (size_t half = lanes / 2; half > 0; half /= 2)
      for (size_t j = 0; j < half; ++j) chains[j] = combine_two(combine, dtype, chains[j], chains[j + half]);
    return chains[0];
  };
  if (tree.block <= 0) return block(0, a.size());
  Scalar sum = identity;
  const size_t size = static_cast<size_t>(tree.block);
  for (size_t i = 0; i < a.size(); i += size)
    sum = combine_two(combine, dtype, sum, block(i, std::min(i + size, a.size())));
  return sum;
}

Array reduce_view(const Reduction& r, const View& a, const View* b) {
  std::vector<int64_t> shape = a.shape;
  for (int64_t axis : r.attr.axes) shape[static_cast<size_t>(axis)] = 1;
  Array out(a.dtype, shape);
  std::vector<int64_t> acc_step = row_major(shape);
  for (int64_t axis : r.attr.axes) acc_step[static_cast<size_t>(axis)] = 0;
  const bool one_chain = r.attr.tree == ir::Tree{};
  if (a.dtype == DType::F64 && (one_chain || !r.exact)) return chain<double, double>(r, a, b, std::move(out), acc_step);
  if (a.dtype == DType::F32 && !r.exact) return chain<float, double>(r, a, b, std::move(out), acc_step);
  if (a.dtype == DType::F32 && one_chain) return chain<float, float>(r, a, b, std::move(out), acc_step);
  return one_by_one(r, a, b, std::move(out));
}

}  // namespace sinter::runtime
