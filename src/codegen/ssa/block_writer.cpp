// Placement, value numbering and constant folding of instructions.
#include "codegen/ssa/block_writer.h"

#include <algorithm>
#include <limits>

#include "ir/scalar_eval.h"

namespace sinter::codegen {

size_t BlockWriter::InstHash::operator()(const Inst& n) const {
  uint64_t h =
      ir::mix(static_cast<uint64_t>(n.code) << 8 | static_cast<uint64_t>(n.op), static_cast<uint64_t>(n.type.dtype));
  h = ir::mix(h, static_cast<uint64_t>(n.type.lanes));
  h = ir::mix(ir::mix(h, n.number.bits()), static_cast<uint64_t>(n.imm));
  for (Id s : n.src) h = ir::mix(h, static_cast<uint64_t>(s));
  return h;
}
bool BlockWriter::InstEqual::operator()(const Inst& a, const Inst& b) const {
  return a.code == b.code && a.op == b.op && a.type == b.type && a.src == b.src && a.number == b.number &&
         a.imm == b.imm;
}
size_t BlockWriter::KeyHash::operator()(const MemoKey& k) const {
  return ir::mix(ir::mix(reinterpret_cast<uintptr_t>(k.node), static_cast<uint64_t>(k.lane)),
                 ir::mix(k.copies, k.versions));
}

BlockWriter::BlockWriter(Instructions& code) : code_(code) {
  code_.blocks.emplace_back();
  scopes_.push_back({0, kNone, false});
}

/// Creates an instruction without placing it in a block.
Id BlockWriter::append(Inst&& inst, size_t scope) {
  const Id id = static_cast<Id>(code_.insts.size());
  bounds_.push_back(bounds_of(inst, code_, bounds_, std::numeric_limits<int64_t>::max(), {}));
  code_.insts.push_back(std::move(inst));
  depth_.push_back(static_cast<int>(scope));
  return id;
}

Id BlockWriter::add(Inst&& inst, size_t scope) {
  const Id id = append(std::move(inst), scope);
  code_.blocks[scopes_[scope].block].push_back(id);
  return id;
}

Id BlockWriter::value(Inst inst) {
  if (Id folded = fold(inst); folded != kNone) return folded;
  size_t scope = 0;
  for (Id s : inst.src) scope = std::max(scope, static_cast<size_t>(depth(s)));
  for (size_t i = scopes_.size(); i-- > scope;)
    if (auto it = scopes_[i].made.find(inst); it != scopes_[i].made.end()) return it->second;
  scope = outermost_legal_scope(inst, scope);
  Inst key = inst;
  const Id id = add(std::move(inst), scope);
  scopes_[scope].made.emplace(std::move(key), id);
  return id;
}

/// The outermost scope, from `scope` inwards, in which a value may be placed. An if is a barrier to hoisting. Constants
/// ignore it. Index arithmetic is safe to speculate, so it crosses an if when that hoists it out of a loop.
size_t BlockWriter::outermost_legal_scope(const Inst& inst, size_t scope) const {
  if (inst.code == InstCode::Const) return scope;
  const bool harmless = inst.code == InstCode::Alu && inst.type == Type{DType::Index, 1} &&
                        (inst.op == Op::Add || inst.op == Op::Sub || inst.op == Op::Mul);
  const auto is_inner_loop = [this](const Scope& s) { return this->is_inner_loop(s); };
  const auto loop =
      harmless ? std::find_if(scopes_.begin() + static_cast<std::ptrdiff_t>(scope) + 1, scopes_.end(), is_inner_loop)
               : scopes_.end();
  for (size_t i = scopes_.size(); i-- > scope;)
    if (scopes_[i].barrier && scopes_.begin() + static_cast<std::ptrdiff_t>(i) <= loop) return i;
  return scope;
}

Id BlockWriter::insert_here(Inst inst) { return add(std::move(inst), scopes_.size() - 1); }

void BlockWriter::open(Id owner, bool barrier) {
  const int block = static_cast<int>(code_.blocks.size());
  code_.blocks.emplace_back();
  code_[owner].block = block;
  scopes_.push_back({block, owner, barrier});
}

Id BlockWriter::open_loop(Id begin, Id end, int64_t step, std::string note, LoopText text) {
  // The loop is appended to its block by close(), so that values hoisted out of it come before it.
  Inst loop{InstCode::Loop, {DType::Index, 1}, {begin, end}, step};
  loop.note = std::move(note);
  if (text == LoopText::Rolled) loop.number = ir::Scalar::of(DType::Bool, 1);
  const Id id = append(std::move(loop), scopes_.size());
  open(id, false);
  return id;
}

void BlockWriter::open_if(Id condition) {
  if (always(condition)) return open_memo_scope();
  open(append({InstCode::If, {}, {condition}}, scopes_.size()), true);
}

void BlockWriter::open_memo_scope() { scopes_.push_back({scopes_.back().block, kNone, false}); }

void BlockWriter::close() {
  const Id owner = scopes_.back().owner;
  scopes_.pop_back();
  if (owner == kNone) return;
  const Inst& n = code_[owner];
  if (n.code == InstCode::If && never(n.src[0]))
    code_.blocks.resize(static_cast<size_t>(n.block));  // blocks opened since are nested in it
  else
    code_.blocks[scopes_.back().block].push_back(owner);
}

bool BlockWriter::in_loop() const {
  return std::ranges::any_of(scopes_, [this](const Scope& s) { return is_inner_loop(s); });
}

bool BlockWriter::is_inner_loop(const Scope& s) const {
  return s.owner != kNone && code_[s.owner].code == InstCode::Loop &&
         code_[code_[s.owner].src[0]].code != InstCode::Begin;
}

void BlockWriter::remember(const MemoKey& key, Id id, size_t from) {
  scopes_[std::max(static_cast<size_t>(depth(id)), from)].memo.insert_or_assign(key, id);
}

void BlockWriter::move_to_block(Id id) {
  size_t block = scope();
  while (block > 0 && scopes_[block - 1].block == scopes_[block].block) --block;
  int& now = depth_[id];
  now = std::min(now, static_cast<int>(block));
}

Id BlockWriter::find(const MemoKey& key) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (auto it = scopes_[i].memo.find(key); it != scopes_[i].memo.end()) return it->second;
  return kNone;
}

