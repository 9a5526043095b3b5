// Nodes to instructions, sources first, with an explicit stack.
#include "codegen/values.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sinter/error.h"
#include "uop/build.h"
#include "uop/mutant.h"
#include "uop/walk.h"

namespace sinter::codegen {

using ir::Op;
using ir::UOp;

void Values::bind(UOp range, Id base, int lanes) {
  open_.push_back({range, base, lanes});
  if (lanes == 1) return;
  if (vector_) throw InternalError("codegen: two ranges are vectors at once");
  vector_ = range;
  lanes_ = lanes;
}
void Values::unbind(UOp range) {
  open_.pop_back();
  if (!(vector_ == range)) return;
  vector_ = {};
  lanes_ = 1;
}

uint64_t Values::copies(UOp n) {
  uint64_t code = 0;
  size_t shift =
      0;  // from the outermost copied range on, so that an inner one more does not rename what stands outside it
  for (const auto& [range, offset] : copy_) {
    if (ranges_.depends(n, range)) code |= static_cast<uint64_t>(offset) << shift;
    shift += 6;
  }
  return code;
}

/// Which versions of rewritten Params n has been computed from.
uint64_t Values::versions(UOp n) {
  const std::vector<int64_t>& slots = statements_.rewritten;
  if (slots.empty()) return 0;
  if (slots.size() > 64) throw InternalError("codegen: more than 64 buffers are both read and written by one kernel");
  auto unknown = [this](UOp u) { return !rewritten_.contains(u.get()); };
  if (unknown(n))
    for (UOp u : ir::topological(std::span<const UOp>(&n, 1), unknown)) {
      if (!unknown(u)) continue;
      uint64_t set = 0;
      for (UOp s : u->src) set |= rewritten_.at(s.get());
      if (u->op == Op::Load)
        for (size_t i = 0; i < slots.size(); ++i)
          if (slots[i] == u->src[0]->integer()) set |= uint64_t{1} << i;
      rewritten_.emplace(u.get(), set);
    }
  uint64_t hash = 0;
  for (uint64_t set = rewritten_.at(n.get()); set; set &= set - 1) {
    const size_t i = static_cast<size_t>(std::countr_zero(set));
    if (int v = (*versions_)[i]) hash = ir::mix(ir::mix(hash, i + 1), static_cast<uint64_t>(v));
  }
  return hash;
}

MemoKey Values::key(UOp n, int lane) { return {n.get(), varies(n) ? lane : 0, copies(n), versions(n)}; }

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
    emit_.remember(key(n, l), made);
    stack.pop_back();
  }
  return emit_.find(key(root, lane));
}

/// The instruction of n, or kNone if a source is missing; those are then listed.
Id Values::make(UOp n, int lane) {
  switch (n->op) {
    case Op::Const: return emit_.constant(n->dtype, n->scalar());
    case Op::Var: {
      auto it = std::find(kernel_.vars.begin(), kernel_.vars.end(), n->get<sinter::Var>());
      if (it == kernel_.vars.end())
        throw InternalError("codegen: variable " + n->get<sinter::Var>().name() + " is no argument of the kernel");
      Inst inst{Code::Var, {n->dtype, 1}, {}};
      inst.imm = it - kernel_.vars.begin();
      return emit_.value(std::move(inst));
    }
    case Op::Arg: {
      Inst inst{Code::Arg, {n->dtype, 1}, {}};
      inst.imm = n->integer();
      return emit_.value(std::move(inst));
    }
    case Op::Range: return make_range(n, lane);
    case Op::Load: return make_load(n, lane);
    case Op::Check: return make_check(n, lane);
    case Op::Reduce: throw InternalError(fmt::format("codegen: REDUCE #{} is not finished where it is used", n->id));
    default:
      if (!ir::is_alu(n->op)) throw InternalError(fmt::format("codegen: {} in a kernel", ir::info(n->op).name));
      return make_alu(n, lane);
  }
}

Id Values::make_range(UOp n, int lane) {
  if (one_trip(n)) return emit_.number(0);
  auto it = std::find_if(open_.rbegin(), open_.rend(), [n](const Open& o) { return o.range == n; });
  if (it == open_.rend()) throw InternalError(fmt::format("codegen: range {} is used outside its loop", range_id(n)));
  Id base = it->base;
  for (const auto& [range, offset] : copy_)
    if (range == n) base = emit_.index(Op::Add, base, emit_.number(offset));
  if (it->lanes == 1) return base;
  if (lane != kWhole) return emit_.index(Op::Add, base, emit_.number(lane));
  const Type vector{DType::Index, it->lanes};
  return emit_.alu(Op::Add, vector, {emit_.splat(base, it->lanes), emit_.value({Code::Iota, vector, {}})});
}

