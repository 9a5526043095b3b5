// Shape and dtype inference of every builder.
#include "ir/build.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/short_float.h"
#include "ir/tensor_graph.h"
#include "sinter/error.h"

namespace sinter::ir {
namespace {

void require(bool ok, Op op, std::string_view what, UOp a = {}, UOp b = {}) {
  if (ok) return;
  std::string text = fmt::format("building {}: {}", info(op).name, what);
  for (UOp u : {a, b})
    if (u) text += fmt::format("; {} {}{}", info(u->op).name, name_of(u->dtype), to_string(u->shape));
  throw InternalError(text);
}
/// Names the wanted shape, too. These checks run for every node of every step, so the text is built only on failure.
void require(bool ok, Op op, std::string_view what, const Shape& wanted, UOp a) {
  if (!ok) require(false, op, fmt::format("{}{}", what, to_string(wanted)), a);
}

UOp move(UOp x, Op op, const Shape& shape, const Attr& attr = no_attr()) {
  return x->graph->make({op, x->dtype, shape, {x}, attr});
}

bool is_short(UOp x) { return is_short_float(x->dtype); }

/// Whether a view of x may bypass x and view x's source. Not in the tensor graph: equal programs with and without
/// history must stay equal there, and a gradient with respect to x may be requested.
bool sees_through(UOp x, Op op) { return x->op == op && x->graph != &TensorGraph::get(); }

}  // namespace

UOp constant(Graph& g, Scalar value, DType dtype, Device device) {
  return g.make({Op::Const, dtype, {}, {}, value, device});
}
UOp full(Graph& g, const Shape& shape, DType dtype, double value, Device device) {
  return broadcast_to(constant(g, dtype, value, device), shape);
}
UOp like(UOp x, Scalar value) { return broadcast_to(constant(*x->graph, value, x->dtype, x->device), x->shape); }
UOp like(UOp x, double value) { return like(x, Scalar::of(x->dtype, value)); }
UOp arange(Graph& g, const Dim& size, Device device) {
  return g.make({Op::Arange, DType::I64, Shape{size}, {}, {}, device});
}
UOp axis_iota(Graph& g, const Shape& shape, int64_t axis, Device device) {
  return expand(arange(g, shape[axis], device), shape, others(shape.rank(), {axis}));
}
UOp copy(UOp x, Device device) {
  if (x->device == device) return x;
  std::vector<UOp> above;  // casts and views above the scalar, outermost first
  UOp number = x;
  for (; !number->storage() && (number->op == Op::Cast || number->op == Op::Expand || number->op == Op::Reshape);
       number = number->src[0])
    above.push_back(number);
  if (number->storage() || (number->op != Op::Const && number->op != Op::Num && number->op != Op::Var))
    return x->graph->make({Op::Copy, x->dtype, x->shape, {x}, {}, device});
  UOp moved = x->graph->make({number->op, number->dtype, {}, {}, number->attr, device});
  for (size_t i = above.size(); i-- > 0;) moved = with_sources(*x->graph, above[i], {moved});
  return moved;
}
UOp true_like(UOp x) { return full(*x->graph, x->shape, DType::Bool, 1, x->device); }
UOp variable(Graph& g, const sinter::Var& var, DType dtype, Device device) {
  return g.make({Op::Var, dtype, {}, {}, var, device});
}
UOp bound_size(Graph& g, const Dim& size, Device device) {
  return g.make({Op::Var, DType::I64, {}, {}, Region{{0, size}}, device});
}
UOp param(Graph& g, int64_t slot, DType dtype, const Shape& shape, Device device) {
  return g.make({Op::Param, dtype, shape, {}, slot, device});
}
UOp argument(Graph& g, int64_t number, DType dtype, Device device) {
  return g.make({Op::Arg, dtype, {}, {}, number, device});
}

UOp alu(Op op, Sources src) {
  const OpInfo& row = info(op);
  require(row.cls == OpClass::Alu && row.arity == static_cast<int>(src.size()), op, "wrong number of sources");
  UOp last = src.back();
  for (size_t i = 0; i + 1 < src.size(); ++i) {
    require(src[i]->shape == last->shape, op, "shapes differ", src[i], last);
    const bool condition = op == Op::Where && i == 0;
    require(src[i]->dtype == (condition ? DType::Bool : last->dtype), op,
            condition ? "condition is not bool" : "dtypes differ", src[i], last);
  }
  if (has(op, kFloat)) require(is_float(last->dtype), op, "not a float", last);
  if (has(op, kInteger)) require(!is_float(last->dtype), op, "not an integer", last);
  DType dtype = row.result == ResultType::Bool ? DType::Bool : last->dtype;
  return last->graph->make({op, dtype, last->shape, std::move(src)});
}

UOp cast(UOp x, DType dtype) { return x->dtype == dtype ? x : x->graph->make({Op::Cast, dtype, x->shape, {x}}); }
UOp to_compute_type(UOp x) { return cast(x, compute_type(x->dtype)); }
UOp bitcast(UOp x, DType dtype) {
  require(size_of(x->dtype) == size_of(dtype), Op::Bitcast, "sizes differ", x);
  return x->dtype == dtype ? x : x->graph->make({Op::Bitcast, dtype, x->shape, {x}});
}
UOp where(UOp condition, UOp x, UOp y) { return alu(Op::Where, {condition, x, y}); }

UOp reshape(UOp x, const Shape& shape) {
  if (x->shape == shape) return x;
  require(x->shape.numel() == shape.numel(), Op::Reshape, "numbers of elements differ: ", shape, x);
  if (sees_through(x, Op::Reshape)) return reshape(x->src[0], shape);
  return move(x, Op::Reshape, shape);
}

UOp permute(UOp x, const Ints& order) {
  require(order.size() == x->rank(), Op::Permute, "order has another rank", x);
  if (sees_through(x, Op::Permute)) {
    Ints both(order.size());
    for (size_t i = 0; i < order.size(); ++i) both[i] = x->ints()[order[i]];
    return permute(x->src[0], both);
  }
  Shape shape;
  bool same = true;
  for (size_t i = 0; i < order.size(); ++i) {
    shape.push_back(x->shape[order[i]]);
    same &= order[i] == static_cast<int64_t>(i);
  }
  return same ? x : move(x, Op::Permute, shape, order);
}

namespace {

/// Repeats x along the axes of `shape` that it lacks: `lacked`, and leading axes until the ranks agree. With `singles`,
/// x's own axes of size 1 are repeated, too.
UOp repeat(UOp x, const Shape& shape, const Ints& lacked, bool singles) {
  const size_t lead = shape.rank() - x->rank() - lacked.size();
  Ints axes, single;  // repeated axes of `shape`; those of x among them
  size_t own = 0, next = 0;
  bool fits = true, repeats = false;
  for (size_t i = 0; fits && i < shape.rank(); ++i) {
    const bool named = next < lacked.size() && lacked[next] == static_cast<int64_t>(i);
    next += named;
    if (!named && i >= lead) {
      fits = own < x->rank() && (x->shape[own] == shape[i] || (singles && x->shape[own] == 1));
      if (!fits || x->shape[own++] == shape[i]) continue;
      single.push_back(static_cast<int64_t>(own - 1));
    }
    repeats |= !(shape[i] == 1);
    axes.push_back(static_cast<int64_t>(i));
  }
  require(fits, Op::Expand, "other sizes than those of its source: ", shape, x);
  if (!repeats) return reshape(x, shape);
  return move(single.empty() ? x : reshape(x, without(x->shape, single)), Op::Expand, shape, axes);
}

}  // namespace

UOp expand(UOp x, const Shape& shape, const Ints& axes) {
  require(x->rank() + axes.size() == shape.rank(), Op::Expand, "other sizes than those of its source: ", shape, x);
  return repeat(x, shape, axes, false);
}

UOp broadcast_to(UOp x, const Shape& shape, const Ints& lacked) {
  if (x->shape == shape) return x;
  require(x->rank() + lacked.size() <= shape.rank(), Op::Expand, "to a lower rank: ", shape, x);
  return repeat(x, shape, lacked, true);
}

Region full_region(const Shape& shape) {
  Region box;
  for (const Dim& d : shape) box.push_back({0, d});
  return box;
}

UOp shrink(UOp x, const Region& box) {
  require(box.size() == x->rank(), Op::Shrink, "box has another rank", x);
  if (box == full_region(x->shape)) return x;
  Shape shape;
  for (size_t i = 0; i < box.size(); ++i) {
    const bool sized = box[i].begin == 0 && (box[i].end.symbolic() || box[i].end == x->shape[i]);
    require(0 <= box[i].begin.value() && box[i].begin.value() <= box[i].end.value() &&
                box[i].end.value() <= x->shape[i].value(),
            Op::Shrink, "box outside the source", x);
    shape.push_back(sized ? box[i].end : Dim(box[i].end.value() - box[i].begin.value()));
  }
  return move(x, Op::Shrink, shape, box);
}

UOp pad(UOp x, const Region& box, const Shape& shape) {
  require(box.size() == x->rank() && shape.rank() == x->rank(), Op::Pad, "box has another rank", x);
  if (box == full_region(shape)) return x;
  return move(x, Op::Pad, shape, box);
}

UOp flip(UOp x, const Ints& axes) { return axes.empty() ? x : move(x, Op::Flip, x->shape, axes); }

UOp cat(std::span<const UOp> parts, int64_t axis) {
  const auto a = static_cast<size_t>(axis);
  int64_t total = 0, begin = 0;
  for (UOp p : parts) total += p->shape[a].value();
  Shape shape = parts[0]->shape;
  shape[a] = total;
  UOp joined;
  for (UOp p : parts) {
    const int64_t end = begin + p->shape[a].value();
    Region box = full_region(p->shape);
    box[a] = {begin, end};
    UOp placed = pad(p, box, shape);
    joined = joined ? where(pad(true_like(p), box, shape), placed, joined) : placed;
    begin = end;
  }
  return joined;
}

UOp reduce(Combine combine, UOp x, Ints axes) {
  return axes.empty() ? x : reduce(combine, std::span<const UOp>(&x, 1), std::move(axes), 0);
}
UOp reduce(Combine combine, std::span<const UOp> values, Ints axes, int result) {
  require(static_cast<int>(values.size()) == value_count(combine) && result < accumulator_count(combine), Op::Reduce,
          "values do not fit");
  if (axes.empty()) return values[result];
  if (std::ranges::any_of(values, is_short)) {
    std::vector<UOp> wide = mapped(values, to_compute_type);
    return cast(reduce(combine, wide, std::move(axes), result), values[result]->dtype);
  }
  std::ranges::sort(axes);
  const Shape shape = without(values[0]->shape, axes);
  UOp typed = values[result];
  return typed->graph->make({Op::Reduce,
                             typed->dtype,
                             shape,
                             {values.begin(), values.end()},
                             ReduceAttr{combine, std::move(axes), {}, result}});
}
UOp sum(UOp x, Ints axes) { return reduce(Combine::Add, x, std::move(axes)); }

UOp scan(Combine combine, UOp x, int64_t axis) { return scan(combine, std::span<const UOp>(&x, 1), axis, 0); }
UOp scan(Combine combine, std::span<const UOp> values, int64_t axis, int result) {
  require(static_cast<int>(values.size()) == value_count(combine) && result < accumulator_count(combine), Op::Scan,
          "values do not fit");
  auto wide = mapped<Sources>(values, to_compute_type);
  UOp typed = wide[result];
  UOp made = typed->graph->make(
      {Op::Scan, typed->dtype, typed->shape, std::move(wide), ReduceAttr{combine, {axis}, {}, result}});
  return cast(made, values[result]->dtype);
}

UOp gather(UOp x, UOp index, int64_t axis) {
  require(x->rank() == index->rank() && is_integer(index->dtype), Op::Gather, "index does not fit", x, index);
  return x->graph->make({Op::Gather, x->dtype, index->shape, {x, index}, axis});
}
UOp scatter(UOp base, UOp index, UOp value, int64_t axis, ScatterMode mode) {
  require(base->rank() == index->rank() && index->shape == value->shape && base->dtype == value->dtype, Op::Scatter,
          "sources do not fit", base, value);
  if (is_short(base) && mode != ScatterMode::Set)
    return cast(scatter(to_compute_type(base), index, to_compute_type(value), axis, mode), base->dtype);
  return base->graph->make({Op::Scatter, base->dtype, base->shape, {base, index, value}, ScatterAttr{axis, mode}});
}
UOp sort_positions(UOp x, int64_t first, int64_t count, bool descending) {
  require(x->rank() > 0 && !x->shape[x->rank() - 1].symbolic(), Op::Sort, "the last axis has no fixed size", x);
  if (x->op != Op::Contiguous) x = move(x, Op::Contiguous, x->shape);
  Shape shape = x->shape;
  shape[shape.rank() - 1] = count;
  return x->graph->make(
      {Op::Sort, DType::I64, std::move(shape), {x}, Ints{first, static_cast<int64_t>(descending), 0}});
}
/// A stored node has dropped its sources.
static bool moves(UOp x) { return is_movement(x->op) && !x->src.empty(); }
UOp below_movements(UOp x) {
  while (moves(x)) x = x->src[0];
  return x;
}
UOp with_movements_of(UOp x, UOp value) {
  std::vector<UOp> movements;
  for (; moves(x); x = x->src[0]) movements.push_back(x);
  for (auto m = movements.rbegin(); m != movements.rend(); ++m) {
    Sources src((*m)->src.begin(), (*m)->src.end());
    src[0] = value;
    value = value->graph->make({(*m)->op, value->dtype, (*m)->shape, std::move(src), (*m)->attr, (*m)->device});
  }
  return value;
}
bool is_expanded(UOp x) {
  for (; moves(x); x = x->src[0])
    if (x->op == Op::Expand) return true;
  return false;
}
UOp widened_source(UOp x) {
  if (x->op != Op::Cast || x->src.empty()) return {};
  const DType narrow = x->src[0]->dtype;
  return narrow != x->dtype && is_mma_factor(narrow) && mma_sum(narrow) == x->dtype ? x->src[0] : UOp();
}
UOp tf32(UOp x) { return x->op == Op::Tf32 ? x : move(x, Op::Tf32, x->shape); }
UOp tf32_source(UOp factor) {
  const UOp value = below_movements(factor);
  return value->op == Op::Tf32 && !value->src.empty() ? value->src[0] : UOp();
}
UOp detach(UOp x) { return x->state.requires_grad ? move(x, Op::Detach, x->shape) : x; }
UOp contiguous(UOp x) { return x->op == Op::Contiguous || x->storage() ? x : move(x, Op::Contiguous, x->shape); }

UOp barrier(UOp x, UOp y) {
  Ints symbolic;
  Region first;
  for (size_t i = 0; i < y->rank(); ++i) {
    if (y->shape[i].symbolic()) symbolic.push_back(static_cast<int64_t>(i));
    first.push_back({0, y->shape[i].symbolic() ? y->shape[i] : Dim(1)});
  }
  UOp one = shrink(detach(y), first);
  if (!symbolic.empty()) one = reduce(Combine::Max, one, symbolic);
  one = broadcast_to(cast(reshape(one, {}), x->dtype), x->shape);
  return x->graph->make({Op::Barrier, x->dtype, x->shape, {x, one}});
}

UOp range(UOp bound, int id, AxisKind kind) {
  return bound->graph->make({Op::Range, DType::Index, {}, {bound}, RangeAttr{id, kind}});
}

UOp load(UOp param, std::span<const UOp> index, UOp predicate, UOp other) {
  require(index.size() == param->rank() && !predicate == !other, Op::Load,
          "one index per dim; predicate and other together", param);
  Sources src{param};
  src.insert(src.end(), index.begin(), index.end());
  if (predicate) src.push_back(predicate), src.push_back(other);
  return param->graph->make({Op::Load, param->dtype, {}, std::move(src)});
}

UOp store(UOp param, std::span<const UOp> index, UOp value, ScatterMode mode, UOp predicate) {
  require(index.size() == param->rank() && value->dtype == param->dtype, Op::Store, "index or value does not fit",
          param, value);
  Sources src{param};
  src.insert(src.end(), index.begin(), index.end());
  src.push_back(value);
  if (predicate) src.push_back(predicate);
  return param->graph->make({Op::Store, DType::Void, {}, std::move(src), static_cast<int64_t>(mode)});
}

static UOp over_ranges(Op op, Combine combine, std::span<const UOp> values, std::span<const UOp> ranges,
                       ReductionTree tree, int result) {
  require(!ranges.empty() && static_cast<int>(values.size()) == value_count(combine), op,
          "values and ranges do not fit");
  Sources src(values.begin(), values.end());
  src.insert(src.end(), ranges.begin(), ranges.end());
  const DType value = values[result]->dtype, dtype = tree.mma ? mma_sum(value) : value;
  return values[0]->graph->make({op, dtype, {}, std::move(src), ReduceAttr{combine, {}, tree, result}});
}
UOp reduce_over(Combine combine, std::span<const UOp> values, std::span<const UOp> ranges, ReductionTree tree,
                int result) {
  return over_ranges(Op::Reduce, combine, values, ranges, tree, result);
}
UOp scan_over(Combine combine, std::span<const UOp> values, std::span<const UOp> ranges, int result) {
  return over_ranges(Op::Scan, combine, values, ranges, {}, result);
}

UOp sink(Graph& g, Sources stores) { return g.make({Op::Sink, DType::Void, {}, std::move(stores)}); }

UOp with_sources(Graph& g, UOp x, Sources src) {
  return g.make({x->op, x->dtype, x->shape, std::move(src), x->attr, x->device});
}

}  // namespace sinter::ir
