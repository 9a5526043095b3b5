// The parts of the graph interpreter: one function per class of ops, views in, arrays out.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "interp/strided_view.h"
#include "ir/node.h"

namespace sinter::runtime {

/// An elementwise op on sources of one shape; `from` is the type of the last source, as in ir::evaluate.
Array elementwise(ir::Op op, DType dtype, DType from, std::span<const StridedView> src);

class CombineProgram;
/// A combine at work on accumulators of some types.
class CombineEvaluator {
 public:
  /// `lower_combine`: as in KernelInputs.
  CombineEvaluator(const ir::ReduceAttr& attr, std::vector<DType> types,
                   const std::function<ir::UOp(ir::Graph&, ir::UOp)>& lower_combine = {});
  /// The elements of a reduction, one list per source, all of one length, in the order of the ReductionTree: the
  /// accumulator that the attribute picks. The identity if there are none.
  ir::Scalar reduce(std::span<const std::vector<ir::Scalar>> values);
  /// One more element of a row, one number per source: the accumulator now. `first`: the row begins.
  ir::Scalar add(bool first, std::span<const ir::Scalar> element);

 private:
  using AccumulatorValues = std::vector<ir::Scalar>;
  AccumulatorValues block(std::span<const std::vector<ir::Scalar>> values, size_t begin, size_t end);
  std::vector<AccumulatorValues> merge_groups(const std::vector<AccumulatorValues>& parts, size_t count);

  ir::ReduceAttr attr_;
  AccumulatorValues identity_, state_, element_;
  std::shared_ptr<CombineProgram> step_, merge_;
};

/// Reductions over `axes`, which are gone then. One view per source; of a sum of products (`product`: each rounded to
/// the type) one per factor. `exact`: in the type itself, in the order of the tree; else floats in double.
struct ReductionSpec {
  ir::ReduceAttr attr;
  bool product = false;
  bool exact = false;
};
Array reduce_view(const ReductionSpec& reduction, std::span<const StridedView* const> values);

/// The same along one axis, of the elements up to each one.
Array scan_view(const ReductionSpec& scan, std::span<const StridedView* const> values);

/// out[.., i, ..] = x[.., index[.., i, ..], ..]; 0 and `error` where an index is out of range.
Array gather_view(const StridedView& x, const StridedView& index, int64_t axis, bool& error);
/// base with base[.., index[.., i, ..], ..] += value[.., i, ..] in row-major order of value.
Array scatter_add_view(const StridedView& base, const StridedView& index, const StridedView& value, int64_t axis,
                       bool& error);

}  // namespace sinter::runtime
