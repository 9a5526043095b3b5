// gather, scatter_add, index_select, embedding, one_hot and take_along_dim.
#include "tensor/ops/pick.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter {
namespace tensor {

using ir::UOp;

UOp index_operand(UOp index) {
  if (!is_integer(index->dtype))
    usage_error(fmt::format("an index needs an integer type, got {}; convert it with to(int64)", describe(index)));
  if (index->dtype == DType::U64)  // a large value must not turn negative, which would count from the end
    index = ir::minimum(index, ir::like(index, ir::Scalar::of(DType::U64, std::numeric_limits<int64_t>::max())));
  return index->dtype == DType::I32 ? index : ir::cast(index, DType::I64);
}

UOp normalize_index(UOp index, const Dim& size) {
  // A gather from 0, 1, 2, ...: GATHER itself counts from the end and reports errors.
  if (index->rank() == 0 || (index->rank() > 1 && !index->shape.symbolic()))
    return ir::reshape(normalize_index(ir::reshape(index, {index->shape.numel()}), size), index->shape);
  Shape table = index->shape;
  table[0] = size;
  const UOp place = ir::gather(position(table, 0, index->device), index, 0), wide = ir::cast(index, DType::I64);
  const UOp end = ir::broadcast_to(size_node(size, DType::I64, index->device), index->shape);
  return ir::where(ir::lt(wide, -end) | ir::le(end, wide), end, place);
}

UOp pick(UOp x, const ir::Ints& axes, std::vector<UOp> index, int64_t place) {
  for (UOp& i : index) i = on_device(i, x->device, x->shape);
  broadcast(index);
  const Shape picked = index[0]->shape;
  const size_t count = axes.size(), free = x->rank() - count;
  ir::Ints order = axes;
  for (int64_t a = 0; a < static_cast<int64_t>(x->rank()); ++a)
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) order.push_back(a);
  x = ir::permute(x, order);
  // Several indexed axes are merged into one.
  UOp at = index[0];
  if (count > 1) {
    std::vector<Dim> dims{Dim(1)};
    UOp beyond;  // an index is out of range of its own axis: merged, it could be a valid position in another row
    at = {};
    for (size_t k = 0; k < count; ++k) {
      const int64_t size = fixed_size(x, static_cast<int64_t>(k), "indexed together with others");
      dims[0] = dims[0].value() * size;
      const UOp here = normalize_index(index[k], size), end = ir::like(here, ir::Scalar::of(DType::I64, size)),
                out = ir::eq(here, end);
      at = at ? at * end + here : here;
      beyond = beyond ? beyond | out : out;
    }
    at = ir::where(beyond, ir::like(at, ir::Scalar::of(DType::I64, dims[0].value())), at);
    dims.insert(dims.end(), x->shape.begin() + static_cast<int64_t>(count), x->shape.end());
    x = ir::reshape(x, Shape(std::move(dims)));
  }
  // A fixed-size index is flattened to one axis. A symbolic one keeps its axes; x is broadcast along all but the first.
  Shape flat = picked;
  if (picked.rank() == 0 || (picked.rank() > 1 && !picked.symbolic())) flat = {picked.numel()};
  Shape table{x->shape[0]}, rows = flat;
  ir::Ints of_index, of_table;  // the axes that the table and the rows lack
  for (size_t i = 1; i < flat.rank(); ++i) {
    of_index.push_back(static_cast<int64_t>(table.rank()));
    table.push_back(flat[i]);
  }
  for (size_t i = 1; i < x->rank(); ++i) {
    of_table.push_back(static_cast<int64_t>(rows.rank()));
    table.push_back(x->shape[i]);
    rows.push_back(x->shape[i]);
  }
  check_shape(table);
  check_shape(rows);
  UOp out = ir::gather(ir::expand(x, table, of_index), ir::expand(ir::reshape(at, flat), rows, of_table), 0);
  // Restore the shape of the index, and move the leading axes before it.
  std::vector<Dim> shape(picked.begin(), picked.end());
  shape.insert(shape.end(), rows.begin() + static_cast<int64_t>(flat.rank()), rows.end());
  out = ir::reshape(out, Shape(std::move(shape)));
  ir::Ints back;
  const int64_t k = static_cast<int64_t>(picked.rank());
  for (int64_t a = 0; a < place; ++a) back.push_back(k + a);
  for (int64_t a = 0; a < k; ++a) back.push_back(a);
  for (int64_t a = place; a < static_cast<int64_t>(free); ++a) back.push_back(k + a);
  return ir::permute(out, back);
}

}  // namespace tensor

