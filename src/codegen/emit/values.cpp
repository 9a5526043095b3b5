// Nodes to instructions, sources first, with an explicit stack.
#include "codegen/emit/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "codegen/emit/register_transpose.h"
#include "codegen/kernel/access.h"
#include "codegen/kernel/offset.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::codegen {

const Values::OpenRange* Values::binding(UOp range) const {
  auto it =
      std::find_if(open_.rbegin(), open_.rend(), [range](const OpenRange& o) { return o.bound && o.range == range; });
  return it == open_.rend() ? nullptr : &*it;
}
Id Values::base(UOp range, int number) const {
  auto it = std::find_if(open_.rbegin(), open_.rend(),
                         [&](const OpenRange& o) { return o.range == range && o.number == number; });
  return it == open_.rend() ? kNone : it->base;
}

Id Values::block_base(UOp range, int level) {
  const LoopAxis& a = schedule_.of(range);
  if (!a.window) return base(range, level < 0 && a.single() ? 0 : level);
  const Id first = block_base(a.window->along, level);
  return first == kNone ? kNone : emit_.index(Op::Mul, first, emit_.number(a.window->step));
}

/// Whether this loop gives n its value.
bool Values::gives_value(const OpenRange& open, UOp n) const {
  return open.bound && ranges_.depends(n, open.range) && binding(open.range) == &open;
}

/// The binding along whose lanes n differs; null if n is a scalar.
const Values::OpenRange* Values::vector_of(UOp n) const {
  const OpenRange* found = nullptr;
  for (const OpenRange& o : open_) {
    if (o.lanes == 1 || !gives_value(o, n)) continue;
    if (found && !(found->range == o.range)) throw InternalError("codegen: a value depends on two vectors");
    found = &o;
  }
  return found;
}
int Values::lanes(UOp n) const {
  const OpenRange* o = vector_of(n);
  return o ? o->lanes : 1;
}

int Values::copy_of(UOp range) const {
  for (const UnrollCopy& c : copy_)
    if (c.range == range) return c.number;
  return 0;
}

void Values::set_copy(UOp range, int number) {
  for (UnrollCopy& c : copy_)
    if (c.range == range) c.number = number;
}

void Values::rebind_thread(UOp range, Id thread_offset, int lanes) {
  OpenRange now = *binding(range);
  if (now.limit.count != kNone) {
    const Id all = emit_.index(Op::Add, now.limit.count, now.thread_offset);
    now.limit = {-1, emit_.index(Op::Sub, all, thread_offset)};
  }
  now.thread_offset = thread_offset;
  now.lanes = lanes;
  now.rebinds = true;
  now.scope = emit_.scope();
  open_.push_back(now);
}

void Values::shift(UOp range, Id elements) {
  OpenRange now = *binding(range);
  if (now.limit.count != kNone) now.limit.count = emit_.index(Op::Sub, now.limit.count, elements);
  now.thread_offset = now.thread_offset == kNone ? elements : emit_.index(Op::Add, now.thread_offset, elements);
  now.rebinds = true;
  now.scope = emit_.scope();
  open_.push_back(now);
}

/// Elements from the thread's first element to a lane of the current copy.
int64_t Values::offset(const OpenRange& open, int lane) const {
  return open.copies.of(copy_of(open.range)) + (open.lanes > 1 && lane > 0 ? lane : 0);
}
/// The first element of the thread.
Id Values::first(const OpenRange& open) const {
  return open.thread_offset == kNone ? open.base : emit_.index(Op::Add, open.base, open.thread_offset);
}

LaneLimit Values::limit(UOp n) {
  const OpenRange* o = vector_of(n);
  if (!o || o->limit.none() || o->limit.whole || has_room(n, *o)) return {};
  const int64_t before = offset(*o, 0);
  if (o->limit.known < 0) return {-1, emit_.index(Op::Sub, o->limit.count, emit_.number(before))};
  const int64_t left = o->limit.known - before;
  return left >= o->lanes ? LaneLimit{} : LaneLimit{std::max<int64_t>(left, 0), kNone};
}