bool BlockWriter::known(Id id, int64_t& v) const {
  const Inst& n = code_[id];
  if (n.code != InstCode::Const || n.type.dtype != DType::Index) return false;
  v = n.number.as_int();
  return true;
}

/// Constant-folds integer arithmetic, such as the digits of an unrolled copy's number; or kNone.
Id BlockWriter::evaluate(const Inst& n) {
  const auto integer = [](DType d) { return !is_float(d) && !is_bool(d); };
  std::vector<ir::Scalar> args;
  for (Id s : n.src) {
    if (code_[s].code != InstCode::Const || !integer(type(s).dtype)) return kNone;
    args.push_back(code_[s].number);
  }
  return integer(n.type.dtype)
             ? constant(n.type.dtype, ir::evaluate(n.op, n.type.dtype, type(n.src.back()).dtype, args))
             : kNone;
}

/// The existing or constant value that an instruction simplifies to, or kNone. Index does not overflow, so the
/// identities of integers hold.
Id BlockWriter::fold(const Inst& n) {
  if (n.code != InstCode::Alu) return kNone;
  if (is_bool(n.type.dtype)) return fold_condition(n);
  if (n.type.lanes > 1) return kNone;
  if (const Id number = evaluate(n); number != kNone) return number;
  if (n.type != Type{DType::Index, 1} || n.src.size() != 2) return kNone;
  int64_t a = 0, b = 0;
  const bool left = known(n.src[0], a), right = known(n.src[1], b);
  switch (n.op) {
    case Op::Add: return left && a == 0 ? n.src[1] : right && b == 0 ? n.src[0] : kNone;
    case Op::Sub: return right && b == 0 ? n.src[0] : n.src[0] == n.src[1] ? number(0) : kNone;
    case Op::Mul:
      if ((left && a == 0) || (right && b == 0)) return number(0);
      return left && a == 1 ? n.src[1] : right && b == 1 ? n.src[0] : kNone;
    case Op::Min:
    case Op::Max: return n.src[0] == n.src[1] ? n.src[0] : kNone;
    case Op::Xor: return left && a == 0 ? n.src[1] : right && b == 0 ? n.src[0] : kNone;
    case Op::IDiv: return right && b == 1 ? n.src[0] : kNone;
    case Op::Mod: return right && b == 1 ? number(0) : kNone;
    default: return kNone;
  }
}

