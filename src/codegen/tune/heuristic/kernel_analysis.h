// A kernel as the heuristics see it: its statements, their iteration counts, and their strides in memory.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/kernel/ranges.h"
#include "ir/contains.h"
#include "rewrite/linear.h"

namespace sinter::codegen {

using ir::contains;

/// Operations that a node counts as: 4 for a division or square root, 125 for Threefry, 0 for index arithmetic.
double operations_of(UOp n);

inline constexpr double kGather = 1.5;  ///< cycles per element of a vector whose lanes are not contiguous

/// A REDUCE or STORE. A SCAN is counted with the statements that read it. A matrix product in blocks counts as one
/// reduction over the blocks and inside them: the REDUCEs that join its blocks have no StatementAnalysis of their own.
struct StatementAnalysis {
  UOp node;                         ///< for a product in blocks the innermost REDUCE
  std::vector<UOp> result_ranges;   ///< ranges of its result that have several values, by id
  std::vector<UOp> reduced_ranges;  ///< ranges that it reduces and that have several values
  std::vector<UOp> accesses;        ///< its LOADs, and a STORE itself
  std::vector<UOp> sums;            ///< REDUCEs that it reads
  size_t blocks = 0;                ///< the first `blocks` of reduced_ranges count blocks
  double operations = 0;            ///< arithmetic operations per element
  double iterations = 1;            ///< elements, over all of its ranges
  bool is_reduce() const { return node->op == Op::Reduce; }
  int chains() const { return is_reduce() && !reduced_ranges.empty() ? node->reduction().tree.lanes : 1; }
  bool runs_over(UOp range) const;
};

/// Whether a range has the same size at each call.
inline bool has_static_size(UOp range) { return range->src[0]->op == Op::Const; }

class KernelAnalysis {
 public:
  /// `kernel` must be normalized.
  explicit KernelAnalysis(const Kernel& kernel);

  const std::vector<StatementAnalysis>& statements() const { return statements_; }
  const StatementAnalysis& statement_of(UOp reduce) const { return statements_[numbers_.at(reduce.get())]; }
  /// Every range with several values, by id.
  const std::vector<UOp>& ranges() const { return ranges_; }
  /// The number of values of a range, with variables at their upper bounds.
  int64_t size(UOp range) const { return sizes_.at(range.get()); }

  /// Elements by which an access moves when a range advances by one. 0: it does not depend on the range. kScattered:
  /// the distance is not fixed.
  static constexpr int64_t kScattered = INT64_MIN;
  int64_t stride(UOp access, UOp range);
  /// Steps of `range` between the reads of one element by neighbors along `copies`, as windows have them. None if
  /// that is no whole number, or if a stride is not known or the element does not change along `range`.
  std::optional<int64_t> steps_apart(UOp access, UOp copies, UOp range);
  /// The absolute stride in bytes, or kScattered.
  int64_t byte_stride(UOp access, UOp range);
  /// The stride between neighboring lanes along a range. In a tile, lanes are contiguous.
  int64_t lane_stride(UOp access, UOp range);
  bool depends(UOp n, UOp range) { return dependences_.depends(n, range); }
  /// Whether an access is a LOAD with a predicate that depends on the range.
  bool is_masked_along(UOp access, UOp range);
  /// Bytes of a value over those ranges that it depends on and that `counts` selects.
  template <class Counts>
  int64_t bytes(UOp value, Counts counts) {
    auto bytes = static_cast<int64_t>(size_of(value->dtype));
    for (UOp r : ranges_)
      if (depends(value, r) && counts(r)) bytes *= size(r);
    return bytes;
  }
  int64_t bytes(UOp value) {
    return bytes(value, [](UOp) { return true; });
  }
  /// Bytes of its buffer that a LOAD reads in a whole launch. Overlapping windows count no more than the buffer.
  double bytes_read(UOp load);

 private:
  void add(UOp node);
  StatementAnalysis* joined_by(UOp node);

  std::vector<StatementAnalysis> statements_;  ///< sources first
  std::unordered_map<ir::Node*, size_t> numbers_;
  std::vector<UOp> ranges_;
  std::unordered_map<ir::Node*, int64_t> sizes_;
  std::unordered_map<ir::Node*, ir::LinearExpr> offsets_;
  FreeRanges dependences_;
  const int64_t params_;  ///< tiles have the slots after the parameters
};

/// Ranges that run sequentially: the bound of another range depends on them, or a SCAN runs over them.
std::vector<UOp> sequential_ranges(const Kernel& kernel, KernelAnalysis& analysis);

}  // namespace sinter::codegen
