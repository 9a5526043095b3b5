// nonzero, argwhere, masked_select, masked_scatter, and the masks among the items of an index.
#include "tensor/ops/masked.h"

#include <algorithm>

#include "sinter/create.h"
#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/core/unchosen_sizes.h"
#include "tensor/ops/pick.h"

namespace sinter {
namespace tensor {
namespace {

bool is_mask(const Index& i) { return i.kind == Index::Kind::Tensor && is_bool(node_of(i.tensor)->dtype); }
/// The axes of x that an item stands for; an ellipsis for those that are left.
size_t axes_of_item(const Index& i) {
  if (is_mask(i)) return node_of(i.tensor)->rank();
  return i.kind == Index::Kind::NewAxis || i.kind == Index::Kind::Ellipsis ? 0 : 1;
}

/// Where x is not 0, in row-major order. A host read.
std::vector<int64_t> true_positions(const Tensor& x) {
  const std::vector<std::byte> bytes = (x.dtype() == boolean ? x : x.to(boolean)).to_bytes();
  std::vector<int64_t> out;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != std::byte{0}) out.push_back(static_cast<int64_t>(i));
  return out;
}

/// Numbers of which there are as many as the data say.
Tensor counted_by_data(const std::vector<int64_t>& numbers, const Shape& shape, Device device) {
  const Tensor made = from(numbers, shape, device);
  const GraphScope scope;
  mark_sized_by_data(made.cell()->origin);
  return made;
}
Tensor positions_of(const Tensor& mask, Device device) {
  const std::vector<int64_t> at = true_positions(mask);
  return counted_by_data(at, {static_cast<int64_t>(at.size())}, device);
}

void check_mask(UOp x, UOp mask, size_t axis) {
  for (size_t a = 0; a < mask->rank(); ++a)
    if (axis + a >= x->rank() || !(mask->shape[a] == x->shape[axis + a]))
      usage_error("the mask {} does not have the sizes of {} from axis {} on; give it those", to_string(mask->shape),
                  describe(x), axis);
}

/// Calls visit(item, its first axis in x, the number of its axes); newaxis and masks of rank 0 have none.
template <class Visit>
void for_each_item(UOp x, std::span<const Index> items, Visit visit) {
  size_t named = 0, axis = 0;
  for (const Index& i : items) named += axes_of_item(i);
  if (named > x->rank())
    usage_error("items for {} axes, but {} has {} axes; leave some out", named, describe(x), x->rank());
  for (const Index& i : items) {
    const size_t count = i.kind == Index::Kind::Ellipsis ? x->rank() - named : axes_of_item(i);
    visit(i, axis, count);
    axis += count;
    if (i.kind == Index::Kind::Ellipsis) named = x->rank();  // a second one stands for none, and is refused later
  }
}

}  // namespace

bool has_mask(std::span<const Index> items) {
  const GraphScope scope;
  return std::ranges::any_of(items, is_mask);
}

UnmaskedIndex unmask(const Tensor& x, std::span<const Index> items) {
  refuse_size_by_data("the size of an index with a mask", "where(mask, value, x), masked_scatter, or sums of x * mask");
  UnmaskedIndex out;
  std::vector<Dim> dims;
  size_t done = 0;
  const Shape shape = x.shape();
  const auto keep_to = [&](size_t axis) {
    for (; done < axis; ++done) dims.push_back(shape[done]);
  };
  {
    const GraphScope scope;
    for_each_item(node_of(x), items, [&](const Index& i, size_t axis, size_t count) {
      keep_to(axis);
      if (!is_mask(i)) return keep_to(axis + count);
      check_mask(node_of(x), node_of(i.tensor), axis);
      const Shape& mask = node_of(i.tensor)->shape;
      dims.push_back(mask.rank() == 1 ? mask[0] : Dim(mask.numel()));
      done = axis + count;
    });
  }
  keep_to(shape.rank());
  out.shape = Shape(dims);
  for (const Index& i : items) {
    if (i.kind != Index::Kind::Tensor || i.tensor.dtype() != boolean)
      out.items.push_back(i);
    else
      out.items.emplace_back(positions_of(i.tensor, x.device()));
  }
  return out;
}

MaskedValue masked_value(UOp x, std::span<const Index> items, UOp value) {
  UOp mask;
  size_t first = 0;  // of the mask's axes, in the part
  size_t number = 0, first_pick = 0, last_pick = 0, picks = 0;
  std::vector<Index> basic;
  for_each_item(x, items, [&](const Index& i, size_t axis, size_t count) {
    const bool masks = is_mask(i), picked = masks || i.kind == Index::Kind::Number;
    if (picked && picks++ == 0) first_pick = number;
    if (picked) last_pick = number;
    number += i.kind != Index::Kind::Ellipsis || count > 0;
    if (masks) {
      check_mask(x, node_of(i.tensor), axis);
      mask = node_of(i.tensor);
      basic.insert(basic.end(), mask->rank(), Index(Slice{}));
    } else {
      basic.push_back(i);
      if (!mask) first += i.kind == Index::Kind::NewAxis || i.kind == Index::Kind::Slice ? 1 : picked ? 0 : count;
    }
  });
  const bool one_mask = std::ranges::count_if(items, is_mask) == 1;
  if (!one_mask || has_tensor(basic)) return {};
  MaskedValue out{resolve(x, basic), {}, {}};
  const Shape& part = out.part.shape;
  // NumPy puts the selected elements in front unless numbers and masks are adjacent; to one number that is the same.
  if (value->rank() > 0 && last_pick - first_pick + 1 != picks) return {};
  // The value's axes, from the last: those after the mask, one for the selected elements, those before the mask.
  const size_t after = part.rank() - first - mask->rank();
  if (value->rank() > first + 1 + after) return {};
  const size_t missing = first + 1 + after - value->rank();
  Shape of_value, of_mask;
  for (size_t a = 0; a < first + 1 + after; ++a) {
    const Dim size = a < missing ? Dim(1) : value->shape[a - missing];
    if (a == first && !(size == 1)) return {};
    for (size_t k = a == first ? mask->rank() : 1; k > 0; --k) of_value.push_back(size);
  }
  for (size_t a = 0; a < part.rank(); ++a)
    of_mask.push_back(a < first || a >= first + mask->rank() ? Dim(1) : mask->shape[a - first]);
  out.mask = broadcast_to(reshape(on_device(mask, x->device, x->shape), of_mask), part);
  out.value = broadcast_to_part(reshape(value, of_value), x, part);
  return out;
}

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

Tensor as_tensor(const Arg& x) {
  const GraphScope scope;
  return wrap(operand(x));
}

/// The places where x is not 0, a row of indices each.
Tensor places(const Tensor& x) {
  refuse_size_by_data("the size of the result", "the mask itself: where(mask, value, x), or sums of x * mask");
  const Shape shape = x.shape();
  const std::vector<int64_t> flat = true_positions(x);
  const size_t rank = shape.rank();
  std::vector<int64_t> rows(flat.size() * rank);
  for (size_t i = 0; i < flat.size(); ++i) {
    int64_t rest = flat[i];
    for (size_t a = rank; a-- > 0; rest /= shape[a].value()) rows[i * rank + a] = rest % shape[a].value();
  }
  return counted_by_data(rows, {static_cast<int64_t>(flat.size()), static_cast<int64_t>(rank)}, x.device());
}

void require_mask(const char* takes, UOp x, UOp mask) {
  if (!is_bool(mask->dtype))
    usage_error("the mask of {} is {} and must be bool; {}, for example mask != 0", describe(x), describe(mask), takes);
}

}  // namespace

