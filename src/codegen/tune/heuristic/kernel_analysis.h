// A kernel as a heuristic looks at it: its statements, how often they run, and how they go through memory.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "codegen/kernel/ranges.h"
#include "rewrite/linear.h"

namespace sinter::codegen {

inline bool contains(const std::vector<ir::UOp>& list, ir::UOp x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

/// Operations that a node counts for: 4 for a division or a root, 125 for Threefry, none for the arithmetic of indices.
double operations_of(ir::UOp n);

inline constexpr double kLatency = 4;   ///< cycles until an accumulator can be used again
inline constexpr double kGather = 1.5;  ///< cycles of an element of a vector whose lanes do not lie side by side

/// A REDUCE or STORE; a SCAN counts for the statements that read it. A product of matrices in blocks counts as one sum
/// over the blocks and inside them: the REDUCEs that join its blocks have no StatementAnalysis of their own.
struct StatementAnalysis {
  ir::UOp node;                         ///< of such a product the innermost REDUCE
  std::vector<ir::UOp> result_ranges;   ///< ranges with several values that it runs over, by id, without
  std::vector<ir::UOp> reduced_ranges;  ///< those that it closes
  std::vector<ir::UOp> accesses;        ///< LOADs, of a STORE itself too
  std::vector<ir::UOp> sums;            ///< REDUCEs that it reads
  size_t blocks = 0;                    ///< of reduced_ranges: so many, the first ones, count blocks
  double operations = 0;                ///< arithmetic for one element
  double iterations = 1;                ///< elements
  bool is_reduce() const { return node->op == ir::Op::Reduce; }
  int chains() const { return is_reduce() && !reduced_ranges.empty() ? node->reduction().tree.lanes : 1; }
  bool runs_over(ir::UOp range) const;
};

/// Whether a range has the same number of values at each call.
inline bool has_static_size(ir::UOp range) { return range->src[0]->op == ir::Op::Const; }

class KernelAnalysis {
 public:
  /// Of a normalized kernel.
  explicit KernelAnalysis(const Kernel& kernel);

  const std::vector<StatementAnalysis>& statements() const { return statements_; }
  const StatementAnalysis& statement_of(ir::UOp reduce) const { return statements_[numbers_.at(reduce.get())]; }
  /// Every range with several values, by id.
  const std::vector<ir::UOp>& ranges() const { return ranges_; }
  /// How many values it has, at the bounds of the variables.
  int64_t size(ir::UOp range) const { return sizes_.at(range.get()); }

  /// How far an access moves when a range goes on by one: 0 if it does not, kScattered if by no fixed distance.
  static constexpr int64_t kScattered = INT64_MIN;
  int64_t stride(ir::UOp access, ir::UOp range);
  /// The same in bytes, whichever way it goes.
  int64_t byte_stride(ir::UOp access, ir::UOp range);
  /// The same of neighbouring lanes along it: in a tile they lie side by side.
  int64_t lane_stride(ir::UOp access, ir::UOp range);
  bool depends(ir::UOp n, ir::UOp range) { return dependences_.depends(n, range); }
  /// Bytes of a value at all values of those ranges with which it changes and that count.
  template <class Counts>
  int64_t bytes(ir::UOp value, Counts counts) {
    auto bytes = static_cast<int64_t>(size_of(value->dtype));
    for (ir::UOp r : ranges_)
      if (depends(value, r) && counts(r)) bytes *= size(r);
    return bytes;
  }
  int64_t bytes(ir::UOp value) {
    return bytes(value, [](ir::UOp) { return true; });
  }
  /// Of its buffer that a LOAD reads, in a whole launch: windows that overlap are no larger than that.
  double bytes_read(ir::UOp load);

 private:
  void add(ir::UOp node);
  StatementAnalysis* joined_by(ir::UOp node);

  std::vector<StatementAnalysis> statements_;  ///< sources first
  std::unordered_map<ir::Node*, size_t> numbers_;
  std::vector<ir::UOp> ranges_;
  std::unordered_map<ir::Node*, int64_t> sizes_;
  std::unordered_map<ir::Node*, ir::LinearExpr> offsets_;
  FreeRanges dependences_;
  const int64_t params_;  ///< tiles have the slots after those
};

/// Ranges whose elements go one by one: those on which the bound of another one depends, and those of SCANs.
std::vector<ir::UOp> sequential_ranges(const Kernel& kernel, KernelAnalysis& analysis);

}  // namespace sinter::codegen
