// Strided loads: wide loads and shuffles that pick the lanes. Nothing past the last element is touched.
#include <algorithm>
#include <utility>

#include "codegen/emit/register_transpose.h"
#include "codegen/emit/values.h"
#include "codegen/kernel/access.h"

namespace sinter::codegen {

Id Values::remaining_elements(LaneLimit limit, int lanes, int64_t stride, int64_t last, int64_t from) {
  if (limit.none()) limit.known = lanes;
  if (limit.count == kNone) {
    const int64_t left = limit.known ? stride * (limit.known - 1) + last - from : 0;
    return left >= lanes ? kNone : emit_.number(std::max<int64_t>(left, 0));
  }
  const Id all = emit_.index(Op::Mul, limit.count, emit_.number(stride));
  return emit_.index(Op::Sub, all, emit_.number(stride - last + from));
}

/// Loads all memory from the first lane's element on: `stride` elements per lane, `last` for the last lane. If the
/// predicate differs between lanes, only the first element of each lane is loaded; the callers then need no other.
std::vector<Id> Values::load_dense(UOp n, int64_t stride, int64_t last) {
  const UOp predicate = predicate_of(n);
  const Type type{n->dtype, lanes(n)};
  const Id zero = emit_.zero(n->dtype, type.lanes);
  Id open = exists(n, kAllLanes);
  std::vector<Id> open_elements;  // masks per vector, if the predicate differs between lanes
  if (predicate && varies(predicate)) {
    std::vector<Id> columns(static_cast<size_t>(stride), emit_.splat(emit_.truth(false), type.lanes));
    columns[0] = lane_mask(n, use(predicate, kAllLanes), open);
    open_elements = transpose_vectors(emit_, columns, type.lanes);
  } else if (predicate) {
    open = emit_.both(use(predicate, kAllLanes), open);
  }
  std::vector<Id> vectors;
  for (int64_t i = 0; i < stride; ++i) {
    const Id left = remaining_elements(limit(n), type.lanes, stride, last, i * type.lanes);
    if (left != kNone && emit_.is_number(left, 0)) {
      vectors.push_back(zero);
      continue;
    }
    const bool differ = !open_elements.empty();
    const Id from = emit_.index(Op::Add, address(n, 0), emit_.number(i * type.lanes));
    Inst inst = load_if(n, type.lanes, from, differ ? open_elements[i] : open);
    if (!differ && left != kNone) inst.src.push_back(left);
    vectors.push_back(emit_load(std::move(inst), n));
  }
  return vectors;
}

/// Whether a load's lanes are few elements apart, under one predicate or lane masks. The kernel must not write that
/// memory: the elements between lanes are not the load's own.
bool Values::is_strided(UOp n, const LaneLayout& place) {
  if (!shuffles_ || !place.regular || place.stride < 2 || place.stride > kWidestStride || !is_read_only(n))
    return false;
  return !predicate_of(n) || ((has_masked_load(n) || !varies(predicate_of(n))) && !varies(other_of(n)));
}

Id Values::make_strided(UOp n, int64_t stride) {
  if (!use_load(n, 0)) return kNone;
  return transpose_vectors(emit_, load_dense(n, stride, 1), static_cast<int>(stride))[0];
}

/// Loads all copies of a group whose lanes are `stride` elements apart, and what lies between them.
Id Values::load_dense_group(UOp n, const TransposeGroup& group, int64_t stride) {
  if (!use_load(n, 0)) return kNone;
  const int present = std::exchange(copy_[group.range].number, group.first);
  const std::vector<Id> columns =
      transpose_vectors(emit_, load_dense(n, stride, group.count), static_cast<int>(stride));
  copy_[group.range].number = present;
  auto column = columns.begin();
  for_each(group, [&] { remember(key(n, kAllLanes), n, *column++); });
  return columns[present - group.first];
}

/// Loads all copies of a group row by row: one contiguous row of copies per lane.
Id Values::make_rows(UOp n, const TransposeGroup& group) {
  const UOp predicate = predicate_of(n);
  if (!use_load(n, 0)) return kNone;
  const Id zero = emit_.zero(n->dtype, group.count);
  const int present = std::exchange(copy_[group.range].number, group.first);
  const LaneLimit l = limit(n);
  std::vector<Id> rows;
  for (int lane = 0; lane < lanes(n); ++lane) {
    if (l.known >= 0 && lane >= l.known) {
      rows.push_back(zero);
      continue;
    }
    const Id from = address(n, lane), open = emit_.both(predicate ? use(predicate, kAllLanes) : kNone, exists(n, lane));
    rows.push_back(emit_load(load_if(n, group.count, from, open), n));
  }
  copy_[group.range].number = present;
  std::vector<Id> columns = columns_of(emit_, rows);
  auto column = columns.begin();
  for_each(group, [&] { remember(key(n, kAllLanes), n, *column++); });
  return columns[present - group.first];
}

}  // namespace sinter::codegen
