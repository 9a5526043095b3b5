// A fragment is what one thread holds of a factor's tile, as 32-bit words (codegen/loopschedule/mma_tile.h). It comes
// from shared memory by one instruction for the warp where the tile lies there in rows of 16 bytes, of bytes along the
// depth, else element by element.
#include "codegen/emit/mma_body.h"

#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/kernel/common_predicate.h"
#include "codegen/nest/thread_digits.h"

namespace sinter::codegen {

void MmaBody::add(int statement) {
  fragments_.clear();
  const Statement& s = at(statement);
  unrolled_copies_.for_each(s.node, true, [&] {
    const UOp depth = s.loops.back().range;
    if (!s.mma) {
      if (s.loops.back().lanes > 1 || values_.copy_of(depth) == 0) add_step(statement);
      return;
    }
    // The copies of a tile are handled together.
    if (values_.copy_of(s.mma->rows) % kMmaRows.warp.copies == 0 &&
        values_.copy_of(depth) % mma_depth(s.node->src[0]->dtype).warp.copies == 0)
      add_tile(statement);
  });
}

/// The value in lanes whose element of `range` exists, else 0.
Id MmaBody::masked(Id value, UOp range, int lanes) {
  const Id exists = values_.existing_lanes(range, 0, lanes);
  if (exists == kNone) return value;
  const Type type = emit_.type(value);
  return emit_.alu(Op::Where, type, {exists, value, emit_.zero(type.dtype, lanes)});
}

/// The elements of one step: the lanes of the loop, or its unrolled copies.
Id MmaBody::step_factor(UOp value, const LoopLevel& depth) {
  if (depth.lanes > 1) return masked(emit_.splat(values_.value(value), depth.lanes), depth.range, depth.lanes);
  Inst all{InstCode::Pack, {value->dtype, depth.unroll}, {}};
  const Id zero = emit_.zero(value->dtype);
  for (int copy = 0; copy < depth.unroll; ++copy) {
    values_.set_copy(depth.range, copy);
    const bool exists = copy < unrolled_copies_.count(depth.range);
    all.src.push_back(exists ? masked(values_.value(value), depth.range, 1) : zero);
  }
  values_.set_copy(depth.range, 0);
  return emit_.insert_here(std::move(all));
}

/// A thread computes a result by itself.
void MmaBody::add_step(int statement) {
  const Statement& s = at(statement);
  const LoopLevel& depth = s.loops.back();
  const Id sum = accumulators_.register_of(statement);
  Inst step{
      InstCode::MmaStep, {s.node->dtype, 1}, {emit_.insert_here({InstCode::AccumulatorRead, emit_.type(sum), {sum}})}};
  for (UOp v : values_of(s.node)) step.src.push_back(step_factor(v, depth));
  emit_.insert_here({InstCode::AccumulatorWrite, {}, {sum, emit_.insert_here(std::move(step))}});
}

/// A warp computes a tile. The current copies are the first of its rows and of its depth.
void MmaBody::add_tile(int statement) {
  const Statement& s = at(statement);
  const UOp rows = s.mma->rows, columns = s.mma->columns, depth = s.loops.back().range;
  const UOp predicate = common_predicate(s.node);
  std::vector<UOp> factors = open_factors(s.node);
  if (!values_.depends(factors[0], rows)) std::swap(factors[0], factors[1]);
  const Id a = fragment({factors[0], rows, true}, depth), b = fragment({factors[1], columns, false}, depth);
  const int first = values_.copy_of(rows);
  std::vector<Id> sums;
  Inst before{InstCode::Pack, {s.node->dtype, kMmaRows.warp.copies * kMmaColumns.lanes}, {}};
  for (int r = 0; r < kMmaRows.warp.copies; ++r) {
    values_.set_copy(rows, first + r);
    sums.push_back(accumulators_.register_of(statement));
    before.src.push_back(emit_.insert_here({InstCode::AccumulatorRead, emit_.type(sums.back()), {sums.back()}}));
  }
  values_.set_copy(rows, first);
  const Type type = before.type;
  const std::vector<Id> old = before.src;
  const Id tile = emit_.insert_here({InstCode::Mma,
                                     type,
                                     {emit_.insert_here(std::move(before)), a, b},
                                     static_cast<int64_t>(factors[0]->dtype),
                                     ir::Scalar::of(DType::Index, static_cast<int64_t>(factors[1]->dtype))});
  for (size_t r = 0; r < sums.size(); ++r) {
    Id next =
        emit_.insert_here({InstCode::Part, emit_.type(sums[r]), {tile}, static_cast<int64_t>(r) * kMmaColumns.lanes});
    if (predicate) {  // a step of zeros changes no sum
      values_.set_copy(rows, first + static_cast<int>(r));
      const Id open = values_.value(predicate);
      if (!emit_.always(open))
        next = emit_.alu(Op::Where, emit_.type(sums[r]), {emit_.splat(open, kMmaColumns.lanes), next, old[r]});
    }
    emit_.insert_here({InstCode::AccumulatorWrite, {}, {sums[r], next}});
  }
  values_.set_copy(rows, first);
}

Id MmaBody::fragment(const Factor& factor, UOp depth) {
  const auto key = std::pair(factor.value.get(), values_.copy_key(factor.value));
  if (const auto it = fragments_.find(key); it != fragments_.end()) return it->second;
  bool transposed = false;
  const Id made = is_loadable(factor, depth, transposed) ? loaded_fragment(factor, depth, transposed)
                                                         : element_fragment(factor, depth);
  return fragments_[key] = made;
}

/// A word of a float32, rounded to tf32 (ir::tf32_of).
Id MmaBody::tf32(Id value) {
  const Id bits = emit_.alu(Op::Bitcast, {DType::U32, 1}, {value});
  const auto word = [this](int64_t n) { return emit_.constant(DType::U32, ir::Scalar::of(DType::U32, n)); };
  return emit_.alu(Op::Where, {DType::U32, 1},
                   {emit_.alu(Op::Eq, {DType::Bool, 1}, {value, value}),
                    emit_.alu(Op::Add, {DType::U32, 1}, {bits, word(0x1000)}), word(0x7fffffff)});
}

/// Lanes of 32 bits together, as a word.
Id MmaBody::word(Id lanes) {
  const Type type = emit_.type(lanes);
  if (type.lanes == 1) return tf32(lanes);
  const DType same = integer_of_size(size_of(type.dtype), false);
  const auto element = [&](int lane) {
    const Id bits = emit_.alu(Op::Bitcast, {same, 1}, {emit_.lane(lanes, lane)});
    return emit_.alu(Op::Cast, {DType::U32, 1}, {bits});
  };
  Id all = element(0);
  for (int lane = 1; lane < type.lanes; ++lane) {
    const Id by = emit_.constant(DType::U32, ir::Scalar::of(DType::U32, int64_t{32} / type.lanes * lane));
    all = emit_.alu(Op::Or, {DType::U32, 1}, {all, emit_.alu(Op::Shl, {DType::U32, 1}, {element(lane), by})});
  }
  return all;
}

/// Each thread evaluates its own elements. Rows vary faster than the halves of the depth.
Id MmaBody::element_fragment(const Factor& factor, UOp depth) {
  const MmaDim along = mma_depth(factor.value->dtype);
  const int row = values_.copy_of(factor.range), step = values_.copy_of(depth);
  const int rows = factor.rows ? kMmaRows.warp.copies : 1;
  if (!factor.rows) {  // other threads hold a column of the factor than hold it in the result
    const WarpDigits& digits = kMmaFactorColumns.warp;
    const Id inside = thread_digit(emit_, digits.stride, digits.threads);
    values_.rebind_thread(factor.range, emit_.index(Op::Add, values_.warp_offset(factor.range), inside), 1);
  }
  Inst all{InstCode::Pack, {DType::U32, along.warp.copies * rows}, {}};
  for (int k = 0; k < along.warp.copies; ++k)
    for (int r = 0; r < rows; ++r) {
      values_.set_copy(depth, step + k);
      if (factor.rows) values_.set_copy(factor.range, row + r);
      all.src.push_back(word(masked(emit_.splat(values_.value(factor.value), along.lanes), depth, along.lanes)));
    }
  if (!factor.rows) values_.leave();
  values_.set_copy(depth, step);
  if (factor.rows) values_.set_copy(factor.range, row);
  return emit_.insert_here(std::move(all));
}

/// Whether the warp can load the factor from shared memory as matrices; `transposed`: their rows do not lie along the
/// depth. What does not exist along the depth must be 0, so that each thread masks it.
bool MmaBody::is_loadable(const Factor& factor, UOp depth, bool& transposed) {
  const UOp load = factor.value;
  if (load->op != Op::Load || predicate_of(load)) return false;
  if (!values_.limit(depth).none() || values_.exists(depth, kAllLanes) != kNone) return false;
  for (const Tile& t : statements_.tiles)
    if (t.slot == slot_of(load) && code_.slots[t.slot].offset < 0) {
      const UOp along = matrix_rows(t, factor.range, depth);
      transposed = along && !(along == depth);
      return static_cast<bool>(along);
    }
  return false;
}

/// Lane l names row l % 8 of matrix l / 8. The matrices come in the order of the fragment's words.
Id MmaBody::loaded_fragment(const Factor& factor, UOp depth, bool transposed) {
  const auto digit = [&](int stride, int threads, int64_t elements) {
    return emit_.index(Op::Mul, thread_digit(emit_, stride, threads), emit_.number(elements));
  };
  const auto plus = [&](Id x, Id y) { return emit_.index(Op::Add, x, y); };
  const Id within = thread_digit(emit_, 1, kMatrixRows);
  // Of a factor's rows the second matrix has the next 8, of its columns there are only 8.
  const int halves = factor.rows ? 16 : 8;  ///< thread distance of the two halves of the depth
  Id across = transposed ? emit_.number(0) : within, along = digit(halves, 2, matrix_row(factor.value->dtype));
  if (transposed) along = plus(within, along);
  if (factor.rows) across = plus(across, digit(kMatrixRows, 2, kMatrixRows));
  values_.rebind_thread(factor.range, plus(values_.warp_offset(factor.range), across), 1);
  values_.rebind_thread(depth, along, 1);
  Inst load{InstCode::LoadMatrices,
            {DType::U32, factor.rows ? 4 : 2},
            {values_.address(factor.value, kAllLanes)},
            slot_of(factor.value),
            ir::Scalar::of(DType::Index, transposed)};
  values_.leave();
  values_.leave();
  return emit_.insert_here(std::move(load));
}

}  // namespace sinter::codegen
