// Initializes, updates and combines chains.
#include "codegen/emit/reduction_body.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "codegen/emit/memory_access.h"
#include "codegen/nest/shared_accumulator.h"
#include "codegen/nest/thread_digits.h"
#include "codegen/normalize/normalize.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/walk.h"

namespace sinter::codegen {

using ir::Combine;

namespace {

/// Combining integers in any order gives the same result, so a REDUCE with one chain may have one per lane. A carried
/// one may not, and steps of tensor cores join the lanes.
bool is_order_free(const Statement& s) {
  const ir::ReduceAttr& r = s.node->reduction();
  return !s.carried() && !r.tree.mma && ir::accumulator_count(r.combine) == 1 &&
         !is_float(ir::accumulator_types(s.node)[0]);
}

/// The accumulators' dtypes of REDUCEs whose chains threads exchange.
std::set<DType> exchanged_types(const Statements& statements) {
  std::set<DType> types;
  for (const Statement& s : statements.list)
    if (joins_threads(s))
      for (const DType d : ir::accumulator_types(s.node)) types.insert(d);
  return types;
}

}  // namespace

Accumulators::Accumulators(const Statements& statements, Values& values, BlockWriter& emit, int threads)
    : statements_(statements),
      values_(values),
      emit_(emit),
      threads_(threads),
      exchange_bytes_(joint_exchange_bytes(threads) / std::max<int64_t>(std::ssize(exchanged_types(statements)), 1)) {}

bool Accumulators::along_lanes(const Statement& s) const {
  return s.own_depth < s.loops.size() && s.loops.back().lanes > 1 && !values_.depends(s.node, s.loops.back().range);
}

Accumulators::ChainLayout Accumulators::chain_layout(const Statement& s) const {
  if (s.own_depth == s.loops.size()) return {};  // a single element
  const LoopLevel& last = s.loops.back();
  const int all = s.node->reduction().tree.lanes;
  if (all == 1)
    return is_order_free(s) && along_lanes(s) && last.threads == 1 ? ChainLayout{last.lanes, last.lanes, false}
                                                                   : ChainLayout{};
  const int count = all / (last.threads * last.warp.threads);
  if (count == 1) return {};
  if (last.lanes > 1) return {count, std::min(last.lanes, count), false};
  return {count, 1, last.unroll % count != 0};
}

std::vector<Accumulators::ChainState>& Accumulators::registers(int statement) {
  return registers_[{statement, values_.copy_key(at(statement).node)}];
}

Id Accumulators::identity(int statement, size_t accumulator) const {
  const Combine combine = at(statement).node->reduction().combine;
  const DType dtype = ir::accumulator_types(at(statement).node)[accumulator];
  return emit_.constant(dtype, ir::reduction_identity(combine, dtype, static_cast<int>(accumulator)));
}

Id Accumulators::resume_condition(int statement) {
  const Statement& s = at(statement);
  const Type boolean{DType::Bool, 1};
  if (!s.carried()) return kNone;
  Id first = kNone;  // whether the carrying loops are in their first iteration
  for (size_t i = s.own_depth; i < s.accumulator_depth; ++i) {
    const LoopLevel& l = s.loops[i];
    if (values_.depends(s.node, l.range)) continue;
    first = emit_.both(first, emit_.alu(Op::Eq, boolean, {values_.base(l.range, l.number), emit_.number(0)}));
  }
  return first == kNone ? kNone : emit_.alu(Op::Not, boolean, {first});
}

void Accumulators::init(int statement) {
  const Statement& s = at(statement);
  const ChainLayout c = chain_layout(s);
  const int vectors = c.in_array ? 1 : c.count / c.width;
  std::vector<ChainState> made(static_cast<size_t>(vectors));
  const auto accumulators = static_cast<size_t>(ir::accumulator_count(s.node->reduction().combine));
  for (ChainState& to : made)
    for (size_t k = 0; k < accumulators; ++k) {
      const UOp source = values_.shared(s, k);
      if (source && leading_copy(source, s) != values_.copy_key(s.node)) {
        to.push_back(registers_.at({statement, leading_copy(source, s)})[0][k]);
        continue;
      }
      if (is_shared_by_chains(s, k) && &to != &made.front()) {
        to.push_back(made.front()[k]);
        continue;
      }
      const int lanes = source ? values_.lanes(source) : std::max(c.width, values_.lanes(s.node));
      const Id initial = emit_.splat(identity(statement, k), lanes);
      to.push_back(
          emit_.insert_here({InstCode::Accumulator, emit_.type(initial), {initial}, c.in_array ? c.count : 1}));
    }
  registers(statement) = std::move(made);
}

/// A carried REDUCE has a single chain.
void Accumulators::resume(int statement) {
  const Statement& s = at(statement);
  const ChainState& state = registers(statement)[0];
  for (size_t k = 0; k < state.size(); ++k)
    emit_.insert_here(
        {InstCode::AccumulatorWrite, {}, {state[k], read_memory(values_, emit_, s.homes[k], identity(statement, k))}});
}

const Accumulators::LoweredCombine& Accumulators::lowered_combine(const Statement& s) {
  const Combine combine = s.node->reduction().combine;
  auto [it, fresh] = lowered_combines_.try_emplace({combine, ir::accumulator_types(s.node)});
  if (!fresh) return it->second;
  auto written = [](ir::CombineGraph c) {
    for (UOp& n : c.next) n = expand_math(*c.graph, n);
    return c;
  };
  return it->second = {written(ir::combine_step(combine, it->first.second)),
                       written(ir::combine_merge(combine, it->first.second))};
}

/// The accumulators after one application of `rule`, in `lanes` lanes, or in as many as each operand has.
Accumulators::ChainState Accumulators::emit_combine(const ir::CombineGraph& rule, int lanes, const ChainState& state,
                                                    const ChainState& other) {
  ChainState inputs = state;
  inputs.insert(inputs.end(), other.begin(), other.end());
  const bool uniform = std::ranges::all_of(inputs, [&](Id x) { return emit_.type(x).lanes == lanes; });
  std::unordered_map<UOp, Id> made;
  for (UOp n : ir::topological(rule.next)) {
    if (n->op == Op::Arg) {
      made[n] = inputs[n->integer()];
    } else if (n->op == Op::Const) {
      made[n] = emit_.splat(emit_.constant(n->dtype, n->scalar()), uniform ? lanes : 1);
    } else {
      int wide = 1;
      std::vector<Id> src;
      for (UOp s : n->src) wide = std::max(wide, emit_.type(src.emplace_back(made.at(s))).lanes);
      for (Id& x : src) x = emit_.splat(x, wide);
      made[n] = emit_.alu(n->op, {n->dtype, wide}, std::move(src));
    }
  }
  return ir::mapped<ChainState>(rule.next, [&](UOp n) { return made.at(n); });
}

/// Reads one vector of chains, or one cell of an array.
Accumulators::ChainState Accumulators::read_chain(const ChainState& registers, Id cell) const {
  ChainState out;
  for (Id r : registers) {
    Inst inst{InstCode::AccumulatorRead, emit_.type(r), {r}};
    if (cell != kNone) inst.src.push_back(cell);
    out.push_back(emit_.insert_here(std::move(inst)));
  }
  return out;
}

/// `exists`: a bool per lane. Where it is false the accumulators keep their value. kNone: true everywhere.
void Accumulators::emit_assign(const LoweredCombine& rule, const ChainState& registers, Id cell,
                               const ChainState& values, Id exists) {
  const int lanes = emit_.type(registers[0]).lanes;
  const ChainState before = read_chain(registers, cell);
  ChainState next = emit_combine(rule.step, lanes, before, values);
  for (size_t k = 0; k < next.size(); ++k) {
    if (exists != kNone) next[k] = emit_.alu(Op::Where, emit_.type(registers[k]), {exists, next[k], before[k]});
    Inst inst{InstCode::AccumulatorWrite, {}, {registers[k], next[k]}};
    if (cell != kNone) inst.src.push_back(cell);
    emit_.insert_here(std::move(inst));
  }
}

void Accumulators::update(int statement) {
  const Statement& s = at(statement);
  const ChainLayout c = chain_layout(s);
  const std::vector<ChainState>& registers = this->registers(statement);
  auto values = ir::mapped<ChainState>(values_of(s.node), [&](UOp v) { return values_.value(v); });
  if (along_lanes(s)) return update_lanes(statement, c, values);
  for (size_t k = 0; k < values.size(); ++k)
    if (values_.shared(s, k)) return assign_shared(statement, std::move(values));
  for (Id& v : values) v = emit_.splat(v, emit_.type(registers[0][0]).lanes);
  Id cell = kNone;
  size_t chain = 0;
  if (c.in_array)
    cell = emit_.divide_unsigned(Op::Mod, values_.value(s.loops.back().range), emit_.number(c.count));
  else if (c.count > 1)
    chain = static_cast<size_t>(values_.copy_of(s.loops.back().range) % c.count);
  emit_assign(lowered_combine(s), registers[chain], cell, values, element_exists(s));
}

/// Steps one state. Accumulators that another state leads are seen as they were before that one's step.
void Accumulators::step_state(const StateKey& mine, const ChainState& registers, const ChainState& values,
                              const std::vector<StateKey>& leaders) {
  ChainState before;
  for (size_t k = 0; k < registers.size(); ++k)
    before.push_back(leaders[k] == mine ? read_chain({registers[k]}, kNone)[0] : last_steps_.at(leaders[k])[k]);
  const LoweredCombine& rule = lowered_combine(at(mine.statement));
  const ChainState next = emit_combine(rule.step, emit_.type(registers.back()).lanes, before, values);
  for (size_t k = 0; k < next.size(); ++k)
    if (leaders[k] == mine) emit_.insert_here({InstCode::AccumulatorWrite, {}, {registers[k], next[k]}});
  last_steps_[mine] = before;
}

/// The first copy with a shared accumulator leads it.
void Accumulators::assign_shared(int statement, ChainState values) {
  const Statement& s = at(statement);
  const ChainState& registers = this->registers(statement)[0];
  const uint64_t copy = values_.copy_key(s.node);
  std::vector<StateKey> leaders;
  for (size_t k = 0; k < registers.size(); ++k) {
    const UOp source = values_.shared(s, k);
    leaders.push_back({statement, source ? leading_copy(source, s) : copy, 0});
    values[k] = emit_.splat(values[k], emit_.type(registers[k]).lanes);
  }
  step_state({statement, copy, 0}, registers, values, leaders);
}

/// The first of the copies that share what follows `source`.
uint64_t Accumulators::leading_copy(UOp source, const Statement& s) {
  return values_.copy_key(source, ranges_of(s.node));
}

/// Whether the current element of the own ranges exists, in as many lanes as the accumulators; kNone: always.
Id Accumulators::element_exists(const Statement& s) {
  if (s.node->reduction().tree.lanes == 1 || s.own_depth == s.loops.size() || !s.loops.back().threaded()) return kNone;
  const Id exists = values_.exists(s.loops.back().range, kAllLanes);
  return exists == kNone ? kNone : emit_.splat(exists, values_.lanes(s.node));
}

/// For lanes along the own range: element e of a step belongs to chain e % count.
void Accumulators::update_lanes(int statement, const ChainLayout& c, const ChainState& values) {
  const Statement& s = at(statement);
  const UOp range = s.loops.back().range;
  const int lanes = s.loops.back().lanes, width = c.width;
  const int64_t known = values_.limit(range).known;
  const int first = values_.copy_of(range) * lanes;
  std::vector<bool> shared;  // accumulators, between the chains
  for (size_t k = 0; k < values.size(); ++k) shared.push_back(is_shared_by_chains(s, k));
  for (int at = 0; at < lanes; at += width) {
    if (known >= 0 && known <= at) break;
    const Id exists = values_.existing_lanes(range, at, width);
    const auto vector = static_cast<size_t>((first + at) % c.count / width);
    const ChainState& registers = this->registers(statement)[vector];
    ChainState part;
    for (Id v : values) part.push_back(emit_.part(emit_.splat(v, lanes), at, width));
    if (!ir::contains(shared, true)) {
      emit_assign(lowered_combine(s), registers, kNone, part, exists);
      continue;
    }
    if (exists != kNone) throw InternalError("a step lacks elements for chains that share an accumulator");
    const uint64_t copy = values_.copy_key(s.node);
    std::vector<StateKey> leaders;  // the first vector of chains leads what all share
    for (bool k : shared) leaders.push_back({statement, copy, k ? 0 : vector});
    step_state({statement, copy, vector}, registers, part, leaders);
  }
}

void Accumulators::add_zero(int statement) {
  const Id sum = registers(statement)[0].back();
  const Type type = emit_.type(sum);
  const Id zero = emit_.zero(type.dtype, type.lanes);
  const Id before = emit_.insert_here({InstCode::AccumulatorRead, type, {sum}});
  emit_.insert_here({InstCode::AccumulatorWrite, {}, {sum, emit_.alu(Op::Add, type, {before, zero})}});
}

Id Accumulators::has_negative_zero(int statement) {
  const Id sum = registers(statement)[0].back();
  const Type type = emit_.type(sum);
  const Id bits =
      emit_.alu(Op::Bitcast, {DType::U32, type.lanes}, {emit_.insert_here({InstCode::AccumulatorRead, type, {sum}})});
  const Id wanted = emit_.splat(emit_.constant(DType::U32, ir::Scalar::of(DType::U32, int64_t{1} << 31)), type.lanes);
  return emit_.alu(Op::Eq, {DType::Bool, type.lanes}, {bits, wanted});
}

void Accumulators::reset(int statement) {
  const Id sum = registers(statement)[0].back();
  const Type type = emit_.type(sum);
  emit_.insert_here({InstCode::AccumulatorWrite, {}, {sum, emit_.zero(type.dtype, type.lanes)}});
}

/// The value in a home after all loops. If one of them has no iterations, nothing was stored there, and the value is
/// the identity.
UOp Accumulators::home_value(const Statement& s, size_t accumulator) const {
  UOp value = s.homes[accumulator];
  const ir::Scalar identity =
      ir::reduction_identity(s.node->reduction().combine, value->dtype, static_cast<int>(accumulator));
  for (size_t i = s.own_depth; i < s.loops.size(); ++i) {
    UOp range = s.loops[i].range;
    if (!may_be_empty(range) || values_.depends(s.node, range)) continue;
    value = ir::where(ir::lt(ir::like(range->src[0], 0.0), range->src[0]), value, ir::like(value, identity));
  }
  return value;
}

void Accumulators::finish(int statement) {
  const Statement& s = at(statement);
  const ChainLayout c = chain_layout(s);
  std::vector<ChainState> parts;
  if (c.in_array)
    for (int i = 0; i < c.count; ++i) parts.push_back(read_chain(registers(statement)[0], emit_.number(i)));
  else
    for (const ChainState& r : registers(statement)) parts.push_back(read_chain(r, kNone));
  if (s.carried()) {
    for (size_t k = 0; k < s.homes.size(); ++k) {
      write_memory(values_, emit_, s.homes[k], parts[0][k], leader_predicate(emit_, s, threads_));
      values_.set_home(statement, result_of(s.node, static_cast<int>(k)), home_value(s, k));
    }
    return;
  }
  const ir::CombineGraph& merge = lowered_combine(s).merge;
  // Chains are halved, as ReductionTree says: first whole vectors, then those of the threads, then the lanes of one.
  while (parts.size() > 1) {
    const size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i)
      parts[i] = emit_combine(merge, emit_.type(parts[i][0]).lanes, parts[i], parts[i + half]);
    parts.resize(half);
  }
  if (!joins_threads(s)) return record_result(statement, std::move(parts[0]));
  if (thread_group(s.loops.back()).far > 1)
    open_.push_back({statement, values_.copy(), std::move(parts[0]), {}});
  else
    record_result(statement, join_near(s, std::move(parts[0])));
}

