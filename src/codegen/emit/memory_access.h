// Reading and writing memory at the present register copy: whole vectors where lanes lie side by side, else lane by
// lane.
#pragma once

#include "codegen/emit/values.h"

namespace sinter::codegen {

/// What lies where `access` (a LOAD) stands, `other`, a scalar of its type, in lanes that do not exist. Emitted here.
Id read_memory(Values& values, BlockWriter& emit, ir::UOp access, Id other);

/// Puts v where `access` (a LOAD or STORE) stands, in those lanes in which `predicate`, if there is one, holds. With
/// `add` it is combined with what lies there by that op. Lanes follow one another. `only`: a condition for all of it,
/// or kNone. `code`: of whole vectors without any of these, Store or Stream.
void write_memory(Values& values, BlockWriter& emit, ir::UOp access, Id v, Id only, ir::UOp predicate = {},
                  const ir::Op* add = nullptr, InstCode code = InstCode::Store);

/// Puts v where a STORE without a predicate stands whose lanes lie apart, as one instruction, which is a call: fewer
/// lines than a store of each lane, and slower. Otherwise, or where some lanes may not exist, it does nothing and
/// returns false.
bool write_strided(Values& values, BlockWriter& emit, ir::UOp store, Id v);

/// Puts vectors where a STORE without a predicate stands, one for each copy of its TransposeGroup, of which the present
/// copy is the first: row by row, also where those are of several vectors.
void write_rows(Values& values, BlockWriter& emit, ir::UOp store, std::vector<Id> columns, InstCode code);

/// The same where all of it is one piece of memory (Values::is_dense): in whole vectors but for the last.
void write_dense(Values& values, BlockWriter& emit, ir::UOp store, std::vector<Id> columns);

}  // namespace sinter::codegen