Id Values::exists(UOp n, int lane) {
  Id all = kNone;
  for (const OpenRange& o : open_)
    if ((o.lanes == 1 || o.limit.whole) && o.limit.count != kNone && gives_value(o, n) && !has_room(n, o))
      all = emit_.both(all, emit_.alu(Op::Lt, {DType::Bool, 1}, {emit_.number(offset(o, 0)), o.limit.count}));
  const LaneLimit l = limit(n);
  if (l.none() || lane == kAllLanes) return all;
  if (l.known < 0) return emit_.both(all, emit_.alu(Op::Lt, {DType::Bool, 1}, {emit_.number(lane), l.count}));
  return lane < l.known ? all : emit_.truth(false);
}

Id Values::existing_lanes(UOp n, int from, int width) {
  const LaneLimit l = limit(n);
  if (l.known >= 0 && l.known < from + width) return emit_.below(emit_.number(l.known - from), width);
  if (l.count != kNone) return emit_.below(emit_.index(Op::Sub, l.count, emit_.number(from)), width);
  const Id all = exists(n, kAllLanes);
  return all == kNone ? kNone : emit_.splat(all, width);
}

/// Whether n accesses a tile that has elements also for values of the range that do not exist.
bool Values::has_room(UOp n, const OpenRange& open) const {
  const Tile* tile = open.limit.padded && (n->op == Op::Load || n->op == Op::Store) ? tile_of(n) : nullptr;
  return tile && std::ranges::any_of(tile->dims, [&](const Tile::TileDim& d) {
           return d.range == open.range && d.stored_extent >= schedule_.of(d.range).block;
         });
}

const Tile* Values::tile_of(UOp access) const {
  for (const Tile& t : statements_.tiles)
    if (t.slot == slot_of(access)) return &t;
  return nullptr;
}

uint64_t Values::copy_key(UOp n, const std::vector<UOp>& apart) {
  uint64_t hash = 0;
  for (size_t i = 0; i < copy_.size(); ++i)  // outermost first: an inner range keeps outer keys
    if (copy_[i].number && ranges_.depends(n, copy_[i].range) && !ir::contains(apart, copy_[i].range))
      hash = ir::mix(ir::mix(hash, i), static_cast<uint64_t>(copy_[i].number));
  return hash;
}

/// Identifies the versions of rewritten Params that n is computed from.
uint64_t Values::version_key(UOp n) {
  const std::vector<int64_t>& slots = statements_.read_write_slots;
  if (slots.empty()) return 0;
  if (slots.size() > 64) throw InternalError("codegen: more than 64 buffers are both read and written by one kernel");
  auto unknown = [this](UOp u) { return !read_write_masks_.contains(u.get()); };
  if (unknown(n))
    for (UOp u : ir::topological(std::span<const UOp>(&n, 1), unknown)) {
      if (!unknown(u)) continue;
      uint64_t set = 0;
      for (UOp s : u->src) set |= read_write_masks_.at(s.get());
      if (u->op == Op::Load)
        for (size_t i = 0; i < slots.size(); ++i)
          if (slots[i] == slot_of(u)) set |= uint64_t{1} << i;
      read_write_masks_.emplace(u.get(), set);
    }
  uint64_t hash = 0;
  for (uint64_t set = read_write_masks_.at(n.get()); set; set &= set - 1) {
    const size_t i = static_cast<size_t>(std::countr_zero(set));
    if (int v = (*versions_)[i]) hash = ir::mix(ir::mix(hash, i + 1), static_cast<uint64_t>(v));
  }
  return hash;
}

MemoKey Values::key(UOp n, int lane) {
  return {n.get(), varies(n) ? lane : 0, ir::mix(copy_key(n), loop_key(n)), version_key(n)};
}

