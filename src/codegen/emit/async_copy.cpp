#include "codegen/emit/async_copy.h"

#include "codegen/emit/stores.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/thread_digits.h"
#include "ir/scalar_eval.h"

namespace sinter::codegen {

namespace {

/// Whether the vectors are contiguous on both sides, and exist or do not as a whole.
bool is_copyable(Values& values, UOp store, UOp load, const Instructions& code) {
  if (code.slots[slot_of(store)].offset >= 0) return false;  // in scratch memory
  const auto contiguous = [&](UOp access) {
    const Values::LaneLayout layout = values.lane_layout(access);
    return !values.varies(access) || (layout.regular && layout.stride == 1);
  };
  if (!contiguous(store) || !contiguous(load) || values.varies(store) != values.varies(load)) return false;
  if (!values.limit(store).none() || !values.limit(load).none()) return false;
  const UOp predicate = predicate_of(load);
  return !predicate || (!values.varies(predicate) && other_of(load)->op == Op::Const &&
                        ir::to_bits(load->dtype, other_of(load)->scalar()) == 0);
}

}  // namespace

void emit_async_copy(Values& values, BlockWriter& emit, const Statement& fill, const Statements& statements,
                     const Instructions& code) {
  const UOp store = fill.node, load = stored_value(store), predicate = predicate_of(load);
  if (!is_copyable(values, store, load, code)) {
    emit_store(values, emit, fill, statements, code.threads, false);
    return;
  }
  Inst copy{InstCode::CopyAsync,
            {load->dtype, values.lanes(store)},
            {values.address(store, 0), values.address(load, 0)},
            slot_of(store),
            ir::Scalar::of(DType::Index, slot_of(load))};
  const Id room = values.exists(store, kAllLanes), there = values.exists(load, kAllLanes);
  const Id loads = emit.both(predicate ? values.value(predicate) : kNone, there == room ? kNone : there);
  if (loads != kNone) copy.src.push_back(loads);
  const Id open = emit.both(leader_predicate(emit, fill, code.threads), room);
  if (open != kNone) emit.open_if(open);
  emit.insert_here(std::move(copy));
  if (open != kNone) emit.close();
}

}  // namespace sinter::codegen
