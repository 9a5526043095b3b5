// The parts of the graph interpreter: one function per class of ops, views in, arrays out.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "interp/interpreter.h"
#include "interp/strided_view.h"
#include "ir/lapack_call.h"
#include "ir/node.h"
#include "ir/sort_runs.h"

namespace sinter::runtime {

/// An elementwise op on sources of equal shape. `from` is the type of the last source, as in ir::evaluate.
Array elementwise(ir::Op op, DType dtype, DType from, std::span<const StridedView> src);

class CombineProgram;
/// Evaluates one combine on accumulators of given types.
class CombineEvaluator {
 public:
  /// `source`: the type of the elements. `lower_combine`: see KernelInputs.
  CombineEvaluator(const ir::ReduceAttr& attr, std::vector<DType> types, DType source,
                   const std::function<ir::UOp(ir::Graph&, ir::UOp)>& lower_combine = {});
  /// Reduces one list of elements per source, all of equal length, in the order of the ReductionTree. Returns the
  /// accumulator that the attribute picks, or the identity if the lists are empty. `row`: how many elements lie along
  /// the last axis, at whose ends steps of a tensor core end.
  ir::Scalar reduce(std::span<const std::vector<ir::Scalar>> values, size_t row);
  /// Adds one element to a scan, one value per source, and returns the accumulator. `first`: a new row begins.
  ir::Scalar add(bool first, std::span<const ir::Scalar> element);

 private:
  using AccumulatorValues = std::vector<ir::Scalar>;
  AccumulatorValues block(std::span<const std::vector<ir::Scalar>> values, size_t row, size_t begin, size_t end);
  std::vector<AccumulatorValues> merge_groups(const std::vector<AccumulatorValues>& parts, size_t count);

  ir::ReduceAttr attr_;
  DType source_;
  AccumulatorValues identity_, state_, element_;
  std::shared_ptr<CombineProgram> step_, merge_;
};

/// A reduction over `attr.axes`, which the result lacks. One view per source. `product`: a sum of products, with one
/// view per factor and each product rounded to the type. `exact`: in the type itself, in the order of the tree;
/// otherwise floats accumulate in double.
struct ReductionSpec {
  ir::ReduceAttr attr;
  bool product = false;
  bool exact = false;
};
Array reduce_view(const ReductionSpec& reduction, std::span<const StridedView* const> values);

/// A scan: the reduction of the elements up to and including each one, along one axis.
Array scan_view(const ReductionSpec& scan, std::span<const StridedView* const> values);

/// out[.., i, ..] = x[.., index[.., i, ..], ..]. An index out of range gives 0 and sets `error`.
Array gather_view(const StridedView& x, const StridedView& index, int64_t axis, bool& error);
/// base with base[.., index[.., i, ..], ..] = mode(itself, value[.., i, ..]), in row-major order of value. An index out
/// of range is skipped and sets `error`.
Array scatter_view(const StridedView& base, const StridedView& index, const StridedView& value,
                   const ir::ScatterAttr& attr, bool& error);

/// int64 positions by rank along the last axis, or the values there, as Op::Sort says.
Array sort_view(const StridedView& x, int64_t first, int64_t count, bool descending, bool gives_values);
/// One step of a sort, all rows of it.
void sort_runs(const ir::SortRuns& step, const KernelBuffer& to, const KernelBuffer& from);

/// Rows of this shape: what a routine of LAPACK gives of each matrix. Sets `error` if it fails for one of them.
Array lapack_view(const ir::LapackCall& call, std::span<const StridedView* const> values,
                  const std::vector<int64_t>& shape, bool& error);
/// The same in a kernel, whose Params are the rows and the sources.
void call_lapack(const ir::LapackCall& call, std::span<const KernelBuffer> params, uint32_t* error);

}  // namespace sinter::runtime
