// Beginning, updating and combining of chains.
#include "codegen/accumulate.h"

#include <algorithm>

#include "codegen/access.h"
#include "sinter/error.h"
#include "uop/build.h"

namespace sinter::codegen {

using ir::Combine;
using ir::Op;
using ir::UOp;

Op op_of(Combine combine, DType dtype) {
  const bool truth = is_bool(dtype);
  switch (combine) {
    case Combine::Add:
    case Combine::Dot: return truth ? Op::Or : Op::Add;
    case Combine::Mul: return truth ? Op::And : Op::Mul;
    case Combine::Max: return truth ? Op::Or : Op::Max;
    case Combine::Min: return truth ? Op::And : Op::Min;
  }
  throw InternalError("codegen: no such combine");
}

Accumulators::Chains Accumulators::chains(const Statement& s) const {
  if (s.own == s.loops.size()) return {};  // a single element
  const int count = s.node->reduction().tree.lanes;
  const Level& last = s.loops.back();
  if (count == 1) return {};
  if (last.lanes > 1) return {count, std::min(last.lanes, count), false};
  return {count, 1, last.unroll % count != 0};
}

std::vector<Id>& Accumulators::registers(int statement) {
  return registers_[{statement, values_.copies(at(statement).node)}];
}

Id Accumulators::identity(int statement) const {
  const Combine combine = at(statement).node->reduction().combine;
  const DType dtype = at(statement).node->dtype;
  return emit_.constant(dtype, ir::identity_of(combine, dtype));
}

/// Whether the loops that carry stand at their beginning.
Id Accumulators::first_turn(const Statement& s) {
  const Type boolean{DType::Bool, 1};
  Id first = kNone;
  for (size_t i = s.own; i < s.inner; ++i) {
    const Level& l = s.loops[i];
    if (values_.depends(s.node, l.range)) continue;
    first = emit_.both(first, emit_.alu(Op::Eq, boolean, {values_.base(l.range, l.number), emit_.number(0)}));
  }
  return first;
}

void Accumulators::init(int statement) {
  const Statement& s = at(statement);
  const Chains c = chains(s);
  const Id zero = identity(statement);
  std::vector<Id> made;
  auto add = [&](Id initial, int cells) {
    Inst inst{Code::Accumulator, emit_.type(initial), {initial}};
    inst.imm = cells;
    made.push_back(emit_.here(std::move(inst)));
  };
  if (s.carried()) {
    const Id later = emit_.alu(Op::Not, {DType::Bool, 1}, {first_turn(s)});
    add(read(values_, emit_, s.home, later, zero), 1);
  } else if (c.cells) {
    add(emit_.splat(zero, values_.lanes(s.node)), c.count);
  } else {
    for (int i = 0; i < c.count / c.width; ++i) add(emit_.splat(zero, std::max(c.width, values_.lanes(s.node))), 1);
  }
  registers(statement) = std::move(made);
}

Id Accumulators::combined(const ir::ReduceAttr& attr, Type type, Id sum, const std::vector<Id>& values) {
  const Op op = op_of(attr.combine, type.dtype);
  if (attr.combine != Combine::Dot) return emit_.alu(op, type, {sum, values[0]});
  if (is_float(type.dtype)) return emit_.alu(Op::Fma, type, {values[0], values[1], sum});
  return emit_.alu(op, type, {sum, emit_.alu(op_of(Combine::Mul, type.dtype), type, values)});
}

/// `exists`: bool of the same lanes; where it is false the accumulator stays as it is. kNone: everywhere.
void Accumulators::assign(Id accumulator, const ir::ReduceAttr& attr, const std::vector<Id>& values, Id exists) {
  const Type type = emit_.type(accumulator);
  const Id sum = emit_.here({Code::Result, type, {accumulator}});
  Id next = combined(attr, type, sum, values);
  if (exists != kNone) next = emit_.alu(Op::Where, type, {exists, next, sum});
  emit_.here({Code::Assign, {}, {accumulator, next}});
}

void Accumulators::update(int statement) {
  const Statement& s = at(statement);
  const ir::ReduceAttr attr = s.node->reduction();
  const Chains c = chains(s);
  std::vector<Id>& registers = this->registers(statement);
  std::vector<Id> values;
  for (UOp v : values_of(s.node)) values.push_back(values_.value(v));
  const bool along = s.own < s.loops.size() && s.loops.back().lanes > 1 && !values_.depends(s.node, s.loops.back().range);
  if (along) return update_lanes(s, c, registers, values);
  const Type type = emit_.type(registers[0]);
  for (Id& v : values) v = emit_.splat(v, type.lanes);
  if (c.cells) {
    const Id cell = emit_.divide(Op::Mod, values_.value(s.loops.back().range), emit_.number(c.count));
    const Id sum = emit_.here({Code::Result, type, {registers[0], cell}});
    emit_.here({Code::Assign, {}, {registers[0], combined(attr, type, sum, values), cell}});
    return;
  }
  const auto chain = static_cast<size_t>(c.count == 1 ? 0 : values_.copy_of(s.loops.back().range) % c.count);
  assign(registers[chain], attr, values, kNone);
}

/// Lanes along the own range: element e of a step belongs to chain e % count.
void Accumulators::update_lanes(const Statement& s, const Chains& c, std::vector<Id>& registers,
                                const std::vector<Id>& values) {
  const ir::ReduceAttr attr = s.node->reduction();
  const UOp range = s.loops.back().range;
  const int lanes = s.loops.back().lanes, width = c.width;
  const Limit limit = values_.limit(range);
  const int first = values_.copy_of(range) * lanes;
  for (int at = 0; at < lanes; at += width) {
    if (limit.known >= 0 && limit.known <= at) break;
    Id exists = kNone;
    if (limit.known >= 0 && limit.known < at + width)
      exists = emit_.below(emit_.number(limit.known - at), width);
    else if (limit.count != kNone)
      exists = emit_.below(emit_.index(Op::Sub, limit.count, emit_.number(at)), width);
    std::vector<Id> part;
    for (Id v : values) part.push_back(emit_.part(emit_.splat(v, lanes), at, width));
    assign(registers[static_cast<size_t>((first + at) % c.count / width)], attr, part, exists);
  }
}

void Accumulators::finish(int statement) {
  const Statement& s = at(statement);
  const Chains c = chains(s);
  const DType dtype = s.node->dtype;
  const Op op = op_of(s.node->reduction().combine, dtype);
  const std::vector<Id>& registers = this->registers(statement);
  std::vector<Id> sums;
  if (c.cells)
    for (int i = 0; i < c.count; ++i)
      sums.push_back(emit_.here({Code::Result, emit_.type(registers[0]), {registers[0], emit_.number(i)}}));
  else
    for (Id r : registers) sums.push_back(emit_.here({Code::Result, emit_.type(r), {r}}));
  if (s.carried()) {
    write(values_, emit_, s.home, sums[0]);
    return values_.finish_in(s.node, s.home);
  }
  // Chains are halved, as Tree says: first whole vectors, then the lanes of one.
  while (sums.size() > 1) {
    const size_t half = sums.size() / 2;
    for (size_t i = 0; i < half; ++i) sums[i] = emit_.alu(op, emit_.type(sums[i]), {sums[i], sums[i + half]});
    sums.resize(half);
  }
  for (int lanes = c.width / 2; lanes > 0; lanes /= 2)
    sums[0] = emit_.alu(op, {dtype, lanes}, {emit_.part(sums[0], 0, lanes), emit_.part(sums[0], lanes, lanes)});
  values_.finish(s.node, sums[0]);
}

}  // namespace sinter::codegen