Tensor nonzero(Arg x) {
  const OuterCall call("nonzero", x.where());
  return places(as_tensor(x));
}

Tensor argwhere(Arg x) {
  const OuterCall call("argwhere", x.where());
  return places(as_tensor(x));
}

std::vector<Tensor> where(Arg condition) {
  const OuterCall call("where", condition.where());
  return places(as_tensor(condition)).unbind(1);
}

Tensor masked_select(Arg x, const Tensor& mask) {
  const OuterCall call("masked_select", x.where());
  refuse_size_by_data("the size of the result", "where(mask, x, 0), or sums of x * mask");
  Tensor all, chosen;
  {
    const Call both("masked_select", x.where());
    UOp nodes[] = {operand(x), node_of(mask)};
    require_mask("compare", nodes[0], nodes[1]);
    tensor::broadcast(nodes);
    all = wrap(nodes[0]);
    chosen = wrap(nodes[1]);
  }
  return take(all, positions_of(chosen, all.device()));
}

Tensor masked_scatter(Arg x, const Tensor& mask, Arg source) {
  const Call call("masked_scatter", x.where());
  const DType t = common_type({&x, &source});
  UOp n = operand(x, t), m = node_of(mask);
  require_mask("compare", n, m);
  m = broadcast_to_part(m, n, n->shape);
  UOp values = on_device(operand(source, t), n->device, n->shape);
  for (const UOp of : {n, values})
    for (int64_t a = 0; a < static_cast<int64_t>(of->rank()); ++a) fixed_size(of, a, "scattered by a mask");
  const int64_t size = n->shape.numel();
  // The number of chosen elements up to each one is its place among the values, counted from 1; place 0 is a number
  // for all elements that are not chosen.
  values = pad_axis(reshape(values, {values->shape.numel()}), 0, 1, values->shape.numel() + 1);
  const UOp chosen = reshape(m, {size});
  UOp place = scan(Combine::Add, cast(chosen, DType::I64), 0);
  place = where(chosen, place, like(place, 0.0));
  return wrap(where(m, reshape(gather(values, place, 0), n->shape), n));
}

}  // namespace v0
}  // namespace sinter
