// Reductions: in double and rounded once, or in the type itself in the order of a ReductionTree (ir/attr.h, SEMANTICS
// F2).
#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "interp/interpreter.h"
#include "interp/op_classes.h"
#include "ir/axis_lists.h"
#include "ir/combine.h"
#include "ir/contains.h"
#include "ir/mma_step.h"
#include "ir/scalar_eval.h"
#include "ir/short_float.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::runtime {

using ir::Combine;
using ir::Scalar;

/// A CombineGraph compiled to instructions on registers: first its Args, then the results of its nodes, in order.
class CombineProgram {
 public:
  CombineProgram(const ir::CombineGraph& c, size_t args) : registers_(args) {
    std::unordered_map<ir::UOp, size_t> at;
    for (ir::UOp n : ir::topological(c.next)) {
      if (n->op == ir::Op::Arg) {
        at[n] = static_cast<size_t>(n->integer());
        continue;
      }
      at[n] = registers_.size();
      registers_.push_back(n->op == ir::Op::Const ? n->scalar() : Scalar());
      if (n->op == ir::Op::Const) continue;
      CombineInstruction line{n->op, n->dtype, n->src.back()->dtype, at[n], n->src.size(), {}};
      for (size_t k = 0; k < n->src.size(); ++k) line.src[k] = at.at(n->src[k]);
      lines_.push_back(line);
    }
    for (ir::UOp n : c.next) next_.push_back(at.at(n));
  }

  /// Combines `other` into `state`.
  void run(std::vector<Scalar>& state, std::span<const Scalar> other) {
    Scalar* to = registers_.data();
    for (Scalar x : state) *to++ = x;
    for (Scalar x : other) *to++ = x;
    for (const CombineInstruction& line : lines_) {
      const Scalar args[] = {registers_[line.src[0]], registers_[line.src[1]], registers_[line.src[2]]};
      registers_[line.to] = ir::evaluate(line.op, line.dtype, line.from, {args, line.count});
    }
    for (size_t k = 0; k < next_.size(); ++k) state[k] = registers_[next_[k]];
  }

 private:
  struct CombineInstruction {
    ir::Op op;
    DType dtype, from;
    size_t to, count;
    size_t src[3];  ///< 0 if absent
  };
  std::vector<Scalar> registers_;
  std::vector<CombineInstruction> lines_;
  std::vector<size_t> next_;
};