/// Identifies the loops that give n its value and shadow an outer loop over the same range: a value known there is
/// another value here.
uint64_t Values::loop_key(UOp n) const {
  uint64_t loops = 0;
  for (size_t i = 0; i < open_.size(); ++i)
    if (open_[i].rebinds && gives_value(open_[i], n)) {
      loops = ir::mix(loops, i + 1);
      if (open_[i].thread_offset != kNone)
        loops = ir::mix(ir::mix(loops, static_cast<uint64_t>(open_[i].thread_offset)),
                        static_cast<uint64_t>(open_[i].lanes));
    }
  return loops;
}

/// Not beyond the loops that give n its value, even if their variables are known numbers.
void Values::remember(const MemoKey& key, UOp n, Id id) {
  size_t from = assumed_;
  for (const OpenRange& o : open_)
    if (o.bound && o.scope > from && ranges_.depends(n, o.range)) from = o.scope;
  emit_.remember(key, id, from);
}

void Values::forward(UOp store, Id v) {
  const auto& slots = statements_.read_write_slots;
  auto it = std::ranges::lower_bound(slots, slot_of(store));
  if (it == slots.end() || *it != slot_of(store)) return;
  UOp load = ir::load(store->src[0], indices_of(store));
  std::vector<int> after = *versions_;
  ++after[it - slots.begin()];
  const std::vector<int>* before = std::exchange(versions_, &after);
  const MemoKey now = key(load, kAllLanes);
  versions_ = before;
  if (type_of(load, kAllLanes) == emit_.type(v)) remember(now, load, v);
}

Id Values::use(UOp n, int lane) {
  const Id id = emit_.find(key(n, lane));
  if (id == kNone) missing_.emplace_back(n, lane);
  return id;
}

Id Values::value(UOp root, int lane) {
  std::vector<std::pair<UOp, int>> stack{{root, lane}};
  while (!stack.empty()) {
    auto [n, l] = stack.back();
    if (emit_.find(key(n, l)) != kNone) {
      stack.pop_back();
      continue;
    }
    missing_.clear();
    const Id made = make(n, l);
    if (made == kNone) {
      stack.insert(stack.end(), missing_.rbegin(), missing_.rend());
      continue;
    }
    remember(key(n, l), n, made);
    stack.pop_back();
  }
  return emit_.find(key(root, lane));
}

/// The instruction of n, or kNone if sources are missing; missing_ then lists them.
Id Values::make(UOp n, int lane) {
  if (n == supposed_) return emit_.truth(true);
  const UOp simpler = segments_.simplified(n);
  if (!(simpler == n) && !(simpler->op == Op::Load && n->op == Op::Load && schedule_.prefetches.contains(n.get()))) {
    const Id made = use(simpler, lane);
    return made == kNone ? kNone : emit_.splat(made, type_of(n, lane).lanes);
  }
  switch (n->op) {
    case Op::Const: return emit_.constant(n->dtype, n->scalar());
    case Op::Var: {
      auto it = std::ranges::find(kernel_.vars, n->get<sinter::Var>());
      if (it == kernel_.vars.end())
        throw InternalError("codegen: variable " + n->get<sinter::Var>().name() + " is no argument of the kernel");
      return emit_.value({InstCode::Var, {n->dtype, 1}, {}, it - kernel_.vars.begin()});
    }
    case Op::Arg: return emit_.value({InstCode::Arg, {n->dtype, 1}, {}, n->integer()});
    case Op::Range: return make_range(n, lane);
    case Op::Load: return make_load(n, lane);
    case Op::Check: return make_check(n, lane);
    case Op::Reduce:
    case Op::Scan:
      if (auto home = homes_.find(n.get()); home != homes_.end()) return use(home->second, lane);
      if (const Id whole = emit_.find(key(n, kAllLanes)); whole != kNone) return emit_.lane(whole, lane);
      throw InternalError(fmt::format("codegen: {} #{} is not finished where it is used", ir::info(n->op).name, n->id));
    default:
      if (!ir::is_alu(n->op)) throw InternalError(fmt::format("codegen: {} in a kernel", ir::info(n->op).name));
      return make_alu(n, lane);
  }
}

