// A Sort in kernels. A row is sorted in steps, each a kernel of its own: first its runs, then merges of two runs each.
// What a step does is an op; how it does it is the text of codegen/opaque.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace sinter::ir {

/// One step for all rows. It sorts each `group` elements of a row, by their values and then their positions. The last
/// group may be shorter.
///
/// The first step (sorted 0) reads the values themselves. Others read elements that an earlier step has written, whose
/// runs of `sorted` elements are sorted; group is twice as long. An element is `words` uint64: one that holds the key
/// in its upper and the position in its lower half, or key and position. The last step writes positions as int64, those
/// of the ranks `first` to `first + count` - 1 of each row.
///
/// Of a sort that gives `values`, an element is the value itself between steps and at the end: equal ones stay in order
/// in each step, so no position is needed.
struct SortRuns {
  int64_t row = 0;     ///< elements of a row
  int64_t sorted = 0;  ///< length of the runs that are sorted already; 0: the source holds values
  int64_t group = 0;   ///< length of the runs to be made
  int64_t tasks = 1;   ///< that share a row
  int64_t words = 1;   ///< of an element between steps
  int64_t first = 0;
  int64_t count = 0;
  bool descending = false;
  bool values = false;

  bool last() const { return group >= row; }
};

/// Whether a Sort gives elements and no positions.
inline bool gives_values(UOp sort) { return sort->ints()[2] != 0; }
/// The elements at the positions that a Sort gives, as a Sort of `x` that gives them.
UOp sort_values(UOp positions, UOp x);

/// uint64 words of an element between steps.
inline int64_t sort_words(DType dtype) { return size_of(dtype) > 4 ? 2 : 1; }

/// Whether a CPU with vectors of so many bytes has a text that sorts values of this type in vectors.
inline bool has_vector_sort(DType dtype, int vector_bytes) { return size_of(dtype) >= 4 && vector_bytes >= 32; }

/// The op of a kernel: from `from` to `to`.
UOp sort_runs(UOp to, UOp from, const SortRuns& step);
SortRuns sort_runs_of(UOp n);

/// Whether this SINK is a step of a sort.
inline bool sorts_runs(UOp sink) { return sink->src.size() == 1 && sink->src[0]->op == Op::SortRuns; }

}  // namespace sinter::ir
