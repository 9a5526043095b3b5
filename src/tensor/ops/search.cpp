// Binary search, as many steps for each value: one GATHER per step.
#include <bit>

#include "sinter/sorting.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"
#include "tensor/ops/sort.h"

namespace sinter {
namespace tensor {

UOp search_sorted(UOp sorted, UOp values, bool right) {
  const int64_t last = static_cast<int64_t>(sorted->rank()) - 1, size = sorted->shape[last].value();
  UOp at = broadcast_to(constant(*sorted->graph, DType::I64, 0, values->device), values->shape);
  if (size == 0) return at;
  const auto number = [&](int64_t n) { return like(at, static_cast<double>(n)); };
  for (int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size))); step > 0; step /= 2) {
    // Whether the first at + step elements belong before the value. NaN is the largest.
    UOp probe = at + number(step - 1);
    UOp element = gather(sorted, minimum(probe, number(size - 1)), last);
    UOp before = right ? le(element, values) : lt(element, values);
    if (is_float(sorted->dtype)) before = before | (right ? is_nan(values) : is_nan(values) & ~is_nan(element));
    at = where(lt(probe, number(size)) & before, at + number(step), at);
  }
  return at;
}

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

Tensor search(const Arg& sorted, const Arg& values, bool out_int32, bool right, const char* role) {
  const DType type = common_type({&sorted, &values});
  UOp s = detach(operand(sorted, type)), v = detach(operand(values, type));
  unify_devices(s, v);
  if (s->rank() == 0)
    usage_error("the {} {} has no axis, and the values are {}; give one that ascends", role, describe(s), describe(v));
  const int64_t last = static_cast<int64_t>(s->rank()) - 1;
  fixed_size(s, last, "searched");
  s = contiguous(s);
  const auto made = [&](UOp place) { return wrap(out_int32 ? cast(place, DType::I32) : place); };
  if (s->rank() == 1) {  // one row for all values
    Shape rows = v->shape;
    rows.push_back(s->shape[0]);
    s = broadcast_to(s, rows);
    return made(drop_axes(search_sorted(s, insert_axis(v, static_cast<int64_t>(v->rank())), right),
                          {static_cast<int64_t>(v->rank())}));
  }
  bool fits = s->rank() == v->rank();
  for (size_t a = 0; fits && a + 1 < s->rank(); ++a) fits = s->shape[a] == v->shape[a];
  if (!fits)
    usage_error("the {} {} and the values {} differ in an axis before the last; {}", role, describe(s), describe(v),
                mismatch_hint(s->shape, v->shape, "give one row for all, or equal axes"));
  return made(search_sorted(s, v, right));
}

}  // namespace

Tensor searchsorted(Arg sorted, Arg values, bool out_int32, bool right) {
  Call call("searchsorted", sorted.where());
  return search(sorted, values, out_int32, right, "sorted tensor");
}

Tensor bucketize(Arg x, Arg boundaries, bool out_int32, bool right) {
  Call call("bucketize", x.where());
  if (boundaries.is_tensor() && operand(boundaries)->rank() != 1)
    usage_error("the boundaries {} for {} must have one axis; use searchsorted", describe(operand(boundaries)),
                describe(x));
  return search(boundaries, x, out_int32, right, "list of boundaries");
}

Tensor isin(Arg elements, Arg among, bool, bool invert) {
  Call call("isin", elements.where());
  const DType type = common_type({&elements, &among});
  UOp x = detach(operand(elements, type)), set = detach(operand(among, type));
  unify_devices(x, set);
  const SortRows rows = all_in_one(set);
  UOp found;
  if (rows.size == 0) {
    found = full(*x->graph, x->shape, DType::Bool, 0, x->device);
  } else {
    UOp flat = reshape(x, {x->shape.numel()});
    UOp sorted = contiguous(gather(rows.x, sort_positions(rows.x, 0, rows.size, false), 0));
    UOp at = search_sorted(sorted, flat, false);
    UOp last = like(at, static_cast<double>(rows.size - 1));
    found = reshape(eq(gather(sorted, minimum(at, last), 0), flat), x->shape);
  }
  return wrap(invert ? ~found : found);
}

}  // namespace v0
}  // namespace sinter
