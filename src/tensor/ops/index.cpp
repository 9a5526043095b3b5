// The indexing calls: basic items by tensor/ops/index.h, integer tensors combined as in NumPy.
#include "tensor/ops/index.h"

#include <fmt/core.h>

#include <algorithm>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/masked.h"
#include "tensor/ops/pick.h"

namespace sinter {
namespace tensor {

bool has_tensor(std::span<const Index> items) {
  return std::any_of(items.begin(), items.end(), [](const Index& i) { return i.kind == Index::Kind::Tensor; });
}

AdvancedIndex resolve_advanced(ir::UOp x, std::span<const Index> items) {
  AdvancedIndex out;
  int64_t result_axes = 0, free_axes = 0, first = -1, last = -1, advanced = 0;
  const std::vector<Index> all = expand_ellipsis(x, items);
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

Tensor Tensor::index(std::vector<Index> items, Loc where) const {
  const tensor::OuterCall outer("index", where);
  if (tensor::has_mask(items)) {
    const tensor::UnmaskedIndex unmasked = tensor::unmask(*this, items);
    return reshape(unmasked.shape, where).index(unmasked.items, where);
  }
  tensor::Call call("index", where);
  ir::UOp x = tensor::node_of(*this);
  if (!tensor::has_tensor(items)) return tensor::wrap(tensor::read(x, tensor::resolve(x, items)));
  tensor::AdvancedIndex advanced = tensor::resolve_advanced(x, items);
  ir::UOp part = tensor::read(x, tensor::resolve(x, advanced.basic));
  return tensor::wrap(tensor::pick(part, advanced.axes, std::move(advanced.index), advanced.place));
}

Tensor Tensor::operator[](Arg i) const {
  const tensor::OuterCall outer("operator[]", i.where());
  if (i.is_tensor()) return index({Index(Tensor(i.cell()))});
  const tensor::Call call("operator[]", i.where());
  if (i.kind() != Arg::Kind::Integer)
    tensor::usage_error(fmt::format("{} is no index of {}; give an integer or a tensor of integers",
                                    tensor::describe(i), tensor::describe(tensor::node_of(*this))));
  return index({Index(i.integer())});
}

Place::operator Tensor() const { return target_.index(*items_, where_); }

Tensor Tensor::slice(int64_t axis, Slice slice, Loc where) const {
  tensor::Call call("slice", where);
  ir::UOp x = tensor::node_of(*this);
  std::vector<Index> items(static_cast<size_t>(tensor::axis_of(x, axis)), Index(Slice{}));
  items.emplace_back(slice);
  return tensor::wrap(tensor::read(x, tensor::resolve(x, items)));
}

}  // namespace v0
}  // namespace sinter
