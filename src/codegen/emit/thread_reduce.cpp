// Reductions across threads: through shared memory between warps, by shuffles within one.
#include <algorithm>
#include <bit>

#include "codegen/emit/reduction_body.h"
#include "codegen/nest/thread_digits.h"

namespace sinter::codegen {

Accumulators::ChainState Accumulators::shuffle(const ChainState& state, Id lane) {
  return ir::mapped<ChainState>(state,
                                [&](Id x) { return emit_.insert_here({InstCode::Shuffle, emit_.type(x), {x, lane}}); });
}

/// The states of the threads that are `stride * near` apart, beginning with the one whose digit is below `near`.
std::vector<Accumulators::ChainState> Accumulators::exchange_states(const ChainState& mine, int near, int far,
                                                                    int stride) {
  const Id me = thread_digit(emit_, 1, threads_);
  const Id first = emit_.index(
      Op::Sub, me,
      emit_.index(Op::Mul, thread_digit(emit_, stride * near, far), emit_.number(int64_t{1} * stride * near)));
  auto access = [&](InstCode code, Type type, int slot, Id at, Id value) {
    Inst inst{code, type, {at}};
    if (value != kNone) inst.src.push_back(value);
    inst.imm = slot;
    return emit_.insert_here(std::move(inst));
  };
  auto slot_of = [&](size_t k) {
    auto [it, fresh] = exchanges_.try_emplace({k, emit_.type(mine[k]).dtype}, 0);
    if (fresh) it->second = emit_.add_tile(emit_.type(mine[k]).dtype);
    emit_.enlarge(it->second, int64_t{1} * threads_ * emit_.type(mine[k]).lanes);
    return it->second;
  };
  if (exchanged_ || emit_.in_loop())
    emit_.insert_here({InstCode::Barrier, {}, {}});  // all threads have read the previous exchange
  exchanged_ = true;
  auto place = [&](Id thread, int lane) {
    return emit_.index(Op::Add, thread, emit_.number(int64_t{1} * lane * threads_));
  };
  for (size_t k = 0; k < mine.size(); ++k)
    for (int l = 0; l < emit_.type(mine[k]).lanes; ++l)
      access(InstCode::Store, {}, slot_of(k), place(me, l), emit_.lane(mine[k], l));
  emit_.insert_here({InstCode::Barrier, {}, {}});
  std::vector<ChainState> all;
  for (int j = 0; j < far; ++j) {
    ChainState& state = all.emplace_back();
    const Id thread = emit_.index(Op::Add, first, emit_.number(int64_t{1} * j * stride * near));
    for (size_t k = 0; k < mine.size(); ++k) {
      const Type type = emit_.type(mine[k]);
      Inst vector{InstCode::Pack, type, {}};
      for (int l = 0; l < type.lanes; ++l)
        vector.src.push_back(access(InstCode::Load, {type.dtype, 1}, slot_of(k), place(thread, l), kNone));
      state.push_back(type.lanes == 1 ? vector.src[0] : emit_.insert_here(std::move(vector)));
    }
  }
  return all;
}

/// Combines the chains of threads that share a loop by halving, as ReductionTree says. All threads get the result.
Accumulators::ChainState Accumulators::thread_reduce(const LoopLevel& level, const ir::CombineGraph& merge,
                                                     ChainState state) {
  const bool in_warp = level.warp.threads > 1;
  const int stride = in_warp ? level.warp.stride : level.thread_stride;
  const int count = in_warp ? level.warp.threads : level.threads;
  const bool warps = threads_ % kWarp == 0 && stride < kWarp && std::has_single_bit(static_cast<unsigned>(stride));
  const int near = warps ? std::min(count, kWarp / stride) : 1;
  if (near < count) {
    std::vector<ChainState> parts = exchange_states(state, near, count / near, stride);
    for (; parts.size() > 1; parts.resize(parts.size() / 2))
      for (size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = emit_combine(merge, emit_.type(parts[i][0]).lanes, parts[i], parts[i + parts.size() / 2]);
    state = parts[0];
  }
  if (near == 1) return state;
  const Id me = thread_digit(emit_, 1, threads_);
  for (int half = near / 2; half > 0; half /= 2)
    state = emit_combine(merge, emit_.type(state[0]).lanes, state,
                         shuffle(state, emit_.index(Op::Add, me, emit_.number(int64_t{1} * half * stride))));
  return shuffle(
      state, emit_.index(Op::Sub, me, emit_.index(Op::Mul, thread_digit(emit_, stride, near), emit_.number(stride))));
}

}  // namespace sinter::codegen
