// Memory accesses of the current unrolled copy: whole vectors where lanes are contiguous, else lane by lane.
#pragma once

#include "codegen/emit/values.h"

namespace sinter::codegen {

/// Loads the element of `access` (a LOAD). Lanes that do not exist get `other`, a scalar of its type. Emitted in the
/// innermost block.
Id read_memory(Values& values, BlockWriter& emit, UOp access, Id other);

/// Stores v to the element of `access` (a LOAD or STORE), in lanes for which `predicate`, if any, holds. With `add` it
/// is a read-modify-write with that op, lane by lane in order. `only`: a condition for all of it, or kNone. `code`:
/// Store or Stream, for whole vectors without any of these.
void write_memory(Values& values, BlockWriter& emit, UOp access, Id v, Id only, UOp predicate = {},
                  const Op* add = nullptr, InstCode code = InstCode::Store);

/// Stores v as one strided store, for a STORE without a predicate whose lanes are strided. It is a call: shorter code
/// than a store per lane, but slower. In other cases, or if some lanes may not exist, it does nothing and returns
/// false.
bool write_strided(Values& values, BlockWriter& emit, UOp store, Id v);

/// Stores vectors for a STORE without a predicate, one for each copy of its TransposeGroup. The current copy is the
/// first of the group. Stores row by row; a row may be several vectors.
void write_rows(Values& values, BlockWriter& emit, UOp store, std::vector<Id> columns, InstCode code);

/// Like write_rows(), for a group that is one contiguous piece of memory (Values::is_contiguous_group): whole vectors,
/// except for the last.
void write_dense(Values& values, BlockWriter& emit, UOp store, std::vector<Id> columns);

}  // namespace sinter::codegen