/// Folds comparisons of indices that their bounds decide, Not and And of known conditions, and And of equal ones; or
/// kNone.
Id BlockWriter::fold_condition(const Inst& n) {
  const auto is = [&](bool v) { return splat(constant(DType::Bool, ir::Scalar::of(DType::Bool, v)), n.type.lanes); };
  if (n.op == Op::Not) return always(n.src[0]) ? is(false) : never(n.src[0]) ? is(true) : kNone;
  if (n.op == Op::And) {
    const Id a = n.src[0], b = n.src[1];
    return a == b || always(b) || never(a) ? a : always(a) || never(b) ? b : kNone;
  }
  if (int64_t a = 0, b = 0; n.op == Op::Eq && known(n.src[0], a) && known(n.src[1], b)) return is(a == b);
  if (n.op != Op::Lt && n.op != Op::Le) return kNone;
  for (Id s : n.src)
    if (type(s).dtype != DType::Index) return kNone;
  const IntegerBounds a = bounds_[n.src[0]], b = bounds_[n.src[1]];
  if (n.op == Op::Lt ? a.hi < b.lo : a.hi <= b.lo) return is(true);
  if (n.op == Op::Lt ? a.lo >= b.hi : a.lo > b.hi) return is(false);
  return n.type.lanes > 1 ? fold_lane_comparison(n) : kNone;
}

/// Comparison of a splat with consecutive lanes. It holds for a prefix or for a suffix of the lanes, so it becomes a
/// Below, or its negation.
Id BlockWriter::fold_lane_comparison(const Inst& n) {
  const LaneStride a = lane_stride(n.src[0]), b = lane_stride(n.src[1]);
  if (a.first == kNone || b.first == kNone || a.step + b.step != 1) return kNone;
  const Id difference = index(Op::Sub, a.step ? b.first : a.first, a.step ? a.first : b.first);
  const bool one_more = (n.op == Op::Le) == (a.step == 1);
  const Id ahead = below(one_more ? index(Op::Add, difference, number(1)) : difference, n.type.lanes);
  return a.step ? ahead : alu(Op::Not, n.type, {ahead});
}

/// Decomposes an Index vector into its first lane and a step of 0 or 1 per lane. `first` is kNone for other vectors.
BlockWriter::LaneStride BlockWriter::lane_stride(Id id) {
  const Inst n = code_[id];  // a copy: adding instructions reallocates
  if (n.code == InstCode::Splat) return {n.src[0], 0};
  if (n.code == InstCode::Iota) return {number(0), 1};
  if (n.code != InstCode::Alu || (n.op != Op::Add && n.op != Op::Sub)) return {};
  const LaneStride a = lane_stride(n.src[0]), b = lane_stride(n.src[1]);
  if (a.first == kNone || b.first == kNone || a.step + b.step > 1 || (n.op == Op::Sub && b.step)) return {};
  return {index(n.op, a.first, b.first), a.step + b.step};
}

Id BlockWriter::join_lanes(Op op, Id vector) {
  const Type all = type(vector);
  for (int lanes = all.lanes / 2; lanes > 0; lanes /= 2)
    vector = alu(op, {all.dtype, lanes}, {part(vector, 0, lanes), part(vector, lanes, lanes)});
  return vector;
}

Id BlockWriter::constant(DType dtype, ir::Scalar v) { return value({InstCode::Const, {dtype, 1}, {}, 0, v}); }
Id BlockWriter::number(int64_t v) { return constant(DType::Index, ir::Scalar::of(DType::Index, v)); }
Id BlockWriter::alu(Op op, Type type, std::vector<Id> src) {
  return value({.code = InstCode::Alu, .type = type, .src = std::move(src), .op = op});
}
Id BlockWriter::divide_unsigned(Op op, Id a, Id b) {
  if (Id folded = fold({.code = InstCode::Alu, .type = {DType::Index, 1}, .src = {a, b}, .op = op}); folded != kNone)
    return folded;
  const Type wide{DType::U64, 1};
  return alu(Op::Cast, {DType::Index, 1}, {alu(op, wide, {alu(Op::Cast, wide, {a}), alu(Op::Cast, wide, {b})})});
}
Id BlockWriter::splat(Id scalar, int lanes) {
  return lanes == type(scalar).lanes ? scalar : value({InstCode::Splat, {type(scalar).dtype, lanes}, {scalar}});
}
Id BlockWriter::part(Id vector, int from, int lanes) {
  if (type(vector).lanes == lanes) return vector;
  return value({InstCode::Part, {type(vector).dtype, lanes}, {vector}, from});
}

}  // namespace sinter::codegen
