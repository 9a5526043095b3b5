// Accesses by lane layout.
#include "codegen/emit/memory_access.h"

#include <algorithm>

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/access.h"

namespace sinter::codegen {

namespace {

constexpr size_t kSmallestStream = 16;  ///< bytes of the shortest vector with a nontemporal store

bool is_contiguous(Values& values, UOp access) {
  const Values::LaneLayout place = values.lane_layout(access);
  return place.regular && place.stride == 1;
}

}  // namespace

Id read_memory(Values& values, BlockWriter& emit, UOp access, Id other) {
  const DType dtype = access->src[0]->dtype;
  const Id open = values.exists(access, kAllLanes);
  auto element = [&](int lane, int lanes, Id predicate) {
    Inst inst{InstCode::Load, {dtype, lanes}, {values.address(access, lane)}, slot_of(access)};
    if (predicate != kNone) inst.src.insert(inst.src.end(), {predicate, emit.splat(other, lanes)});
    if (const LaneLimit l = lanes > 1 ? values.limit(access) : LaneLimit{}; !l.none())
      inst.src.push_back(values.count(l));
    return emit.insert_here(std::move(inst));
  };
  if (!values.varies(access)) return element(kAllLanes, 1, open);
  const int lanes = values.lanes(access);
  if (is_contiguous(values, access)) return element(0, lanes, open);
  Inst all{InstCode::Pack, {dtype, lanes}, {}};
  for (int l = 0; l < lanes; ++l) all.src.push_back(element(l, 1, emit.both(open, values.exists(access, l))));
  return emit.insert_here(std::move(all));
}

void write_memory(Values& values, BlockWriter& emit, UOp access, Id v, Id only, UOp predicate, const Op* add,
                  InstCode code) {
  only = emit.both(only, values.exists(access, kAllLanes));
  const DType dtype = access->src[0]->dtype;
  const bool vector = values.varies(access) || emit.type(v).lanes > 1 || (predicate && values.varies(predicate));
  const int lanes =
      !vector ? 1 : std::max({values.lanes(access), emit.type(v).lanes, predicate ? values.lanes(predicate) : 1});
  const LaneLimit limit = vector ? values.limit(access) : LaneLimit{};
  auto element = [&](int lane, int width) {
    const Type type{dtype, width};
    const Id address = values.address(access, lane);
    Id part = width > 1 ? emit.splat(v, width) : lane == kAllLanes ? v : emit.lane(v, lane);
    Id open = emit.both(only, predicate ? values.value(predicate, lane) : kNone);
    if (width == 1 && lane != kAllLanes && limit.known < 0 && limit.count != kNone)
      open = emit.both(open, values.exists(access, lane));
    if (open != kNone) emit.open_if(open);
    auto inst = [&](InstCode code, Type t, std::vector<Id> src) {
      Inst i{code, t, std::move(src), slot_of(access)};
      if (width > 1 && !limit.none()) i.src.push_back(values.count(limit));
      return emit.insert_here(std::move(i));
    };
    if (add) part = emit.alu(*add, type, {inst(InstCode::Load, type, {address}), part});
    inst(width == lanes && vector && limit.none() && open == kNone && !add ? code : InstCode::Store, {},
         {address, part});
    if (open != kNone) emit.close();
  };
  if (!vector)
    element(kAllLanes, 1);
  else if (is_contiguous(values, access) && !(predicate && values.varies(predicate)))
    element(0, lanes);
  else
    for (int l = 0; l < (limit.known >= 0 ? static_cast<int>(limit.known) : lanes); ++l) element(l, 1);
}

bool write_strided(Values& values, BlockWriter& emit, UOp store, Id v) {
  const Values::LaneLayout place = values.lane_layout(store);
  const bool apart = values.varies(store) && place.regular && place.stride != 0 && place.stride != 1;
  if (!apart || !values.limit(store).none() || values.exists(store, kAllLanes) != kNone ||
      values.lanes(store) < emit.type(v).lanes)
    return false;
  emit.insert_here({InstCode::Store,
                    {},
                    {values.address(store, 0), emit.splat(v, values.lanes(store))},
                    slot_of(store),
                    ir::Scalar::of(DType::Index, place.stride)});
  return true;
}

void write_rows(Values& values, BlockWriter& emit, UOp store, std::vector<Id> columns, InstCode code) {
  const int lanes = values.lanes(store);
  const LaneLimit limit = values.limit(store);
  const size_t width = std::min(columns.size(), static_cast<size_t>(lanes));
  if (width * size_of(store->src[0]->dtype) < kSmallestStream) code = InstCode::Store;
  for (Id& column : columns) column = emit.splat(column, lanes);
  std::vector<std::vector<Id>> parts;  // parts of rows, each part a vector
  for (size_t from = 0; from < columns.size(); from += width)
    parts.push_back(rows_of(emit, {columns.begin() + static_cast<std::ptrdiff_t>(from),
                                   columns.begin() + static_cast<std::ptrdiff_t>(from + width)}));
  for (int lane = 0; lane < (limit.known >= 0 ? static_cast<int>(limit.known) : lanes); ++lane) {
    const Id there = values.exists(store, lane), address = values.address(store, lane);
    if (there != kNone) emit.open_if(there);
    for (size_t part = 0; part < parts.size(); ++part) {
      const Id place =
          part == 0 ? address : emit.index(Op::Add, address, emit.number(static_cast<int64_t>(part * width)));
      const Id row = parts[part][lane];
      emit.insert_here({code, {}, {place, row}, slot_of(store)});
    }
    if (there != kNone) emit.close();
  }
}

void write_dense(Values& values, BlockWriter& emit, UOp store, std::vector<Id> columns) {
  const int lanes = values.lanes(store);
  const auto count = static_cast<int64_t>(columns.size());
  for (Id& column : columns) column = emit.splat(column, lanes);
  const Id there = values.exists(store, kAllLanes);
  if (there != kNone) emit.open_if(there);
  int64_t from = 0;
  for (Id vector : transpose_vectors(emit, columns, lanes)) {
    Inst inst{InstCode::Store,
              {},
              {emit.index(Op::Add, values.address(store, 0), emit.number(from)), vector},
              slot_of(store)};
    const Id left = values.remaining_elements(values.limit(store), lanes, count, count, from);
    from += lanes;
    if (left != kNone && emit.is_number(left, 0)) continue;
    if (left != kNone) inst.src.push_back(left);
    emit.insert_here(std::move(inst));
  }
  if (there != kNone) emit.close();
}

}  // namespace sinter::codegen