namespace {

/// Combines each element of a row into its accumulator: combine(accumulator, element of a, element of b).
template <class T, class Acc, class F>
void accumulate(const StridedView& a, const StridedView& b, std::span<const int64_t> acc_step, PoolVector<Acc>& acc,
                F combine) {
  const std::vector<int64_t> steps(acc_step.begin(), acc_step.end());
  for_rows<3>(a.shape, {&a.stride, &b.stride, &steps}, {a.offset, b.offset, 0},
              [&](int64_t n, const auto& at, const auto& by) {
                const T* x = reinterpret_cast<const T*>(a.address(at[0]));
                const T* y = reinterpret_cast<const T*>(b.address(at[1]));
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

/// Floats, one chain per result, accumulated in Acc. b is a second factor, or a where there is none.
template <class T, class Acc>
Array chain(const ReductionSpec& r, const StridedView& a, const StridedView& b, Array out,
            std::span<const int64_t> acc_step) {
  const Scalar identity = ir::reduction_identity(r.attr.combine, a.dtype);
  PoolVector<Acc> acc(static_cast<size_t>(out.numel()), static_cast<Acc>(identity.as_double()));
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
    default: throw InternalError("interpreting: a combine of several accumulators in one chain");
  }
  std::span<T> to = out.as<T>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(acc[i]);
  return out;
}

/// Accumulator types: double for float32, rounded once, unless results must match kernels.
std::vector<DType> accumulators(const ReductionSpec& r, std::span<const StridedView* const> views) {
  std::vector<DType> types;
  for (int k = 0; k < ir::accumulator_count(r.attr.combine); ++k) {
    const DType value = views[k]->dtype, t = r.attr.tree.mma ? ir::mma_sum(value) : value;
    types.push_back(t == DType::F32 && !r.exact ? DType::F64 : t);
  }
  return types;
}
/// The elements [begin, end) of a Dot in steps of a tensor core, from zero.
Scalar mma_chain(DType factor, std::span<const std::vector<Scalar>> values, size_t row, size_t begin, size_t end) {
  const auto bits = [factor](Scalar x) {
    if (is_integer(factor)) return static_cast<uint32_t>(x.as_int());
    if (ir::is_short_float(factor)) return uint32_t{ir::short_float_bits(factor, x.as_double())};
    return ir::tf32_of(std::bit_cast<uint32_t>(static_cast<float>(x.as_double())));
  };
  const size_t step = ir::mma_step_length(factor);
  uint32_t sum = 0;
  while (begin < end) {
    const size_t next = std::min({begin + step, (begin / row + 1) * row, end});
    std::vector<uint32_t> a(step), b(step);
    for (size_t k = begin; k < next; ++k) {
      a[k - begin] = bits(values[0][k]);
      b[k - begin] = bits(values[1][k]);
    }
    sum = ir::mma_step(ir::mma_operand(factor), a, b, sum);
    begin = next;
  }
  if (is_integer(factor)) return Scalar::of(DType::I32, int64_t{static_cast<int32_t>(sum)});
  return Scalar::of(DType::F32, static_cast<double>(std::bit_cast<float>(sum)));
}

Scalar rounded(DType dtype, Scalar x) { return is_float(dtype) ? Scalar::of(dtype, x.as_double()) : x; }

/// Any combine, type and tree: gathers the elements of each result, then combines them.
Array gather_then_reduce(const ReductionSpec& r, std::span<const StridedView* const> views, Array out) {
  const StridedView& a = *views[0];
  ir::Ints order;
  for (int64_t i = 0; i < static_cast<int64_t>(a.rank()); ++i)
    if (!ir::contains(r.attr.axes, i)) order.push_back(i);
  order.insert(order.end(), r.attr.axes.begin(), r.attr.axes.end());
  std::vector<Array> sources = ir::mapped(views, [&](const StridedView* v) { return v->permute(order).copy(); });
  ir::ReduceAttr attr = r.attr;
  if (!r.exact && is_float(out.dtype)) attr.tree = {};
  CombineEvaluator combiner(attr, accumulators(r, views), a.dtype);
  size_t row = 1;
  for (int64_t axis : attr.axes)
    if (a.shape[axis] != 1) row = static_cast<size_t>(a.shape[axis]);
  const size_t given = r.product ? 1 : views.size();
  const int64_t results = out.numel(), length = results ? sources[0].numel() / results : 0;
  std::vector<std::vector<Scalar>> values(given);
  for (int64_t i = 0; i < results; ++i) {
    for (size_t s = 0; s < given; ++s) {
      values[s].clear();
      for (int64_t k = i * length; k < (i + 1) * length; ++k) {
        const Scalar product[] = {sources[s].at(k), r.product ? sources[1].at(k) : Scalar()};
        values[s].push_back(r.product ? ir::evaluate(ir::Op::Mul, a.dtype, product) : product[0]);
      }
    }
    out.set(i, rounded(out.dtype, combiner.reduce(values, row)));
  }
  return out;
}

}  // namespace

CombineEvaluator::CombineEvaluator(const ir::ReduceAttr& attr, std::vector<DType> types, DType source,
                                   const std::function<ir::UOp(ir::Graph&, ir::UOp)>& lower_combine)
    : attr_(attr), source_(source), element_(static_cast<size_t>(ir::value_count(attr.combine))) {
  for (size_t k = 0; k < types.size(); ++k)
    identity_.push_back(ir::reduction_identity(attr.combine, types[k], static_cast<int>(k)));
  ir::CombineGraph step = ir::combine_step(attr.combine, types), merge = ir::combine_merge(attr.combine, types);
  for (ir::CombineGraph* c : {&step, &merge})
    for (ir::UOp& n : c->next)
      if (lower_combine) n = lower_combine(*c->graph, n);
  step_ = std::make_shared<CombineProgram>(step, types.size() + element_.size());
  merge_ = std::make_shared<CombineProgram>(merge, 2 * types.size());
}

CombineEvaluator::AccumulatorValues CombineEvaluator::block(std::span<const std::vector<Scalar>> values, size_t row,
                                                            size_t begin, size_t end) {
  if (attr_.tree.mma) return {mma_chain(source_, values, row, begin, end)};
  const size_t lanes = static_cast<size_t>(attr_.tree.lanes);
  std::vector<AccumulatorValues> chains(lanes, identity_);
  for (size_t i = begin; i < end; ++i) {
    for (size_t k = 0; k < values.size(); ++k) element_[k] = values[k][i];
    step_->run(chains[(i - begin) % lanes], element_);
  }
  for (size_t half = lanes / 2; half > 0; half /= 2)
    for (size_t j = 0; j < half; ++j) merge_->run(chains[j], chains[j + half]);
  return chains[0];
}

Scalar CombineEvaluator::reduce(std::span<const std::vector<Scalar>> values, size_t row) {
  const auto result = static_cast<size_t>(attr_.result);
  const size_t length = values[0].size();
  if (attr_.tree.block <= 0) return block(values, row, 0, length)[result];
  const auto size = static_cast<size_t>(attr_.tree.block);
  std::vector<AccumulatorValues> parts;
  for (size_t i = 0; i < length; i += size) parts.push_back(block(values, row, i, std::min(i + size, length)));
  for (auto count = static_cast<size_t>(attr_.tree.group); count > 0 && parts.size() > count;
       count = ir::ReductionTree::kFanIn)
    parts = merge_groups(parts, count);
  return merge_groups(parts, std::max<size_t>(parts.size(), 1))[0][result];
}

/// Merges each `count` consecutive states in one chain.
std::vector<CombineEvaluator::AccumulatorValues> CombineEvaluator::merge_groups(
    const std::vector<AccumulatorValues>& parts, size_t count) {
  std::vector<AccumulatorValues> out((std::max<size_t>(parts.size(), 1) + count - 1) / count, identity_);
  for (size_t i = 0; i < parts.size(); ++i) merge_->run(out[i / count], parts[i]);
  return out;
}

Scalar CombineEvaluator::add(bool first, std::span<const Scalar> element) {
  if (first) state_ = identity_;
  step_->run(state_, element);
  return state_[attr_.result];
}

Array reduce_view(const ReductionSpec& r, std::span<const StridedView* const> views) {
  const StridedView& a = *views[0];
  const StridedView& b = views.size() > 1 ? *views[1] : a;
  const std::vector<int64_t> shape = ir::without(a.shape, r.attr.axes);
  const DType value = views[r.attr.result]->dtype;
  Array out(r.attr.tree.mma ? ir::mma_sum(value) : value, shape);
  std::vector<int64_t> acc_step = ir::with_axes(row_major(shape), r.attr.axes, [](int64_t) { return 0; });
  const bool one_chain = r.attr.tree == ir::ReductionTree{};
  if (ir::accumulator_count(r.attr.combine) > 1) return gather_then_reduce(r, views, std::move(out));
  if (a.dtype == DType::F64 && (one_chain || !r.exact)) return chain<double, double>(r, a, b, std::move(out), acc_step);
  if (r.attr.tree.mma) return gather_then_reduce(r, views, std::move(out));
  if (a.dtype == DType::F32 && !r.exact) return chain<float, double>(r, a, b, std::move(out), acc_step);
  if (a.dtype == DType::F32 && one_chain) return chain<float, float>(r, a, b, std::move(out), acc_step);
  return gather_then_reduce(r, views, std::move(out));
}

Array scan_view(const ReductionSpec& r, std::span<const StridedView* const> views) {
  const StridedView& a = *views[0];
  const auto axis = static_cast<size_t>(r.attr.axes[0]), result = static_cast<size_t>(r.attr.result);
  std::vector<Array> sources = ir::mapped(views, [](const StridedView* v) { return v->copy(); });
  Array out(views[result]->dtype, a.shape);
  CombineEvaluator combiner(r.attr, accumulators(r, views), a.dtype);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < a.rank(); ++i) inner *= a.shape[i];
  const int64_t length = a.shape[axis], outer = out.numel() ? out.numel() / (inner * length) : 0;
  std::vector<Scalar> element(views.size());
  for (int64_t i = 0; i < outer * inner; ++i)
    for (int64_t t = 0; t < length; ++t) {
      const int64_t at = (i / inner * length + t) * inner + i % inner;
      for (size_t k = 0; k < element.size(); ++k) element[k] = sources[k].at(at);
      out.set(at, rounded(out.dtype, combiner.add(t == 0, element)));
    }
  return out;
}

}  // namespace sinter::runtime
