// How a LOAD is emitted: as a whole vector, with a lane mask, as a gather, with strided wide loads, with each element
// in several lanes, as rows or dense pieces along unrolled copies, or lane by lane.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "codegen/emit/values.h"
#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "ir/contains.h"

namespace sinter::codegen {

/// Requests what a LOAD reads: its address at one lane, its predicate and what stands in for it at another. Whether
/// all of it is there.
bool Values::use_load(UOp load, int address_lane, int lane) {
  bool ready = use_address(load, address_lane);
  if (const UOp predicate = predicate_of(load))
    for (UOp s : {predicate, other_of(load)}) ready &= use(s, lane) != kNone;  // requests both before it gives up
  return ready;
}

/// A Load under a scalar condition; kNone: under none.
Inst Values::load_if(UOp load, int lanes, Id address, Id open, int lane) {
  Inst inst{InstCode::Load, {load->dtype, lanes}, {address}, slot_of(load)};
  if (open == kNone) return inst;
  const Id other = predicate_of(load) ? emit_.splat(use(other_of(load), lane), lanes) : emit_.zero(load->dtype, lanes);
  inst.src.insert(inst.src.end(), {open, other});
  return inst;
}

Id Values::make_load(UOp n, int lane) {
  const UOp predicate = predicate_of(n), other = other_of(n);
  Type type{n->dtype, 1};
  if (lane == kAllLanes && varies(n)) {
    const LaneLayout p = lane_layout(n);
    if (!p.regular || p.stride != 1 || (predicate && varies(predicate) && !has_masked_load(n))) {
      const TransposeGroup group = this->transpose_group(n);
      const auto moves = [&](UOp x) { return varies(x) || ranges_.depends(x, copy_[group.range].range); };
      if (group.count > 1 && !(predicate && (moves(predicate) || moves(other))))
        return is_contiguous_group(n, group) || is_strided(n, p) ? load_dense_group(n, group, p.stride)
                                                                 : make_rows(n, group);
      if (is_strided(n, p)) return make_strided(n, p.stride);
      if (const int repeats = repeats_of(n); repeats > 1) return make_repeated(n, repeats);
      return is_gathered(n) ? make_gathered(n) : pack(n);
    }
    type.lanes = lanes(n);
  }
  const Id in_range = exists(n, type.lanes > 1 ? kAllLanes : lane);
  if (!use_load(n, lane, lane)) return kNone;
  const Id from = address(n, lane);
  Id open = predicate ? use(predicate, lane) : kNone;
  if (open != kNone && emit_.always(open)) open = kNone;
  if (open != kNone && emit_.type(open).lanes > 1)
    return emit_masked_load(load_if(n, type.lanes, from, kNone), n, open, in_range);
  if (in_range != kNone) open = emit_.both(open, in_range);
  Inst inst = load_if(n, type.lanes, from, open, lane);
  if (const LaneLimit l = type.lanes > 1 ? limit(n) : LaneLimit{}; !l.none()) inst.src.push_back(count(l));
  return emit_load(std::move(inst), n);
}

/// Whether a WHERE gives a vector in memory or zeros. Where vectors have no masks, selecting the address takes no
/// vector register, so that a tile's edge has as many as its interior.
bool Values::selects_load(UOp select) {
  if (select->op != Op::Where || !zero_predicate(select) || target_.masks || target_.cuda() || varies(select->src[0]))
    return false;
  const UOp load = select->src[1];
  if (load->op != Op::Load || predicate_of(load) || !varies(load)) return false;
  const LaneLayout layout = lane_layout(load);
  return layout.regular && layout.stride == 1 && limit(load).none();
}

Id Values::make_selected_load(UOp select) {
  const UOp load = select->src[1];
  const Id open = use(select->src[0], kAllLanes), zero = use(select->src[2], kAllLanes),
           in_range = exists(load, kAllLanes);
  if (!use_address(load, kAllLanes) || open == kNone || zero == kNone) return kNone;
  Inst inst = load_if(load, lanes(load), address(load, kAllLanes), kNone);
  if (const Id all = emit_.both(open, in_range); all != kNone)
    inst.src.insert(inst.src.end(), {all, emit_.splat(zero, inst.type.lanes)});
  return emit_load(std::move(inst), load);
}

/// Whether a masked load of this vector is one instruction.
bool Values::has_masked_load(UOp load) {
  constexpr size_t kSmallest = 16;  // bytes: AVX2 masks whole registers; AVX-512 loads less as part of one
  const size_t element = size_of(load->dtype);
  return target_.has_masked_loads(element) &&
         (target_.masks || element * static_cast<size_t>(lanes(load)) >= kSmallest);
}

/// Mask of the lanes that exist and whose predicate holds.
Id Values::lane_mask(UOp n, Id open, Id in_range) {
  const int lanes = this->lanes(n);
  const auto only = [&](Id condition) { open = emit_.alu(Op::And, {DType::Bool, lanes}, {open, condition}); };
  if (in_range != kNone) only(emit_.splat(in_range, lanes));
  if (const LaneLimit l = limit(n); !l.none()) only(emit_.below(count(l), lanes));
  return open;
}

/// Loads these lanes. `offsets`: elements past the address, per lane (a gather); kNone: contiguous.
Id Values::emit_masked_load(Inst inst, UOp n, Id open, Id in_range, Id offsets) {
  const int lanes = inst.type.lanes;
  inst.src.push_back(lane_mask(n, open, in_range));
  inst.src.push_back(emit_.splat(use(other_of(n), kAllLanes), lanes));
  if (offsets != kNone) inst.src.push_back(offsets);
  return emit_load(std::move(inst), n);
}

/// Prefetches each cache line that the load touches `ahead` elements later, except lines that the previous unrolled
/// copy prefetches. (Iterations that touch parts of one line each prefetch it.)
void Values::prefetch(const Inst& load, UOp n, int64_t ahead) {
  const int64_t line = runtime::kCacheLine / static_cast<int64_t>(size_of(load.type.dtype));
  for (const UnrollCopy& c : copy_) {
    const int64_t step = std::abs(offset_of(n).factor(c.range)) * binding(c.range)->copies.near;
    if (step != 0 && c.number > 0 && step * c.number / line == step * (c.number - 1) / line) return;
  }
  for (int64_t at = 0; at < load.type.lanes; at += line) {
    const Id to = emit_.index(Op::Add, load.src[0], emit_.number(ahead + at));
    emit_.value({InstCode::Prefetch, {}, {to}, load.imm});
  }
}

Id Values::emit_load(Inst inst, UOp n) {
  if (ir::contains(*prefetches_, n)) prefetch(inst, n, schedule_.prefetches.at(n.get()).elements);
  // Memory that the kernel writes is loaded at the point of use: before or after the store, as the statement's versions
  // say.
  return is_read_only(n) ? emit_.value(std::move(inst)) : emit_.insert_here(std::move(inst));
}

/// Whether the kernel never writes the memory of this load.
bool Values::is_read_only(UOp load) const {
  const auto& read_write_slots = statements_.read_write_slots;
  const bool home = std::ranges::any_of(homes_of_, [load](const auto& homes) {
    return std::ranges::any_of(homes.second, [load](const auto& h) { return h.second == load; });
  });
  return slot_of(load) < kernel_.params && !home && !ir::contains(read_write_slots, slot_of(load));
}

}  // namespace sinter::codegen
