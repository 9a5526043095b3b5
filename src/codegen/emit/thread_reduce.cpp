// Reductions across threads, by halving, as ReductionTree says: first through shared memory, then by shuffles within a
// warp. All threads get the result.
#include <algorithm>
#include <bit>

#include "codegen/emit/reduction_body.h"
#include "codegen/nest/thread_digits.h"

namespace sinter::codegen {

Accumulators::ThreadGroup Accumulators::thread_group(const LoopLevel& level) const {
  const bool in_warp = level.warp.threads > 1;
  const int stride = in_warp ? level.warp.stride : level.thread_stride;
  const int count = in_warp ? level.warp.threads : level.threads;
  const bool shuffles = threads_ % kWarp == 0 && stride < kWarp && std::has_single_bit(static_cast<unsigned>(stride));
  const int near = shuffles ? std::min(count, kWarp / stride) : 1;
  return {stride, near, count / near};
}

// ---- through shared memory
int Accumulators::exchange_slot(DType dtype) {
  const auto [it, fresh] = exchanges_.try_emplace(dtype, 0);
  if (fresh) it->second = emit_.add_tile(dtype);
  return it->second;
}

/// Gives each accumulator a place behind those that `used` counts. Returns the bytes of the fullest tile then.
int64_t Accumulators::place_in_tiles(OpenResult& result, std::map<DType, int64_t>& used) {
  result.places.clear();
  for (const Id x : result.state) {
    const Type type = emit_.type(x);
    result.places.push_back(used[type.dtype]);
    used[type.dtype] += int64_t{1} * threads_ * type.lanes;
  }
  int64_t most = 0;
  for (const auto& [dtype, elements] : used) most = std::max(most, elements * static_cast<int64_t>(size_of(dtype)));
  return most;
}

Id Accumulators::chain_address(const OpenResult& result, size_t k, Id thread) {
  const Id first = emit_.index(Op::Mul, thread, emit_.number(emit_.type(result.state[k]).lanes));
  return emit_.index(Op::Add, first, emit_.number(result.places[k]));
}

void Accumulators::store_chains(const OpenResult& result) {
  const Id me = thread_digit(emit_, 1, threads_);
  for (size_t k = 0; k < result.state.size(); ++k) {
    const Type type = emit_.type(result.state[k]);
    const int slot = exchange_slot(type.dtype);
    emit_.enlarge(slot, result.places[k] + int64_t{1} * threads_ * type.lanes);
    emit_.insert_here({InstCode::Store, {}, {chain_address(result, k, me), result.state[k]}, slot});
  }
}

Accumulators::ChainState Accumulators::load_chains(const OpenResult& result, Id thread) {
  ChainState state;
  for (size_t k = 0; k < result.state.size(); ++k) {
    const Type type = emit_.type(result.state[k]);
    state.push_back(
        emit_.insert_here({InstCode::Load, type, {chain_address(result, k, thread)}, exchange_slot(type.dtype)}));
  }
  return state;
}

Accumulators::ChainState Accumulators::join_far(const OpenResult& result) {
  const Statement& s = at(result.statement);
  const auto [stride, near, far] = thread_group(s.loops.back());
  const int64_t apart = int64_t{1} * stride * near;
  const Id first = emit_.index(Op::Sub, thread_digit(emit_, 1, threads_),
                               emit_.index(Op::Mul, thread_digit(emit_, stride * near, far), emit_.number(apart)));
  std::vector<ChainState> parts;
  for (int j = 0; j < far; ++j)
    parts.push_back(load_chains(result, emit_.index(Op::Add, first, emit_.number(j * apart))));
  const ir::CombineGraph& merge = lowered_combine(s).merge;
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = emit_combine(merge, emit_.type(parts[i][0]).lanes, parts[i], parts[i + parts.size() / 2]);
  return parts[0];
}

void Accumulators::join_threads() {
  for (size_t begin = 0, end = 0; begin < open_.size(); begin = end) {
    std::map<DType, int64_t> used;
    place_in_tiles(open_[end++], used);
    while (end < open_.size() && place_in_tiles(open_[end], used) <= exchange_bytes_) ++end;
    if (exchanged_ || emit_.in_loop())
      emit_.insert_here({InstCode::Barrier, {}, {}});  // all threads have read the previous exchange
    exchanged_ = true;
    for (size_t i = begin; i < end; ++i) store_chains(open_[i]);
    emit_.insert_here({InstCode::Barrier, {}, {}});
    for (size_t i = begin; i < end; ++i) {
      const OpenResult& result = open_[i];
      values_.set_statement(at(result.statement));
      values_.set_copy(result.copy);
      record_result(result.statement, join_near(at(result.statement), join_far(result)));
    }
    values_.set_copy({});
  }
  open_.clear();
}

// ---- by shuffles
Accumulators::ChainState Accumulators::shuffle(const ChainState& state, Id lane) {
  return ir::mapped<ChainState>(state,
                                [&](Id x) { return emit_.insert_here({InstCode::Shuffle, emit_.type(x), {x, lane}}); });
}

Accumulators::ChainState Accumulators::join_near(const Statement& s, ChainState state) {
  const auto [stride, near, far] = thread_group(s.loops.back());
  if (near == 1) return state;
  const ir::CombineGraph& merge = lowered_combine(s).merge;
  const Id me = thread_digit(emit_, 1, threads_);
  for (int half = near / 2; half > 0; half /= 2)
    state = emit_combine(merge, emit_.type(state[0]).lanes, state,
                         shuffle(state, emit_.index(Op::Add, me, emit_.number(int64_t{1} * half * stride))));
  return shuffle(
      state, emit_.index(Op::Sub, me, emit_.index(Op::Mul, thread_digit(emit_, stride, near), emit_.number(stride))));
}

}  // namespace sinter::codegen
