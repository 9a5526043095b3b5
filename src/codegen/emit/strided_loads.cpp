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
  const Id zero = emit_.splat(emit_.constant(n->dtype, ir::Scalar::of(n->dtype, 0)), type.lanes);
  Id open = exists(n, kAllLanes);
  std::vector<Id> open_elements;  // masks per vector, if the predicate differs between lanes
  if (predicate && varies(predicate)) {
    std::vector<Id> columns(static_cast<size_t>(stride),
                            emit_.splat(emit_.constant(DType::Bool, ir::Scalar::of(DType::Bool, false)), type.lanes));
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
    Inst inst{InstCode::Load, type, {emit_.index(Op::Add, address(n, 0), emit_.number(i * type.lanes))}};
    inst.imm = slot_of(n);
    const bool differ = !open_elements.empty();
    if (differ || open != kNone) {
      inst.src.push_back(differ ? open_elements[static_cast<size_t>(i)] : open);
      inst.src.push_back(predicate ? emit_.splat(use(other_of(n), kAllLanes), type.lanes) : zero);
    }
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
  bool ready = use_address(n, 0);
  if (const UOp predicate = predicate_of(n))
    for (UOp s : {predicate, other_of(n)}) ready &= use(s, kAllLanes) != kNone;
  if (!ready) return kNone;
  return transpose_vectors(emit_, load_dense(n, stride, 1), static_cast<int>(stride))[0];
}

/// Loads all copies of a group that is one piece of memory.
Id Values::load_contiguous_group(UOp n, const TransposeGroup& group) {
  bool ready = use_address(n, 0);
  if (const UOp predicate = predicate_of(n))
    for (UOp s : {predicate, other_of(n)}) ready &= use(s, kAllLanes) != kNone;
  if (!ready) return kNone;
  const int present = std::exchange(copy_[group.range].number, group.first);
  const std::vector<Id> columns = transpose_vectors(emit_, load_dense(n, group.count, group.count), group.count);
  copy_[group.range].number = present;
  auto column = columns.begin();
  for_each(group, [&] { remember(key(n, kAllLanes), n, *column++); });
  return columns[static_cast<size_t>(present - group.first)];
}

/// Loads all copies of a group row by row: one contiguous row of copies per lane.
Id Values::make_rows(UOp n, const TransposeGroup& group) {
  const UOp predicate = predicate_of(n);
  bool ready = use_address(n, 0);
  if (predicate)
    for (UOp s : {predicate, other_of(n)}) ready &= use(s, kAllLanes) != kNone;
  if (!ready) return kNone;
  const Id zero = emit_.splat(emit_.constant(n->dtype, ir::Scalar::of(n->dtype, 0)), group.count);
  const int present = std::exchange(copy_[group.range].number, group.first);
  const LaneLimit l = limit(n);
  std::vector<Id> rows;
  for (int lane = 0; lane < lanes(n); ++lane) {
    if (l.known >= 0 && lane >= l.known) {
      rows.push_back(zero);
      continue;
    }
    Inst row{InstCode::Load, {n->dtype, group.count}, {address(n, lane)}};
    row.imm = slot_of(n);
    if (const Id open = emit_.both(predicate ? use(predicate, kAllLanes) : kNone, exists(n, lane)); open != kNone) {
      row.src.push_back(open);
      row.src.push_back(predicate ? emit_.splat(use(other_of(n), kAllLanes), group.count) : zero);
    }
    rows.push_back(emit_load(std::move(row), n));
  }
  copy_[group.range].number = present;
  std::vector<Id> columns = columns_of(emit_, rows);
  auto column = columns.begin();
  for_each(group, [&] { remember(key(n, kAllLanes), n, *column++); });
  return columns[static_cast<size_t>(present - group.first)];
}

}  // namespace sinter::codegen