inline namespace v0 {
namespace {

using ir::UOp;
using tensor::Call;
using tensor::describe;
using tensor::node_of;
using tensor::usage_error;
using tensor::wrap;

void require_same_rank(UOp x, UOp index) {
  if (x->rank() != index->rank())
    usage_error(fmt::format("{} has {} axes and the index {} has {}; give both the same number of axes", describe(x),
                            x->rank(), describe(index), index->rank()));
}

}  // namespace

Tensor gather(Arg x, int64_t axis, const Tensor& index) {
  Call call("gather", x.where());
  UOp n = tensor::operand(x), i = tensor::index_operand(node_of(index));
  axis = tensor::axis_of(n, axis);
  tensor::unify_devices(n, i);
  require_same_rank(n, i);
  for (size_t a = 0; a < n->rank(); ++a) {
    const int64_t at = static_cast<int64_t>(a);
    if (at == axis || n->shape[a] == i->shape[a]) continue;
    if (n->shape[a].symbolic() || i->shape[a].symbolic() || i->shape[a].value() > n->shape[a].value())
      usage_error(fmt::format(
          "the index {} is larger than {} in axis {}; {}", to_string(i->shape), to_string(n->shape), a,
          tensor::mismatch_hint(i->shape[a], n->shape[a], fmt::format("only along axis {} it may be", axis))));
    n = tensor::shrink_axis(n, at, 0, i->shape[a].value());
  }
  return wrap(ir::gather(n, i, axis));
}

Tensor take_along_dim(Arg x, const Tensor& index, int64_t axis) {
  Call call("take_along_dim", x.where());
  UOp n = tensor::operand(x), i = tensor::index_operand(node_of(index));
  axis = tensor::axis_of(n, axis);
  tensor::unify_devices(n, i);
  require_same_rank(n, i);
  const size_t a = static_cast<size_t>(axis);
  Shape table = n->shape, rows = i->shape;
  table[a] = rows[a] = 1;
  const Shape common = tensor::common_shape(table, rows);
  table = rows = common;
  table[a] = n->shape[a];
  rows[a] = i->shape[a];
  tensor::check_shape(table);
  tensor::check_shape(rows);
  return wrap(ir::gather(ir::broadcast_to(n, table), ir::broadcast_to(i, rows), axis));
}

Tensor scatter_add(Arg base, int64_t axis, const Tensor& index, Arg value) {
  Call call("scatter_add", base.where());
  UOp n = tensor::operand(base), i = tensor::index_operand(node_of(index));
  axis = tensor::axis_of(n, axis);
  tensor::unify_devices(n, i);
  require_same_rank(n, i);
  for (size_t a = 0; a < n->rank(); ++a)
    if (static_cast<int64_t>(a) != axis && !(n->shape[a] == i->shape[a]))
      usage_error(
          fmt::format("the index {} differs from {} in axis {}; {}", to_string(i->shape), to_string(n->shape), a,
                      tensor::mismatch_hint(i->shape[a], n->shape[a], fmt::format("only along axis {} it may", axis))));
  const DType t = tensor::common_type({&base, &value});
  UOp v = tensor::on_device(tensor::operand(value, t), n->device, n->shape);
  if (value.is_tensor() && !(v->shape == i->shape))
    usage_error(fmt::format("the value is {} and the index {}; {}", describe(v), to_string(i->shape),
                            tensor::mismatch_hint(v->shape, i->shape, "they need one shape, use expand")));
  return wrap(ir::scatter_add(ir::cast(n, t), i, ir::broadcast_to(v, i->shape), axis));
}

Tensor index_select(Arg x, int64_t axis, const Tensor& index) {
  Call call("index_select", x.where());
  UOp n = tensor::operand(x), i = tensor::index_operand(node_of(index));
  axis = tensor::axis_of(n, axis);
  if (i->rank() != 1)
    usage_error(fmt::format("the index {} has {} axes and must have 1; use x.index or gather", describe(i), i->rank()));
  return wrap(tensor::pick(n, {axis}, {i}, axis));
}

Tensor embedding(const Tensor& index, const Tensor& weight, Loc where) {
  Call call("embedding", where);
  UOp w = node_of(weight), i = tensor::index_operand(node_of(index));
  if (w->rank() != 2)
    usage_error(
        fmt::format("the weight is {} and must have 2 axes, [entries, size]; its rank is {}", describe(w), w->rank()));
  return wrap(tensor::pick(w, {0}, {i}, 0));
}

Tensor one_hot(const Tensor& index, int64_t classes, Loc where) {
  Call call("one_hot", where);
  UOp i = tensor::index_operand(node_of(index));
  if (classes < 1) usage_error(fmt::format("{} classes for {}; give 1 or more", classes, describe(i)));
  i = tensor::normalize_index(i, classes);
  const auto last = static_cast<int64_t>(i->rank());
  Shape shape = i->shape;
  shape.push_back(classes);
  tensor::check_shape(shape);
  return wrap(ir::cast(ir::eq(ir::expand(i, shape, {last}), tensor::position(shape, last, i->device)), DType::I64));
}

}  // namespace v0
}  // namespace sinter
