// Distinct elements and counts. A size that depends on the values is read before the result is made.
#include <algorithm>
#include <cmath>

#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/indexing.h"
#include "sinter/reductions.h"
#include "sinter/scans.h"
#include "sinter/sorting.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/core/unchosen_sizes.h"
#include "tensor/ops/sort.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// Of a row of elements, `order` their places in the operand (empty: they stand there), which has `shape`.
Distinct distinct(const Tensor& row, const Tensor& order, const Shape& shape) {
  const int64_t size = row.numel();
  const Device device = row.device();
  if (size == 0) return {row, zeros(shape, int64, device), zeros({0}, int64, device)};
  const Tensor before = row.slice(0, {0, size - 1}), after = row.slice(0, {1, size});
  const Tensor begins = (before != after).pad({{1, 0}}, true);
  Tensor group = cumsum(begins.to(int64), 0).contiguous();  // from 1
  const int64_t groups = group.slice(0, {size - 1, size}).item<int64_t>();
  const Tensor first = searchsorted(group, arange(1, groups + 2, 1, int64, device));
  const Tensor begin = first.slice(0, {0, groups}), end = first.slice(0, {1, groups + 1});
  group = group - 1;
  if (order.defined()) group = scatter_add(zeros_like(group), 0, order, group);
  return {row.index({begin}), group.reshape(shape), end - begin};
}

/// What histc() and histogram() count, in one axis, and the limits of the bins.
struct HistogramRange {
  UOp x, low, high;  ///< in the type of the computation; the limits have shape []
};

/// Equal limits are moved apart by `margin` on either side.
HistogramRange histogram_range(UOp x, double low, double high, double margin) {
  const auto bound = [&](Combine combine) { return reduce(combine, x, {0}); };
  UOp least = constant(*x->graph, x->dtype, low, x->device), most = constant(*x->graph, x->dtype, high, x->device);
  if (low == 0 && high == 0 && x->shape.numel() > 0) {
    least = bound(Combine::Min);
    most = bound(Combine::Max);
  }
  UOp none = eq(least, most);
  return {x, where(none, least - margin, least), where(none, most + margin, most)};
}

UOp count_bins(const HistogramRange& range, int64_t bins) {
  UOp x = range.x;
  Graph& g = *x->graph;
  UOp low = broadcast_to(range.low, x->shape), high = broadcast_to(range.high, x->shape);
  UOp inside = le(low, x) & le(x, high);
  UOp bin = cast((x - low) * static_cast<double>(bins) / (high - low), DType::I64);
  bin = minimum(maximum(bin, like(bin, 0.0)), like(bin, static_cast<double>(bins - 1)));
  UOp counts = full(g, {bins}, DType::I64, 0, x->device);
  return scatter_add(counts, bin, cast(inside, DType::I64), 0);
}

HistogramRange histogram_operand(const Arg& x, int64_t bins, double low, double high, double margin) {
  require_type(x.is_tensor() && is_float(operand(x)->dtype), x, "a float tensor");
  UOp n = detach(operand(x));
  if (bins < 1) usage_error("{} bins for {}; give 1 or more", bins, describe(n));
  if (!(std::isfinite(low) && std::isfinite(high) && low <= high))
    usage_error("the bins reach from {} to {}; give finite numbers in order", low, high);
  return histogram_range(all_in_one(to_compute_type(n)).x, low, high, margin);
}

Tensor counted(const Tensor& x, const Tensor* weights, int64_t least) {
  if (!is_integer(x.dtype()) || x.rank() != 1)
    usage_error("{} {} cannot be counted; give integers of one axis", name_of(x.dtype()), to_string(x.shape()));
  if (least < 0) usage_error("at least {} counts of {}; give 0 or more", least, to_string(x.shape()));
  if (weights && !(weights->shape() == x.shape()))
    usage_error("the weights are {} and the integers {}; give one for each", to_string(weights->shape()),
                to_string(x.shape()));
  refuse_size_by_data("the number of counts", "scatter_add into zeros of a fixed size");
  int64_t size = least;
  if (x.numel() > 0) {
    const auto [least_one, largest] = aminmax(x.to(int64));
    realize(least_one, largest);  // in one pass
    const int64_t low = least_one.item<int64_t>(), high = largest.item<int64_t>();
    if (low < 0) usage_error("the least of {} integers is {}; none may be negative", x.numel(), low);
    size = std::max(size, high + 1);
  }
  const DType type = !weights ? int64 : weights->dtype() == float32 ? float32 : float64;
  const Tensor value = weights ? weights->to(type) : ones(x.shape(), int64, x.device());
  return scatter_add(zeros({size}, type, x.device()), 0, x.to(int64), value);
}

}  // namespace

Distinct unique(Arg x) {
  OuterCall call("unique", x.where());
  refuse_size_by_data("the number of different elements", "sort, and compare neighbors");
  const Tensor given = x.is_tensor() ? Tensor(x.cell()) : full({}, x);
  const Ranked all = sort(given.flatten());
  return distinct(all.values.contiguous(), all.indices, given.shape());
}

Distinct unique_consecutive(Arg x) {
  OuterCall call("unique_consecutive", x.where());
  refuse_size_by_data("the number of different elements", "comparisons of neighbors");
  const Tensor given = x.is_tensor() ? Tensor(x.cell()) : full({}, x);
  return distinct(given.flatten().contiguous(), Tensor(), given.shape());
}

Tensor bincount(const Tensor& x, int64_t least, Loc where) {
  OuterCall call("bincount", where);
  return counted(x, nullptr, least);
}
Tensor bincount(const Tensor& x, const Tensor& weights, int64_t least, Loc where) {
  OuterCall call("bincount", where);
  return counted(x, &weights, least);
}

Tensor histc(Arg x, int64_t bins, double low, double high) {
  Call call("histc", x.where());
  const HistogramRange range = histogram_operand(x, bins, low, high, 1);
  return wrap(cast(count_bins(range, bins), operand(x)->dtype));
}

Histogram histogram(Arg x, int64_t bins, std::optional<std::pair<double, double>> range) {
  Call call("histogram", x.where());
  const bool empty = x.is_tensor() && operand(x)->shape.numel() == 0;
  const auto [low, high] = range.value_or(std::pair(0.0, empty ? 1.0 : 0.0));
  const HistogramRange over = histogram_operand(x, bins, low, high, 0.5);
  const DType given = operand(x)->dtype, type = over.x->dtype;
  const Shape shape{bins + 1};
  UOp number = cast(arange(*over.x->graph, bins + 1, over.x->device), type);
  UOp first = broadcast_to(over.low, shape), last = broadcast_to(over.high, shape);
  UOp edges = first + number * ((last - first) / static_cast<double>(bins));
  edges = where(eq(number, like(number, static_cast<double>(bins))), last, edges);
  return {wrap(cast(count_bins(over, bins), given)), wrap(cast(edges, given))};
}

}  // namespace sinter::inline v0
