// Lanes of memory accesses.
#include "codegen/emit/memory_access.h"

#include <algorithm>

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/access.h"

namespace sinter::codegen {

using ir::UOp;

namespace {

constexpr size_t kSmallestStream = 16;  ///< bytes of the shortest vector that a CPU stores past the caches

bool side_by_side(Values& values, UOp access) {
  const Values::Place place = values.place(access);
  return place.regular && place.stride == 1;
}

}  // namespace

Id read(Values& values, Emitter& emit, UOp access, Id other) {
  const DType dtype = access->src[0]->dtype;
  const Id open = values.exists(access, kWhole);
  auto element = [&](int lane, int lanes, Id gate) {
    Inst inst{Code::Load, {dtype, lanes}, {values.address(access, lane)}};
    if (gate != kNone) inst.src.insert(inst.src.end(), {gate, emit.splat(other, lanes)});
    inst.imm = slot_of(access);
    if (const Limit l = lanes > 1 ? values.limit(access) : Limit{}; !l.none()) inst.src.push_back(values.count(l));
    return emit.here(std::move(inst));
  };
  if (!values.varies(access)) return element(kWhole, 1, open);
  const int lanes = values.lanes(access);
  if (side_by_side(values, access)) return element(0, lanes, open);
  Inst all{Code::Pack, {dtype, lanes}, {}};
  for (int l = 0; l < lanes; ++l) all.src.push_back(element(l, 1, emit.both(open, values.exists(access, l))));
  return emit.here(std::move(all));
}

void write(Values& values, Emitter& emit, UOp access, Id v, Id only, UOp gate, const ir::Op* add, Code code) {
  only = emit.both(only, values.exists(access, kWhole));
  const DType dtype = access->src[0]->dtype;
  const bool vector = values.varies(access) || emit.type(v).lanes > 1 || (gate && values.varies(gate));
  const int lanes = !vector ? 1 : std::max({values.lanes(access), emit.type(v).lanes, gate ? values.lanes(gate) : 1});
  const Limit limit = vector ? values.limit(access) : Limit{};
  auto element = [&](int lane, int width) {
    const Type type{dtype, width};
    const Id address = values.address(access, lane);
    Id part = width > 1 ? emit.splat(v, width) : lane == kWhole ? v : emit.lane(v, lane);
    Id open = emit.both(only, gate ? values.value(gate, lane) : kNone);
    if (width == 1 && lane != kWhole && limit.known < 0 && limit.count != kNone)
      open = emit.both(open, values.exists(access, lane));
    if (open != kNone) emit.open_if(open);
    auto inst = [&](Code code, Type t, std::vector<Id> src) {
      Inst i{code, t, std::move(src)};
      i.imm = slot_of(access);
      if (width > 1 && !limit.none()) i.src.push_back(values.count(limit));
      return emit.here(std::move(i));
    };
    if (add) part = emit.alu(*add, type, {inst(Code::Load, type, {address}), part});
    inst(width == lanes && vector && limit.none() && open == kNone && !add ? code : Code::Store, {}, {address, part});
    if (open != kNone) emit.close();
  };
  if (!vector)
    element(kWhole, 1);
  else if (side_by_side(values, access) && !(gate && values.varies(gate)))
    element(0, lanes);
  else
    for (int l = 0; l < (limit.known >= 0 ? static_cast<int>(limit.known) : lanes); ++l) element(l, 1);
}

bool write_apart(Values& values, Emitter& emit, UOp store, Id v) {
  const Values::Place place = values.place(store);
  const bool apart = values.varies(store) && place.regular && place.stride != 0 && place.stride != 1;
  if (!apart || !values.limit(store).none() || values.exists(store, kWhole) != kNone ||
      values.lanes(store) < emit.type(v).lanes)
    return false;
  Inst inst{Code::Store, {}, {values.address(store, 0), emit.splat(v, values.lanes(store))}};
  inst.imm = slot_of(store);
  inst.number = ir::Scalar::of(DType::Index, place.stride);
  emit.here(std::move(inst));
  return true;
}

void write_rows(Values& values, Emitter& emit, UOp store, std::vector<Id> columns, Code code) {
  const int lanes = values.lanes(store);
  const Limit limit = values.limit(store);
  const size_t width = std::min(columns.size(), static_cast<size_t>(lanes));
  if (width * size_of(store->src[0]->dtype) < kSmallestStream) code = Code::Store;
  for (Id& column : columns) column = emit.splat(column, lanes);
  std::vector<std::vector<Id>> parts;  // of rows, each of which is a vector
  for (size_t from = 0; from < columns.size(); from += width)
    parts.push_back(rows_of(emit, {columns.begin() + static_cast<std::ptrdiff_t>(from),
                                   columns.begin() + static_cast<std::ptrdiff_t>(from + width)}));
  for (int lane = 0; lane < (limit.known >= 0 ? static_cast<int>(limit.known) : lanes); ++lane) {
    const Id there = values.exists(store, lane), address = values.address(store, lane);
    if (there != kNone) emit.open_if(there);
    for (size_t part = 0; part < parts.size(); ++part) {
      const Id place =
          part == 0 ? address : emit.index(ir::Op::Add, address, emit.number(static_cast<int64_t>(part * width)));
      Inst row{code, {}, {place, parts[part][static_cast<size_t>(lane)]}};
      row.imm = slot_of(store);
      emit.here(std::move(row));
    }
    if (there != kNone) emit.close();
  }
}

void write_piece(Values& values, Emitter& emit, UOp store, std::vector<Id> columns) {
  const int lanes = values.lanes(store);
  const auto count = static_cast<int64_t>(columns.size());
  for (Id& column : columns) column = emit.splat(column, lanes);
  const Id there = values.exists(store, kWhole);
  if (there != kNone) emit.open_if(there);
  int64_t from = 0;
  for (Id vector : transposed(emit, columns, lanes)) {
    Inst inst{Code::Store, {}, {emit.index(ir::Op::Add, values.address(store, 0), emit.number(from)), vector}};
    inst.imm = slot_of(store);
    const Id left = values.left_of(values.limit(store), lanes, count, count, from);
    from += lanes;
    if (left != kNone && emit.is_number(left, 0)) continue;
    if (left != kNone) inst.src.push_back(left);
    emit.here(std::move(inst));
  }
  if (there != kNone) emit.close();
}

}  // namespace sinter::codegen
