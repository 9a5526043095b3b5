// Indexing by numbers, slices, newaxis, ellipsis and integer tensors, as NumPy does it.
#include "tensor/index.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/axes.h"
#include "tensor/operands.h"
#include "tensor/pick.h"

namespace sinter {
namespace tensor {
namespace {

using ir::UOp;
using Span = BasicIndex::Span;

bool takes_axis(const Index& i) {
  return i.kind == Index::Kind::Number || i.kind == Index::Kind::Slice || i.kind == Index::Kind::Tensor;
}

/// The items with the ellipsis, written or meant at the end, as slices: every axis of x has its item.
std::vector<Index> complete(UOp x, std::span<const Index> items) {
  const auto taken = static_cast<size_t>(std::count_if(items.begin(), items.end(), takes_axis));
  if (taken > x->rank())
    usage_error(
        fmt::format("{} items that take an axis, but {} has {} axes; leave some out", taken, describe(x), x->rank()));
  std::vector<Index> out;
  bool open = false;
  for (const Index& i : items) {
    if (i.kind != Index::Kind::Ellipsis) {
      out.push_back(i);
      continue;
    }
    if (std::exchange(open, true))
      usage_error(
          fmt::format("2 ellipses in the index of {}; at most 1 can stand for the axes not named", describe(x)));
    out.insert(out.end(), x->rank() - taken, Index(Slice{}));
  }
  if (!open) out.insert(out.end(), x->rank() - taken, Index(Slice{}));
  return out;
}

Span numbered(UOp x, int64_t axis, int64_t number) {
  const int64_t n = fixed_size(x, axis, "indexed by a number");
  if (number < -n || number >= n)
    usage_error(fmt::format("index {} is out of range for axis {} of {} with {} elements; give {} to {}", number, axis,
                            describe(x), n, -n, n - 1));
  return {number < 0 ? number + n : number, 1, 1, n == 1};
}

Span sliced(UOp x, int64_t axis, const Slice& s) {
  const Dim& size = x->shape[static_cast<size_t>(axis)];
  if (s.step == 0)
    usage_error(fmt::format("a slice of axis {} of {} has step 0; give another step", axis, describe(x)));
  if (s.begin.value_or(0) == 0 && !s.end && s.step == 1) return {0, 1, size, true};
  if (!s.begin && !s.end && s.step == -1) return {size.value() - 1, -1, size, false};
  const int64_t n = fixed_size(x, axis, "sliced"), low = s.step > 0 ? 0 : -1, high = s.step > 0 ? n : n - 1;
  auto bound = [&](int64_t v) { return std::clamp(v < 0 ? v + n : v, low, high); };
  const int64_t begin = s.begin      ? bound(*s.begin)
                        : s.step > 0 ? low
                                     : high,
                end = s.end        ? bound(*s.end)
                      : s.step > 0 ? high
                                   : low;
  const int64_t length = s.step > 0 ? end - begin : begin - end, step = s.step > 0 ? s.step : -s.step;
  // Written so that a step near the largest integer does not overflow.
  const int64_t count = length > 0 ? (length - 1) / step + 1 : 0;
  return {begin, count > 1 ? s.step : 1, count, begin == 0 && count == n && (s.step == 1 || count <= 1)};
}

}  // namespace

bool BasicIndex::box() const {
  return std::all_of(spans.begin(), spans.end(), [](const Span& s) { return s.step == 1; });
}

ir::Region BasicIndex::region() const {
  ir::Region out;
  for (const Span& s : spans)
    out.push_back(s.whole ? ir::Extent{0, s.count} : ir::Extent{s.begin, s.begin + s.count.value()});
  return out;
}

BasicIndex resolve(UOp x, std::span<const Index> items) {
  BasicIndex out;
  for (const Index& i : complete(x, items)) {
    const int64_t axis = static_cast<int64_t>(out.spans.size());
    switch (i.kind) {
      case Index::Kind::NewAxis: out.shape.push_back(1); break;
      case Index::Kind::Number: out.spans.push_back(numbered(x, axis, i.number)); break;
      case Index::Kind::Slice:
        out.spans.push_back(sliced(x, axis, i.slice));
        out.shape.push_back(out.spans.back().count);
        break;
      case Index::Kind::Tensor:
        usage_error(fmt::format("an index tensor ({}) names no fixed part of {} here; use scatter_add or where",
                                describe(node_of(i.tensor)), describe(x)));
      case Index::Kind::Ellipsis: throw InternalError("an ellipsis is left in a completed index");
    }
  }
  return out;
}

UOp read(UOp x, const BasicIndex& index) {
  // Mirror what runs backwards; cut the box; a step s is a column of rows of s elements, the last row filled up.
  const size_t rank = x->rank();
  ir::Ints mirrored;
  ir::Region cut = ir::whole(x->shape);
  Shape filled, rows, kept;
  ir::Region column;
  for (size_t a = 0; a < rank; ++a) {
    const Span& s = index.spans[a];
    const int64_t step = s.step < 0 ? -s.step : s.step, n = x->shape[a].value(), count = s.count.value();
    if (s.step < 0) mirrored.push_back(static_cast<int64_t>(a));
    const int64_t begin = s.step < 0 ? n - 1 - s.begin : s.begin, end = std::min(n, begin + count * step);
    if (!s.whole && !(begin == 0 && end == n)) cut[a] = {begin, end};
    const bool strided = step > 1;
    const Dim size = strided ? Dim(count * step) : s.count;
    filled.push_back(size);
    rows.push_back(s.count);
    column.push_back({0, s.count});
    kept.push_back(s.count);
    if (!strided) continue;
    rows.push_back(step);
    column.push_back({0, 1});
  }
  UOp part = ir::shrink(ir::flip(x, mirrored), cut);
  if (!index.box()) {
    ir::Region lies = ir::whole(part->shape);
    part = ir::reshape(ir::shrink(ir::reshape(ir::pad(part, lies, filled), rows), column), kept);
  }
  return ir::reshape(part, index.shape);
}

}  // namespace tensor

inline namespace v0 {
namespace {

using Kind = Index::Kind;

/// Where the axes of the index tensors go: in place when all numbers and tensors stand side by side, else to the front.
struct Advanced {
  std::vector<Index> basic;  ///< the items with a whole slice for each tensor
  ir::Ints axes;             ///< of the basic result, one per tensor
  std::vector<ir::UOp> index;
  int64_t place = 0;  ///< among the axes that no tensor takes
};

Advanced plan(ir::UOp x, std::span<const Index> items) {
  Advanced out;
  int64_t result_axes = 0, free_axes = 0, first = -1, last = -1, advanced = 0;
  const std::vector<Index> all = tensor::complete(x, items);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_tensor = all[i].kind == Kind::Tensor;
    if (is_tensor || all[i].kind == Kind::Number) {
      if (first < 0) {
        first = static_cast<int64_t>(i);
        out.place = free_axes;
      }
      last = static_cast<int64_t>(i);
      ++advanced;
    }
    if (is_tensor) {
      ir::UOp n = tensor::node_of(all[i].tensor);
      if (is_bool(n->dtype))
        tensor::usage_error(fmt::format(
            "a bool mask ({}) on {} would give a size that depends on the data; use where(mask, x, 0), or x * mask",
            tensor::describe(n), tensor::describe(x)));
      out.axes.push_back(result_axes);
      out.index.push_back(tensor::index_operand(n));
    }
    out.basic.push_back(is_tensor ? Index(Slice{}) : all[i]);
    if (all[i].kind != Kind::Number) {
      ++result_axes;
      free_axes += !is_tensor;
    }
  }
  if (last - first + 1 != advanced) out.place = 0;
  return out;
}

}  // namespace

Tensor Tensor::index(std::vector<Index> items, Loc where) const {
  tensor::Call call("index", where);
  ir::UOp x = tensor::node_of(*this);
  if (std::none_of(items.begin(), items.end(), [](const Index& i) { return i.kind == Kind::Tensor; }))
    return tensor::wrap(tensor::read(x, tensor::resolve(x, items)));
  Advanced advanced = plan(x, items);
  ir::UOp part = tensor::read(x, tensor::resolve(x, advanced.basic));
  return tensor::wrap(tensor::pick(part, advanced.axes, std::move(advanced.index), advanced.place));
}

Tensor Tensor::operator[](Arg i) const {
  tensor::Call call("operator[]", i.where());
  if (i.is_tensor()) return index({Index(Tensor(i.cell()))});
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
