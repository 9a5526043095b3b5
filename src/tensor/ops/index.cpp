// The indexing calls: basic items by tensor/ops/index.h, integer tensors combined as in NumPy.
#include "tensor/ops/index.h"

#include <algorithm>
#include <string_view>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/masked.h"
#include "tensor/ops/pick.h"

namespace sinter {
namespace tensor {

namespace {

/// Start, start + 1, ...: int64, [length]. One out of range of the axis leaves it, and no other element counts from the
/// end.
UOp narrow_index(UOp x, int64_t axis, const Tensor& given, const Dim& length) {
  const Dim& size = x->shape[axis];
  UOp start = node_of(given);
  if (start->shape.symbolic() || start->shape.numel() != 1)
    usage_error("the start {} is not one number; give an integer tensor of one element", describe(start));
  if (length.value() < 0 || (!size.symbolic() && length.bound() > size.value()))
    usage_error("{} elements of axis {} of {}, which has {}; take fewer", to_string(length), axis, describe(x),
                to_string(size));
  start = cast(reshape(on_device(index_operand(start), x->device, x->shape), {}), DType::I64);
  const UOp count = size_node(size, DType::I64, x->device), zero = like(start, 0.0);
  start = where(lt(start, zero) & le(zero, start + count), start + count, start);
  return broadcast_to(start, {length}) + position({length}, 0, x->device);
}

/// One part from a tensor on, which stays where it is among the axes.
AdvancedIndex resolve_narrow(UOp x, const std::vector<Index>& items) {
  AdvancedIndex out;
  int64_t axis = 0, result_axes = 0;
  for (const Index& i : items) {
    const bool narrow = i.kind == Index::Kind::Narrow;
    if (i.kind == Index::Kind::Tensor || (narrow && !out.index.empty()))
      usage_error("an index of {} has a Narrow beside {}; take one part after the other", describe(x),
                  narrow ? "another one" : "an index tensor");
    if (narrow) {
      out.axes.push_back(result_axes);
      out.index.push_back(narrow_index(x, axis, i.tensor, *i.slice.end));
      out.place = result_axes;
    }
    out.basic.push_back(narrow ? Index(Slice{}) : i);
    axis += i.kind != Index::Kind::NewAxis;
    result_axes += i.kind != Index::Kind::Number;
  }
  return out;
}

bool is_narrow(const Index& i) { return i.kind == Index::Kind::Narrow; }

}  // namespace

bool has_tensor(std::span<const Index> items) {
  return std::ranges::any_of(items, [](const Index& i) { return i.kind == Index::Kind::Tensor || is_narrow(i); });
}

AdvancedIndex resolve_advanced(UOp x, std::span<const Index> items) {
  AdvancedIndex out;
  int64_t result_axes = 0, free_axes = 0, first = -1, last = -1, advanced = 0;
  const std::vector<Index> all = expand_ellipsis(x, items);
  if (std::ranges::any_of(all, is_narrow)) return resolve_narrow(x, all);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_tensor = all[i].kind == Index::Kind::Tensor;
    if (is_tensor || all[i].kind == Index::Kind::Number) {
      if (first < 0) {
        first = static_cast<int64_t>(i);
        out.place = free_axes;
      }
      last = static_cast<int64_t>(i);
      ++advanced;
    }
    if (is_tensor) {
      out.axes.push_back(result_axes);
      out.index.push_back(index_operand(node_of(all[i].tensor)));
    }
    out.basic.push_back(is_tensor ? Index(Slice{}) : all[i]);
    if (all[i].kind != Index::Kind::Number) {
      ++result_axes;
      free_axes += !is_tensor;
    }
  }
  if (last - first + 1 != advanced) out.place = 0;
  return out;
}

}  // namespace tensor

inline namespace v0 {

using namespace tensor;

Tensor Tensor::index(std::vector<Index> items, Loc where) const {
  const OuterCall outer("index", where);
  if (has_mask(items)) {
    const UnmaskedIndex unmasked = unmask(*this, items);
    return reshape(unmasked.shape, where).index(unmasked.items, where);
  }
  Call call("index", where);
  UOp x = node_of(*this);
  if (!has_tensor(items)) return wrap(read(x, resolve(x, items)));
  AdvancedIndex advanced = resolve_advanced(x, items);
  UOp part = read(x, resolve(x, advanced.basic));
  return wrap(pick(part, advanced.axes, std::move(advanced.index), advanced.place));
}

Index::Index(const char* dots) : kind(Kind::Ellipsis) {
  if (std::string_view(dots) != "...")
    usage_error("\"{}\" is no item of an index; give a number, a Slice, a tensor, newaxis or \"...\"", dots);
}

Tensor Tensor::operator[](Arg i) const {
  const OuterCall outer("operator[]", i.where());
  if (i.is_tensor()) return index({Index(Tensor(i.cell()))});
  const Call call("operator[]", i.where());
  if (i.kind() != Arg::Kind::Integer)
    usage_error("{} is no index of {}; give an integer or a tensor of integers", describe(i), describe(node_of(*this)));
  return index({Index(i.integer())});
}

Place::operator Tensor() const { return target_.index(*items_, where_); }

Tensor Tensor::slice(int64_t axis, Slice slice, Loc where) const {
  Call call("slice", where);
  UOp x = node_of(*this);
  std::vector<Index> items(static_cast<size_t>(axis_of(x, axis)), Index(Slice{}));
  items.emplace_back(slice);
  return wrap(read(x, resolve(x, items)));
}

}  // namespace v0
}  // namespace sinter
