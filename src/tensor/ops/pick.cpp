// gather, take_along_dim, index_select, take, embedding and one_hot; pick() and put(), with which indexing reads and
// writes.
#include "tensor/ops/pick.h"

#include <fmt/core.h>

#include <limits>

#include "ir/contains.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/core/refusals.h"

namespace sinter {
namespace tensor {

UOp index_operand(UOp index) {
  if (!is_integer(index->dtype))
    usage_error("an index needs an integer type, got {}; convert it with to(int64)", describe(index));
  if (index->dtype == DType::U64)  // a large value must not turn negative, which would count from the end
    index = minimum(index, like(index, Scalar::of(DType::U64, std::numeric_limits<int64_t>::max())));
  return index->dtype == DType::I32 ? index : cast(index, DType::I64);
}

UOp normalize_index(UOp index, const Dim& size, int64_t axis) {
  // A gather from 0, 1, 2, ...: GATHER itself counts from the end and reports errors.
  if (index->rank() == 0 || (index->rank() > 1 && !index->shape.symbolic()))
    return reshape(normalize_index(reshape(index, {index->shape.numel()}), size, axis), index->shape);
  Shape along;
  for (int64_t a = 0; a < axis; ++a) along.push_back(Dim(1));
  for (const Dim& d : index->shape) along.push_back(d);
  Shape table = along;
  table[axis] = size;
  const UOp found = gather(position(table, axis, index->device), reshape(index, along), axis);
  const UOp place = reshape(found, index->shape), wide = cast(index, DType::I64);
  const UOp end = broadcast_to(size_node(size, DType::I64, index->device), index->shape);
  return where(lt(wide, -end) | le(end, wide), end, place);
}

namespace {

/// The elements that indices name, as rows of a table with one index.
struct PickTable {
  UOp table;    ///< x; if there are several indexed axes, these in front and merged into one
  size_t axis;  ///< of the table, whose elements are the rows
  UOp row;      ///< the row of each index; the number of rows where one is out of range of its own axis
  Ints order;   ///< axis i of x before the merge is axis order[i] of x
  Ints back;    ///< axis i of the result is axis back[i] of the table with the axes of the index in place of `axis`
};

/// The axes of a result that has those of the index at `place`, named as if they were at `axis`.
Ints axes_with_index_at(int64_t place, size_t of_index, size_t free, size_t axis) {
  Ints back;
  const auto k = static_cast<int64_t>(of_index), at = static_cast<int64_t>(axis);
  const auto other = [&](int64_t a) { return a < at ? a : a + k; };
  for (int64_t a = 0; a < place; ++a) back.push_back(other(a));
  for (int64_t a = 0; a < k; ++a) back.push_back(at + a);
  for (int64_t a = place; a < static_cast<int64_t>(free); ++a) back.push_back(other(a));
  return back;
}

PickTable table_of(UOp x, const Ints& axes, std::vector<UOp> index, int64_t place) {
  for (UOp& i : index) i = on_device(i, x->device, x->shape);
  broadcast(index);
  const size_t count = axes.size();
  PickTable out;
  out.row = index[0];
  out.axis = count == 1 ? static_cast<size_t>(axes[0]) : 0;
  out.back = axes_with_index_at(place, index[0]->rank(), x->rank() - count, out.axis);
  out.table = x;
  if (count == 1) return out;  // along its own axis, so that errors name it and a home is written in place
  out.order = axes;
  for (int64_t a = 0; a < static_cast<int64_t>(x->rank()); ++a)
    if (!contains(axes, a)) out.order.push_back(a);
  out.table = permute(x, out.order);
  std::vector<Dim> dims{Dim(1)};
  UOp at, beyond;  // an index is out of range of its own axis: merged, it could be a valid position in another row
  for (size_t k = 0; k < count; ++k) {
    const int64_t size = fixed_size(out.table, static_cast<int64_t>(k), "indexed together with others");
    dims[0] = dims[0].value() * size;
    const UOp here = normalize_index(index[k], size, axes[k]), end = like(here, Scalar::of(DType::I64, size)),
              bad = eq(here, end);
    at = at ? at * end + here : here;
    beyond = beyond ? beyond | bad : bad;
  }
  out.row = where(beyond, like(at, Scalar::of(DType::I64, dims[0].value())), at);
  dims.insert(dims.end(), out.table->shape.begin() + static_cast<int64_t>(count), out.table->shape.end());
  out.table = reshape(out.table, Shape(dims));
  return out;
}

/// The axes [from, to) as numbers.
Ints axes_between(size_t from, size_t to) {
  Ints axes;
  for (size_t a = from; a < to; ++a) axes.push_back(static_cast<int64_t>(a));
  return axes;
}

/// The shape with `axes` in place of axis `at`.
Shape with_axes_at(const Shape& shape, size_t at, const Shape& axes) {
  Shape out;
  for (size_t a = 0; a < at; ++a) out.push_back(shape[a]);
  for (const Dim& d : axes) out.push_back(d);
  for (size_t a = at + 1; a < shape.rank(); ++a) out.push_back(shape[a]);
  return out;
}

Ints inverse_of(const Ints& order) {
  Ints out = order;
  for (size_t i = 0; i < order.size(); ++i) out[order[i]] = static_cast<int64_t>(i);
  return out;
}

}  // namespace

UOp pick(UOp x, const Ints& axes, std::vector<UOp> index, int64_t place) {
  const PickTable from = table_of(x, axes, std::move(index), place);
  const Shape picked = from.row->shape;
  const UOp table = from.table;
  const size_t at = from.axis;
  // A fixed-size index is flattened to one axis. A symbolic one keeps its axes; the table is broadcast along all but
  // the first.
  Shape flat = picked;
  if (picked.rank() == 0 || (picked.rank() > 1 && !picked.symbolic())) flat = {picked.numel()};
  Shape first = flat;
  first[0] = table->shape[at];
  const Shape wide = with_axes_at(table->shape, at, first), rows = with_axes_at(table->shape, at, flat);
  check_shape(wide);
  check_shape(rows);
  const size_t end = at + flat.rank();
  Ints others = axes_between(0, at);
  for (const int64_t a : axes_between(end, rows.rank())) others.push_back(a);
  const UOp out = gather(expand(table, wide, axes_between(at + 1, end)), expand(reshape(from.row, flat), rows, others),
                         static_cast<int64_t>(at));
  return permute(reshape(out, with_axes_at(table->shape, at, picked)), from.back);
}

Shape picked_shape(UOp x, const Ints& axes, std::vector<UOp> index, int64_t place) {
  for (UOp& i : index) i = on_device(i, x->device, x->shape);
  broadcast(index);
  std::vector<Dim> front(index[0]->shape.begin(), index[0]->shape.end());
  for (int64_t a = 0; a < static_cast<int64_t>(x->rank()); ++a)
    if (!contains(axes, a)) front.push_back(x->shape[a]);
  std::vector<Dim> out;
  for (const int64_t a : axes_with_index_at(place, index[0]->rank(), x->rank() - axes.size(), 0))
    out.push_back(front[a]);
  return Shape(out);
}

UOp put(UOp x, const Ints& axes, std::vector<UOp> index, int64_t place, UOp value, ScatterMode mode) {
  const PickTable to = table_of(x, axes, std::move(index), place);
  const Shape picked = to.row->shape;
  for (size_t a = 0; picked.rank() > 1 && a < picked.rank(); ++a)
    fixed_size(to.row, static_cast<int64_t>(a), "written through an index of several axes");
  const auto axis = static_cast<int64_t>(to.axis);
  Shape rows = to.table->shape;
  rows[to.axis] = picked.rank() == 1 ? picked[0] : Dim(picked.numel());
  check_shape(rows);
  value = reshape(permute(value, inverse_of(to.back)), rows);
  const UOp row = expand(reshape(to.row, {rows[to.axis]}), rows, others(rows.rank(), {axis}));
  const UOp made = scatter(to.table, row, value, axis, mode);
  if (axes.size() == 1) return made;
  Shape permuted;
  for (const int64_t a : to.order) permuted.push_back(x->shape[a]);
  return permute(reshape(made, permuted), inverse_of(to.order));
}

void require_same_rank(UOp x, UOp index) {
  if (x->rank() != index->rank())
    usage_error("{} has {} axes and the index {} has {}; give both the same number of axes", describe(x), x->rank(),
                describe(index), index->rank());
}

}  // namespace tensor

inline namespace v0 {

using namespace tensor;

Tensor gather(Arg x, int64_t axis, const Tensor& index) {
  Call call("gather", x.where());
  UOp n = operand(x), i = index_operand(node_of(index));
  axis = axis_of(n, axis);
  unify_devices(n, i);
  require_same_rank(n, i);
  for (size_t a = 0; a < n->rank(); ++a) {
    const int64_t at = static_cast<int64_t>(a);
    if (at == axis || n->shape[a] == i->shape[a]) continue;
    if (n->shape[a].symbolic() || i->shape[a].symbolic() || i->shape[a].value() > n->shape[a].value())
      usage_error("the index {} is larger than {} in axis {}; {}", to_string(i->shape), to_string(n->shape), a,
                  mismatch_hint(i->shape[a], n->shape[a], fmt::format("only along axis {} it may be", axis)));
    n = tensor::shrink_axis(n, at, 0, i->shape[a].value());
  }
  return wrap(gather(n, i, axis));
}

Tensor take_along_dim(Arg x, const Tensor& index, int64_t axis) {
  Call call("take_along_dim", x.where());
  UOp n = operand(x), i = index_operand(node_of(index));
  axis = axis_of(n, axis);
  unify_devices(n, i);
  require_same_rank(n, i);
  const size_t a = static_cast<size_t>(axis);
  Shape table = n->shape, rows = i->shape;
  table[a] = rows[a] = 1;
  const Shape common = common_shape(table, rows);
  table = rows = common;
  table[a] = n->shape[a];
  rows[a] = i->shape[a];
  check_shape(table);
  check_shape(rows);
  return wrap(gather(broadcast_to(n, table), broadcast_to(i, rows), axis));
}

Tensor index_select(Arg x, int64_t axis, const Tensor& index) {
  Call call("index_select", x.where());
  UOp n = operand(x), i = index_operand(node_of(index));
  axis = axis_of(n, axis);
  if (i->rank() != 1)
    usage_error("the index {} has {} axes and must have 1; use x.index or gather", describe(i), i->rank());
  return wrap(pick(n, {axis}, {i}, axis));
}

Tensor take(Arg x, const Tensor& index) {
  Call call("take", x.where());
  UOp n = operand(x), i = index_operand(node_of(index));
  for (int64_t a = 0; n->rank() > 1 && a < static_cast<int64_t>(n->rank()); ++a) fixed_size(n, a, "flattened");
  if (n->rank() != 1) n = reshape(n, {n->shape.numel()});
  return wrap(pick(n, {0}, {i}, 0));
}

Tensor embedding(const Tensor& index, const Tensor& weight, Loc where) {
  Call call("embedding", where);
  UOp w = node_of(weight), i = index_operand(node_of(index));
  if (w->rank() != 2)
    usage_error("the weight is {} and must have 2 axes, [entries, size]; its rank is {}", describe(w), w->rank());
  return wrap(pick(w, {0}, {i}, 0));
}

Tensor one_hot(const Tensor& index, int64_t classes, Loc where) {
  Call call("one_hot", where);
  UOp i = index_operand(node_of(index));
  if (classes < 1) usage_error("{} classes for {}; give 1 or more", classes, describe(i));
  const auto last = static_cast<int64_t>(i->rank());
  i = normalize_index(class_numbers(i, classes), classes, last);
  Shape shape = i->shape;
  shape.push_back(classes);
  check_shape(shape);
  return wrap(cast(eq(expand(i, shape, {last}), position(shape, last, i->device)), DType::I64));
}

}  // namespace v0
}  // namespace sinter