Id Values::make_range(UOp n, int lane) {
  if (one_trip(n)) return emit_.number(0);
  const OpenRange* o = binding(n);
  if (!o) throw InternalError(fmt::format("codegen: range {} is used outside its loop", range_id(n)));
  const Id at = emit_.index(Op::Add, first(*o), emit_.number(offset(*o, lane)));
  if (o->lanes == 1 || lane != kAllLanes) return at;
  return emit_.alu(Op::Add, {DType::Index, o->lanes}, {emit_.splat(at, o->lanes), emit_.iota(o->lanes)});
}

/// Offset of an access in its Param, or in its tile's layout, as a sum.
const ir::LinearExpr& Values::offset_of(UOp access) {
  auto [it, fresh] = offsets_.try_emplace(access.get());
  if (!fresh) return it->second;
  const Tile* tile = tile_of(access);
  if (!tile) return it->second = codegen::offset_of(access);
  ir::LinearExpr sum;
  for (size_t d = 0; d < tile->dims.size(); ++d)
    sum = ir::plus(sum, ir::linear_of(access->src[1 + d]), tile->dims[d].stride);
  return it->second = std::move(sum);
}

/// Whether elements along a range of a swizzled tile have no constant stride. Only elements of one row have, and its
/// vectors are whole.
static bool is_swizzled_across(const Tile* tile, UOp range) {
  return tile && tile->swizzle_period && !(tile->dims.back().range == range);
}

Values::LaneLayout Values::lane_layout(UOp access) {
  LaneLayout place;
  const OpenRange* vector = vector_of(access);
  if (!vector) return place;
  for (const ir::LinearTerm& t : offset_of(access).terms) {
    if (!ranges_.depends(t.atom, vector->range)) continue;
    if (t.atom == vector->range && !is_swizzled_across(tile_of(access), t.atom))
      place.stride += t.factor;
    else
      place.regular = false;
  }
  return place;
}

int Values::unrolled_lanes(UOp n) const {
  int count = lanes(n);
  for (const UnrollCopy& c : copy_)
    if (ranges_.depends(n, c.range)) count *= c.count;
  return count;
}

Values::TransposeGroup Values::transpose_group(UOp access, int widest) {
  const OpenRange* vector = vector_of(access);
  const Tile* tile = tile_of(access);
  const LaneLayout along = lane_layout(access);
  if (!vector || !along.regular || along.stride == 1 || (tile && tile->swizzle_period)) return {};
  for (size_t i = 0; i < copy_.size(); ++i) {
    const UnrollCopy& c = copy_[i];
    const OpenRange* o = c.count > 1 ? binding(c.range) : nullptr;
    if (!o || o->lanes > 1 || o->thread_offset != kNone) continue;
    if (stride_along(offset_of(access), c.range, ranges_) != 1) continue;
    // Groups from the first copy on: of one piece of memory, or else of the largest count allowed, then of the largest
    // powers of two that are left.
    TransposeGroup group{i, 0, 1};
    while (true) {
      const int left = c.count - group.first;
      const bool dense = shuffles_ && along.stride > 1 && along.stride <= std::min<int64_t>(left, kWidestStride);
      group.count = dense ? static_cast<int>(along.stride)
                          : static_cast<int>(
                                std::bit_floor(static_cast<unsigned>(std::min(std::max(vector->lanes, widest), left))));
      if (c.number < group.first + group.count) return group;
      group.first += group.count;
    }
  }
  return {};
}

