// From a set of nodes to loops: writes the indices of one kernel of the partition into IR. No movement op survives.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "schedule/fusion/partition.h"

namespace sinter::schedule {

/// Where values lie, by number of the plan's buffers.
struct Placement {
  std::vector<int> output_buffers;  ///< per output; its home when it is stored in place
  std::vector<int> node_buffers;    ///< per node that other kernels read, else -1
  std::map<std::pair<int, int>, std::vector<int>>
      parts;  ///< per (kernel, node) of a sum across outer ranges: what its points add, per accumulator
};

/// A kernel and what it is launched with.
struct KernelInstance {
  codegen::Kernel kernel;
  std::vector<int> buffers;   ///< per Param of the kernel
  std::vector<int> args;      ///< per Arg of the kernel: number of the plan's
  std::vector<int> writes;    ///< buffers among them that it stores into
  ir::UOp invariant_scatter;  ///< a SCATTER_ADD of the plan graph whose updates are one expression for all i, so that
                              ///< no loop would repeat them: its index must be stored first. Null: the kernel is good
};

/// Ranges, Params and Args are numbered in order of first use, and commutative operands are walked in an order that
/// sees no buffer's number: kernels that do the same to other buffers are the same graph.
class Rangeifier {
 public:
  Rangeifier(const Partition& partition, const Placement& placement);
  KernelInstance kernel(int number);

 private:
  const Partition& partition_;
  const Placement& placement_;
  std::vector<int> member_of_;   ///< per node: the last kernel that was found to evaluate it
  std::vector<uint64_t> blind_;  ///< per node: hash within the current kernel, without numbers of buffers and arguments
};

}  // namespace sinter::schedule
