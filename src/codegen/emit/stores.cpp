// Chooses among four ways to store, by the layout of lanes and unrolled copies in memory. memory_access.cpp has the
// accesses.
#include "codegen/emit/stores.h"

#include <algorithm>

#include "codegen/emit/memory_access.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/thread_digits.h"
#include "ir/combine.h"

namespace sinter::codegen {

namespace {

/// The op that joins an element and an update, on bools their logic.
Op join_of(ir::ScatterMode mode, DType dtype) {
  const Op op = ir::op_of(mode);
  if (!is_bool(dtype)) return op;
  return op == Op::Add || op == Op::Max ? Op::Or : Op::And;
}

constexpr int kLongStore = 128;  ///< lanes from which on a store dominates the kernel's compile time

}  // namespace

Id emit_store(Values& values, BlockWriter& emit, const Statement& statement, const Statements& statements, int threads,
              bool cold) {
  const UOp n = statement.node, predicate = predicate_of(n);
  const Id v = values.value(stored_value(n));
  const auto mode = static_cast<ir::ScatterMode>(n->integer());
  const bool in_order = mode != ir::ScatterMode{}, joins = in_order && mode != ir::ScatterMode::Set;
  const Op join = joins ? join_of(mode, n->src[0]->dtype) : Op::Add;
  const Id leader = leader_predicate(emit, statement, threads);
  if (leader != kNone && loads_what_it_stores(statement, statements))
    emit.insert_here({InstCode::Barrier, {}, {}});  // all threads have read the old value
  const InstCode code = statement.nontemporal ? InstCode::Stream : InstCode::Store;
  const bool alone = in_order || predicate || leader != kNone;
  const Values::TransposeGroup near = alone ? Values::TransposeGroup{} : values.transpose_group(n);
  const bool dense = values.is_contiguous_group(n, near);
  // Nontemporal stores write whole lines if rows begin on a line and registers hold two vectors of each row. A core
  // buffers few partly written lines, fewer where two hardware threads share it.
  const int line = static_cast<int>(static_cast<size_t>(runtime::kCacheLine) / size_of(n->src[0]->dtype));
  const Values::TransposeGroup group = code == InstCode::Stream && near.count > 1 && !dense
                                           ? values.transpose_group(n, std::min(line, 2 * values.lanes(n)))
                                           : near;
  if (group.count == 1) {
    const bool shorter = cold && !alone && values.unrolled_lanes(n) >= kLongStore;
    if (!shorter || !write_strided(values, emit, n, v))
      write_memory(values, emit, n, v, leader, predicate, joins ? &join : nullptr, code);
  } else if (values.copy_of(group) == group.first) {  // for all copies of the group
    std::vector<Id> columns;
    values.for_each(group, [&] { columns.push_back(values.value(stored_value(n))); });
    if (dense)
      write_dense(values, emit, n, columns);
    else
      write_rows(values, emit, n, std::move(columns), code);
  }
  return v;
}

}  // namespace sinter::codegen