bool Values::use_address(UOp access, int lane) {
  bool all = true;
  for (const ir::LinearTerm& t : offset_of(access).terms)
    if (t.atom->op != Op::Range) all &= use(t.atom, lane) != kNone;
  return all;
}

Id Values::address(UOp access, int lane) {
  lane = std::max(lane, 0);
  const ir::LinearExpr& sum = offset_of(access);
  const Tile* tile = tile_of(access);
  int64_t constant = sum.constant;
  std::vector<Id> parts;
  OffsetSum column, row;  // of a swizzled tile
  auto add = [&](Id x, int64_t factor) { parts.push_back(emit_.index(Op::Mul, x, emit_.number(factor))); };
  for (const ir::LinearTerm& t : sum.terms) {
    const OpenRange* o = t.atom->op == Op::Range ? binding(t.atom) : nullptr;
    if (!o) {
      add(value(t.atom, lane), t.factor);
      continue;
    }
    Id from = kNone;  // where the tile begins
    for (const Tile::TileDim& d : tile ? std::span(tile->dims) : std::span<const Tile::TileDim>())
      if (d.block_range() == t.atom || d.range == t.atom) from = block_base(t.atom, d.level);
    if (tile && tile->tile_copy && tile->tile_copy->panel && t.atom == tile->dims.back().range) {
      const Id behind = from == o->base ? emit_.number(0)
                        : from == kNone ? o->base
                                        : emit_.index(Op::Sub, o->base, from);
      add_panel_offset(*tile, *o, behind, offset(*o, lane), parts, constant);
      continue;
    }
    OffsetSum* swizzled = !tile || !tile->swizzle_period         ? nullptr
                          : t.atom == tile->dims.back().range    ? &column
                          : t.atom == tile->dims.end()[-2].range ? &row
                                                                 : nullptr;
    const auto behind = [&](Id x) {
      if (swizzled) swizzled->parts.push_back(x);
      if (swizzled != &column) add(x, t.factor);
    };
    if (swizzled) swizzled->constant = offset(*o, lane);
    if (swizzled != &column) constant += t.factor * offset(*o, lane);
    if (o->thread_offset != kNone) behind(o->thread_offset);
    if (from != o->base) behind(from == kNone ? o->base : emit_.index(Op::Sub, o->base, from));
  }
  if (tile && tile->swizzle_period) parts.push_back(this->swizzle(*tile, column, row, constant));
  if (tile && tile->ring_slot_size) add(ring_slot(*tile), tile->ring_slot_size);
  return sum_of(std::move(parts), constant);
}

/// Outer parts first: their sum is hoisted out of the inner loops. Constants last, where addressing modes take them for
/// free.
Id Values::sum_of(std::vector<Id> parts, int64_t constant) {
  const auto outside = [this](Id a, Id b) { return emit_.depth(a) < emit_.depth(b); };
  for (auto p = parts.begin(); p != parts.end(); ++p)  // stable
    std::rotate(std::upper_bound(parts.begin(), p, *p, outside), p, p + 1);
  Id total = kNone;
  for (Id p : parts)
    if (int64_t v = 0; emit_.known(p, v))
      constant += v;
    else
      total = total == kNone ? p : emit_.index(Op::Add, total, p);
  if (total == kNone) return emit_.number(constant);
  return constant < 0 ? emit_.index(Op::Sub, total, emit_.number(-constant))
                      : emit_.index(Op::Add, total, emit_.number(constant));
}

/// The slot of the current block in a ring tile.
Id Values::ring_slot(const Tile& tile) {
  const Tile::TileDim& d = tile.dims[tile.ring_dim];
  const int64_t step = schedule_.of(d.range).steps[d.level];
  return emit_.divide_unsigned(Op::Mod, emit_.divide_unsigned(Op::IDiv, base(d.range, d.level), emit_.number(step)),
                               emit_.number(tile.tile_copy->slots));
}