/// The row-major offset of an access in its Param, as a sum.
const ir::Linear& Values::offset_of(UOp access) {
  auto [it, fresh] = offsets_.try_emplace(access.get());
  if (!fresh) return it->second;
  const Shape& shape = access->src[0]->shape;
  ir::Linear stride = ir::linear_of(1), sum;
  for (size_t d = shape.rank(); d-- > 0;) {
    sum = ir::plus(sum, ir::product(ir::linear_of(access->src[1 + d]), stride));
    if (!shape[d].symbolic())
      stride = ir::times(stride, shape[d].value());
    else
      stride = ir::product(stride, ir::linear_of(ir::variable(*access->graph, shape[d].var(), DType::Index)));
  }
  return it->second = std::move(sum);
}

Values::Place Values::place(UOp access) {
  Place place;
  for (const ir::Term& t : offset_of(access).terms) {
    if (!varies(t.atom)) continue;
    if (t.atom == vector_)
      place.stride += t.factor;
    else
      place.regular = false;
  }
  return place;
}

bool Values::use_address(UOp access, int lane) {
  bool all = true;
  for (const ir::Term& t : offset_of(access).terms) all &= use(t.atom, lane) != kNone;
  return all;
}

Id Values::address(UOp access, int lane) {
  const ir::Linear& sum = offset_of(access);
  std::vector<Id> parts;
  for (const ir::Term& t : sum.terms)
    parts.push_back(emit_.index(Op::Mul, value(t.atom, lane), emit_.number(t.factor)));
  // Outer parts first: their sum is made once, outside the inner loops.
  std::stable_sort(parts.begin(), parts.end(), [this](Id a, Id b) { return emit_.depth(a) < emit_.depth(b); });
  Id total = kNone;
  for (Id p : parts) total = total == kNone ? p : emit_.index(Op::Add, total, p);
  if (total == kNone) return emit_.number(sum.constant);
  return sum.constant < 0 ? emit_.index(Op::Sub, total, emit_.number(-sum.constant))
                          : emit_.index(Op::Add, total, emit_.number(sum.constant));
}

/// A vector of what each lane is by itself.
Id Values::pack(UOp n) {
  std::vector<Id> lanes;
  for (int l = 0; l < lanes_; ++l) lanes.push_back(use(n, l));
  if (std::find(lanes.begin(), lanes.end(), kNone) != lanes.end()) return kNone;
  return emit_.value({Code::Pack, {n->dtype, lanes_}, std::move(lanes)});
}

Id Values::make_load(UOp n, int lane) {
  const size_t rank = n->src[0]->rank();
  const bool gated = n->src.size() > 1 + rank;
  UOp gate = gated ? n->src[1 + rank] : UOp(), other = gated ? n->src[2 + rank] : UOp();
  Type type{n->dtype, 1};
  if (lane == kWhole && varies(n)) {
    const Place p = place(n);
    if (!p.regular || p.stride != 1 || (gated && varies(gate))) return pack(n);
    type.lanes = lanes_;
  }
  bool ready = use_address(n, type.lanes > 1 ? 0 : lane);
  if (gated)
    for (UOp s : {gate, other}) ready &= use(s, lane) != kNone;  // asks for both before giving up
  if (!ready) return kNone;
  Inst inst{Code::Load, type, {address(n, type.lanes > 1 ? 0 : lane)}};
  inst.imm = n->src[0]->integer();
  if (gated) {
    inst.src.push_back(use(gate, lane));
    inst.src.push_back(emit_.splat(use(other, lane), type.lanes));
  }
  // What this kernel rewrites is read where it is used: before the store, or after it, as the statement's versions say.
  const bool fixed =
      std::find(statements_.rewritten.begin(), statements_.rewritten.end(), inst.imm) == statements_.rewritten.end();
  return fixed ? emit_.value(std::move(inst)) : emit_.here(std::move(inst));
}

Id Values::make_check(UOp n, int lane) {
  if (lane == kWhole && varies(n)) return pack(n);
  const Id index = use(n->src[0], lane), ok = use(n->src[1], lane);
  if (index == kNone || ok == kNone) return kNone;
  Inst raise{Code::Raise, {}, {ok}};
  raise.imm = n->integer();
  emit_.value(std::move(raise));
  return index;
}

Id Values::make_alu(UOp n, int lane) {
  const Type type = type_of(n, lane);
  std::vector<Id> src;
  for (UOp s : n->src) src.push_back(use(s, lane));
  if (std::find(src.begin(), src.end(), kNone) != src.end()) return kNone;
  for (Id& s : src) s = emit_.splat(s, type.lanes);
  if (n->op == Op::Sub && n->dtype != DType::Index && ir::is_mutant(ir::Mutant::SubSwapped)) std::swap(src[0], src[1]);
  if (n->op == Op::Add && is_float(n->dtype) && n->src[0]->op == Op::Mul && ir::is_mutant(ir::Mutant::FmaTooMany)) {
    const Id x = use(n->src[0]->src[0], lane), y = use(n->src[0]->src[1], lane);
    if (x == kNone || y == kNone) return kNone;
    return emit_.alu(Op::Fma, type, {emit_.splat(x, type.lanes), emit_.splat(y, type.lanes), src[1]});
  }
  return emit_.alu(n->op, type, std::move(src));
}

}  // namespace sinter::codegen
