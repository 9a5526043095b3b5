// One of four ways, by how the lanes and the copies of a store lie in memory; the accesses themselves are
// memory_access.cpp's.
#include "codegen/emit/stores.h"

#include <algorithm>

#include "codegen/emit/memory_access.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/thread_digits.h"

namespace sinter::codegen {

using ir::Op;
using ir::UOp;

namespace {

constexpr int kMany = 128;  ///< lanes of a store that are most of what its kernel takes to compile

}  // namespace

Id put(Values& values, Emitter& emit, const Statement& statement, const Statements& statements, int threads,
       bool seldom) {
  const UOp n = statement.node, gate = gate_of(n);
  const Id v = values.value(value_of(n));
  const bool adds = n->integer() != 0;
  const Op sum = is_bool(n->src[0]->dtype) ? Op::Or : Op::Add;
  const Id leader = leads(emit, statement, threads);
  if (leader != kNone && loads_what_it_stores(statement, statements))
    emit.here({Code::Barrier, {}, {}});  // all have read it
  const Code code = statement.nontemporal ? Code::Stream : Code::Store;
  const bool alone = adds || gate || leader != kNone;
  const Values::Run near = alone ? Values::Run{} : values.run(n);
  const bool piece = values.is_piece(n, near);
  // What goes past the caches is written in whole lines where rows begin on one and registers hold two vectors of each:
  // of parts of lines a core keeps few until the rest comes, fewer where two threads share it.
  const int line = static_cast<int>(static_cast<size_t>(runtime::kLine) / size_of(n->src[0]->dtype));
  const Values::Run run =
      code == Code::Stream && near.count > 1 && !piece ? values.run(n, std::min(line, 2 * values.lanes(n))) : near;
  if (run.count == 1) {
    const bool shorter = seldom && !alone && values.written_out(n) >= kMany;
    if (!shorter || !write_apart(values, emit, n, v))
      write(values, emit, n, v, leader, gate, adds ? &sum : nullptr, code);
  } else if (values.copy_of(run) == run.first) {  // for all copies of the run
    std::vector<Id> columns;
    values.for_each(run, [&] { columns.push_back(values.value(value_of(n))); });
    if (piece)
      write_piece(values, emit, n, columns);
    else
      write_rows(values, emit, n, std::move(columns), code);
  }
  return v;
}

}  // namespace sinter::codegen