/// Offset of an element within its row of a swizzled tile. Whole periods do not move: they are added to `constant` and
/// left out of the result.
Id Values::swizzle(const Tile& tile, OffsetSum column, OffsetSum row, int64_t& constant) {
  const int64_t whole = column.constant / tile.swizzle_period * tile.swizzle_period,
                pieces = tile.swizzle_period / tile.tile_copy->swizzle_unit;
  constant += whole;
  const Id group = emit_.divide_unsigned(Op::IDiv, sum_of(std::move(row.parts), row.constant),
                                         emit_.number(tile.tile_copy->swizzle_rows));
  const Id piece = emit_.index(Op::Mul, emit_.divide_unsigned(Op::Mod, group, emit_.number(pieces)),
                               emit_.number(tile.tile_copy->swizzle_unit));
  return emit_.index(Op::Xor, sum_of(std::move(column.parts), column.constant - whole), piece);
}

/// Offset of an element of the last dim in a tile of panels. `behind`: from the start of the tile to the loop's base, a
/// multiple of the loop's step.
void Values::add_panel_offset(const Tile& tile, const OpenRange& open, Id behind, int64_t offset,
                              std::vector<Id>& parts, int64_t& constant) {
  const int64_t panel = tile.tile_copy->panel;
  if (open.step % panel == 0) {
    parts.push_back(emit_.index(Op::Mul, behind, emit_.number(tile.panel_stride / panel)));
    constant += offset / panel * tile.panel_stride + offset % panel;
    return;
  }
  const Id size = emit_.number(panel);
  parts.push_back(emit_.index(Op::Mul, emit_.divide_unsigned(Op::IDiv, behind, size), emit_.number(tile.panel_stride)));
  parts.push_back(emit_.divide_unsigned(Op::Mod, behind, size));
  constant += offset;
}

/// Makes each lane by itself and packs them into a vector. Lanes that are known not to exist are 0.
Id Values::pack(UOp n) {
  std::vector<Id> parts;
  const LaneLimit l = limit(n);
  const int lanes = this->lanes(n);
  for (int i = 0; i < lanes; ++i) parts.push_back(l.known < 0 || i < l.known ? use(n, i) : emit_.zero(n->dtype));
  if (ir::contains(parts, kNone)) return kNone;
  return emit_.value({InstCode::Pack, {n->dtype, lanes}, std::move(parts)});
}

Id Values::make_check(UOp n, int lane) {
  const Type type = type_of(n, lane), truth{DType::Bool, type.lanes};
  if (type.lanes > (target_.masks ? 64 : 1)) return pack(n);  // a mask has at most 64 bits
  const Id index = use(n->src[0], lane);
  Id ok = use(n->src[1], lane);
  if (index == kNone || ok == kNone) return kNone;
  ok = emit_.splat(ok, type.lanes);
  const auto unless = [&](Id there) {
    ok = emit_.alu(Op::Or, truth, {ok, emit_.alu(Op::Not, truth, {emit_.splat(there, type.lanes)})});
  };
  if (const Id there = exists(n, lane); there != kNone) unless(there);
  if (const LaneLimit l = type.lanes > 1 ? limit(n) : LaneLimit{}; !l.none()) unless(emit_.below(count(l), type.lanes));
  emit_.value({InstCode::Raise, {}, {ok}, n->integer()});
  return emit_.splat(index, type.lanes);
}

Id Values::make_alu(UOp n, int lane) {
  const Type type = type_of(n, lane);
  if (type.lanes > 1 && selects_load(n)) return make_selected_load(n);
  std::vector<Id> src = ir::mapped(n->src, [&](UOp s) { return use(s, lane); });
  if (ir::contains(src, kNone)) return kNone;
  for (Id& s : src) s = emit_.splat(s, type.lanes);
  if (n->op == Op::Where && emit_.always(src[0])) return src[1];
  return emit_.alu(n->op, type, std::move(src));
}

}  // namespace sinter::codegen