/// Combines the lanes of one vector of chains, those of all threads.
void Accumulators::record_result(int statement, ChainState state) {
  const Statement& s = at(statement);
  const ir::CombineGraph& merge = lowered_combine(s).merge;
  auto lanes_of = [&](int from, int lanes) {
    return ir::mapped<ChainState>(state, [&](Id x) { return emit_.part(x, from, lanes); });
  };
  for (int lanes = chain_layout(s).width / 2; lanes > 0; lanes /= 2)
    state = emit_combine(merge, lanes, lanes_of(0, lanes), lanes_of(lanes, lanes));
  // A single element has no loop. Its empty chains contribute +0, which makes +0 of a product that underflowed to -0.
  if (s.own_depth == s.loops.size() && s.node->reduction().combine == Combine::Dot &&
      s.node->reduction().tree.lanes > 1) {
    const int lanes = emit_.type(state[0]).lanes;
    state = emit_combine(merge, lanes, state, {emit_.splat(identity(statement, 0), lanes)});
  }
  for (size_t k = 0; k < state.size(); ++k) {
    Id result = state[k];
    if (values_.shared(s, k)) result = emit_.splat(result, values_.lanes(s.node));
    if (s.at_once()) emit_.move_to_block(result);  // users need not stand in its own loops
    values_.set_result(result_of(s.node, static_cast<int>(k)), result);
  }
}

}  // namespace sinter::codegen
